//! A screen as text with the control sequences that draw it on a cleared xterm of its size.
//!
//! It does not say where on that terminal it begins, so a shell can print it as well: CR LF
//! separates the rows, and the cursor is placed relative to the last row.

use termd_proto::screen::{CursorShape, LineSize, Screen, ScreenRow};

use super::put;
use super::sgr::Pen;

/// Renders the rows with the fewest changes of SGR and OSC 8, then the cursor's position, shape and
/// visibility. Rows that the screen leaves out are skipped over.
pub fn ansi(screen: &Screen) -> String {
    let mut out = String::new();
    let mut pen = Pen::default();
    let mut last: Option<i64> = None;
    for row in &screen.lines {
        if let Some(last) = last {
            // More than the height of a screen is out of it.
            let farthest = i64::from(screen.rows).max(1);
            let down = row.row.saturating_sub(last).clamp(1, farthest);
            for _ in 0..down {
                out.push_str("\r\n");
            }
        }
        last = Some(row.row);
        out.push_str(line_size(row.size));
        draw_row(row, 0, u16::MAX, &mut pen, &mut out);
        // A line feed at the bottom fills the new row with the background in force.
        pen.put_down(&mut out);
    }
    place_cursor(screen, last, &mut out);
    out
}

/// DECDHL, DECDWL. A cleared row is single-width.
pub(crate) fn line_size(size: LineSize) -> &'static str {
    match size {
        LineSize::Single => "",
        LineSize::DoubleHeightTop => "\x1b#3",
        LineSize::DoubleHeightBottom => "\x1b#4",
        LineSize::DoubleWidth => "\x1b#6",
    }
}

/// Draws the columns `from..to` of a row from where the cursor is. A wide character across an edge
/// is blank.
/// edge is blank.
pub(crate) fn draw_row(row: &ScreenRow, from: u16, to: u16, pen: &mut Pen, out: &mut String) {
    let mut at = from;
    for run in &row.runs {
        for cell in run.cells() {
            let end = cell.column.saturating_add(cell.width);
            if end <= at || cell.column >= to {
                continue;
            }
            if cell.column > at {
                pen.put_down(out);
                blanks(cell.column - at, out);
                at = cell.column;
            }
            pen.take(&run.style, out);
            if cell.column < from || end > to {
                blanks(end.min(to) - at, out);
                at = end.min(to);
                continue;
            }
            out.extend(cell.chars());
            at = end;
            // Terminals differ in the width of a sequence of characters.
            if cell.text.chars().nth(1).is_some() && at < to {
                put(out, format_args!("\x1b[{}G", at - from + 1));
            }
        }
    }
}

fn blanks(count: u16, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', usize::from(count)));
}

fn place_cursor(screen: &Screen, last: Option<i64>, out: &mut String) {
    let cursor = screen.cursor;
    let first = screen.lines.first().map(|row| row.row);
    let row = i64::from(cursor.row);
    if let (Some(first), Some(last)) = (first, last)
        && (first..=last).contains(&row)
    {
        if row < last {
            put(out, format_args!("\x1b[{}A", last - row));
        }
        put(out, format_args!("\x1b[{}G", u32::from(cursor.column) + 1));
    }
    out.push_str(cursor_shape(cursor.shape, cursor.blinking));
    out.push_str(if cursor.visible {
        "\x1b[?25h"
    } else {
        "\x1b[?25l"
    });
}

/// DECSCUSR.
pub(crate) fn cursor_shape(shape: CursorShape, blinking: bool) -> &'static str {
    match (shape, blinking) {
        (CursorShape::Block, true) => "\x1b[1 q",
        (CursorShape::Block, false) => "\x1b[2 q",
        (CursorShape::Underline, true) => "\x1b[3 q",
        (CursorShape::Underline, false) => "\x1b[4 q",
        (CursorShape::Bar, true) => "\x1b[5 q",
        (CursorShape::Bar, false) => "\x1b[6 q",
    }
}
