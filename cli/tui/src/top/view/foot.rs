//! The last line: a prompt, a message, or the keys.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};
use termd_proto::attention::AttentionState;
use termd_proto::terminal::TerminalState;

use crate::text::{cut, cut_left, put, width};
use crate::top::look::{BOLD, FAINT, PLAIN, WARNING};
use crate::top::mode::Mode;
use crate::top::model::{Daemon, Model};
use crate::top::prompt::{Confirmed, Prompt};
use crate::top::row::Row;

/// Returns where the cursor is, where something is typed.
pub(super) fn draw(model: &Model, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    if area.is_empty() {
        return None;
    }
    let (place, end) = ((area.x, area.y), area.right());
    match (&model.mode, model.message(), &model.daemon) {
        (Mode::Prompt(prompt), ..) => return Some(draw_prompt(prompt, area, buffer)),
        (Mode::Confirm(confirmed), ..) => {
            put(
                buffer,
                place,
                end,
                &cut(&asked(model, confirmed), area.width),
                WARNING,
            );
        }
        (_, _, Daemon::Away(why)) => {
            let said = format!("reconnecting: {}", termd_client::escape::one_line(why));
            put(buffer, place, end, &cut(&said, area.width), WARNING);
        }
        (_, None, Daemon::Silent) => {
            let said = "the daemon does not answer";
            put(buffer, place, end, &cut(said, area.width), WARNING);
        }
        (_, Some(said), _) => {
            put(buffer, place, end, &cut(said, area.width), BOLD);
        }
        (_, None, _) => draw_keys(model, area, buffer),
    }
    None
}

fn asked(model: &Model, confirmed: &Confirmed) -> String {
    let (id, what) = match confirmed {
        Confirmed::Kill(id) => (id, "end all that runs in"),
        Confirmed::Close(id) => (id, "end and close"),
    };
    let name = model.list.rows.get(id).map(Row::label_or_id);
    format!("{what} {}? y/n", name.unwrap_or_else(|| id.to_string()))
}

fn draw_prompt(prompt: &Prompt, area: Rect, buffer: &mut Buffer) -> Position {
    let (y, end) = (area.y, area.right());
    let label = cut(prompt.label(), area.width / 2);
    let x = put(buffer, (area.x, y), end, &label, BOLD);
    let (before, behind) = prompt.field.around_cursor();
    // Not even how long it is.
    let (before, behind) = if prompt.is_secret() {
        ("", "")
    } else {
        (before, behind)
    };
    let before = cut_left(before, end.saturating_sub(x + 1));
    let at = put(buffer, (x, y), end, &before, PLAIN);
    put(buffer, (at, y), end, behind, PLAIN);
    if prompt.field.text().is_empty() {
        put(buffer, (at + 1, y), end, prompt.hint(), FAINT);
    }
    Position::new(at.min(end.saturating_sub(1)), y)
}

/// The keys that do something now, the most useful first, as far as there is room.
fn draw_keys(model: &Model, area: Rect, buffer: &mut Buffer) {
    let row = model.list.row_at_hand();
    let state = row.map(Row::state);
    let is_running = row.is_some_and(|row| row.info.state == TerminalState::Running);
    let has = row.is_some();
    let asks = model.questions.shown().is_some();
    let keys = [
        ("?", "help", true),
        ("Enter", "attach", has),
        ("p", "secret", state == Some(AttentionState::Secret)),
        ("i", "type", is_running),
        ("k", "kill", is_running),
        ("x", "close", has),
        ("n", "new", !asks),
        ("/", "filter", true),
        ("s", "search", true),
        ("r", "replay", has),
        ("c", "copy", has),
        ("t", "tags", has),
        ("Tab", "ended", true),
        ("q", "quit", true),
    ];
    let (mut x, end) = (area.x, area.right());
    for (key, what, _) in keys.into_iter().filter(|(_, _, is_of_use)| *is_of_use) {
        let columns = width(key) + 1 + width(what);
        if x + columns > end {
            return;
        }
        x = put(buffer, (x, area.y), end, key, BOLD);
        x = put(buffer, (x + 1, area.y), end, what, FAINT) + 2;
    }
}
