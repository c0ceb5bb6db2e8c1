//! Tables, times and sizes for a person.
//!
//! Pure. A table escapes every cell, so that no caller can forget it.

use std::fmt::Write as _;

use termd_client::escape::escaped;

/// The widest column, in characters.
const MAX_COLUMN_CHARS: usize = 80;
/// The narrowest column that a cell is cut to, in characters.
const MIN_CUT_CHARS: usize = 12;

/// Rows under a header, with columns as wide as their widest cell.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(header: &[&str]) -> Self {
        Self {
            rows: vec![header.iter().map(|&cell| cell.to_owned()).collect()],
        }
    }

    /// Adds a row of cells, escaping them.
    pub(crate) fn row<const N: usize>(&mut self, cells: [&str; N]) {
        self.rows.push(cells.map(escaped).to_vec());
    }

    /// The table as lines of at most this many characters. These columns are cut for that, the end of
    /// a cell first, in equal parts.
    pub(crate) fn render_within(mut self, width: usize, long: &[usize]) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let widest = |column: &usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(*column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let others = (0..columns).filter(|column| !long.contains(column));
        let taken: usize = others.map(|column| widest(&column)).sum();
        let gaps = 2 * columns.saturating_sub(1);
        let mut left = width.saturating_sub(taken + gaps);
        // The narrowest first: what a column does not need is left for the wider ones.
        let mut by_width: Vec<(usize, usize)> = long
            .iter()
            .map(|column| (widest(column), *column))
            .collect();
        by_width.sort_unstable();
        let shares = (1..=by_width.len()).rev();
        for (&(needed, column), share) in by_width.iter().zip(shares) {
            let most = needed.min((left / share).max(MIN_CUT_CHARS));
            left = left.saturating_sub(most);
            for cell in self.rows.iter_mut().filter_map(|row| row.get_mut(column)) {
                cut(cell, most);
            }
        }
        let mut out = String::new();
        for line in self.render().lines() {
            let mut line = line.to_owned();
            cut(&mut line, width);
            out.push_str(&line);
            out.push('\n');
        }
        out
    }

    /// The table as lines. The last column is not padded.
    pub(crate) fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                let widths = cells.map(|cell| cell.chars().count());
                // A longer cell is shown whole and makes its own row longer, not every row.
                widths.max().unwrap_or_default().min(MAX_COLUMN_CHARS)
            })
            .collect();
        let mut out = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                let _ = write!(line, "{cell:width$}  ");
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }
}

/// Cuts a text to this many characters, and shows that by its last one.
fn cut(text: &mut String, most: usize) {
    if text.chars().count() > most {
        *text = text.chars().take(most.saturating_sub(1)).collect();
        text.push('…');
    }
}

/// One name and value a line. The caller escapes the values; a quoted command line already is.
pub(crate) fn facts_as_lines(facts: &[(&str, String)]) -> String {
    let mut out = String::new();
    for (name, value) in facts {
        let _ = writeln!(out, "{name:<10} {value}");
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

/// A number of bytes: `999 B`, `1.5 KiB`, `12.0 MiB`.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let mut tenths = count.saturating_mul(10) / 1024;
    let mut unit = 0;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_cut_to_a_width() {
        for width in [1, 40, 80, 200] {
            let mut table = Table::new(&["ID", "WHERE", "COMMAND"]);
            table.row(["abc", "/x", &"y".repeat(5_000)]);
            let text = table.render_within(width, &[1, 2]);
            let widths = text.lines().map(|line| line.chars().count());
            assert!(widths.max() <= Some(width), "{text}");
            assert!(text.lines().nth(1).unwrap().ends_with('…'), "{text}");
        }
        let mut table = Table::new(&["ID", "COMMAND"]);
        table.row(["abc", "ls"]);
        assert_eq!(table.render_within(80, &[1]), "ID   COMMAND\nabc  ls\n");
    }

    #[test]
    fn columns_line_up_and_cells_are_escaped() {
        let mut table = Table::new(&["ID", "COMMAND"]);
        table.row(["long_id", "ls"]);
        table.row(["é", "\u{1b}[2J\n"]);
        assert_eq!(
            table.render(),
            "ID       COMMAND\nlong_id  ls\né        \\x1b[2J\\n\n"
        );
    }

    #[test]
    fn a_long_cell_makes_its_own_row_long_and_no_other() {
        let mut table = Table::new(&["ID", "COMMAND", "WHY"]);
        table.row(["a", &format!("x{}y", " ".repeat(5_000)), "long"]);
        table.row(["b", "ls", "short"]);
        let rendered = table.render();
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

    #[test]
    fn sizes() {
        let table = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1536, "1.5 KiB"),
            (12 << 20, "12.0 MiB"),
            (3 << 30, "3.0 GiB"),
        ];
        for (count, want) in table {
            assert_eq!(bytes(count), want);
        }
    }
}
