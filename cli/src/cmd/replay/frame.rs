//! What a tty shows, cell by cell, and the bytes that change it into what it is to show. Pure.
//!
//! Only characters that are safe to show get into a cell, and only styles without links. So nothing that
//! a recording printed acts on the tty that shows it.

use std::fmt::Write as _;

use regex::Regex;
use termd_proto::screen::{Screen, ScreenRow, Style, StyleRun};
use termd_vt::render::Pen;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::arg_types::Size;

/// A cell of the tty.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FrameCell {
    text: String,
    style: Style,
    /// Columns; 0: the cell before is wide.
    width: u16,
}

impl Default for FrameCell {
    fn default() -> Self {
        Self {
            text: " ".to_owned(),
            style: Style::default(),
            width: 1,
        }
    }
}

/// What a tty of a size shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    size: Size,
    cells: Vec<FrameCell>,
    /// Column and row; `None`: it is hidden.
    cursor: Option<(u16, u16)>,
}

impl Frame {
    pub(super) fn blank(size: Size) -> Self {
        let cells = usize::from(size.cols) * usize::from(size.rows);
        Self {
            size,
            cells: vec![FrameCell::default(); cells],
            cursor: None,
        }
    }

    pub(super) fn size(&self) -> Size {
        self.size
    }

    /// Writes what fits from a column on.
    pub(super) fn write(&mut self, (row, col): (u16, u16), text: &str, style: &Style) {
        let width = UnicodeWidthStr::width(text);
        let run = StyleRun {
            column: col,
            width: u16::try_from(width).unwrap_or(u16::MAX),
            text: text.to_owned(),
            style: Style::default(),
        };
        for cell in run.cells() {
            self.put(
                (row, cell.column),
                cell.chars().collect(),
                style,
                cell.width,
            );
        }
    }

    /// Draws a screen above the last `bars` rows. Of a larger one it shows the part with the cursor. What
    /// the pattern matches is lit.
    pub(super) fn draw(&mut self, screen: &Screen, bars: u16, lit: Option<&Regex>) {
        let rows = self.size.rows.saturating_sub(bars);
        let cursor = screen.cursor;
        let from_row = first_shown(cursor.row, screen.rows, rows);
        let from_col = first_shown(cursor.column, screen.cols, self.size.cols);
        for line in &screen.lines {
            let row = u16::try_from(line.row).ok();
            let Some(row) = row.and_then(|row| row.checked_sub(from_row)) else {
                continue;
            };
            if row < rows {
                self.draw_row(line, row, from_col, screen.modes.reverse_video);
                if let Some(pattern) = lit {
                    self.light(row, pattern);
                }
            }
        }
        let col = cursor.column.checked_sub(from_col);
        let row = cursor.row.checked_sub(from_row);
        self.cursor = col
            .zip(row)
            .filter(|(col, row)| cursor.visible && *col < self.size.cols && *row < rows);
    }

    fn draw_row(&mut self, line: &ScreenRow, row: u16, from_col: u16, is_reversed: bool) {
        for run in &line.runs {
            let mut style = run.style.clone();
            style.hyperlink = None;
            style.inverse ^= is_reversed;
            for cell in run.cells() {
                let Some(col) = cell.column.checked_sub(from_col) else {
                    continue;
                };
                self.put((row, col), cell.chars().collect(), &style, cell.width);
            }
        }
    }

    /// Shows a row's matches inverse.
    fn light(&mut self, row: u16, pattern: &Regex) {
        let Some(cells) = self.row_mut(row) else {
            return;
        };
        let mut text = String::new();
        let mut starts = Vec::with_capacity(cells.len());
        for cell in cells.iter() {
            starts.push(text.len());
            if cell.width > 0 {
                text.push_str(&cell.text);
            }
        }
        for found in pattern.find_iter(text.trim_end()) {
            for (cell, start) in cells.iter_mut().zip(&starts) {
                if found.range().contains(start) {
                    cell.style.inverse = !cell.style.inverse;
                }
            }
        }
    }

    fn row_mut(&mut self, row: u16) -> Option<&mut [FrameCell]> {
        let cols = usize::from(self.size.cols);
        let start = usize::from(row) * cols;
        self.cells.get_mut(start..start + cols)
    }

