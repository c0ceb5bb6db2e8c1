//! From bytes to functions: text in runs, controls, and escape sequences.
//!
//! In the ground state runs of text are found here, without a state machine's cost a character. A
//! control sequence that lies whole in the bytes at hand, as nearly all do, is read in one go; one
//! that is cut, or that has controls in it, goes through `vte`. Strings (OSC, DCS, APC, PM, SOS)
//! are gathered here, bounded. Whatever the way, the functions called are the same, and so any
//! split of the bytes has the same effect.

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

/// Where in the byte stream we are.
#[derive(Debug, Default)]
enum State {
    /// Text and controls.
    #[default]
    Ground,
    /// After ESC, before it is known what kind of sequence it is.
    Escape,
    /// ESC and intermediates, in vte's hands.
    EscapeIntermediate,
    /// After ESC Y of VT52, which takes two more bytes: the first of them, once it is there.
    Vt52Address(Option<u8>),
    /// A control sequence, in vte's hands.
    Csi,
    /// A string.
    String(ControlString),
    /// A string, and an ESC that ends it if a backslash follows.
    StringEscape(ControlString),
}

/// The reader of the byte stream.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    state: State,
    reader: SequenceReader,
    /// The beginning of a UTF-8 sequence that was cut.
    partial: Partial,
    /// Whole lines are not looked for again before this offset.
    lines_from: u64,
    /// The bytes of the escape sequence that is not whole yet, for `dump`.
    pending: Vec<u8>,
}

/// Up to three bytes of an unfinished character.
#[derive(Debug, Default, Clone, Copy)]
struct Partial {
    bytes: [u8; 4],
    len: usize,
}

/// What is kept of an unfinished escape sequence at the most: a string's bytes are in the string.
const MAX_PENDING: usize = 1_024;

impl Parser {
    /// Reads bytes that begin at this offset, and calls the handler for what they say.
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

    /// The bytes of what is not whole yet: fed again, they bring the same state about.
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

    /// Takes some bytes in the ground state; how many.
    #[inline]
    fn ground(&mut self, handler: &mut impl Handler, bytes: &[u8], offset: u64) -> usize {
        if self.partial.len > 0 {
            return self.finish_character(handler, bytes);
        }
        let ascii = ascii_run(bytes);
        let (text, rest) = bytes.split_at(ascii);
        let end = offset + ascii as u64;
        if let [b'\r', b'\n', ..] = rest {
            if offset >= self.lines_from
                && let Some((taken, seen)) = handler.print_lines(bytes)
            {
                self.lines_from = offset + seen as u64;
                if taken > 0 {
                    return taken;
                }
            }
            // The two come together nearly always.
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
            // DEL is not shown and does nothing.
            _ => ascii + 1,
        }
    }

    /// An ESC, and the sequence after it if all of it is here.
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

    /// Takes a byte, or a run of a string's, outside the ground state; how many.
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
                    // xterm gives the string up, and the ESC begins something else.
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
                // The control has acted and must not act again: it is not remembered.
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
            // DEL and what is not ASCII is passed over.
            _ => self.state = State::Escape,
        }
    }

    /// Takes a run of a string's bytes.
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
        // An event of it is after its last byte.
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

    /// A byte of 0x80 and above where UTF-8 is off.
    fn eight_bit(&mut self, handler: &mut impl Handler, byte: u8, offset: u64) -> usize {
        handler.set_offset(offset + 1);
        match byte {
            0x80..=0x9f => self.c1(handler, byte),
            _ => handler.print_right(byte),
        }
        1
    }

    /// A C1 control: ESC and the byte 0x40 below it.
    fn c1(&mut self, handler: &mut impl Handler, byte: u8) {
        self.begin_escape();
        self.after_escape(handler, byte - 0x40);
    }
}
