//! Properties for any screen: another terminal shows the same, and nothing harmful gets through.

use termd_proto::screen::{Color, LineSize, Screen, ScreenFormat, Style, Underline};
use unicode_width::UnicodeWidthStr as _;

use super::super::{View, ansi, attach, render};
use super::{client, screen};

/// A pseudo-random sequence that is the same each time (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    fn color(&mut self) -> Color {
        let byte = u8::try_from(self.below(256)).unwrap();
        match self.below(3) {
            0 => Color::Default,
            1 => Color::Indexed(byte),
            _ => Color::Rgb(byte, 255 - byte, 7),
        }
    }

    fn style(&mut self) -> Style {
        Style {
            foreground: self.color(),
            background: self.color(),
            underline: if self.below(3) == 0 {
                Underline::Single
            } else {
                Underline::None
            },
            bold: self.below(3) == 0,
            faint: self.below(4) == 0,
            italic: self.below(3) == 0,
            inverse: self.below(3) == 0,
            ..Style::default()
        }
    }

    fn screen(&mut self) -> Screen {
        let cols = 2 + self.below(30);
        let mut rows = Vec::new();
        for _ in 0..=self.below(6) {
            let mut row = Vec::new();
            let mut left = cols;
            while left >= 2 && self.below(5) > 0 {
                let pieces = ["a", "Z", " ", "漢", "é", "e\u{301}", "─", "😀", "  "];
                let text = pieces[usize::try_from(self.below(9)).unwrap()];
                row.push((text, self.style()));
                left -= u64::try_from(text.width()).unwrap();
            }
            rows.push(row);
        }
        let rows: Vec<_> = rows.iter().map(Vec::as_slice).collect();
        let mut screen = screen(u16::try_from(cols).unwrap(), &rows);
        screen.cursor.row = u16::try_from(self.below(rows.len() as u64)).unwrap();
        screen.cursor.column = u16::try_from(self.below(cols)).unwrap();
        screen.cursor.visible = self.below(2) == 0;
        screen
    }
}

/// Every cell, and the cursor, must be the same on both terminals.
#[track_caller]
fn shows(client: &vt100::Screen, screen: &Screen, sent: &str) {
    let color = |color| match color {
        Color::Default => vt100::Color::Default,
        Color::Indexed(index) => vt100::Color::Idx(index),
        Color::Rgb(red, green, blue) => vt100::Color::Rgb(red, green, blue),
    };
    for line in &screen.lines {
        let row = u16::try_from(line.row).unwrap();
        let mut end = 0;
        for run in &line.runs {
            for cell in run.cells() {
                let seen = client.cell(row, cell.column).unwrap();
                let sent = sent.escape_debug();
                let text = if seen.contents().is_empty() {
                    " "
                } else {
                    seen.contents()
                };
                assert_eq!(text, cell.text, "{sent}");
                assert_eq!(seen.is_wide(), cell.width == 2, "{sent}");
                assert_eq!(seen.fgcolor(), color(run.style.foreground), "{sent}");
                assert_eq!(seen.bgcolor(), color(run.style.background), "{sent}");
                // It knows one intensity: bold and faint end one another.
                let intensity = (seen.bold(), seen.dim());
                let style = &run.style;
                if !(style.bold && style.faint) {
                    assert_eq!(intensity, (style.bold, style.faint), "{sent}");
                }
                assert_eq!(seen.italic(), style.italic, "{sent}");
                assert_eq!(seen.inverse(), style.inverse, "{sent}");
                assert_eq!(
                    seen.underline(),
                    style.underline != Underline::None,
                    "{sent}"
                );
                end = cell.column + cell.width;
            }
        }
        for column in end..screen.cols {
            let seen = client.cell(row, column).unwrap();
            assert!(seen.contents().is_empty() && seen.bgcolor() == vt100::Color::Default);
        }
    }
    let cursor = (screen.cursor.row, screen.cursor.column);
    assert_eq!(client.cursor_position(), cursor);
    assert_eq!(client.hide_cursor(), !screen.cursor.visible);
}

#[test]
fn another_terminal_shows_the_same() {
    let mut dice = Dice(7);
    for _ in 0..1_000 {
        let screen = dice.screen();
        let mut seen_by = client(screen.rows, screen.cols);
        let sent = ansi(&screen);
        seen_by.process(sent.as_bytes());
        shows(seen_by.screen(), &screen, &sent);

        let mut seen_by = client(screen.rows + 2, screen.cols + 3);
        seen_by.process(b"\x1b[?1049h\x1b[44;1mnoise\r\nnoise\x1b[2;3r\x1b[?6h\x1b]8;;http://");
        let view = View {
            cols: screen.cols + 3,
            rows: screen.rows + 2,
        };
        let sent = attach(&screen, view);
        seen_by.process(sent.as_bytes());
        shows(seen_by.screen(), &screen, &sent);
    }
}

#[test]
fn inconsistent_screens_do_not_panic() {
    let mut dice = Dice(11);
    for _ in 0..1_000 {
        let mut screen = dice.screen();
        for line in &mut screen.lines {
            line.row = [i64::MIN, -1, 0, 3, i64::MAX][usize::try_from(dice.below(5)).unwrap()];
            line.wrapped = dice.below(2) == 0;
            line.size = [LineSize::DoubleWidth, LineSize::DoubleHeightBottom]
                [usize::try_from(dice.below(2)).unwrap()];
            for run in &mut line.runs {
                run.text.push_str("\u{1b}[2J\u{9b}1m\r\n\u{202e}");
                run.column = u16::try_from(dice.below(9)).unwrap();
                run.width = u16::try_from(dice.below(9)).unwrap();
            }
        }
        screen.cursor.row = u16::MAX;
        screen.cursor.column = u16::MAX;
        for format in [ScreenFormat::Text, ScreenFormat::Html] {
            let rendering = render(&screen, format).unwrap();
            let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!rendering.contains(bad), "{rendering:?}");
        }
        let view = View { cols: 0, rows: 0 };
        for rendering in [ansi(&screen), attach(&screen, view)] {
            assert!(!rendering.contains("\x1b[1m\r\n") && !rendering.contains('\u{9b}'));
        }
    }
}
