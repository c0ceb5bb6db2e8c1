//! The rows of a screen as text, and what of them changed since the client saw it last.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use termd_client::ClientError;
use termd_proto::screen::{ReadScreen, Screen};
use termd_proto::{TerminalId, TerminalRef};

use crate::shared::Shared;

/// Of this part of a screen's rows, in quarters, all rows are shown rather than those that changed.
const MOST: usize = 3;

/// A screen that a client sees now.
#[derive(Debug)]
pub(crate) struct ScreenRows {
    pub(crate) screen: Screen,
    /// The text of each row, without blanks at its end.
    rows: Vec<String>,
    /// The rows of the screen that the client saw before.
    before: Option<Arc<[u64]>>,
}

/// What changed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ScreenChange {
    /// Most of it, or the client has not seen it before: the whole text.
    Most(String),
    Some {
        /// Rows with a new text, by their numbers from 1.
        rows: Vec<(usize, String)>,
        /// Rows whose text stood elsewhere before, such as `2-9 were 3-10`.
        moved: Vec<String>,
    },
}

impl ScreenRows {
    /// Reads the screen, which the client has seen then.
    pub(crate) async fn see(shared: &Shared, id: &TerminalId) -> Result<Self, ClientError> {
        let request = ReadScreen::of(TerminalRef::from(id));
        let screen = shared.backend.pool().repeat(&request).await?.screen;
        let shown = screen.lines.iter().filter(|row| row.row >= 0);
        let rows: Vec<String> = shown
            .map(|row| {
                let text: String = row.runs.iter().map(|run| run.text.as_str()).collect();
                text.trim_end().to_owned()
            })
            .collect();
        let before = shared.cursors.of(id).screen;
        shared.cursors.set_screen(id, hashes(&rows).into());
        Ok(Self {
            screen,
            rows,
            before,
        })
    }

    /// Whether the client has not seen it before.
    pub(crate) fn is_first(&self) -> bool {
        self.before.is_none()
    }

    /// All rows, without empty ones at the end.
    pub(crate) fn text(&self) -> String {
        self.rows.join("\n").trim_end_matches('\n').to_owned()
    }

    /// The rows whose text is not what it was, by their numbers from 1. Of a screen that the client has
    /// not seen, all that are not empty at its end.
    pub(crate) fn changed(&self) -> Vec<(usize, &str)> {
        let hashes = hashes(&self.rows);
        let empty = hash("");
        let is_changed = |index: usize| {
            let before = self.before.as_ref().and_then(|before| before.get(index));
            before.copied().unwrap_or(empty) != hashes[index]
        };
        let rows = (0..).zip(&self.rows);
        let last = self.rows.iter().rposition(|row| !row.is_empty());
        rows.filter(|(index, _)| is_changed(*index) || (self.is_first() && Some(*index) <= last))
            .map(|(index, row)| (index + 1, row.as_str()))
            .collect()
    }

    /// What changed, in few lines.
    pub(crate) fn change(&self) -> ScreenChange {
        let Some(before) = &self.before else {
            return ScreenChange::Most(self.text());
        };
        change_of(before, &self.rows)
    }
}

/// Rows, by their numbers, as results have them.
pub(crate) fn changed_lines<T: Serialize>(rows: Vec<(usize, T)>) -> Value {
    let line = |(line, content)| json!({ "line": line, "content": content });
    rows.into_iter().map(line).collect()
}

fn hashes(rows: &[String]) -> Vec<u64> {
    rows.iter().map(|row| hash(row)).collect()
}

fn hash(row: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    row.hash(&mut hasher);
    hasher.finish()
}

fn change_of(before: &[u64], now: &[String]) -> ScreenChange {
    let hashes = hashes(now);
    let empty = hash("");
    let (mut rows, mut moved) = (Vec::new(), Vec::new());
    for op in capture_diff_slices(Algorithm::Myers, before, &hashes) {
        let (_, old, new) = op.as_tag_tuple();
        match op {
            DiffOp::Equal { .. } if old == new => {}
            // Blank rows have not come from anywhere.
            DiffOp::Equal { .. } if new.clone().any(|index| hashes[index] != empty) => {
                moved.push(format!("{} were {}", numbers(&new), numbers(&old)));
            }
            DiffOp::Delete { .. } => {}
            DiffOp::Equal { .. } | DiffOp::Insert { .. } | DiffOp::Replace { .. } => {
                let is_new = |index: &usize| before.get(*index) != Some(&hashes[*index]);
                let indices = new.filter(is_new);
                rows.extend(indices.map(|index| (index + 1, now[index].clone())));
            }
        }
    }
    if rows.len() * 4 > now.len() * MOST {
        return ScreenChange::Most(now.join("\n").trim_end_matches('\n').to_owned());
    }
    ScreenChange::Some { rows, moved }
}

/// The numbers of rows from 1.
fn numbers(rows: &std::ops::Range<usize>) -> String {
    match rows.len() {
        1 => (rows.start + 1).to_string(),
        _ => format!("{}-{}", rows.start + 1, rows.end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(before: &[&str], now: &[&str]) -> ScreenChange {
        let own = |rows: &[&str]| rows.iter().map(|row| (*row).to_owned()).collect::<Vec<_>>();
        change_of(&hashes(&own(before)), &own(now))
    }

    fn some(rows: &[(usize, &str)], moved: &[&str]) -> ScreenChange {
        ScreenChange::Some {
            rows: rows
                .iter()
                .map(|(row, text)| (*row, (*text).to_owned()))
                .collect(),
            moved: moved.iter().map(|it| (*it).to_owned()).collect(),
        }
    }

    #[test]
    fn only_new_texts_are_shown_and_others_are_said_to_have_moved() {
        for (before, now, want) in [
            (["a", "b", "c", "d"], ["a", "b", "c", "d"], some(&[], &[])),
            (
                ["a", "b", "c", "d"],
                ["a", "x", "c", "d"],
                some(&[(2, "x")], &[]),
            ),
            (
                ["a", "b", "c", "d"],
                ["a", "x", "b", "c"],
                some(&[(2, "x")], &["3-4 were 2-3"]),
            ),
            (
                ["a", "b", "c", "d"],
                ["b", "c", "d", ""],
                some(&[(4, "")], &["1-3 were 2-4"]),
            ),
            (["a", "b", "", ""], ["a", "", "", ""], some(&[(2, "")], &[])),
            (
                ["a", "", "", ""],
                ["a", "b", "", ""],
                some(&[(2, "b")], &[]),
            ),
            (
                ["a", "b", "c", "d"],
                ["w", "x", "y", "z"],
                ScreenChange::Most("w\nx\ny\nz".to_owned()),
            ),
        ] {
            assert_eq!(change(&before, &now), want, "{before:?} {now:?}");
        }
    }
}
