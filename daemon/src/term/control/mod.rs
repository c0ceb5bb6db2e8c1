//! What the control functions do, a family a file, by xterm's names (ctlseqs) and ECMA-48's.
//!
//! This file is the one table from a function's bytes to its name.

mod checksum;
mod colors;
mod dcs;
mod keyboard;
mod modes_report;
mod osc;
mod presentation;
mod reply;
mod report;
mod shell;
mod window;

#[cfg(test)]
mod tests;

use super::core::Core;
use super::event::Event;
use super::input::{ControlSequence, StringKind};

impl Core {
    /// A C0 control.
    #[inline]
    pub fn c0(&mut self, byte: u8) {
        match byte {
            0x07 => {
                self.extras.bells += 1;
                self.event(Event::Bell);
            }
            0x08 => self.backspace(),
            b'\t' => self.tab_forward(1),
            b'\n' | 0x0b | 0x0c => self.line_feed(),
            b'\r' => self.carriage_return(),
            0x0e => {
                self.cursor.charsets.gl = 1;
                self.choose_way_of_text();
            }
            0x0f => {
                self.cursor.charsets.gl = 0;
                self.choose_way_of_text();
            }
            _ => {}
        }
    }

    /// LF: IND, and CR where LNM is set.
    #[inline]
    pub fn line_feed(&mut self) {
        self.cursor.wrap_pending = false;
        self.index();
        if self.modes.line_feed_new_line {
            self.carriage_return();
        }
    }

    /// CR: to the left margin, or to the first column from left of it.
    #[inline]
    pub fn carriage_return(&mut self) {
        self.cursor.wrap_pending = false;
        let left = self.margins.left;
        self.cursor.col = if self.cursor.col < left && !self.cursor.origin {
            0
        } else {
            left
        };
    }

    /// BS.
    pub fn backspace(&mut self) {
        self.cursor.wrap_pending = false;
        let left = if self.cursor.col >= self.margins.left {
            self.margins.left
        } else {
            0
        };
        if self.cursor.col > left {
            self.cursor.col -= 1;
        }
    }

    /// CHT, HT.
    #[inline]
    pub fn tab_forward(&mut self, count: usize) {
        let last = if self.cursor.col <= self.margins.right {
            self.margins.right
        } else {
            self.size.cols - 1
        };
        for _ in 0..count.min(self.size.cols) {
            self.cursor.col = self.tabs.next(self.cursor.col, last);
        }
    }

    /// A control sequence.
    #[inline]
    pub fn csi(&mut self, sequence: &ControlSequence) {
        self.report(sequence);
    }

    /// ESC, an intermediate (0: none) and a final byte.
    pub fn esc(&mut self, intermediate: u8, byte: u8) {
        let _ = (intermediate, byte);
    }

    /// A control string.
    pub fn string(&mut self, gathered: &super::input::Gathered) {
        match gathered.kind() {
            StringKind::Osc => self.osc(gathered),
            StringKind::Dcs => self.dcs(gathered),
            StringKind::Apc => self.apc(gathered),
            StringKind::Pm | StringKind::Sos => {}
        }
    }

    /// ESC and a byte in VT52 mode.
    pub fn vt52(&mut self, byte: u8) {
        let _ = byte;
    }

    /// VT52's direct cursor address: row and column, each with 0x20 added.
    pub fn vt52_address(&mut self, row: u8, column: u8) {
        let _ = (row, column);
    }
}
