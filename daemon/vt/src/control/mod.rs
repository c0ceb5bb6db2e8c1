//! The control functions, a family a file, under the names of xterm (ctlseqs) and ECMA-48. A
//! function that changes the screen alone is in [`screen`](crate::screen).
//!
//! This file is the table from a function's bytes to its name. To find what `CSI ' }` does, begin
//! here.

mod charset;
mod colors;
mod dcs;
mod keyboard;
mod mode;
mod mode_report;
mod notification;
mod osc;
mod reply;
mod report;
mod reset;
pub(crate) mod setting_report;
pub(crate) mod sgr;
mod shell;
mod vt52;
mod window;

#[cfg(test)]
mod tests;

use self::charset::{C1, Coding};
use crate::event::Event;
use crate::modes::ChangeExtent;
use crate::modes::Switch;
use crate::parser::{ControlSequence, ControlString, Handler, StringKind};
use crate::screen::erase::Respect;
use crate::screen::rectangle::Change;
use crate::screen::scroll::Side;
use crate::terminal::Terminal;
use termd_proto::screen::LineSize;

/// What xterm shows for SUB from VT220 on: the symbol for substitute form two.
const SUBSTITUTE: char = '\u{2426}';

impl Handler for Terminal {
    fn set_offset(&mut self, offset: u64) {
        self.offset = offset;
    }

    #[inline]
    fn is_utf8(&self) -> bool {
        self.modes.utf8
    }

    #[inline]
    fn is_vt52(&self) -> bool {
        self.modes.vt52
    }

    #[inline]
    fn print_ascii(&mut self, text: &[u8]) {
        self.screen.print_ascii(text, &self.modes);
    }

    fn print(&mut self, text: &str) {
        self.screen.print(text, &self.modes);
    }

    fn print_char(&mut self, c: char) {
        self.screen.print_char(c, &self.modes);
    }

    fn print_right(&mut self, byte: u8) {
        self.screen.print_right(byte, &self.modes);
    }

    fn print_utf8(&mut self, bytes: &[u8]) -> Option<usize> {
        self.screen.print_utf8(bytes, &self.modes)
    }

    #[inline]
    fn print_lines(&mut self, bytes: &[u8]) -> Option<(usize, usize)> {
        if self.shell.line_from.is_some() {
            // The first line is the end of a command line.
            return None;
        }
        self.screen.print_lines(bytes, &self.modes)
    }

    #[inline]
    fn line_feed_returns(&self) -> bool {
        self.modes.line_feed_new_line
    }

    #[inline]
    fn new_line(&mut self) {
        self.screen.last_printed = None;
        let begins_output = self.line_feed_ends_command();
        self.screen.carriage_return();
        self.screen.line_feed(&self.modes);
        if begins_output {
            self.output_start();
        }
    }

    fn control(&mut self, byte: u8) {
        self.screen.last_printed = None;
        match byte {
            0x07 => {
                self.bells += 1;
                self.event(Event::Bell);
            }
            0x08 => self.screen.cursor_back(1, &self.modes),
            b'\t' => self.screen.tab_forward(1, &self.modes),
            b'\n' | 0x0b | 0x0c => {
                let begins_output = self.line_feed_ends_command();
                self.screen.line_feed(&self.modes);
                if begins_output {
                    self.output_start();
                }
            }
            b'\r' => self.screen.carriage_return(),
            0x0e => self.shift_left(1),
            0x0f => self.shift_left(0),
            0x1a => self.screen.print_char(SUBSTITUTE, &self.modes),
            _ => {}
        }
    }

