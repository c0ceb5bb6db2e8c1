//! A terminal's screen in the cells of a tty. Pure.
//!
//! Only characters that are safe to show get into a cell, and only styles without links, so that nothing
//! that a program printed acts on the tty. What does not fit is cut off and never wrapped.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};
use ratatui_core::style::{Color, Modifier, Style};
use termd_proto::cells::Cell;
use termd_proto::screen::{self, Screen, Underline};
use unicode_width::UnicodeWidthChar as _;

/// Draws a screen into an area. Of a larger one it shows the part with the cursor, or `from_row` on.
/// Returns where the cursor is, if it is shown.
pub fn draw(screen: &Screen, from_row: i64, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    let from_col = first_shown(screen.cursor.column, screen.cols, area.width);
    draw_rows(screen, (from_row, from_col), area, buffer);
    let column = screen.cursor.column.checked_sub(from_col)?;
    let row = place(i64::from(screen.cursor.row) - from_row, area.height)?;
    let is_shown = screen.cursor.visible && column < area.width;
    is_shown.then(|| Position::new(area.x + column, area.y + row))
}

/// Draws the rows of a screen that it has, from a row and a column on, into an area.
pub fn draw_rows(
    screen: &Screen,
    (from_row, from_col): (i64, u16),
    area: Rect,
    buffer: &mut Buffer,
) {
    for line in &screen.lines {
        let Some(row) = place(line.row - from_row, area.height) else {
            continue;
        };
        for run in &line.runs {
            let style = style_of(&run.style, screen.modes.reverse_video);
            for cell in run.cells() {
                if let Some(column) = cell.column.checked_sub(from_col)
                    && column.saturating_add(cell.width) <= area.width
                {
                    put(&cell, style, (area.x + column, area.y + row), buffer);
                }
            }
        }
    }
}

/// The first row that is shown of a screen: the part with the cursor.
pub fn first_row(screen: &Screen, rows: u16) -> u16 {
    first_shown(screen.cursor.row, screen.rows, rows)
}

/// The first row or column of a part that has the cursor in it.
fn first_shown(cursor: u16, all: u16, shown: u16) -> u16 {
    if all <= shown {
        return 0;
    }
    cursor.saturating_add(1).saturating_sub(shown)
}

fn place(row: i64, rows: u16) -> Option<u16> {
    u16::try_from(row).ok().filter(|row| *row < rows)
}

/// Terminals differ in the width of a sequence of characters, so that of one that is joined (a flag, a
/// family) its first character is shown, with the marks that combine with it.
fn put(cell: &Cell<'_>, style: Style, (x, y): (u16, u16), buffer: &mut Buffer) {
    let mut text = String::new();
    let mut width = 0;
    for c in cell.chars() {
        let own = c.width().unwrap_or(0);
        if width > 0 && own > 0 || matches!(c, '\u{200d}' | '\u{fe0e}' | '\u{fe0f}') {
            break;
        }
        width += own;
        text.push(c);
    }
    if width == 0 || width > usize::from(cell.width) {
        " ".clone_into(&mut text);
        width = 1;
    }
    for column in 0..cell.width {
        if let Some(place) = buffer.cell_mut((x + column, y)) {
            place.reset();
            place.set_style(style);
            if column == 0 {
                place.set_symbol(&text);
            } else if usize::from(column) < width {
                // Behind a wide character nothing is drawn.
                place.set_symbol(" ");
            }
        }
    }
}

fn style_of(style: &screen::Style, is_reversed: bool) -> Style {
    let mut modifier = Modifier::empty();
    for (is_on, flag) in [
        (style.bold, Modifier::BOLD),
        (style.faint, Modifier::DIM),
        (style.italic, Modifier::ITALIC),
        (style.underline != Underline::None, Modifier::UNDERLINED),
        (style.blink, Modifier::SLOW_BLINK),
        (style.inverse != is_reversed, Modifier::REVERSED),
        (style.invisible, Modifier::HIDDEN),
        (style.crossed_out, Modifier::CROSSED_OUT),
    ] {
        modifier.set(flag, is_on);
    }
    Style::new()
        .fg(color(style.foreground))
        .bg(color(style.background))
        .underline_color(color(style.underline_color))
        .add_modifier(modifier)
}

fn color(color: screen::Color) -> Color {
    match color {
        screen::Color::Default => Color::Reset,
        screen::Color::Indexed(index) => Color::Indexed(index),
        screen::Color::Rgb(red, green, blue) => Color::Rgb(red, green, blue),
    }
}
