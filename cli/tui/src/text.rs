//! Texts in columns: cut, wrapped, and written into cells. Pure.
//!
//! Each text has been made safe by [`termd_client::escape`]; what it forgot is left out of the cells.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Columns of a text.
pub fn width(text: &str) -> u16 {
    u16::try_from(text.width()).unwrap_or(u16::MAX)
}

/// The beginning of a text in a given number of columns; `…` where it was cut.
pub fn cut(text: &str, columns: u16) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut kept = String::from(head(text, columns.saturating_sub(1)));
    if columns > 0 {
        kept.push('…');
    }
    kept
}

/// The end of a text in a given number of columns; `…` where it was cut.
pub fn cut_left(text: &str, columns: u16) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let most = usize::from(columns.saturating_sub(1));
    let starts = text.char_indices().map(|(at, _)| at);
    let mut tails = starts.map(|at| &text[at..]);
    let tail = tails.find(|tail| tail.width() <= most).unwrap_or_default();
    if columns == 0 {
        String::new()
    } else {
        format!("…{tail}")
    }
}

/// As much of a text as fits into a given number of columns.
fn head(text: &str, columns: u16) -> &str {
    let mut left = usize::from(columns);
    let end = text.char_indices().find_map(|(at, c)| {
        let width = c.width().unwrap_or(0);
        if width > left {
            return Some(at);
        }
        left -= width;
        None
    });
    &text[..end.unwrap_or(text.len())]
}

/// A text in lines of at most a given number of columns, broken at blanks where that can be. Nothing is left out.
pub fn wrap(text: &str, columns: u16) -> Vec<String> {
    let columns = columns.max(2);
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut rest = line;
        loop {
            let fits = head(rest, columns);
            if fits.len() == rest.len() {
                lines.push(rest.to_owned());
                break;
            }
            // A blank at the beginning indents, and breaks nothing.
            let indent = fits.len() - fits.trim_start().len();
            let blank = fits.rfind(' ').filter(|at| *at > indent);
            let end = blank.map_or(fits.len(), |at| at + 1);
            lines.push(rest[..end].trim_end().to_owned());
            rest = &rest[end..];
        }
    }
    lines
}

/// Writes what fits of a text into a row, from a column on. Returns the column behind it.
pub fn put(buffer: &mut Buffer, (x, y): (u16, u16), end: u16, text: &str, style: Style) -> u16 {
    let area = buffer.area;
    if y >= area.bottom() || x >= end.min(area.right()) {
        return x;
    }
    let (behind, _) = buffer.set_stringn(x, y, text, usize::from(end - x), style);
    behind
}

/// Gives all cells of an area a style.
pub fn paint(buffer: &mut Buffer, area: Rect, style: Style) {
    buffer.set_style(area, style);
}

/// Blanks an area.
pub fn clear(buffer: &mut Buffer, area: Rect) {
    let area = area.intersection(buffer.area);
    for y in area.top()..area.bottom() {
        for x in area.left()..area.right() {
            if let Some(cell) = buffer.cell_mut((x, y)) {
                cell.reset();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_at_either_end() {
        for (text, columns, left, right) in [
            ("abc", 3, "abc", "abc"),
            ("abcd", 3, "ab…", "…cd"),
            ("漢字漢字", 4, "漢…", "…字"),
            ("abcd", 1, "…", "…"),
            ("abcd", 0, "", ""),
        ] {
            assert_eq!(cut(text, columns), left);
            assert_eq!(cut_left(text, columns), right);
        }
    }

    #[test]
    fn a_wrapped_text_is_whole() {
        for (text, columns, want) in [
            ("one two three", 8, &["one two", "three"][..]),
            ("abcdefghij", 4, &["abcd", "efgh", "ij"]),
            ("    rm -rf build", 10, &["    rm", "-rf build"]),
            ("a\n\nb", 10, &["a", "", "b"]),
            ("漢字漢字", 5, &["漢字", "漢字"]),
        ] {
            assert_eq!(wrap(text, columns), want, "{text:?}");
        }
    }
}
