//! Tables, times and sizes for a person.
//!
//! Pure. A table escapes every cell, so that no caller can forget it.

use std::fmt::Write as _;

use termd_client::escape::{self, escaped};
pub(crate) use termd_proto::byte_count::bytes;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr};

use crate::display::{Display, Tone};

/// The widest column that all rows are padded to. A longer cell makes its own row longer, not every row.
const MAX_PADDED: usize = 80;
/// The narrowest column that a cell is cut to.
const MIN_CUT: usize = 12;

/// What stands in a row's column.
#[derive(Debug)]
pub(crate) struct Cell {
    text: String,
    tone: Option<Tone>,
}

impl Cell {
    /// A text of unknown origin, escaped.
    pub(crate) fn text(text: &str) -> Self {
        Self::escaped(escaped(text))
    }

    /// A text that [`escape`] has made safe in a way of its own; what it forgot is escaped.
    pub(crate) fn line(text: &str) -> Self {
        Self::escaped(escape::one_line(text))
    }

    fn escaped(text: String) -> Self {
        Self { text, tone: None }
    }

    #[must_use]
    pub(crate) fn in_tone(self, tone: Option<Tone>) -> Self {
        Self { tone, ..self }
    }

    fn width(&self) -> usize {
        self.text.width()
    }

    /// The text, cut to a number of columns. The last one shows that it was cut.
    pub(crate) fn cut(&self, most: usize) -> String {
        if self.width() <= most {
            return self.text.clone();
        }
        let mut left = most.saturating_sub(1);
        let fits = |c: &char| {
            let width = c.width().unwrap_or(0);
            let fits = width <= left;
            left = left.saturating_sub(width);
            fits
        };
        let kept: String = self.text.chars().take_while(fits).collect();
        kept + "…"
    }
}

/// Rows under a header, with columns as wide as their widest cell. On a tty a row is a line: the columns
/// that may be long are cut, then columns are left out.
#[derive(Debug)]
pub(crate) struct Table {
    /// Those that are not rendered yet, the header among them.
    rows: Vec<Vec<Cell>>,
    widths: Vec<usize>,
    long: &'static [usize],
    /// Columns in the order in which a narrow tty does without them.
    dispensable: &'static [usize],
}

impl Table {
    pub(crate) fn new(header: &[&str], long: &'static [usize]) -> Self {
        Self {
            rows: vec![header.iter().map(|&cell| Cell::text(cell)).collect()],
            widths: vec![0; header.len()],
            long,
            dispensable: &[],
        }
    }

    /// Leaves these columns out where the tty is too narrow, the first of them first.
    #[must_use]
    pub(crate) fn leaving_out(self, dispensable: &'static [usize]) -> Self {
        Self {
            dispensable,
            ..self
        }
    }

