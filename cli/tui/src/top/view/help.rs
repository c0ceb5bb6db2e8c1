//! The keys.

use ratatui_core::buffer::Buffer;

use crate::text::put;
use crate::top::look::{BOLD, FAINT, PLAIN, sign, style};
use termd_proto::attention::AttentionState;

/// Keys, and what each does.
const KEYS: &[(&str, &str)] = &[
    ("Enter", "attach; ctrl-] d comes back"),
    ("y a n", "answer what is asked: once, always, no"),
    ("v", "read all of what is asked"),
    ("i", "type a line into the terminal"),
    ("p", "type a secret, which is not shown"),
    ("k", "end the command and all it started"),
    ("x", "close the terminal"),
    ("n", "start a new one"),
    ("/", "filter; Esc takes the filter away"),
    ("s", "search all that was printed"),
    ("r", "replay"),
    ("c", "copy the last command's output"),
    ("t", "tags, apart by blanks"),
    ("g", "group by tags, by directory, or not"),
    ("Tab", "also those that have ended"),
    ("PgUp PgDn", "scroll the screen, as the wheel does"),
    ("ctrl-z", "suspend"),
    ("q", "quit; terminals run on"),
];

/// What the states mean.
const STATES: [(AttentionState, &str); 7] = [
    (AttentionState::Approval, "asks whether something may run"),
    (AttentionState::Secret, "waits for a password"),
    (AttentionState::Input, "waits for something to be typed"),
    (
        AttentionState::Failed,
        "has failed, and you have not seen it",
    ),
    (AttentionState::Done, "is done, and you have not seen it"),
    (AttentionState::Running, "runs"),
    (AttentionState::Idle, "is at its prompt, or over"),
];

/// Columns of the keys.
const KEY_COLS: u16 = 10;

pub(super) fn draw(from: u16, buffer: &mut Buffer) {
    let area = buffer.area;
    if area.is_empty() {
        return;
    }
    let count = KEYS.len() + STATES.len() + 1;
    let last = u16::try_from(count)
        .unwrap_or(u16::MAX)
        .saturating_sub(area.height);
    let from = from.min(last);
    let end = area.right();
    let rows = area.top()..area.bottom();
    for (line, y) in (usize::from(from)..count).zip(rows) {
        if let Some((key, what)) = KEYS.get(line) {
            put(buffer, (0, y), end, key, BOLD);
            put(buffer, (KEY_COLS, y), end, what, PLAIN);
        } else if let Some(at) = line.checked_sub(KEYS.len() + 1)
            && let Some((state, what)) = STATES.get(at)
        {
            let x = put(buffer, (0, y), end, sign(*state), style(*state)) + 1;
            put(buffer, (x, y), end, state.as_str(), style(*state));
            put(buffer, (KEY_COLS + 2, y), end, what, PLAIN);
        }
    }
    if from < last {
        let below = format!(" {} more ↓", last - from);
        let x = end.saturating_sub(crate::text::width(&below));
        put(buffer, (x, area.bottom() - 1), end, &below, FAINT);
    }
}