    #[inline]
    fn control_sequence(&mut self, sequence: &ControlSequence) {
        if sequence.prefix == 0 && sequence.intermediate == 0 {
            if sequence.function == b'm' {
                self.screen.last_printed = None;
                self.select_graphic_rendition(&sequence.params);
                return;
            }
            if sequence.function == b'b' {
                self.screen.repeat(sequence.params.count(0), &self.modes);
                self.screen.last_printed = None;
                return;
            }
        }
        self.screen.last_printed = None;
        // Only SGR and XTMODKEYS take colons.
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

    fn escape(&mut self, intermediates: &[u8], byte: u8) {
        self.screen.last_printed = None;
        match (intermediates, byte) {
            ([], _) => self.plain_escape(byte),
            ([b' '], b'F') => self.set_reply_c1(C1::SevenBit),
            ([b' '], b'G') => self.set_reply_c1(C1::EightBit),
            ([b'#'], _) => self.line_function(byte),
            ([b'%'], b'G') => self.set_coding(Coding::Utf8),
            ([b'%'], b'@') => self.set_coding(Coding::Iso2022),
            ([set @ (b'('..=b'+' | b'-'..=b'/'), rest @ ..], _) => {
                self.designate(*set, rest, byte);
            }
            _ => {}
        }
    }

    fn control_string(&mut self, gathered: &ControlString) {
        self.screen.last_printed = None;
        match gathered.kind() {
            StringKind::Osc => self.osc(gathered),
            StringKind::Dcs => self.dcs(gathered),
            StringKind::Apc => self.apc(gathered),
            StringKind::Pm | StringKind::Sos => {}
        }
    }

    fn vt52_escape(&mut self, byte: u8) {
        self.screen.last_printed = None;
        self.execute_vt52(byte);
    }

    fn vt52_address(&mut self, row: u8, column: u8) {
        self.set_vt52_address(row, column);
    }
}

impl Terminal {
    /// `CSI … function`.
    fn plain_function(&mut self, sequence: &ControlSequence) {
        let params = &sequence.params;
        match sequence.function {
            b'@' => self.screen.insert_characters(params.count(0)),
            b'A' => self.screen.cursor_up(params.count(0)),
            b'B' => self.screen.cursor_down(params.count(0)),
            b'C' => self.screen.cursor_forward(params.count(0), &self.modes),
            b'D' => self.screen.cursor_back(params.count(0), &self.modes),
            b'E' => self.screen.cursor_next_line(params.count(0)),
            b'F' => self.screen.cursor_preceding_line(params.count(0)),
            b'G' | b'`' => self.screen.cursor_column(params.count(0)),
            b'H' | b'f' => self
                .screen
                .cursor_position(params.count(0), params.count(1)),
            b'I' => self.screen.tab_forward(params.count(0), &self.modes),
            b'J' => self
                .screen
                .erase_in_display(params.get(0), Respect::Guarded, &mut self.modes),
            b'K' => self
                .screen
                .erase_in_line(params.get(0), Respect::Guarded, &self.modes),
            b'L' => self.screen.insert_lines(params.count(0)),
            b'M' => self.screen.delete_lines(params.count(0)),
            b'P' => self.screen.delete_characters(params.count(0)),
            b'S' => self.screen.scroll_up(params.count(0)),
            // With more parameters, or with 0, it is highlight mouse tracking.
            b'T' if params.is_empty() || params.len() == 1 && params.get(0) > 0 => {
                self.screen.scroll_down(params.count(0));
            }
            b'^' => self.screen.scroll_down(params.count(0)),
            b'X' => self.screen.erase_characters(params.count(0), &self.modes),
            b'Z' => self.screen.tab_backward(params.count(0)),
            b'a' => self.screen.cursor_right(params.count(0)),
            b'd' => self.screen.cursor_row_position(params.count(0)),
            b'e' => self.screen.cursor_down_position(params.count(0)),
            b'j' => self.screen.cursor_left(params.count(0)),
            b'k' => self.screen.cursor_up_position(params.count(0)),
            b'g' => self.screen.tab_clear(params.get(0)),
            b'h' => self.set_ansi_modes(params, Switch::On),
            b'l' => self.set_ansi_modes(params, Switch::Off),
            b'r' => self.screen.set_top_and_bottom_margins(params),
            b's' if self.modes.left_right_margins => {
                self.screen.set_left_and_right_margins(params, &self.modes);
            }
            b's' if params.is_empty() => self.screen.save_cursor(),
            b'u' if params.is_empty() => self.screen.restore_cursor(&self.modes),
            _ => self.report(sequence),
        }
    }

