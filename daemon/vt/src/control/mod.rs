//! What the control functions do, a family a file, by xterm's names (ctlseqs) and ECMA-48's.
//!
//! This file is the table from a function's bytes to its name, and nothing else: who looks for what
//! `CSI ' }` does begins here.

mod charset;
mod checksum;
mod colors;
mod cursor;
mod dcs;
mod edit;
mod erase;
mod keyboard;
mod line;
mod mode;
mod mode_report;
mod osc;
mod rectangle;
mod reply;
mod report;
mod reset;
mod screen;
mod scroll;
pub(crate) mod setting_report;
mod sgr;
mod shell;
mod tab;
mod vt52;
mod window;

#[cfg(test)]
mod tests;

use self::charset::{C1, Coding};
use self::scroll::Side;
use crate::event::Event;
use crate::parser::{ControlSequence, StringKind};
use crate::terminal::Terminal;
use crate::terminal::modes::Switch;

/// xterm shows SUB as the symbol for "substitute form two" from VT220 on.
const SUBSTITUTE: char = '\u{2426}';

impl Terminal {
    /// CR and LF.
    #[inline]
    pub(crate) fn new_line(&mut self) {
        self.last_printed = None;
        self.carriage_return();
        self.line_feed();
    }

    /// A C0 control.
    pub(crate) fn c0(&mut self, byte: u8) {
        self.last_printed = None;
        match byte {
            0x07 => {
                self.extras.bells += 1;
                self.event(Event::Bell);
            }
            0x08 => self.cursor_back(1),
            b'\t' => self.tab_forward(1),
            b'\n' | 0x0b | 0x0c => self.line_feed(),
            b'\r' => self.carriage_return(),
            0x0e => self.shift_left(1),
            0x0f => self.shift_left(0),
            0x1a => self.print_char(SUBSTITUTE),
            _ => {}
        }
    }

    /// A control sequence.
    #[inline]
    pub(crate) fn csi(&mut self, sequence: &ControlSequence) {
        if sequence.prefix == 0 && sequence.intermediate == 0 {
            if sequence.function == b'm' {
                self.last_printed = None;
                self.select_graphic_rendition(&sequence.params);
                return;
            }
            if sequence.function == b'b' {
                self.repeat(sequence.params.count(0));
                self.last_printed = None;
                return;
            }
        }
        self.last_printed = None;
        // Only SGR and XTMODKEYS, which is not of these rooms, take colons.
        if sequence.params.has_colons() {
            self.report(sequence);
            return;
        }
        match sequence.intermediate {
            0 => match sequence.prefix {
                0 => self.plain_function(sequence),
                b'?' => self.private_function(sequence),
                _ => self.report(sequence),
            },
            _ => self.extended_function(sequence),
        }
    }

    /// `CSI … function`.
    fn plain_function(&mut self, sequence: &ControlSequence) {
        let params = &sequence.params;
        match sequence.function {
            b'@' => self.insert_characters(params.count(0)),
            b'A' => self.cursor_up(params.count(0)),
            b'B' => self.cursor_down(params.count(0)),
            b'C' => self.cursor_forward(params.count(0)),
            b'D' => self.cursor_back(params.count(0)),
            b'E' => self.cursor_next_line(params.count(0)),
            b'F' => self.cursor_preceding_line(params.count(0)),
            b'G' | b'`' => self.cursor_column(params.count(0)),
            b'H' | b'f' => self.cursor_position(params.count(0), params.count(1)),
            b'I' => self.tab_forward(params.count(0)),
            b'J' => self.erase_in_display(params.get(0), erase::Respect::Guarded),
            b'K' => self.erase_in_line(params.get(0), erase::Respect::Guarded),
            b'L' => self.insert_lines(params.count(0)),
            b'M' => self.delete_lines(params.count(0)),
            b'P' => self.delete_characters(params.count(0)),
            b'S' => self.scroll_up(params.count(0)),
            // With more parameters, or a 0, it is highlight mouse tracking.
            b'T' if params.is_empty() || params.len() == 1 && params.get(0) > 0 => {
                self.scroll_down(params.count(0));
            }
            b'^' => self.scroll_down(params.count(0)),
            b'X' => self.erase_characters(params.count(0)),
            b'Z' => self.tab_backward(params.count(0)),
            b'a' => self.cursor_right(params.count(0)),
            b'd' => self.cursor_row_position(params.count(0)),
            b'e' => self.cursor_down_position(params.count(0)),
            b'j' => self.cursor_left(params.count(0)),
            b'k' => self.cursor_up_position(params.count(0)),
            b'g' => self.tab_clear(params.get(0)),
            b'h' => self.set_ansi_modes(params, Switch::On),
            b'l' => self.set_ansi_modes(params, Switch::Off),
            b'r' => self.set_top_and_bottom_margins(params),
            b's' => self.set_left_and_right_margins(params),
            b'u' if params.is_empty() => self.restore_cursor(),
            _ => self.report(sequence),
        }
    }