    /// Adds a row of cells.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The rows since the last call as lines, in columns at least as wide as before.
    pub(crate) fn render(&mut self, display: Display) -> String {
        let rows = std::mem::take(&mut self.rows);
        for (column, width) in self.widths.iter_mut().enumerate() {
            let cells = rows.iter().filter_map(|row| row.get(column));
            let widest = cells.map(Cell::width).max().unwrap_or_default();
            *width = widest.max(*width);
        }
        let shown = self.shown(display.width);
        let mut out = String::new();
        for row in &rows {
            let mut line = String::new();
            for (at, (column, width)) in shown.iter().enumerate() {
                let Some(cell) = row.get(*column) else {
                    continue;
                };
                let most = display.width.map_or(usize::MAX, |_| *width);
                let text = cell.cut(most);
                let is_last = at + 1 == shown.len();
                let pad = if is_last {
                    0
                } else {
                    2 + width.min(&MAX_PADDED).saturating_sub(text.width())
                };
                line.push_str(&display.in_tone(&text, cell.tone));
                line.extend(std::iter::repeat_n(' ', pad));
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }

    /// The columns that are shown, each with its width.
    fn shown(&self, tty: Option<usize>) -> Vec<(usize, usize)> {
        let mut shown: Vec<(usize, usize)> = self.widths.iter().copied().enumerate().collect();
        let Some(tty) = tty else {
            return shown;
        };
        let least = |shown: &[(usize, usize)]| {
            let widths = shown.iter().map(|(column, width)| {
                let most = if self.long.contains(column) {
                    MIN_CUT
                } else {
                    usize::MAX
                };
                most.min(*width)
            });
            widths.sum::<usize>() + gaps(shown)
        };
        for left_out in self.dispensable {
            if least(&shown) > tty {
                shown.retain(|(column, _)| column != left_out);
            }
        }
        self.share(tty, &mut shown);
        // A tty too narrow for that: the first columns name the row, and are cut last.
        let taken = shown.iter().map(|(_, width)| width).sum::<usize>() + gaps(&shown);
        let mut excess = taken.saturating_sub(tty);
        for (_, width) in shown.iter_mut().rev() {
            let cut = excess.min(width.saturating_sub(1));
            *width -= cut;
            excess -= cut;
        }
        shown
    }

    /// The long columns share what the others leave of a tty, the narrowest of them first, as what one
    /// does not need is left for the wider ones.
    fn share(&self, tty: usize, shown: &mut [(usize, usize)]) {
        let is_long = |column: &usize| self.long.contains(column);
        let others = shown.iter().filter(|(column, _)| !is_long(column));
        let taken: usize = others.map(|(_, width)| width).sum();
        let mut left = tty.saturating_sub(taken + gaps(shown));
        let long = shown.iter_mut().filter(|(column, _)| is_long(column));
        let mut long: Vec<&mut usize> = long.map(|(_, width)| width).collect();
        long.sort_unstable();
        let shares = (1..=long.len()).rev();
        for (width, share) in long.into_iter().zip(shares) {
            *width = (*width).min((left / share).max(MIN_CUT));
            left = left.saturating_sub(*width);
        }
    }
}

/// The blanks between columns.
fn gaps(shown: &[(usize, usize)]) -> usize {
    2 * shown.len().saturating_sub(1)
}

/// As wide as the longest name of a fact.
const FACT_NAME_WIDTH: usize = "last activity".len();

/// One name and value a line. The caller escapes the values; a quoted command line already is.
pub(crate) fn facts_as_lines(facts: &[(&str, String)]) -> String {
    let mut out = String::new();
    for (name, value) in facts {
        let _ = writeln!(out, "{name:<FACT_NAME_WIDTH$} {value}");
    }
    out
}

/// A length of time in one unit and its next smaller one: `12s`, `3m05s`, `2h07m`, `5d03h`.
pub(crate) fn age(ms: i64) -> String {
    let seconds = ms.max(0) / 1000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    if minutes == 0 {
        format!("{seconds}s")
    } else if hours == 0 {
        format!("{minutes}m{:02}s", seconds % 60)
    } else if days == 0 {
        format!("{hours}h{:02}m", minutes % 60)
    } else {
        format!("{days}d{:02}h", hours % 24)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIPE: Display = Display::PLAIN;

    #[test]
    fn rows_are_cut_to_a_width() {
        for (width, command) in [(40, "y"), (80, "y"), (80, "漢"), (200, "y")] {
            let tty = Display {
                width: Some(width),
                ..PIPE
            };
            let mut table = Table::new(&["ID", "WHERE", "COMMAND"], &[1, 2]);
            table.row(["abc", "/x", &command.repeat(5_000)].map(Cell::text));
            let text = table.render(tty);
            let widths = text.lines().map(UnicodeWidthStr::width);
            assert!(widths.max() <= Some(width), "{text}");
            assert!(text.lines().nth(1).unwrap().ends_with('…'), "{text}");
            let mut table = Table::new(&["ID", "COMMAND"], &[1]);
            table.row(["abc", "ls"].map(Cell::text));
            assert_eq!(table.render(tty), "ID   COMMAND\nabc  ls\n");
        }
    }

    #[test]
    fn a_row_is_a_line_on_a_narrow_tty_too() {
        let header = ["SEQ", "TIME", "WHO", "ACTION", "TERMINAL", "WHAT"];
        let row = [
            "1234",
            "2026-11-27 02:05:47",
            "cli:-(1234)",
            "terminal.create",
            "term_abcdefghijkl",
            "sleep 1000",
        ];
        for (width, shown) in [
            (200, "SEQ TIME WHO ACTION TERMINAL WHAT"),
            (80, "TIME WHO ACTION TERMINAL WHAT"),
            (79, "TIME WHO ACTION WHAT"),
            (40, "TIME ACTION"),
            (22, "TIME …"),
            (5, "T… …"),
        ] {
            let mut table = Table::new(&header, &[2, 5]).leaving_out(&[0, 4, 2, 5]);
            table.row(row.map(Cell::text));
            let text = table.render(Display {
                width: Some(width),
                ..PIPE
            });
            let widths = text.lines().map(UnicodeWidthStr::width);
            assert!(widths.max() <= Some(width), "{text}");
            let header: Vec<&str> = text.lines().next().unwrap().split_whitespace().collect();
            assert_eq!(header.join(" "), shown, "{width}: {text}");
        }
    }

    #[test]
    fn columns_line_up_and_cells_are_escaped() {
        let mut table = Table::new(&["ID", "COMMAND"], &[1]);
        table.row(["long_id", "ls"].map(Cell::text));
        table.row(["漢é", "\u{1b}[2J\n"].map(Cell::text));
        assert_eq!(
            table.render(PIPE),
            "ID       COMMAND\nlong_id  ls\n漢é      \\x1b[2J\\n\n"
        );
        table.row(["a", "b"].map(Cell::text));
        assert_eq!(table.render(PIPE), "a        b\n");
    }

    #[test]
    fn a_tone_takes_no_columns() {
        let mut table = Table::new(&["STATE", "N"], &[]);
        let state = |tone| Cell::text("bad").in_tone(tone);
        table.row([state(Some(Tone::Bad)), Cell::text("1")]);
        let coloured = Display {
            has_color: true,
            ..PIPE
        };
        assert_eq!(table.render(coloured), "STATE  N\n\x1b[31mbad\x1b[m    1\n");
        table.row([state(Some(Tone::Bad)), Cell::text("1")]);
        assert_eq!(table.render(PIPE), "bad    1\n");
    }

    #[test]
    fn a_long_cell_makes_its_own_row_long_and_no_other() {
        let mut table = Table::new(&["ID", "COMMAND", "WHY"], &[1]);
        table.row(["a", &format!("x{}y", " ".repeat(5_000)), "long"].map(Cell::text));
        table.row(["b", "ls", "short"].map(Cell::text));
        let rendered = table.render(PIPE);
        let lines: Vec<&str> = rendered.lines().collect();
        assert!(lines[1].ends_with("y  long"), "{rendered}");
        assert!(
            lines[2].ends_with("short") && lines[2].len() < 100,
            "{rendered}"
        );
    }

    #[test]
    fn ages() {
        let table = [
            (-5, "0s"),
            (12_345, "12s"),
            (185_000, "3m05s"),
            (7_620_000, "2h07m"),
            (442_800_000, "5d03h"),
        ];
        for (ms, want) in table {
            assert_eq!(age(ms), want);
        }
    }
}
