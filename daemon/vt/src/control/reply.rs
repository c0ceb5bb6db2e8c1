//! How replies are written: 7-bit or 8-bit introducers (S7C1T, S8C1T), and the end of a string.
//!
//! A reply never holds what a program sent. It is typed into whatever reads the terminal next,
//! which may be a shell.

use std::fmt;
use std::io::Write;

use crate::parser::Terminator;
use crate::terminal::Terminal;

const CSI: u8 = 0x9b;
const DCS: u8 = 0x90;
const OSC: u8 = 0x9d;
const ST: u8 = 0x9c;
const BEL: u8 = 0x07;

impl Terminal {
    /// Replies `CSI …`.
    pub(crate) fn reply_csi(&mut self, text: fmt::Arguments<'_>) {
        self.reply(CSI, text, None);
    }

    /// Replies `DCS … ST`.
    pub(crate) fn reply_dcs(&mut self, text: fmt::Arguments<'_>) {
        self.reply(DCS, text, Some(Terminator::St));
    }

    /// Replies `OSC … ST`, or with BEL if the question ended with it.
    pub(crate) fn reply_osc(&mut self, text: fmt::Arguments<'_>, end: Terminator) {
        self.reply(OSC, text, Some(end));
    }

    fn reply(&mut self, introducer: u8, text: fmt::Arguments<'_>, end: Option<Terminator>) {
        let mut bytes = Vec::with_capacity(32);
        self.push_c1(&mut bytes, introducer);
        // A write to a vector does not fail.
        let _ = bytes.write_fmt(text);
        match end {
            None => {}
            Some(Terminator::Bel) => bytes.push(BEL),
            Some(Terminator::St) => self.push_c1(&mut bytes, ST),
        }
        self.fed.reply(&bytes);
    }

    fn push_c1(&self, bytes: &mut Vec<u8>, c1: u8) {
        if self.modes.eight_bit_replies {
            bytes.push(c1);
        } else {
            bytes.extend([0x1b, c1 - 0x40]);
        }
    }
}
