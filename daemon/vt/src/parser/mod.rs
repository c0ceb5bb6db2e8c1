//! From bytes to control functions: runs of text, controls, sequences and strings.
//!
//! Runs of text are found many bytes at a time. A control sequence that lies whole in the bytes at
//! hand, as nearly all do, is read in one go; [`SequenceReader`] reads the others byte by byte.
//! Either way the same functions of [`Handler`] are called, so the effect does not depend on how
//! the bytes are cut.

mod control_sequence;
mod control_string;
mod handler;
mod scan;
mod sequence_reader;
mod utf8;

pub(crate) use self::control_sequence::{ControlSequence, Params};
pub(crate) use self::control_string::{ControlString, StringKind, Terminator};
pub(crate) use self::handler::Handler;
pub(crate) use self::scan::{ascii_in_word, ascii_run, is_unfinished, text_run};
pub(crate) use self::sequence_reader::{SequenceReader, Step};

const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;

#[derive(Debug, Default)]
enum State {
    /// Text and controls.
    #[default]
    Ground,
    /// After ESC.
    Escape,
    /// After ESC and an intermediate.
    EscapeIntermediate,
    /// After VT52's ESC Y, which takes two more bytes. The first of them, if it has come.
    Vt52Address(Option<u8>),
    /// After CSI.
    Csi,
    String(ControlString),
    /// In a string, after an ESC that ends the string if a backslash follows.
    StringEscape(ControlString),
}

#[derive(Debug, Default)]
pub(crate) struct Parser {
    state: State,
    reader: SequenceReader,
    partial: Partial,
    /// Whole lines are not searched for again before this offset.
    lines_from: u64,
    /// The bytes of the unfinished escape sequence, for a dump. A string keeps its own.
    pending: Vec<u8>,
}

/// Up to three bytes of an unfinished character.
#[derive(Debug, Default, Clone, Copy)]
struct Partial {
    bytes: [u8; 4],
    len: usize,
}

/// The most bytes that are kept of an unfinished escape sequence.
const MAX_PENDING: usize = 1_024;

