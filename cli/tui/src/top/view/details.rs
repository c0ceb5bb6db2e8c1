//! What is known of the terminal at hand, above its screen.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use termd_proto::terminal::TerminalState;

use crate::text::{cut, put};
use crate::top::look::{BOLD, FAINT, PLAIN, sign, style};
use crate::top::model::Model;
use crate::top::row::{Row, age, shown_directory};

/// Between two facts.
const BETWEEN: &str = " · ";

pub(super) fn draw(model: &Model, area: Rect, buffer: &mut Buffer) {
    let Some(row) = model.list.row_at_hand().filter(|_| !area.is_empty()) else {
        return;
    };
    let (y, end) = (area.y, area.right());
    let state = row.state();
    let text = format!("{} {}", sign(state), state.as_str());
    let mut x = put(buffer, (area.x, y), end, &text, style(state)) + 1;
    x = put(buffer, (x, y), end, &row.label_or_id(), BOLD) + 1;
    let mut facts = vec![row.command()];
    if area.height < 2 {
        facts.extend(place(model, row));
    }
    put_facts((x, y), end, &facts, buffer);
    if area.height > 1 {
        let mut facts = vec![row.who(), row.tags()];
        facts.retain(|fact| !fact.is_empty());
        facts.extend(place(model, row));
        put_facts((area.x, y + 1), end, &facts, buffer);
    }
    if model.scrolled > 0 {
        let said = format!(" {} rows up ", model.scrolled);
        let x = end.saturating_sub(crate::text::width(&said));
        put(buffer, (x, y), end, &said, BOLD);
    }
}

fn put_facts((x, y): (u16, u16), end: u16, facts: &[String], buffer: &mut Buffer) {
    let text = facts.join(BETWEEN);
    let columns = end.saturating_sub(x);
    put(
        buffer,
        (x, y),
        end,
        &cut(&text, columns),
        PLAIN.patch(FAINT),
    );
}

/// How it ended, where it is, and how far it is.
fn place(model: &Model, row: &Row) -> Vec<String> {
    let home = model.surroundings.home.as_deref();
    let directory = shown_directory(row.directory(), home);
    let directory = match &row.branch {
        Some(branch) => format!("{directory} ({branch})"),
        None => directory,
    };
    let since = model.now.ms.saturating_sub(row.info.created_at_ms);
    let size = format!("{}x{}", row.info.cols, row.info.rows);
    let facts = [
        exit(row),
        Some(directory),
        row.progress_text(),
        Some(age(since)),
        Some(size),
    ];
    facts.into_iter().flatten().collect()
}

fn exit(row: &Row) -> Option<String> {
    let status = row.info.exit_status.as_ref();
    Some(match (row.info.state, status) {
        (TerminalState::Running, _) => return None,
        (_, None) => "lost".to_owned(),
        (_, Some(status)) => match (&status.signal, status.exit_code) {
            (Some(signal), _) => format!("ended by {}", termd_client::escape::escaped(signal)),
            (None, code) => format!("exited {}", code.unwrap_or_default()),
        },
    })
}
