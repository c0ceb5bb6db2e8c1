//! Modes: SM, RM, DECSET, DECRST, XTSAVE, XTRESTORE, DECSCL; what each of them does when it is set.

use termd_proto::screen::{MouseEncoding, MouseMode};

use crate::event::Event;
use crate::modes::{SIZE_REPORTS, Switch};
use crate::parser::Params;
use crate::screen::ActiveScreen;
use crate::screen::margins::Margins;
use crate::terminal::Terminal;

/// DECCOLM.
const NARROW: usize = 80;
const WIDE: usize = 132;

impl Terminal {
    /// SM, RM.
    pub(crate) fn set_ansi_modes(&mut self, params: &Params, switch: Switch) {
        let on = switch.is_on();
        for mode in params.values() {
            match mode {
                2 => self.modes.keyboard_locked = on,
                4 => self.modes.insert = on,
                12 => self.modes.send_receive = on,
                20 => self.modes.line_feed_new_line = on,
                _ => {}
            }
        }
        self.update_fast_text();
    }

    /// An ANSI mode's setting; `None`: it is not known.
    pub(crate) fn ansi_mode(&self, mode: u16) -> Option<bool> {
        match mode {
            2 => Some(self.modes.keyboard_locked),
            4 => Some(self.modes.insert),
            12 => Some(self.modes.send_receive),
            20 => Some(self.modes.line_feed_new_line),
            _ => None,
        }
    }

    /// DECSET, DECRST.
    pub(crate) fn set_private_modes(&mut self, params: &Params, switch: Switch) {
        for mode in params.values() {
            self.set_private_mode(*mode, switch);
            if self.modes.vt52 {
                break;
            }
        }
        self.update_fast_text();
    }

    /// XTSAVE.
    pub(crate) fn save_private_modes(&mut self, params: &Params) {
        for mode in params.values() {
            let Some(on) = self.private_mode(*mode) else {
                continue;
            };
            if *mode == 1048 {
                self.screen.save_cursor();
            } else if let Some(saved) = self.stash.modes.iter_mut().find(|(saved, _)| saved == mode)
            {
                saved.1 = on;
            } else {
                self.stash.modes.push((*mode, on));
            }
        }
    }

    /// XTRESTORE.
    pub(crate) fn restore_private_modes(&mut self, params: &Params) {
        for mode in params.values() {
            let saved = self.stash.modes.iter().find(|(saved, _)| saved == mode);
            match (mode, saved) {
                (1048, _) => self.screen.restore_cursor(&self.modes),
                (_, Some((_, on))) => {
                    // One mouse mode's end is the others' too: only the one that is on ends here.
                    if *on || self.private_mode(*mode) == Some(true) {
                        self.set_private_mode(*mode, Switch::from(*on));
                    }
                }
                (_, None) => {}
            }
        }
        self.update_fast_text();
    }

    /// A private mode's setting; `None`: it is not known.
    pub(crate) fn private_mode(&self, mode: u16) -> Option<bool> {
        let modes = &self.modes;
        Some(match mode {
            1 => modes.application_cursor_keys,
            2 => !modes.vt52,
            3 => modes.column_132,
            5 => modes.reverse_video,
            6 => self.screen.cursor.origin,
            7 => modes.autowrap,
            9 => modes.mouse == MouseMode::X10,
            12 => modes.cursor_blinks,
            25 => modes.cursor_visible,
            40 => modes.allow_column_mode,
            41 => modes.more_fix,
            42 => modes.national,
            45 => modes.reverse_wrap,
            47 | 1047 | 1049 => self.screen.active == crate::screen::ActiveScreen::Alternate,
            66 => modes.application_keypad,
            69 => modes.left_right_margins,
            95 => modes.no_clear_on_column,
            1000 => modes.mouse == MouseMode::Normal,
            1001 => modes.mouse == MouseMode::Highlight,
            1002 => modes.mouse == MouseMode::Button,
            1003 => modes.mouse == MouseMode::Any,
            1004 => modes.focus_events,
            1005 => modes.mouse_encoding == MouseEncoding::Utf8,
            1006 => modes.mouse_encoding == MouseEncoding::Sgr,
            1007 => modes.alternate_scroll,
            1015 => modes.mouse_encoding == MouseEncoding::Urxvt,
            1016 => modes.mouse_encoding == MouseEncoding::SgrPixels,
            1045 => modes.extended_reverse_wrap,
            1046 => modes.allow_alternate,
            1048 => self.screen.saved.iter().any(Option::is_some),
            2004 => modes.bracketed_paste,
            2026 => modes.synchronized_output,
            2027 => modes.grapheme_clusters,
            _ => return modes.kept.get(mode),
        })
    }

