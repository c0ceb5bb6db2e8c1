//! A screen as plain text.

use termd_proto::screen::{Screen, ScreenRow};

use super::columns_of;

/// How a line that was too long for its row is rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrappedLines {
    /// Each row is a line of text.
    Apart,
    /// Each line that was printed is a line of text, however many rows it takes.
    Joined,
}

/// Renders the rows as text: lines ended by LF, without the blanks at their ends.
pub fn text(screen: &Screen, wrapped: WrappedLines) -> String {
    let mut out = String::new();
    let mut line_start = 0;
    for (at, row) in screen.lines.iter().enumerate() {
        let mut column = 0;
        for cell in row.runs.iter().flat_map(|run| run.cells()) {
            out.extend(std::iter::repeat_n(
                ' ',
                usize::from(cell.column.saturating_sub(column)),
            ));
            out.extend(cell.chars());
            column = cell.column.saturating_add(cell.width);
        }
        let next = screen.lines.get(at + 1);
        if let Some(next) = next.filter(|next| goes_on(row, next, wrapped)) {
            let full = columns_of(row, screen.cols);
            // A wide character that found one column left went to the next row, so no blank stands
            // there.
            let last_column_skipped = column.saturating_add(1) == full && begins_wide(next);
            if !last_column_skipped {
                out.extend(std::iter::repeat_n(
                    ' ',
                    usize::from(full.saturating_sub(column)),
                ));
            }
        } else {
            let kept = out.trim_end_matches(' ').len().max(line_start);
            out.truncate(kept);
            out.push('\n');
            line_start = out.len();
        }
    }
    out
}

fn goes_on(row: &ScreenRow, next: &ScreenRow, wrapped: WrappedLines) -> bool {
    wrapped == WrappedLines::Joined && row.wrapped && next.row == row.row.saturating_add(1)
}

fn begins_wide(row: &ScreenRow) -> bool {
    let first = row.runs.first().and_then(|run| run.cells().next());
    first.is_some_and(|cell| cell.column == 0 && cell.width == 2)
}