impl Parser {
    /// Reads bytes that begin at this offset, and calls the handler for each function in them.
    pub(crate) fn feed(&mut self, handler: &mut impl Handler, bytes: &[u8], offset: u64) {
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            let offset = offset + at as u64;
            at += if let State::Ground = self.state {
                self.ground(handler, rest, offset)
            } else {
                self.byte(handler, rest, offset)
            };
        }
        handler.set_offset(offset + bytes.len() as u64);
    }

    /// The bytes of what is unfinished. A fresh parser that is fed with them is in the same state.
    pub(crate) fn unfinished(&self) -> Vec<u8> {
        let mut bytes = self.partial.bytes[..self.partial.len].to_vec();
        bytes.extend_from_slice(&self.pending);
        match &self.state {
            State::String(gathered) => bytes.extend(gathered.as_sent()),
            State::StringEscape(gathered) => {
                bytes.extend(gathered.as_sent());
                bytes.push(ESC);
            }
            State::Ground
            | State::Escape
            | State::EscapeIntermediate
            | State::Vt52Address(_)
            | State::Csi => {}
        }
        bytes
    }

    /// Reads some bytes in the ground state. Returns how many.
    #[inline]
    fn ground(&mut self, handler: &mut impl Handler, bytes: &[u8], offset: u64) -> usize {
        if self.partial.len > 0 {
            return self.finish_character(handler, bytes);
        }
        let ascii = ascii_run(bytes);
        let (text, rest) = bytes.split_at(ascii);
        let end = offset + ascii as u64;
        let ends_with_both = rest.starts_with(b"\r\n");
        if (ends_with_both || (rest.starts_with(b"\n") && handler.line_feed_returns()))
            && offset >= self.lines_from
            && let Some((taken, seen)) = handler.print_lines(bytes)
        {
            self.lines_from = offset + seen as u64;
            if taken > 0 {
                return taken;
            }
        }
        if ends_with_both {
            // The two nearly always come together.
            handler.print_ascii(text);
            handler.set_offset(end + 2);
            handler.new_line();
            return ascii + 2;
        }
        if !text.is_empty() {
            handler.print_ascii(text);
        }
        let Some(byte) = rest.first().copied() else {
            return ascii;
        };
        match byte {
            ESC => {
                handler.set_offset(end + 1);
                ascii + self.escape(handler, rest, end)
            }
            0..0x20 => {
                handler.set_offset(end + 1);
                handler.control(byte);
                ascii + 1
            }
            0x80.. if !handler.is_utf8() => ascii + self.eight_bit(handler, byte, end),
            0x80.. => ascii + self.characters(handler, rest, end),
            // DEL has no effect.
            _ => ascii + 1,
        }
    }

    /// Reads an ESC, and the control sequence after it if it is whole.
    #[inline]
    fn escape(&mut self, handler: &mut impl Handler, bytes: &[u8], offset: u64) -> usize {
        if let [_, b'[', rest @ ..] = bytes
            && !handler.is_vt52()
            && let Some(length) = self.reader.read_whole(rest)
        {
            handler.set_offset(offset + 2 + length as u64);
            handler.control_sequence(self.reader.sequence());
            return 2 + length;
        }
        self.begin_escape();
        1
    }

    fn begin_escape(&mut self) {
        self.state = State::Escape;
        self.pending.clear();
        self.pending.push(ESC);
    }

    fn return_to_ground(&mut self) {
        self.state = State::Ground;
        self.pending.clear();
    }

    fn remember(&mut self, byte: u8) {
        if self.pending.len() < MAX_PENDING {
            self.pending.push(byte);
        }
    }

    /// Reads a byte outside the ground state, or a run of a string's bytes. Returns how many.
    fn byte(&mut self, handler: &mut impl Handler, bytes: &[u8], offset: u64) -> usize {
        let byte = bytes[0];
        handler.set_offset(offset + 1);
        match std::mem::take(&mut self.state) {
            State::Ground => {}
            State::Escape => self.after_escape(handler, byte),
            State::Vt52Address(row) => match row {
                None => {
                    self.remember(byte);
                    self.state = State::Vt52Address(Some(byte));
                }
                Some(row) => {
                    self.return_to_ground();
                    handler.vt52_address(row, byte);
                }
            },
            state @ (State::EscapeIntermediate | State::Csi) => match byte {
                ESC => self.begin_escape(),
                CAN | SUB => {
                    self.return_to_ground();
                    handler.control(byte);
                }
                _ => self.sequence_byte(handler, byte, state),
            },
            State::String(gathered) => return self.string(handler, gathered, bytes, offset),
            State::StringEscape(gathered) => {
                if byte == b'\\' {
                    self.return_to_ground();
                    handler.control_string(&gathered);
                } else {
                    // As in xterm the string is given up, and the ESC begins another sequence.
                    self.begin_escape();
                    self.after_escape(handler, byte);
                }
            }
        }
        1
    }

    fn sequence_byte(&mut self, handler: &mut impl Handler, byte: u8, state: State) {
        match self.reader.byte(byte) {
            Step::More => {
                self.remember(byte);
                self.state = state;
            }
            Step::Control(control) => {
                // The control has acted and must not act again, so it is not kept for a dump.
                self.state = state;
                handler.control(control);
            }
            Step::Escape(last) => {
                self.return_to_ground();
                handler.escape(self.reader.intermediates(), last);
            }
            Step::ControlSequence => {
                self.return_to_ground();
                handler.control_sequence(self.reader.sequence());
            }
            Step::Ignored => self.return_to_ground(),
        }
    }

    fn after_escape(&mut self, handler: &mut impl Handler, byte: u8) {
        if handler.is_vt52() {
            self.return_to_ground();
            match byte {
                ESC => self.begin_escape(),
                b'Y' => {
                    self.pending.extend([ESC, byte]);
                    self.state = State::Vt52Address(None);
                }
                0..0x20 => {
                    self.begin_escape();
                    handler.control(byte);
                }
                _ => handler.vt52_escape(byte),
            }
            return;
        }
        if let Some(kind) = StringKind::introduced_by(byte) {
            self.return_to_ground();
            self.state = State::String(ControlString::new(kind));
            return;
        }
        match byte {
            ESC => self.begin_escape(),
            b'[' => {
                self.remember(byte);
                self.state = State::Csi;
                self.reader.begin_control_sequence();
            }
            0x20..=0x2f => {
                self.remember(byte);
                self.state = State::EscapeIntermediate;
                self.reader.begin_escape();
                self.reader.byte(byte);
            }
            0x30..=0x7e => {
                self.return_to_ground();
                handler.escape(&[], byte);
            }
            CAN | SUB => {
                self.return_to_ground();
                handler.control(byte);
            }
            0..0x20 => {
                self.state = State::Escape;
                handler.control(byte);
            }
            // DEL and bytes that are not ASCII have no effect.
            _ => self.state = State::Escape,
        }
    }

    /// Reads a run of a string's bytes.
    fn string(
        &mut self,
        handler: &mut impl Handler,
        mut gathered: ControlString,
        bytes: &[u8],
        offset: u64,
    ) -> usize {
        let end = bytes
            .iter()
            .position(|byte| matches!(*byte, ESC | BEL | CAN | SUB | 0x9c))
            .unwrap_or(bytes.len());
        gathered.push(&bytes[..end]);
        // An event of the string stands after its last byte.
        handler.set_offset(offset + end as u64 + 1);
        let Some(byte) = bytes.get(end).copied() else {
            self.state = State::String(gathered);
            return end;
        };
        match byte {
            ESC => self.state = State::StringEscape(gathered),
            BEL if gathered.kind() == StringKind::Osc => {
                self.return_to_ground();
                gathered.end_with(Terminator::Bel);
                handler.control_string(&gathered);
            }
            CAN | SUB => {
                self.return_to_ground();
            }
            0x9c if gathered.is_ended_by_c1(handler.is_utf8()) => {
                self.return_to_ground();
                handler.control_string(&gathered);
            }
            _ => {
                gathered.push(&bytes[end..=end]);
                self.state = State::String(gathered);
            }
        }
        end + 1
    }

    /// Reads a byte from 0x80 on where text is not UTF-8.
    fn eight_bit(&mut self, handler: &mut impl Handler, byte: u8, offset: u64) -> usize {
        handler.set_offset(offset + 1);
        match byte {
            0x80..=0x9f => self.c1(handler, byte),
            _ => handler.print_right(byte),
        }
        1
    }

    /// A C1 control means the same as ESC and the byte 0x40 below it.
    fn c1(&mut self, handler: &mut impl Handler, byte: u8) {
        self.begin_escape();
        self.after_escape(handler, byte - 0x40);
    }
}