    /// Sets or resets a private mode.
    fn set_private_mode(&mut self, mode: u16, switch: Switch) {
        let on = switch.is_on();
        match mode {
            1 => self.modes.application_cursor_keys = on,
            2 if !on => self.enter_vt52(),
            3 => self.set_column_mode(switch),
            5 => self.modes.reverse_video = on,
            6 => {
                self.screen.cursor.origin = on;
                self.screen.set_cursor(0, 0);
            }
            7 => self.modes.autowrap = on,
            9 => self.set_mouse(MouseMode::X10, switch),
            12 => self.modes.cursor_blinks = on,
            25 => self.modes.cursor_visible = on,
            40 => self.modes.allow_column_mode = on,
            41 => self.modes.more_fix = on,
            42 => self.set_national(switch),
            45 => self.modes.reverse_wrap = on,
            47 | 1046 | 1047 | 1048 | 1049 => self.set_screen_mode(mode, switch),
            66 => self.modes.application_keypad = on,
            69 => self.set_left_right_margin_mode(switch),
            95 if self.modes.level >= 5 => self.modes.no_clear_on_column = on,
            1000 => self.set_mouse(MouseMode::Normal, switch),
            1001 => self.set_mouse(MouseMode::Highlight, switch),
            1002 => self.set_mouse(MouseMode::Button, switch),
            1003 => self.set_mouse(MouseMode::Any, switch),
            1004 => self.modes.focus_events = on,
            1005 => self.set_mouse_encoding(MouseEncoding::Utf8, switch),
            1006 => self.set_mouse_encoding(MouseEncoding::Sgr, switch),
            1007 => self.modes.alternate_scroll = on,
            1015 => self.set_mouse_encoding(MouseEncoding::Urxvt, switch),
            1016 => self.set_mouse_encoding(MouseEncoding::SgrPixels, switch),
            1045 => self.modes.extended_reverse_wrap = on,
            2004 => self.modes.bracketed_paste = on,
            2026 => self.modes.synchronized_output = on,
            2027 => self.modes.grapheme_clusters = on,
            SIZE_REPORTS => {
                self.modes.kept.set(mode, switch);
                self.report_size_in_band();
            }
            _ => self.modes.kept.set(mode, switch),
        }
    }

    /// Any mouse mode's reset ends mouse reports, as in xterm.
    fn set_mouse(&mut self, mode: MouseMode, switch: Switch) {
        self.modes.mouse = match switch {
            Switch::On => mode,
            Switch::Off => MouseMode::Off,
        };
    }

    /// Encodings exclude each other; a reset is for the one that is set.
    fn set_mouse_encoding(&mut self, encoding: MouseEncoding, switch: Switch) {
        match switch {
            Switch::On => self.modes.mouse_encoding = encoding,
            Switch::Off if self.modes.mouse_encoding == encoding => {
                self.modes.mouse_encoding = MouseEncoding::X10;
            }
            Switch::Off => {}
        }
    }

    /// DECNRCM: the national sets are of seven bits, and so UTF-8 is off meanwhile.
    fn set_national(&mut self, switch: Switch) {
        if self.modes.level < 2 || self.modes.national == switch.is_on() {
            return;
        }
        self.modes.national = switch.is_on();
        match switch {
            Switch::On => {
                self.modes.utf8_before_national = self.modes.utf8;
                self.modes.utf8 = false;
            }
            Switch::Off => self.modes.utf8 = self.modes.utf8_before_national,
        }
    }

