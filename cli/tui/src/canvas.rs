//! What a tty shows, and the bytes that make it show something else.

use std::io::{self, Write as _};

use ratatui_core::backend::Backend as _;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};
use ratatui_core::style::Color;
use ratatui_crossterm::CrosstermBackend;
use ratatui_crossterm::crossterm::style::force_color_output;

/// Takes the tty's alternate screen, without autowrap: no cell reaches into the next row. The mouse is
/// told by mode 1000 as of mode 1006, pastes by mode 2004.
pub const ENTER: &[u8] =
    b"\x1b[?1049h\x1b[?7l\x1b[?25l\x1b[m\x1b[2J\x1b[?1000h\x1b[?1006h\x1b[?2004h";
/// Gives it back as it was.
pub const LEAVE: &[u8] = b"\x1b[?2004l\x1b[?1006l\x1b[?1000l\x1b[m\x1b[?7h\x1b[?25h\x1b[?1049l";
/// Around a frame (mode 2026): a tty that knows it shows nothing half drawn.
const FRAME_BEGINS: &[u8] = b"\x1b[?2026h";
const FRAME_ENDS: &[u8] = b"\x1b[?2026l";

/// Whether a tty is given colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colors {
    /// Its own, and those of programs.
    Shown,
    /// None: bold, faint and inverse say what they would.
    Hidden,
}

/// A tty of a size. Draws what differs from what it shows.
#[derive(Debug)]
pub struct Canvas {
    colors: Colors,
    /// `None`: it may show anything.
    shown: Option<Buffer>,
    cursor: Option<Position>,
}

impl Canvas {
    /// A tty that may show anything.
    pub fn new(colors: Colors) -> Self {
        // Whether there are colours is decided here alone.
        force_color_output(true);
        Self {
            colors,
            shown: None,
            cursor: None,
        }
    }

    /// Forgets what the tty shows.
    pub fn forget(&mut self) {
        self.shown = None;
    }

    /// The bytes that make the tty show a picture; none where it does already.
    pub fn draw(&mut self, picture: Picture) -> io::Result<Vec<u8>> {
        let Picture { mut buffer, cursor } = picture;
        if self.colors == Colors::Hidden {
            without_colors(&mut buffer);
        }
        let before = self.shown.take().filter(|shown| shown.area == buffer.area);
        let is_anew = before.is_none();
        let before = before.unwrap_or_else(|| Buffer::empty(buffer.area));
        let changes = before.diff(&buffer);
        if !is_anew && changes.is_empty() && cursor == self.cursor {
            self.shown = Some(buffer);
            return Ok(Vec::new());
        }
        let mut bytes = Vec::new();
        bytes.write_all(FRAME_BEGINS)?;
        let mut tty = CrosstermBackend::new(&mut bytes);
        tty.hide_cursor()?;
        if is_anew {
            tty.clear()?;
        }
        tty.draw(changes.into_iter())?;
        if let Some(cursor) = cursor {
            tty.set_cursor_position(cursor)?;
            tty.show_cursor()?;
        }
        bytes.write_all(FRAME_ENDS)?;
        self.shown = Some(buffer);
        self.cursor = cursor;
        Ok(bytes)
    }
}

/// Cells, and where the cursor is; `None`: it is hidden.
#[derive(Debug, Clone)]
pub struct Picture {
    /// The cells.
    pub buffer: Buffer,
    /// The cursor.
    pub cursor: Option<Position>,
}

impl Picture {
    /// A blank one of a size.
    pub fn blank(cols: u16, rows: u16) -> Self {
        Self {
            buffer: Buffer::empty(Rect::new(0, 0, cols, rows)),
            cursor: None,
        }
    }
}

fn without_colors(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        cell.fg = Color::Reset;
        cell.bg = Color::Reset;
        cell.underline_color = Color::Reset;
    }
}

#[cfg(test)]
mod tests {
    use ratatui_core::style::Style;

    use super::*;

    fn picture(text: &str) -> Picture {
        let mut picture = Picture::blank(10, 2);
        let red = Style::new().fg(Color::Red);
        picture.buffer.set_string(0, 0, text, red);
        picture
    }

    #[test]
    fn only_what_differs_is_drawn() {
        let mut canvas = Canvas::new(Colors::Shown);
        let all = canvas.draw(picture("one two")).unwrap();
        let all = String::from_utf8(all).unwrap();
        assert!(
            all.contains("one two") && all.contains("\x1b[2J"),
            "{all:?}"
        );
        assert_eq!(canvas.draw(picture("one two")).unwrap(), b"");
        let changed = canvas.draw(picture("one TWO")).unwrap();
        let changed = String::from_utf8(changed).unwrap();
        assert!(
            !changed.contains("one") && changed.contains("TWO"),
            "{changed:?}"
        );
        assert!(!changed.contains("\x1b[2J"), "{changed:?}");
        canvas.forget();
        let all = String::from_utf8(canvas.draw(picture("one TWO")).unwrap()).unwrap();
        assert!(all.contains("one TWO"), "{all:?}");
    }

    #[test]
    fn colours_are_hidden() {
        let colored = |colors| {
            let drawn = Canvas::new(colors).draw(picture("red")).unwrap();
            String::from_utf8(drawn).unwrap().contains("\x1b[38;5;1")
        };
        assert!(colored(Colors::Shown));
        assert!(!colored(Colors::Hidden));
    }
}
