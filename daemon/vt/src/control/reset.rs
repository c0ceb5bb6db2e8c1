//! Resets: DECSTR and RIS.

use crate::color::Colors;
use crate::grid::cell::Protection;
use crate::grid::style::Style;
use crate::modes::Modes;
use crate::screen::checksum::ChecksumFlags;
use crate::screen::cursor::Cursor;
use crate::screen::margins::Margins;
use crate::terminal::Terminal;
use crate::terminal::keyboard::Keyboard;
use crate::terminal::saved_state::SavedState;

/// The width that RIS restores after DECCOLM.
const NARROW: usize = 80;

impl Terminal {
    /// DECSTR: resets modes, margins, attributes and character sets, but neither the screen nor the
    /// cursor's position. A DECRC after it moves home.
    pub(crate) fn soft_reset(&mut self) {
        let fresh = Modes::default();
        let modes = &mut self.modes;
        modes.cursor_visible = fresh.cursor_visible;
        modes.cursor_shape = fresh.cursor_shape;
        modes.cursor_blinks = fresh.cursor_blinks;
        modes.application_cursor_keys = fresh.application_cursor_keys;
        modes.keyboard_locked = fresh.keyboard_locked;
        modes.application_keypad = fresh.application_keypad;
        modes.modify_other_keys = fresh.modify_other_keys;
        modes.autowrap = fresh.autowrap;
        modes.reverse_wrap = fresh.reverse_wrap;
        modes.extended_reverse_wrap = fresh.extended_reverse_wrap;
        modes.insert = fresh.insert;
        modes.left_right_margins = fresh.left_right_margins;
        modes.protection = Protection::None;
        self.checksum = ChecksumFlags::default();
        self.keyboard.modify_none();
        self.screen.margins = Margins::whole(self.screen.size);
        self.screen.cursor = Cursor {
            row: self.screen.cursor.row,
            col: self.screen.cursor.col,
            wrap_pending: self.screen.cursor.wrap_pending,
            style: Style {
                link: self.screen.cursor.style.link,
                ..Style::default()
            },
            ..Cursor::default()
        };
        self.screen.style_changed();
        *self.screen.saved_cursor() = Some(Cursor {
            row: 0,
            col: 0,
            ..self.screen.cursor.clone()
        });
        self.update_fast_text();
    }

    /// RIS: everything as in a fresh terminal, except the title and the permission of DECCOLM. The
    /// alternate screen is left, and the scrollback is cleared.
    pub(crate) fn full_reset(&mut self) {
        self.show_primary();
        self.screen.hidden = None;
        self.screen.scrollback.clear();
        let narrow = self.modes.allow_column_mode && self.modes.column_132;
        self.modes = Modes {
            allow_column_mode: self.modes.allow_column_mode,
            line_feed_new_line: self.new_lines,
            ..Modes::default()
        };
        self.screen.cursor = Cursor::default();
        self.saved = SavedState::default();
        self.checksum = ChecksumFlags::default();
        self.keyboard = Keyboard::default();
        self.titles.reset();
        self.colors = Colors::default();
        self.shell.progress = None;
        if narrow {
            self.set_columns(NARROW);
        }
        self.screen.margins = Margins::whole(self.screen.size);
        self.screen.tabs.reset();
        self.screen.clear_screen();
        self.screen.saved = [Some(Cursor::default()), None];
        self.update_fast_text();
    }
}
