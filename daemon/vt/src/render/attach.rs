//! A screen for a client that has just attached: its tty is made to show it, and to write input as
//! the program in the terminal wants it, whatever it showed and did before.
//!
//! **What a [`Screen`] does not tell** is not set: colours in force, margins, tab stops, character
//! sets and the saved cursor are the defaults afterwards. So the output that follows may be passed
//! on as it is only to a client that gets those from the model's dump.

use termd_proto::screen::{LineSize, MouseEncoding, MouseMode, Screen, ScreenModes};

use super::ansi::{cursor_shape, draw_row, line_size};
use super::put;
use super::sgr::Pen;

/// The client's size, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// Columns.
    pub cols: u16,
    /// Rows.
    pub rows: u16,
}

/// Default rendition, no hyperlink, US-ASCII, no margins, origin and insert mode off, and no
/// wrapping while rows are drawn to the last column.
const BEGIN: &str = "\x1b[m\x1b]8;;\x1b\\\x0f\x1b(B\x1b)B\x1b[?69l\x1b[r\x1b[?6l\
\x1b[4l\x1b[?7l";

/// Every mouse mode and encoding off: a mode of these is not always ended by another.
const MOUSE_OFF: &str = "\x1b[?9;1000;1001;1002;1003;1005;1006;1015;1016l";

/// What makes a client's tty of this size show the screen, the part with the cursor where it is
/// too small, and work in the screen's modes.
pub fn attach(screen: &Screen, view: View) -> String {
    // CAN ends a sequence that was begun; then from here to the end one picture (mode 2026).
    let mut out = String::from("\x18\x1b[?2026h");
    let modes = screen.modes;
    // First of all: going to the alternate screen saves the cursor as it is, and the margins below
    // would move it. Leaving moves it, and it is placed below.
    set_or_reset(screen.alternate, "?1049", &mut out);
    out.push_str(BEGIN);
    set_or_reset(modes.reverse_video, "?5", &mut out);
    out.push_str("\x1b[H\x1b[2J");
    let window = Window::of(screen, view);
    let mut pen = Pen::default();
    for row in &screen.lines {
        let Some(line) = window.line_of(row.row) else {
            continue;
        };
        put(&mut out, format_args!("\x1b[{line}H"));
        out.push_str(line_size(row.size));
        let (from, to) = window.columns(row.size);
        draw_row(row, from, to, &mut pen, &mut out);
        pen.put_down(&mut out);
    }
    // A cursor over a screen that is not given has nothing to be drawn on, and stands all the same.
    place_cursor(screen, window, &mut out);
    write_modes(screen, &mut out);
    out.push_str("\x1b[?2026l");
    out
}

/// The part of the screen that the client sees.
#[derive(Debug, Clone, Copy)]
struct Window {
    top: u16,
    left: u16,
    view: View,
}

impl Window {
    /// As far to the top left as it can be with the cursor in it.
    fn of(screen: &Screen, view: View) -> Self {
        let view = View {
            cols: view.cols.max(1),
            rows: view.rows.max(1),
        };
        let cursor = screen.cursor;
        let factor = if size_at(screen, cursor.row) == LineSize::Single {
            1
        } else {
            2
        };
        let column = cursor.column.saturating_mul(factor);
        Self {
            top: (cursor.row.saturating_add(1)).saturating_sub(view.rows),
            left: (column.saturating_add(factor)).saturating_sub(view.cols),
            view,
        }
    }

    /// The client's line for a row of the screen, from 1.
    fn line_of(self, row: i64) -> Option<u16> {
        let line = u16::try_from(row).ok()?.checked_sub(self.top)?;
        (line < self.view.rows).then_some(line.saturating_add(1))
    }

    /// The columns of a row of this size that are seen: the first, and the one after the last.
    fn columns(self, size: LineSize) -> (u16, u16) {
        let end = self.left.saturating_add(self.view.cols);
        match size {
            LineSize::Single => (self.left, end),
            LineSize::DoubleWidth | LineSize::DoubleHeightTop | LineSize::DoubleHeightBottom => {
                // From its middle on a character is not drawn: none is cut by the left edge.
                (self.left.div_ceil(2), end / 2)
            }
        }
    }
}

