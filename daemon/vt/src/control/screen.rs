//! The alternate screen: modes 47, 1047, 1048 and 1049, as xterm has them.
//!
//! The cursor is one for both screens, and each has its own DECSC. 47 and 1047 change only what is
//! shown, and 1047 empties the alternate screen when it is left; 1049 saves the cursor before, and
//! empties the alternate screen when it is entered.

use crate::event::Event;
use crate::grid::Grid;
use crate::grid::row::Row;
use crate::terminal::modes::Switch;
use crate::terminal::{Shown, Terminal};

impl Terminal {
    /// Modes 47, 1046, 1047, 1048, 1049.
    pub(crate) fn set_screen_mode(&mut self, mode: u16, switch: Switch) {
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
                if self.shown == Shown::Alternate {
                    self.clear_screen();
                }
                self.show_primary();
            }
            (1048, Switch::On) => self.save_cursor(),
            (1048, Switch::Off) => self.restore_cursor(),
            (_, Switch::On) => {
                self.save_cursor();
                self.show_alternate();
                self.clear_screen();
            }
            (_, Switch::Off) => {
                self.show_primary();
                self.restore_cursor();
            }
        }
    }

    fn show_alternate(&mut self) {
        if self.shown == Shown::Primary {
            let alternate = self.hidden.take().unwrap_or_else(|| Grid::new(self.size));
            self.hidden = Some(std::mem::replace(&mut self.grid, alternate));
            self.now_shown(Shown::Alternate);
        }
    }

    /// Back to the primary screen. What is on the alternate one stays for 47 to show again.
    pub(crate) fn show_primary(&mut self) {
        if self.shown == Shown::Alternate
            && let Some(primary) = self.hidden.take()
        {
            let alternate = std::mem::replace(&mut self.grid, primary);
            let is_empty = |row: &Row| row.cells().is_empty();
            if !alternate.rows().iter().all(is_empty) {
                self.hidden = Some(alternate);
            }
            self.now_shown(Shown::Primary);
        }
    }

    fn now_shown(&mut self, shown: Shown) {
        self.shown = shown;
        self.grid.mark_all(self.seq);
        self.event(Event::AlternateScreen(shown == Shown::Alternate));
    }
}
