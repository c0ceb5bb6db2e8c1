//! Tab stops: HT, CHT, CBT, HTS, TBC, DECST8C.

use crate::modes::Modes;
use crate::screen::Screen;

impl Screen {
    /// HT, CHT. A pending wrap stays.
    #[inline]
    pub(crate) fn tab_forward(&mut self, count: usize, modes: &Modes) {
        if modes.more_fix && self.cursor.wrap_pending && modes.autowrap {
            self.next_line();
            self.cursor.col = 0;
        }
        if modes.left_right_margins && self.cursor.col > self.margins.right {
            // As in xterm the right margin stops a tab from behind it too.
            self.cursor.col = self.margins.right;
            return;
        }
        let last = if modes.left_right_margins {
            self.margins.right
        } else {
            self.grid.row_cols(self.cursor.row) - 1
        };
        for _ in 0..count {
            let next = self.tabs.next(self.cursor.col, last);
            if next <= self.cursor.col {
                break;
            }
            self.cursor.col = next;
        }
    }

    /// CBT. With origin mode it stops at the left margin. As in xterm a pending wrap stays.
    pub(crate) fn tab_backward(&mut self, count: usize) {
        let first = if self.cursor.origin {
            self.margins.left
        } else {
            0
        };
        for _ in 0..count {
            if self.cursor.col <= first {
                break;
            }
            self.cursor.col = self.tabs.previous(self.cursor.col, first);
        }
    }

    /// HTS.
    pub(crate) fn tab_set(&mut self) {
        self.tabs.set(self.cursor.col, self.size.cols);
    }

    /// TBC.
    pub(crate) fn tab_clear(&mut self, which: u16) {
        match which {
            0 => self.tabs.clear(self.cursor.col, self.size.cols),
            3 => self.tabs.clear_all(self.size.cols),
            _ => {}
        }
    }

    /// DECST8C.
    pub(crate) fn tab_every_8(&mut self, which: u16) {
        if matches!(which, 0 | 5) {
            self.tabs.reset();
        }
    }
}
