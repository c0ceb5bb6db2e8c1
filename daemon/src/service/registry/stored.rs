//! A terminal as the database knows it, without a task.

use std::sync::Arc;

use crate::store::{Store, TerminalRow};
use crate::terminal::handle::Terminal;
use crate::terminal::lifecycle::progress::{Exit, Progress, ScreenState};
use crate::terminal::lifecycle::record::Record;
use crate::terminal::output::transcript::Transcript;
use crate::terminal::screen::Screen;
use crate::terminal::screen::size::Size;

/// Makes a terminal of its row. Its output is read from the database.
pub(crate) fn stored_terminal(row: &TerminalRow, store: &Store) -> Arc<Terminal> {
    stored_terminal_of(Record::from_row(row), row, store)
}

/// The same where more is known than the row says.
pub(crate) fn stored_terminal_of(
    record: Record,
    row: &TerminalRow,
    store: &Store,
) -> Arc<Terminal> {
    let exit = row.exited_at_ms.or(row.closed_at_ms).map(|at_ms| Exit {
        status: row.exit_status.clone(),
        at_ms,
    });
    let progress = Progress {
        end: row.end,
        size: Size {
            cols: row.cols,
            rows: row.rows,
        },
        screen: ScreenState::still(0),
        exit,
        released_at_ms: row.released_at_ms,
        closed_at_ms: row.closed_at_ms,
        close_cause: row.close_cause,
        end_cause: row.end_cause,
    };
    let transcript = Transcript::stored(row.id.clone(), store.clone());
    let (terminal, _no_task) = Terminal::new(record, transcript, Screen::default(), progress);
    terminal.attention.was_last_seen_at(row.seen_at_ms);
    let known = [row.last_activity_ms, row.closed_at_ms, row.exited_at_ms];
    let last = known.into_iter().flatten().next();
    terminal
        .activity
        .was_last_at(last.unwrap_or(row.created_at_ms));
    terminal
}
