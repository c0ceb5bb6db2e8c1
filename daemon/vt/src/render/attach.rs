//! A screen drawn on a tty that shows something else, with the modes that tell how input is
//! encoded.
//!
//! A [`Screen`] does not tell margins, tab stops, character sets and the saved cursor, so these are
//! reset. To pass further output on as it comes, use [`Model::redraw`](crate::Model::redraw), which
//! restores them.

use termd_proto::screen::{LineSize, MouseEncoding, MouseMode, Screen, ScreenModes};

use super::ansi::{cursor_shape, draw_row, line_size};
use super::put;
use super::sgr::Pen;

/// The size of the tty that a screen is drawn on, in character cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// Columns of the tty.
    pub cols: u16,
    /// Rows of the tty.
    pub rows: u16,
}

/// Default style, no hyperlink, US-ASCII, no margins, origin and insert mode off, and autowrap off
/// while rows are drawn to the last column.
const BEGIN: &str = "\x1b[m\x1b]8;;\x1b\\\x0f\x1b(B\x1b)B\x1b[?69l\x1b[r\x1b[?6l\
\x1b[4l\x1b[?7l";

/// All mouse modes and encodings off, as setting one does not always end another.
const MOUSE_OFF: &str = "\x1b[?9;1000;1001;1002;1003;1005;1006;1015;1016l";

/// Renders the bytes that make a tty of this size show the screen in the screen's modes. Where the
/// tty is too small, it shows the part with the cursor.
pub fn attach(screen: &Screen, view: View) -> String {
    // CAN ends an unfinished sequence. All that follows is one frame (mode 2026).
    let mut out = String::from("\x18\x1b[?2026h");
    let modes = screen.modes;
    // This comes first: entering the alternate screen saves the cursor, which the margins below
    // would move.
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
    // Without rows there is nothing under the cursor, which is placed nevertheless.
    place_cursor(screen, window, &mut out);
    write_modes(screen, &mut out);
    out.push_str("\x1b[?2026l");
    out
}

/// The part of the screen that the tty shows.
#[derive(Debug, Clone, Copy)]
struct Window {
    top: u16,
    left: u16,
    view: View,
}

impl Window {
    /// The part nearest to the top left that has the cursor in it.
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

    /// The tty's line for a row of the screen, from 1.
    fn line_of(self, row: i64) -> Option<u16> {
        let line = u16::try_from(row).ok()?.checked_sub(self.top)?;
        (line < self.view.rows).then_some(line.saturating_add(1))
    }

    /// The columns of such a row that are shown: the first, and the one after the last.
    fn columns(self, size: LineSize) -> (u16, u16) {
        let end = self.left.saturating_add(self.view.cols);
        match size {
            LineSize::Single => (self.left, end),
            LineSize::DoubleWidth | LineSize::DoubleHeightTop | LineSize::DoubleHeightBottom => {
                // From its middle on a character is not drawn, so the left edge cuts none.
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

/// Only a write to the last column makes another terminal wrap before its next character.
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

/// The modes that tell how input is encoded and how output goes on.
fn write_modes(screen: &Screen, out: &mut String) {
    let ScreenModes {
        application_cursor_keys,
        application_keypad,
        bracketed_paste,
        focus_events,
        mouse,
        mouse_encoding,
        // Set while the frame is drawn, and reset after it.
        synchronized_output: _,
        reverse_video: _,
        autowrap: _,
        insert,
        // The margins are not known here.
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

/// SM or RM; with `?` before the number DECSET or DECRST.
fn set_or_reset(is_set: bool, number: &str, out: &mut String) {
    put(
        out,
        format_args!("\x1b[{number}{}", if is_set { 'h' } else { 'l' }),
    );
}
