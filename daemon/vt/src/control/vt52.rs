//! VT52 mode (DECANM reset), which has no attributes, margins or autowrap. `ESC <` restores what
//! was before.

use crate::charset::{Charset, Charsets};
use crate::grid::style::{LinkId, Style, StyleId};
use crate::modes::Modes;
use crate::screen::cursor::Cursor;
use crate::screen::margins::Margins;
use crate::terminal::Terminal;
use crate::terminal::saved_state::BeforeVt52;

use crate::screen::erase::Respect;

/// The reply to `ESC Z`: "a VT52".
const IDENTIFICATION: &[u8] = b"\x1b/Z";

impl Terminal {
    /// DECRST 2.
    pub(crate) fn enter_vt52(&mut self) {
        let style = Style {
            link: LinkId::default(),
            ..self.screen.cursor.style
        };
        self.saved.before_vt52 = Some(Box::new(BeforeVt52 {
            modes: self.modes.clone(),
            cursor: Cursor {
                style,
                style_id: StyleId::default(),
                ..self.screen.cursor.clone()
            },
            margins: self.screen.margins,
        }));
        let mut charsets = Charsets::default();
        charsets.designated[1] = Charset::Vt52Graphics;
        self.screen.cursor = Cursor {
            row: self.screen.cursor.row,
            col: self.screen.cursor.col,
            wrap_pending: self.screen.cursor.wrap_pending,
            charsets,
            ..Cursor::default()
        };
        let modes = &mut self.modes;
        modes.vt52 = true;
        modes.autowrap = false;
        modes.insert = false;
        modes.line_feed_new_line = false;
        modes.left_right_margins = false;
        let whole = Margins::whole(self.screen.size);
        self.screen.margins.left = whole.left;
        self.screen.margins.right = whole.right;
        self.update_fast_text();
    }

    /// `ESC <`.
    fn leave_vt52(&mut self) {
        let (modes, cursor, margins) = match self.saved.before_vt52.take() {
            Some(before) => (before.modes, before.cursor, before.margins),
            None => (Modes::default(), Cursor::default(), self.screen.margins),
        };
        self.modes.vt52 = false;
        // As in xterm it is a VT100 until DECSCL or RIS.
        self.modes.level = 1;
        self.modes.autowrap = modes.autowrap;
        self.modes.insert = modes.insert;
        self.modes.line_feed_new_line = modes.line_feed_new_line;
        self.modes.left_right_margins = modes.left_right_margins;
        // The size may have changed meanwhile.
        if modes.left_right_margins && margins.right < self.screen.size.cols {
            self.screen.margins.left = margins.left;
            self.screen.margins.right = margins.right;
        }
        self.screen.cursor = Cursor {
            row: self.screen.cursor.row,
            col: self.screen.cursor.col,
            wrap_pending: self.screen.cursor.wrap_pending,
            ..cursor
        };
        self.screen.style_changed();
        self.update_fast_text();
    }

    /// ESC and a byte in VT52 mode.
    pub(crate) fn execute_vt52(&mut self, byte: u8) {
        match byte {
            b'<' => self.leave_vt52(),
            b'=' => self.modes.application_keypad = true,
            b'>' => self.modes.application_keypad = false,
            b'A' => self.screen.cursor_up(1),
            b'B' => self.screen.cursor_down(1),
            b'C' => self.screen.cursor_forward(1, &self.modes),
            b'D' => self.screen.cursor_back(1, &self.modes),
            b'F' => self.shift_left(1),
            b'G' => self.shift_left(0),
            b'H' => self.screen.set_cursor(0, 0),
            b'I' => self.screen.reverse_index(),
            b'J' => self
                .screen
                .erase_in_display(0, Respect::Guarded, &mut self.modes),
            b'K' => self.screen.erase_in_line(0, Respect::Guarded, &self.modes),
            b'Z' => self.fed.reply(IDENTIFICATION),
            _ => {}
        }
    }

    /// VT52's cursor address: row and column, each with 0x20 added.
    pub(crate) fn set_vt52_address(&mut self, row: u8, column: u8) {
        let place = |byte: u8| usize::from((byte & 0x7f).saturating_sub(0x20));
        let (mut row, mut column) = (place(row), place(column));
        // DEC STD 070: a coordinate out of range changes nothing.
        if row >= self.screen.size.rows {
            row = self.screen.cursor.row;
        }
        if column >= self.screen.size.cols {
            column = self.screen.cursor.col;
        }
        self.screen.set_cursor(row, column);
    }
}