    /// DECLRMM: there are no double-width lines with it.
    fn set_left_right_margin_mode(&mut self, switch: Switch) {
        if self.modes.level < 4 {
            return;
        }
        self.modes.left_right_margins = switch.is_on();
        match switch {
            Switch::On => self.screen.reset_line_sizes(),
            Switch::Off => {
                let whole = Margins::whole(self.screen.size);
                self.screen.margins.left = whole.left;
                self.screen.margins.right = whole.right;
            }
        }
    }

    /// DECCOLM, where ?40 allows it: 80 or 132 columns, and an empty screen unless ?95 (DECNCSM)
    /// keeps it.
    fn set_column_mode(&mut self, switch: Switch) {
        if !self.modes.allow_column_mode {
            return;
        }
        if !self.modes.no_clear_on_column {
            self.screen.clear_screen();
        }
        self.set_columns(match switch {
            Switch::On => WIDE,
            Switch::Off => NARROW,
        });
        self.modes.column_132 = switch.is_on();
        self.screen.reset_line_sizes();
        self.screen.margins = Margins::whole(self.screen.size);
        self.screen.set_cursor(0, 0);
    }

    /// Sets the width without reflow, and asks for the window to follow.
    pub(crate) fn set_columns(&mut self, cols: usize) {
        if self.screen.set_cols(cols) {
            self.update_fast_text();
            self.event(Event::ResizeRequest {
                rows: 0,
                cols: u16::try_from(cols).unwrap_or(u16::MAX),
            });
        }
    }

    /// DECSCL: a soft reset, then the level, and how C1 controls are sent.
    pub(crate) fn set_conformance_level(&mut self, params: &Params) {
        let Some(level @ 1..=5) = params.get(0).checked_sub(60) else {
            return;
        };
        self.soft_reset();
        self.modes.level = u8::try_from(level).unwrap_or(1);
        if level > 1 {
            match params.get(1) {
                1 => self.modes.eight_bit_replies = false,
                0 | 2 => self.modes.eight_bit_replies = true,
                _ => {}
            }
        }
    }

    /// The alternate screen's modes: 47, 1046, 1047, 1048 and 1049, as in xterm.
    ///
    /// Both screens share one cursor, and each has its own DECSC. 47 and 1047 only switch; 1047
    /// erases the alternate screen when it is left. 1049 saves the cursor first, and erases the
    /// alternate screen when it is entered.
    fn set_screen_mode(&mut self, mode: u16, switch: Switch) {
        if mode == 1046 {
            self.modes.allow_alternate = switch.is_on();
            if !switch.is_on() {
                self.show_primary();
            }
            return;
        }
        if !self.modes.allow_alternate {
            return;
        }
        match (mode, switch) {
            (47 | 1047, Switch::On) => self.show_alternate(),
            (47, Switch::Off) => self.show_primary(),
            (1047, Switch::Off) => {
                if self.screen.active == ActiveScreen::Alternate {
                    self.screen.clear_screen();
                }
                self.show_primary();
            }
            (1048, Switch::On) => self.screen.save_cursor(),
            (1048, Switch::Off) => self.screen.restore_cursor(&self.modes),
            (_, Switch::On) => {
                self.screen.save_cursor();
                self.show_alternate();
                self.screen.clear_screen();
            }
            (_, Switch::Off) => {
                self.show_primary();
                self.screen.restore_cursor(&self.modes);
            }
        }
    }

    fn show_alternate(&mut self) {
        if self.screen.show_alternate() {
            self.event(Event::AlternateScreen(true));
        }
    }

    pub(crate) fn show_primary(&mut self) {
        if self.screen.show_primary() {
            self.event(Event::AlternateScreen(false));
        }
    }
}