    /// `CSI ? … function`.
    fn private_function(&mut self, sequence: &ControlSequence) {
        let params = &sequence.params;
        match sequence.function {
            b'J' => self.erase_in_display(params.get(0), erase::Respect::All),
            b'K' => self.erase_in_line(params.get(0), erase::Respect::All),
            b'W' => self.tab_every_8(params.get(0)),
            b'h' => self.set_private_modes(params, Switch::On),
            b'l' => self.set_private_modes(params, Switch::Off),
            b'r' => self.restore_private_modes(params),
            b's' => self.save_private_modes(params),
            _ => self.report(sequence),
        }
    }

    /// `CSI … intermediate function`.
    fn extended_function(&mut self, sequence: &ControlSequence) {
        let params = &sequence.params;
        match (sequence.prefix, sequence.intermediate, sequence.function) {
            (0, b' ', b'@') => self.scroll_sideways(Side::Left, params.count(0)),
            (0, b' ', b'A') => self.scroll_sideways(Side::Right, params.count(0)),
            (0, b' ', b'q') => self.set_cursor_style(params.get(0)),
            (0, b'!', b'p') => self.soft_reset(),
            (0, b'"', b'p') => self.set_conformance_level(params),
            (0, b'"', b'q') => self.set_character_attribute(params.get(0)),
            (0, b'#', b'{' | b'p') => self.push_sgr(params),
            (0, b'#', b'}' | b'q') => self.pop_sgr(),
            (0, b'$', b'r') => self.change_attributes(params, rectangle::Change::Set),
            (0, b'$', b't') => self.change_attributes(params, rectangle::Change::Reverse),
            (0, b'$', b'v') => self.copy_rectangle(params),
            (0, b'$', b'x') => self.fill_rectangle(params),
            (0, b'$', b'z') => self.erase_rectangle(params),
            (0, b'$', b'{') => self.selective_erase_rectangle(params),
            (0, b'*', b'x') => self.set_change_extent(params.get(0)),
            (0, b'\'', b'}') => self.insert_columns(params.count(0)),
            (0, b'\'', b'~') => self.delete_columns(params.count(0)),
            _ => self.report(sequence),
        }
    }

    /// ESC, intermediates and a final byte.
    pub(crate) fn esc(&mut self, intermediates: &[u8], byte: u8) {
        self.last_printed = None;
        match (intermediates, byte) {
            ([], _) => self.plain_escape(byte),
            ([b' '], b'F') => self.answer_with(C1::SevenBit),
            ([b' '], b'G') => self.answer_with(C1::EightBit),
            ([b'#'], _) => self.line_function(byte),
            ([b'%'], b'G') => self.set_coding(Coding::Utf8),
            ([b'%'], b'@') => self.set_coding(Coding::Iso2022),
            ([set @ (b'('..=b'+' | b'-'..=b'/'), rest @ ..], _) => {
                self.designate(*set, rest, byte);
            }
            _ => {}
        }
    }

    fn plain_escape(&mut self, byte: u8) {
        match byte {
            b'6' => self.back_index(),
            b'7' => self.save_cursor(),
            b'8' => self.restore_cursor(),
            b'9' => self.forward_index(),
            b'=' => self.modes.application_keypad = true,
            b'>' => self.modes.application_keypad = false,
            b'D' => self.line_down(),
            b'E' => self.next_line(),
            b'H' => self.tab_set(),
            b'M' => self.reverse_index(),
            b'N' => self.single_shift(2),
            b'O' => self.single_shift(3),
            b'V' => self.start_guarded_area(),
            b'W' => self.end_guarded_area(),
            b'Z' => self.report(&ControlSequence::plain(b'c')),
            b'c' => self.full_reset(),
            b'l' => self.lock_memory(),
            b'm' => self.unlock_memory(),
            b'n' => self.shift_left(2),
            b'o' => self.shift_left(3),
            b'|' => self.shift_right(3),
            b'}' => self.shift_right(2),
            b'~' => self.shift_right(1),
            _ => {}
        }
    }

    /// A control string.
    pub(crate) fn string(&mut self, gathered: &crate::parser::ControlString) {
        self.last_printed = None;
        match gathered.kind() {
            StringKind::Osc => self.osc(gathered),
            StringKind::Dcs => self.dcs(gathered),
            StringKind::Apc => self.apc(gathered),
            StringKind::Pm | StringKind::Sos => {}
        }
    }
}