    fn put(&mut self, (row, col): (u16, u16), text: String, style: &Style, width: u16) {
        if col.saturating_add(width) > self.size.cols {
            return;
        }
        let Some(cells) = self.row_mut(row) else {
            return;
        };
        let Some(cells) = cells.get_mut(usize::from(col)..usize::from(col + width)) else {
            return;
        };
        for (place, cell) in cells.iter_mut().enumerate() {
            cell.style.clone_from(style);
            cell.width = if place == 0 { width } else { 0 };
            cell.text.clear();
        }
        if let Some(first) = cells.first_mut() {
            first.text = text;
        }
    }

    /// The bytes that make a tty without autowrap, which shows `before`, show this. `None`: it may show
    /// anything.
    pub(super) fn changes(&self, before: Option<&Self>) -> Vec<u8> {
        let before = before.filter(|before| before.size == self.size);
        let mut out = String::from("\x1b[?25l");
        if before.is_none() {
            out.push_str("\x1b[m\x1b[2J");
        }
        let blank = FrameCell::default();
        let mut pen = Pen::default();
        let cols = usize::from(self.size.cols);
        let (mut tty_at, mut covered_to) = (None, 0);
        for (place, cell) in self.cells.iter().enumerate() {
            let shown = before.map_or(&blank, |before| &before.cells[place]);
            let is_covered = place < covered_to;
            if cell.width == 0 || (cell == shown && !is_covered) {
                continue;
            }
            let go_there = format!("\x1b[{};{}H", place / cols + 1, place % cols + 1);
            if tty_at != Some(place) {
                out.push_str(&go_there);
            }
            pen.take(&cell.style, &mut out);
            let width = usize::from(cell.width);
            if cell.text.chars().nth(1).is_some() {
                // Terminals differ in the width of a sequence of characters: some show less than the
                // cell, and some cover those behind it.
                out.extend(std::iter::repeat_n(' ', width));
                out.push_str(&go_there);
                covered_to = place
                    + cell
                        .text
                        .chars()
                        .filter_map(UnicodeWidthChar::width)
                        .sum::<usize>();
            }
            out.push_str(&cell.text);
            tty_at = (cell.text.len() == 1).then_some(place + width);
            // The cursor does not leave the row.
            tty_at = tty_at.filter(|next| next % cols != 0);
        }
        pen.put_down(&mut out);
        if let Some((col, row)) = self.cursor {
            put(
                &mut out,
                format_args!("\x1b[{};{}H\x1b[?25h", row + 1, col + 1),
            );
        }
        out.into_bytes()
    }
}

/// The first row or column of a part that has the cursor in it.
fn first_shown(cursor: u16, all: u16, shown: u16) -> u16 {
    if all <= shown {
        return 0;
    }
    (cursor.saturating_add(1)).saturating_sub(shown)
}

/// A write to a `String` does not fail.
fn put(out: &mut String, formatted: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(formatted);
}

#[cfg(test)]
mod tests {
    use termd_proto::screen::ScreenRows;
    use termd_vt::{Model, Scrollback};

    use super::*;

    fn model((cols, rows): (usize, usize), output: &str) -> Model {
        let mut model = Model::new(termd_vt::Size { cols, rows }, Scrollback::new(100, 1 << 20));
        model.feed(output.as_bytes());
        model
    }

    fn frame((cols, rows): (u16, u16), recorded: &Model) -> Frame {
        let mut frame = Frame::blank(Size { cols, rows });
        frame.draw(&recorded.screen(ScreenRows::default()), 1, None);
        frame
    }

    fn rows(tty: &Model) -> Vec<String> {
        (0..tty.size().rows).map(|y| tty.row_text(y)).collect()
    }

    #[test]
    fn a_tty_shows_each_frame_whatever_it_showed_before() {
        let mut recorded = model((10, 4), "plain \x1b[1;31mred\x1b[m\r\n漢字 é x");
        let mut tty = model((10, 5), "whatever was\r\nhere before\x1b[44m");
        let first = frame((10, 5), &recorded);
        tty.feed(&first.changes(None));
        assert_eq!(rows(&tty), ["plain red", "漢字 é x", "", "", ""]);
        assert_eq!(tty.cursor(), recorded.cursor());
        recorded.feed("\x1b[2;2Hab\x1b[1;1H\x1b[Kbrief\x1b[?25l".as_bytes());
        let second = frame((10, 5), &recorded);
        let changes = second.changes(Some(&first));
        tty.feed(&changes);
        assert_eq!(rows(&tty), ["brief", " ab  é x", "", "", ""]);
        assert!(tty.hides_cursor());
        assert_eq!(second.changes(Some(&second)), b"\x1b[?25l");
        assert_eq!(tty.screen(ScreenRows::default()).lines[0].runs.len(), 1);
    }

