//! What bytes and control functions do to the live region, by xterm's names.

use super::sequence::Action;
use super::{Charset, MAX_PART_BYTES, PlainText, Screen, Shift, Styles};
use crate::charset;
use crate::control::sgr::apply as apply_sgr;
use crate::grid::style::Attributes;
use crate::grid::width::width;
use crate::parser::{ControlSequence, Params, ascii_run, is_unfinished, text_run};

impl PlainText {
    pub(super) fn run(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let taken = if !self.sequences.is_ground() {
                self.go_on(rest)
            } else if self.screen == Screen::Alternate {
                self.pass_over(rest)
            } else if !self.part.is_empty() {
                self.complete_part(rest)
            } else {
                self.ground(rest)
            };
            rest = rest.get(taken..).unwrap_or_default();
        }
    }

    fn go_on(&mut self, bytes: &[u8]) -> usize {
        let (taken, action) = self.sequences.advance(bytes);
        self.fed += taken as u64;
        self.region.offset = self.fed;
        match action {
            Some(Action::Control(byte)) => self.control(byte),
            Some(Action::Escape { intermediate, last }) => self.escape(intermediate, last),
            Some(Action::ControlSequence) => {
                self.control_sequence(&self.sequences.control_sequence());
            }
            None => {}
        }
        taken
    }

    fn begin_sequence(&mut self) {
        self.sequence_start = self.fed;
        self.fed += 1;
        self.sequences.begin();
    }

    /// On the alternate screen only sequences matter.
    fn pass_over(&mut self, bytes: &[u8]) -> usize {
        let length = bytes.iter().position(|byte| *byte == 0x1b);
        self.part.clear();
        self.fed += length.unwrap_or(bytes.len()) as u64;
        if length.is_some() {
            self.begin_sequence();
        }
        length.map_or(bytes.len(), |length| length + 1)
    }

    fn ground(&mut self, bytes: &[u8]) -> usize {
        let ascii = ascii_run(bytes);
        if ascii > 0 {
            let (text, after) = bytes.split_at(ascii);
            self.print_ascii(text);
            // Nearly all lines end so.
            if after.starts_with(b"\r\n") {
                self.fed += 2;
                self.region.offset = self.fed;
                self.region.next_line();
                return ascii + 2;
            }
            return ascii;
        }
        match bytes.first() {
            Some(0x1b) => {
                if let [_, b'[', rest @ ..] = bytes
                    && let Some(length) = self.sequences.read_whole(rest)
                {
                    self.fed += 2 + length as u64;
                    self.region.offset = self.fed;
                    self.control_sequence(&self.sequences.control_sequence());
                    return 2 + length;
                }
                self.begin_sequence();
            }
            Some(byte @ (0x00..0x20 | 0x7f)) => {
                self.fed += 1;
                self.region.offset = self.fed;
                self.control(*byte);
            }
            _ => return self.characters(bytes),
        }
        1
    }

    fn print_ascii(&mut self, text: &[u8]) {
        self.just_homed = false;
        self.region.offset = self.fed;
        if self.charset() == Charset::Ascii {
            self.region.print_ascii(text);
            self.last_printed = text.last().map(|byte| char::from(*byte));
        } else {
            for byte in text {
                self.print(charset::Charset::DecSpecialGraphics.map(*byte), 1);
                self.region.offset += 1;
            }
        }
        self.fed += text.len() as u64;
    }

    fn charset(&self) -> Charset {
        match self.shift {
            Shift::G0 => self.g0,
            Shift::G1 => self.g1,
        }
    }

    fn print(&mut self, character: char, count: usize) {
        self.just_homed = false;
        for _ in 0..count {
            self.region.print(character);
        }
        if width(character) > 0 {
            self.last_printed = Some(character);
        }
    }

    /// Reads text up to the next control. It may have characters beyond ASCII.
    fn characters(&mut self, bytes: &[u8]) -> usize {
        let length = text_run(bytes);
        let reaches_end = length == bytes.len();
        let run = bytes.get(..length).unwrap_or_default();
        let mut at = 0;
        for chunk in run.utf8_chunks() {
            self.text(chunk.valid());
            let bad = chunk.invalid();
            at += chunk.valid().len() + bad.len();
            if bad.is_empty() {
                continue;
            }
            if reaches_end && at == length && is_unfinished(bad) {
                self.part.extend_from_slice(bad);
                self.part_start = self.fed;
            } else {
                self.region.offset = self.fed;
                self.print(char::REPLACEMENT_CHARACTER, 1);
            }
            self.fed += bad.len() as u64;
        }
        length
    }

    fn text(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let ascii = ascii_run(rest.as_bytes());
            let (head, tail) = rest.split_at(ascii);
            if !head.is_empty() {
                self.print_ascii(head.as_bytes());
            }
            let mut characters = tail.chars();
            if let Some(character) = characters.next() {
                self.region.offset = self.fed;
                self.print(character, 1);
                self.fed += character.len_utf8() as u64;
            }
            rest = characters.as_str();
        }
    }

    /// Goes on with a cut character. Takes one byte, or none if the byte does not belong to it.
    fn complete_part(&mut self, bytes: &[u8]) -> usize {
        let Some(byte) = bytes.first() else { return 0 };
        let mut whole = self.part.clone();
        whole.push(*byte);
        match std::str::from_utf8(&whole) {
            Ok(text) => {
                self.region.offset = self.end();
                self.part.clear();
                text.chars().for_each(|character| self.print(character, 1));
            }
            Err(error) if error.error_len().is_none() && whole.len() <= MAX_PART_BYTES => {
                self.part = whole;
            }
            Err(_) => {
                self.end_part();
                return 0;
            }
        }
        self.fed += 1;
        1
    }

    /// Prints U+FFFD for a cut character that will not be completed.
    pub(super) fn end_part(&mut self) {
        if !self.part.is_empty() {
            self.region.offset = self.end();
            self.part.clear();
            self.print(char::REPLACEMENT_CHARACTER, 1);
        }
    }

    fn control(&mut self, byte: u8) {
        if self.screen == Screen::Alternate {
            return;
        }
        self.just_homed = false;
        match byte {
            0x08 => self.region.left(1),
            b'\t' => self.region.tab(),
            0x0a..=0x0c => self.region.next_line(),
            b'\r' => self.region.carriage_return(),
            0x0e => self.shift = Shift::G1,
            0x0f => self.shift = Shift::G0,
            _ => {}
        }
    }

    fn escape(&mut self, intermediate: u8, last: u8) {
        let charset = match last {
            b'0' | b'2' => Charset::Graphics,
            _ => Charset::Ascii,
        };
        match (intermediate, last) {
            (0, b'c') => return self.reset(),
            (b'(', _) => self.g0 = charset,
            (b')', _) => self.g1 = charset,
            _ => {}
        }
        if self.screen == Screen::Alternate {
            return;
        }
        match (intermediate, last) {
            (0, b'7') => self.region.save_cursor(),
            (0, b'8') => self.region.restore_cursor(),
            (0, b'D') => self.region.index(),
            (0, b'E') => self.region.next_line(),
            (0, b'M') => self.region.reverse_index(),
            _ => {}
        }
    }

    /// RIS.
    fn reset(&mut self) {
        self.screen = Screen::Primary;
        self.region.clear();
        self.region.carriage_return();
        self.region.reset_modes();
        (self.g0, self.g1, self.shift) = Default::default();
    }

    fn control_sequence(&mut self, sequence: &ControlSequence) {
        let params = &sequence.params;
        let is_sgr = (sequence.prefix, sequence.intermediate, sequence.function) == (0, 0, b'm');
        if is_sgr && self.region.styles == Styles::Kept {
            apply_sgr(&mut self.region.pen, params);
            // Hidden text is for nobody who reads.
            self.region.pen.attributes.remove(Attributes::INVISIBLE);
            return;
        }
        // Only SGR takes colons, and SGR moves nothing.
        if params.has_colons() {
            return;
        }
        let last = sequence.function;
        match (sequence.prefix, sequence.intermediate, last) {
            (b'?', 0, b'h' | b'l') => {
                for mode in params.values() {
                    self.mode(*mode, last == b'h');
                }
                return;
            }
            (b'?', 0, b'J' | b'K') | (0, 0, _) if self.screen == Screen::Primary => {}
            // DECSTR.
            (0, b'!', b'p') => return self.region.reset_modes(),
            _ => return,
        }
        let just_homed = std::mem::take(&mut self.just_homed);
        self.move_or_edit(params, last, just_homed);
    }

    fn move_or_edit(&mut self, params: &Params, last: u8, just_homed: bool) {
        let count = params.count(0);
        let region = &mut self.region;
        match last {
            b'A' => region.up(count),
            b'B' | b'e' => region.down(count),
            b'C' | b'a' => region.right(count),
            b'D' => region.left(count),
            b'E' => {
                region.down(count);
                region.carriage_return();
            }
            b'F' => {
                region.up(count);
                region.carriage_return();
            }
            b'G' | b'`' => region.set_column(count - 1),
            b'd' => region.set_row(count - 1),
            b'H' | b'f' => {
                region.set_row(count - 1);
                region.set_column(params.count(1) - 1);
                self.just_homed = count == 1 && params.count(1) == 1;
            }
            b'I' => (0..count.min(region.columns())).for_each(|_| region.tab()),
            b'J' => match params.get(0) {
                0 if just_homed => region.clear(),
                0 => region.erase_below(),
                1 => region.erase_above(),
                2 => region.clear(),
                _ => {}
            },
            b'K' => match params.get(0) {
                0 => region.erase_right(),
                1 => region.erase_left(),
                2 => region.erase_line(),
                _ => {}
            },
            b'@' => region.insert_characters(count),
            b'P' => region.delete_characters(count),
            b'X' => region.erase_characters(count),
            b'L' => region.insert_lines(count),
            b'M' => region.delete_lines(count),
            b'S' => region.scroll_up_by(count),
            b'T' if params.get(1) == 0 => region.scroll_down_by(count),
            b'b' => {
                // ncurses repeats within a row. More would make much text of a few bytes.
                let most = region.columns();
                if let Some(character) = self.last_printed {
                    self.print(character, count.min(most));
                }
            }
            b'r' => {
                let bottom = match params.get(1) {
                    0 => usize::MAX,
                    bottom => usize::from(bottom) - 1,
                };
                region.set_margins(count - 1, bottom);
            }
            b's' => region.save_cursor(),
            b'u' => region.restore_cursor(),
            // SGR and the like move nothing.
            _ => self.just_homed = just_homed,
        }
    }

    /// DECSET and DECRST.
    fn mode(&mut self, mode: u16, set: bool) {
        use super::region::Autowrap;
        match (mode, set) {
            (47 | 1047 | 1049, true) if self.screen == Screen::Primary => {
                self.region.save_cursor();
                self.screen = Screen::Alternate;
            }
            (47 | 1047 | 1049, false) if self.screen == Screen::Alternate => {
                self.screen = Screen::Primary;
                self.region.restore_cursor_in_place();
            }
            (1048, true) if self.screen == Screen::Primary => self.region.save_cursor(),
            (1048, false) if self.screen == Screen::Primary => self.region.restore_cursor(),
            (7, true) => self.region.autowrap = Autowrap::On,
            (7, false) => self.region.autowrap = Autowrap::Off,
            _ => {}
        }
    }
}
