//! SM, RM, DECSET, DECRST, XTSAVE, XTRESTORE, DECSCL, and what happens when a mode is set.

use crate::event::Event;
use crate::modes::{SIZE_REPORTS, Switch};
use crate::parser::Params;
use crate::screen::ActiveScreen;
use crate::screen::margins::Margins;
use crate::terminal::Terminal;

/// DECCOLM's widths.
const NARROW: usize = 80;
const WIDE: usize = 132;

impl Terminal {
    /// SM, RM.
    pub(crate) fn set_ansi_modes(&mut self, params: &Params, switch: Switch) {
        for mode in params.values() {
            self.modes.set_ansi(*mode, switch);
        }
        self.update_fast_text();
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
            } else {
                self.saved.save_mode(*mode, on);
            }
        }
    }

    /// XTRESTORE.
    pub(crate) fn restore_private_modes(&mut self, params: &Params) {
        for mode in params.values() {
            match (mode, self.saved.saved_mode(*mode)) {
                (1048, _) => self.screen.restore_cursor(&self.modes),
                (_, Some(on)) => {
                    // The reset of one mouse mode resets all. Only the one that is set is reset
                    // here.
                    if on || self.private_mode(*mode) == Some(true) {
                        self.set_private_mode(*mode, Switch::from(on));
                    }
                }
                (_, None) => {}
            }
        }
        self.update_fast_text();
    }

    /// A private mode's setting; `None` for an unknown mode.
    pub(crate) fn private_mode(&self, mode: u16) -> Option<bool> {
        Some(match mode {
            6 => self.screen.cursor.origin,
            47 | 1047 | 1049 => self.screen.active == ActiveScreen::Alternate,
            1048 => self.screen.saved.iter().any(Option::is_some),
            _ => return self.modes.private(mode),
        })
    }

    /// Sets or resets a private mode. A mode without a case here changes nothing but its own
    /// setting.
    fn set_private_mode(&mut self, mode: u16, switch: Switch) {
        match mode {
            2 if switch == Switch::Off => self.enter_vt52(),
            3 => self.set_column_mode(switch),
            6 => {
                self.screen.cursor.origin = switch.is_on();
                self.screen.set_cursor(0, 0);
            }
            42 => self.modes.set_national(switch),
            47 | 1046 | 1047 | 1048 | 1049 => self.set_screen_mode(mode, switch),
            69 => self.set_left_right_margin_mode(switch),
            SIZE_REPORTS => {
                self.modes.set_private(mode, switch);
                self.report_size_in_band();
            }
            _ => self.modes.set_private(mode, switch),
        }
    }

    /// DECLRMM. Double-width lines become single-width.
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

    /// DECCOLM, where ?40 allows it: 80 or 132 columns. The screen is erased unless ?95 (DECNCSM)
    /// is set.
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

    /// DECSCL: a soft reset, then the level and how C1 controls are sent.
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