    #[test]
    fn a_larger_screen_is_shown_around_its_cursor() {
        let recorded = model((20, 6), "1\r\n2\r\n3\r\n4\r\n5\r\n01234567890123456789");
        let mut tty = model((10, 3), "");
        tty.feed(&frame((10, 3), &recorded).changes(None));
        assert_eq!(rows(&tty), ["", "0123456789", ""]);
        assert_eq!(tty.cursor(), (9, 1));
    }

    /// Checks that bytes for a tty hold nothing but text, places, colours, and the cursor's visibility.
    #[track_caller]
    fn assert_only_draws(bytes: Vec<u8>) -> String {
        let text = String::from_utf8(bytes).unwrap();
        let mut rest = text.as_str();
        while let Some((_, after)) = rest.split_once('\x1b') {
            let after = after.strip_prefix('[').expect("a control sequence");
            let end = after.find(|c: char| ('@'..='~').contains(&c)).unwrap();
            let (params, last) = (&after[..end], &after[end..=end]);
            let is_own = match (params, last) {
                ("?25", "h" | "l") | ("2", "J") => true,
                (params, "H" | "m") => params.bytes().all(|b| matches!(b, b'0'..=b';')),
                _ => false,
            };
            assert!(is_own, "{params:?} {last}");
            rest = &after[end..];
        }
        let turns = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}');
        let acts = |c: char| (c.is_control() && c != '\x1b') || turns(c);
        assert!(!text.chars().any(acts), "{text:?}");
        text
    }

    #[test]
    fn nothing_that_acts_on_a_tty_passes() {
        let output = "\x1b]0;title\x07\x1b]52;c;aGk=\x07\x1b]8;;http://e/\x07link\x1b]8;;\x07\x1b[c\x1b[?1000h\
                      \x1b[?1049h\u{9b}5n\x1b[6n\x1bP$qm\x1b\\\x1b[5 q\x07safe \u{202e}text";
        let recorded = model((30, 4), output);
        let text = assert_only_draws(frame((30, 5), &recorded).changes(None));
        assert!(text.contains("safe") && text.contains("text"), "{text:?}");
        let mut tty = model((30, 5), "");
        let fed = tty.feed(text.as_bytes());
        assert!(fed.replies.is_empty());
        assert_eq!(tty.screen(ScreenRows::default()).title, "");
    }

    #[test]
    fn whatever_was_printed_is_only_drawn_and_drawn_alike() {
        let pieces = [
            "text ",
            "漢字",
            "\u{1f469}\u{200d}\u{1f680}",
            "e\u{301}",
            "\u{202e}",
            "\u{85}",
            "\u{2028}",
            "\r\n",
            "\x1b[31;4:3m",
            "\x1b[?2027h",
            "\x1b[3;7H",
            "\x1b[K",
            "\x1b]8;id=1;http://e/\x1b\\",
            "\x1b]2;t\x07",
            "\x1b[?5h",
            "\x1b#6",
            "\x1b[?1049h",
            "\x1b[2J",
            "\x1b[>c",
            "\x1bc",
        ];
        for seed in 0_u64..300 {
            let mut state = seed;
            let mut recorded = model((16, 5), "");
            let mut tty = model((16, 6), "before\x1b[?7l");
            let mut before = None;
            for _ in 0..8 {
                for _ in 0..6 {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    let piece = pieces[(state >> 40) as usize % pieces.len()];
                    recorded.feed(piece.as_bytes());
                }
                let next = frame((16, 6), &recorded);
                let changes = assert_only_draws(next.changes(before.as_ref()));
                tty.feed(changes.as_bytes());
                // By what was drawn last, and all at once.
                let mut anew = model((16, 6), "\x1b[?7l");
                anew.feed(&next.changes(None));
                assert_eq!(rows(&tty), rows(&anew), "{seed}");
                assert_eq!(tty.hides_cursor(), next.cursor.is_none());
                before = Some(next);
            }
        }
    }

    #[test]
    fn what_a_pattern_matches_is_lit() {
        let recorded = model((10, 2), "a 漢b c");
        let mut lit = Frame::blank(Size { cols: 10, rows: 3 });
        let pattern = Regex::new("漢b").unwrap();
        lit.draw(&recorded.screen(ScreenRows::default()), 1, Some(&pattern));
        let is_lit = |cell: &FrameCell| cell.style.inverse;
        let columns: Vec<_> = lit.cells.iter().take(7).map(is_lit).collect();
        assert_eq!(columns, [false, false, true, true, true, false, false]);
    }
}