    /// `CSI ? … function`.
    fn private_function(&mut self, sequence: &ControlSequence) {
        let params = &sequence.params;
        match sequence.function {
            b'J' => self
                .screen
                .erase_in_display(params.get(0), Respect::All, &mut self.modes),
            b'K' => self
                .screen
                .erase_in_line(params.get(0), Respect::All, &self.modes),
            b'W' => self.screen.tab_every_8(params.get(0)),
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
        let vt420 = self.modes.level >= 4;
        match (sequence.prefix, sequence.intermediate, sequence.function) {
            (0, b' ', b'@') => self.screen.scroll_sideways(Side::Left, params.count(0)),
            (0, b' ', b'A') => self.screen.scroll_sideways(Side::Right, params.count(0)),
            (0, b' ', b'q') => self.set_cursor_style(params.get(0)),
            (0, b'!', b'p') => self.soft_reset(),
            (0, b'"', b'p') => self.set_conformance_level(params),
            (0, b'"', b'q') => self
                .screen
                .set_character_attribute(params.get(0), &mut self.modes),
            (0, b'#', b'{' | b'p') => self.push_sgr(params),
            (0, b'#', b'}' | b'q') => self.pop_sgr(),
            (0, b'$', b'r') if vt420 => {
                self.screen
                    .change_attributes(params, Change::Set, self.modes.change_extent);
            }
            (0, b'$', b't') if vt420 => {
                self.screen
                    .change_attributes(params, Change::Reverse, self.modes.change_extent);
            }
            (0, b'$', b'v') if vt420 => self.screen.copy_rectangle(params),
            (0, b'$', b'x') if vt420 => self.screen.fill_rectangle(params),
            (0, b'$', b'z') if vt420 => self.screen.erase_rectangle(params),
            (0, b'$', b'{') if vt420 => self.screen.selective_erase_rectangle(params, &self.modes),
            (0, b'*', b'x') => self.modes.change_extent = ChangeExtent::from(params.get(0)),
            (0, b'\'', b'}') if vt420 => self.screen.insert_columns(params.count(0)),
            (0, b'\'', b'~') if vt420 => self.screen.delete_columns(params.count(0)),
            _ => self.report(sequence),
        }
    }

    /// `ESC #` and a byte.
    fn line_function(&mut self, byte: u8) {
        match byte {
            b'3' => self.set_line_size(LineSize::DoubleHeightTop),
            b'4' => self.set_line_size(LineSize::DoubleHeightBottom),
            b'5' => self.set_line_size(LineSize::Single),
            b'6' => self.set_line_size(LineSize::DoubleWidth),
            b'8' => self.screen.alignment_pattern(&self.modes),
            _ => {}
        }
    }

    /// DECDHL, DECSWL, DECDWL. They have no effect while DECLRMM is set.
    fn set_line_size(&mut self, size: LineSize) {
        if !self.modes.left_right_margins {
            self.screen.set_line_size(size);
        }
    }

    fn plain_escape(&mut self, byte: u8) {
        match byte {
            b'6' if self.modes.level >= 4 => self.screen.back_index(&self.modes),
            b'7' => self.screen.save_cursor(),
            b'8' => self.screen.restore_cursor(&self.modes),
            b'9' if self.modes.level >= 4 => self.screen.forward_index(&self.modes),
            b'=' => self.modes.application_keypad = true,
            b'>' => self.modes.application_keypad = false,
            b'D' => self.screen.line_down(),
            b'E' => self.screen.next_line(),
            b'H' => self.screen.tab_set(),
            b'M' => self.screen.reverse_index(),
            b'N' => self.single_shift(2),
            b'O' => self.single_shift(3),
            b'V' => self.screen.start_guarded_area(&mut self.modes),
            b'W' => self.screen.end_guarded_area(&mut self.modes),
            b'Z' => self.report(&ControlSequence::plain(b'c')),
            b'c' => self.full_reset(),
            b'l' => self.screen.lock_memory(),
            b'm' => self.screen.unlock_memory(),
            b'n' => self.shift_left(2),
            b'o' => self.shift_left(3),
            b'|' => self.shift_right(3),
            b'}' => self.shift_right(2),
            b'~' => self.shift_right(1),
            _ => {}
        }
    }
}
