//! From bytes to functions: text in runs, controls, and escape sequences.
//!
//! In the ground state runs of text are found here, without a state machine's cost a character. A
//! control sequence that lies whole in the bytes at hand, as nearly all do, is read in one go; one
//! that is cut, or that has controls in it, goes through `vte`. Strings (OSC, DCS, APC, PM, SOS)
//! are gathered here, bounded. Whatever the way, the functions called are the same, and so any
//! split of the bytes has the same effect.

mod control_sequence;
mod control_string;
mod scan;
mod utf8;

pub(crate) use self::control_sequence::{ControlSequence, Params};
pub(crate) use self::control_string::{ControlString, StringKind, Terminator};
pub(crate) use self::scan::{ascii_in_word, ascii_run};

use self::control_sequence::{Numbers, Slow};

use crate::terminal::Terminal;

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
    /// The control sequence that was read last.
    sequence: ControlSequence,
    slow: Slow,
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
    /// Reads bytes and does to the terminal what they say.
    pub(crate) fn feed(&mut self, terminal: &mut Terminal, bytes: &[u8]) {
        let base = terminal.offset;
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            at += if let State::Ground = self.state {
                self.ground(terminal, rest, base + at as u64)
            } else {
                terminal.offset = base + at as u64 + 1;
                self.byte(terminal, rest)
            };
        }
        terminal.offset = base;
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
    fn ground(&mut self, terminal: &mut Terminal, bytes: &[u8], offset: u64) -> usize {
        if self.partial.len > 0 {
            return self.finish_character(terminal, bytes);
        }
        let ascii = ascii_run(bytes);
        let (text, rest) = bytes.split_at(ascii);
        let end = offset + ascii as u64;
        if let [b'\r', b'\n', ..] = rest {
            if offset >= self.lines_from
                && bytes.len() > terminal.size.rows * 2
                && terminal.is_at_the_end()
            {
                let (taken, seen) = terminal.take_lines(bytes);
                self.lines_from = offset + seen as u64;
                if taken > 0 {
                    return taken;
                }
            }
            // The two come together nearly always.
            terminal.print_ascii(text);
            terminal.offset = end + 2;
            terminal.new_line();
            return ascii + 2;
        }
        if !text.is_empty() {
            terminal.print_ascii(text);
        }
        let Some(byte) = rest.first().copied() else {
            return ascii;
        };
        match byte {
            ESC => {
                terminal.offset = end + 1;
                ascii + self.escape(terminal, rest, end)
            }
            0..0x20 => {
                terminal.offset = end + 1;
                terminal.c0(byte);
                ascii + 1
            }
            0x80.. if !terminal.modes.utf8 => ascii + self.eight_bit(terminal, byte, end),
            0x80.. => ascii + self.characters(terminal, rest, end),
            // DEL is not shown and does nothing.
            _ => ascii + 1,
        }
    }

    /// An ESC, and the sequence after it if all of it is here.
    #[inline]
    fn escape(&mut self, terminal: &mut Terminal, bytes: &[u8], offset: u64) -> usize {
        if let [_, b'[', rest @ ..] = bytes
            && !terminal.modes.vt52
            && let Some(length) = control_sequence::parse_csi(rest, &mut self.sequence)
        {
            terminal.offset = offset + 2 + length as u64;
            terminal.csi(&self.sequence);
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
    fn byte(&mut self, terminal: &mut Terminal, bytes: &[u8]) -> usize {
        let byte = bytes[0];
        match std::mem::take(&mut self.state) {
            State::Ground => {}
            State::Escape => self.after_escape(terminal, byte),
            State::Vt52Address(row) => match row {
                None => {
                    self.remember(byte);
                    self.state = State::Vt52Address(Some(byte));
                }
                Some(row) => {
                    self.return_to_ground();
                    terminal.vt52_address(row, byte);
                }
            },
            State::EscapeIntermediate => match byte {
                ESC => self.begin_escape(),
                0x30..=0x7e | CAN | SUB => {
                    self.return_to_ground();
                    self.slow.advance(terminal, &[byte]);
                }
                _ => {
                    if byte >= 0x20 {
                        // Controls are done at once and must not be done again.
                        self.remember(byte);
                    }
                    self.state = State::EscapeIntermediate;
                    self.slow.advance(terminal, &[byte]);
                }
            },
            State::Csi => match byte {
                ESC => self.begin_escape(),
                0x40..=0x7e | CAN | SUB => {
                    let is_number = |byte: &u8| (b'0'..=b';').contains(byte);
                    let numbers = if self.pending.iter().any(is_number) {
                        Numbers::Some
                    } else {
                        Numbers::None
                    };
                    self.return_to_ground();
                    self.slow.end(terminal, byte, numbers);
                }
                _ => {
                    self.state = State::Csi;
                    if byte >= 0x20 {
                        // Controls are done at once and must not be done again.
                        self.remember(byte);
                    }
                    self.slow.advance(terminal, &[byte]);
                }
            },
            State::String(gathered) => return self.string(terminal, gathered, bytes),
            State::StringEscape(gathered) => {
                if byte == b'\\' {
                    self.return_to_ground();
                    terminal.string(&gathered);
                } else {
                    // xterm gives the string up, and the ESC begins something else.
                    self.begin_escape();
                    self.after_escape(terminal, byte);
                }
            }
        }
        1
    }

    fn after_escape(&mut self, terminal: &mut Terminal, byte: u8) {
        if terminal.modes.vt52 {
            self.return_to_ground();
            match byte {
                ESC => self.begin_escape(),
                b'Y' => {
                    self.pending.extend([ESC, byte]);
                    self.state = State::Vt52Address(None);
                }
                0..0x20 => {
                    self.begin_escape();
                    terminal.c0(byte);
                }
                _ => terminal.vt52(byte),
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
                self.slow.begin(terminal, byte);
            }
            0x20..=0x2f => {
                self.remember(byte);
                self.state = State::EscapeIntermediate;
                self.slow.begin(terminal, byte);
            }
            0x30..=0x7e => {
                self.return_to_ground();
                terminal.esc(&[], byte);
            }
            CAN | SUB => {
                self.return_to_ground();
                terminal.c0(byte);
            }
            0..0x20 => {
                self.state = State::Escape;
                terminal.c0(byte);
            }
            // DEL and what is not ASCII is passed over.
            _ => self.state = State::Escape,
        }
    }

    /// Takes a run of a string's bytes.
    fn string(
        &mut self,
        terminal: &mut Terminal,
        mut gathered: ControlString,
        bytes: &[u8],
    ) -> usize {
        let end = bytes
            .iter()
            .position(|byte| matches!(*byte, ESC | BEL | CAN | SUB | 0x9c))
            .unwrap_or(bytes.len());
        gathered.push(&bytes[..end]);
        // An event of it is after its last byte.
        terminal.offset += end as u64;
        let Some(byte) = bytes.get(end).copied() else {
            self.state = State::String(gathered);
            return end;
        };
        match byte {
            ESC => self.state = State::StringEscape(gathered),
            BEL if gathered.kind() == StringKind::Osc => {
                self.return_to_ground();
                gathered.end_with(Terminator::Bel);
                terminal.string(&gathered);
            }
            CAN | SUB => {
                self.return_to_ground();
            }
            0x9c if gathered.is_ended_by_c1(terminal.modes.utf8) => {
                self.return_to_ground();
                terminal.string(&gathered);
            }
            _ => {
                gathered.push(&bytes[end..=end]);
                self.state = State::String(gathered);
            }
        }
        end + 1
    }

    /// A byte of 0x80 and above where UTF-8 is off.
    fn eight_bit(&mut self, terminal: &mut Terminal, byte: u8, offset: u64) -> usize {
        terminal.offset = offset + 1;
        match byte {
            0x80..=0x9f => self.c1(terminal, byte),
            _ => terminal.print_gr(byte),
        }
        1
    }

    /// A C1 control: ESC and the byte 0x40 below it.
    fn c1(&mut self, terminal: &mut Terminal, byte: u8) {
        self.begin_escape();
        self.after_escape(terminal, byte - 0x40);
    }
}
