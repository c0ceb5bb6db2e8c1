//! Switching between the primary and the alternate screen.

use super::{ActiveScreen, Screen};
use crate::grid::Grid;
use crate::grid::row::Row;

impl Screen {
    /// Shows the alternate screen; false where it was shown already.
    pub(crate) fn show_alternate(&mut self) -> bool {
        if self.active == ActiveScreen::Alternate {
            return false;
        }
        let alternate = self.hidden.take().unwrap_or_else(|| Grid::new(self.size));
        self.hidden = Some(std::mem::replace(&mut self.grid, alternate));
        self.activate(ActiveScreen::Alternate);
        true
    }

    /// Shows the primary screen; false where it was shown already. What stands on the alternate
    /// screen stays there, for mode 47 to show again.
    pub(crate) fn show_primary(&mut self) -> bool {
        if self.active == ActiveScreen::Alternate
            && let Some(primary) = self.hidden.take()
        {
            let alternate = std::mem::replace(&mut self.grid, primary);
            let is_empty = |row: &Row| row.cells().is_empty();
            if !alternate.rows().iter().all(is_empty) {
                self.hidden = Some(alternate);
            }
            self.activate(ActiveScreen::Primary);
            return true;
        }
        false
    }

    fn activate(&mut self, active: ActiveScreen) {
        self.active = active;
        self.grid.begin_change(self.seq);
        self.grid.mark_all();
    }
}