fn size_at(screen: &Screen, row: u16) -> LineSize {
    let line = screen.lines.iter().find(|line| line.row == i64::from(row));
    line.map_or(LineSize::Single, |line| line.size)
}

fn place_cursor(screen: &Screen, window: Window, out: &mut String) {
    let cursor = screen.cursor;
    let (left, end) = window.columns(size_at(screen, cursor.row));
    let line = cursor.row.saturating_sub(window.top).saturating_add(1);
    let column = cursor.column.saturating_sub(left).saturating_add(1);
    set_or_reset(screen.modes.autowrap, "?7", out);
    put(out, format_args!("\x1b[{line};{column}H"));
    let at_the_edge = cursor.column.saturating_add(1) == end;
    if cursor.wrap_pending && at_the_edge && screen.modes.autowrap {
        write_last_cell_again(screen, left, out);
    }
}

/// The one way to have another terminal wrap before its next character.
fn write_last_cell_again(screen: &Screen, left: u16, out: &mut String) {
    let cursor = screen.cursor;
    let row = screen
        .lines
        .iter()
        .find(|line| line.row == i64::from(cursor.row));
    let cells = row.into_iter().flat_map(|row| &row.runs).flat_map(|run| {
        let style = &run.style;
        run.cells().map(move |cell| (cell, style))
    });
    for (cell, style) in cells {
        let end = cell.column.saturating_add(cell.width);
        if cell.column <= cursor.column && cursor.column < end && cell.column >= left {
            if cell.column < cursor.column {
                put(out, format_args!("\x1b[{}D", cursor.column - cell.column));
            }
            let mut pen = Pen::default();
            pen.take(style, out);
            out.extend(cell.chars());
            pen.put_down(out);
        }
    }
}

/// The modes that say how input is written, and how the next output is.
fn write_modes(screen: &Screen, out: &mut String) {
    let ScreenModes {
        application_cursor_keys,
        application_keypad,
        bracketed_paste,
        focus_events,
        mouse,
        mouse_encoding,
        // Set while this is drawn, and ended after it.
        synchronized_output: _,
        reverse_video: _,
        autowrap: _,
        insert,
        // Where the margins are is not known here.
        origin: _,
        line_feed_new_line,
        kitty_keyboard,
        modify_other_keys,
    } = screen.modes;
    set_or_reset(application_cursor_keys, "?1", out);
    out.push_str(if application_keypad { "\x1b=" } else { "\x1b>" });
    set_or_reset(bracketed_paste, "?2004", out);
    set_or_reset(focus_events, "?1004", out);
    out.push_str(MOUSE_OFF);
    out.push_str(match mouse {
        MouseMode::Off => "",
        MouseMode::X10 => "\x1b[?9h",
        MouseMode::Normal => "\x1b[?1000h",
        MouseMode::Highlight => "\x1b[?1001h",
        MouseMode::Button => "\x1b[?1002h",
        MouseMode::Any => "\x1b[?1003h",
    });
    out.push_str(match mouse_encoding {
        MouseEncoding::X10 => "",
        MouseEncoding::Utf8 => "\x1b[?1005h",
        MouseEncoding::Sgr => "\x1b[?1006h",
        MouseEncoding::Urxvt => "\x1b[?1015h",
        MouseEncoding::SgrPixels => "\x1b[?1016h",
    });
    set_or_reset(insert, "4", out);
    set_or_reset(line_feed_new_line, "20", out);
    put(out, format_args!("\x1b[={kitty_keyboard}u"));
    put(out, format_args!("\x1b[>4;{modify_other_keys}m"));
    out.push_str(cursor_shape(screen.cursor.shape, screen.cursor.blinking));
    set_or_reset(screen.cursor.visible, "?25", out);
}

/// SM or RM; with a `?` before the number DECSET or DECRST.
fn set_or_reset(is_set: bool, number: &str, out: &mut String) {
    put(
        out,
        format_args!("\x1b[{number}{}", if is_set { 'h' } else { 'l' }),
    );
}
