//! Tables, times and sizes for a person.
//!
//! Pure. A table escapes every cell, so that no caller can forget it.

use std::fmt::Write as _;

use termd_client::escape::escaped;

/// The widest column, in characters.
const MAX_COLUMN_CHARS: usize = 80;

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
