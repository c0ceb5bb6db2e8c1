//! Escape sequences as far as text needs them.
//!
//! A few dozen bytes, whatever comes: strings (OSC, DCS, SOS, PM, APC) are passed over and not kept.

use crate::parser::{ControlSequence, SequenceReader, Step};

const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;

/// What a sequence asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// A C0 control.
    Control(u8),
    /// An escape sequence: its last intermediate or 0, and its final byte.
    Escape { intermediate: u8, last: u8 },
    /// The control sequence that [`Sequences::control_sequence`] returns.
    ControlSequence,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    /// After ESC.
    Escape,
    /// After an intermediate or CSI.
    Sequence,
    /// OSC, which BEL ends too (xterm).
    Osc,
    /// DCS, SOS, PM, APC.
    String,
}

/// Where in a sequence the output is.
#[derive(Debug, Clone, Default)]
pub(super) struct Sequences {
    state: State,
    reader: SequenceReader,
}

impl Sequences {
    pub(super) fn is_ground(&self) -> bool {
        self.state == State::Ground
    }

    /// The control sequence that was whole last.
    pub(super) fn control_sequence(&self) -> ControlSequence {
        *self.reader.sequence()
    }

    /// Reads a control sequence that lies whole in the bytes after CSI. Returns how many bytes it
    /// took.
    #[inline]
    pub(super) fn read_whole(&mut self, bytes: &[u8]) -> Option<usize> {
        self.reader.read_whole(bytes)
    }

    /// ESC was read in the ground state.
    pub(super) fn begin(&mut self) {
        self.state = State::Escape;
    }

    /// Goes on with the sequence. Returns how many bytes were taken, at least one, and what they
    /// mean.
    pub(super) fn advance(&mut self, bytes: &[u8]) -> (usize, Option<Action>) {
        if matches!(self.state, State::Osc | State::String) {
            return (self.pass_string(bytes), None);
        }
        for (at, byte) in bytes.iter().enumerate() {
            let action = self.byte(*byte);
            if action.is_some() || !matches!(self.state, State::Escape | State::Sequence) {
                return (at + 1, action);
            }
        }
        (bytes.len(), None)
    }

    fn pass_string(&mut self, bytes: &[u8]) -> usize {
        let is_osc = self.state == State::Osc;
        let ends = |byte: &u8| matches!(*byte, ESC | CAN | SUB) || is_osc && *byte == BEL;
        let Some(at) = bytes.iter().position(ends) else {
            return bytes.len();
        };
        self.state = match bytes.get(at) {
            // ESC and a backslash end it; ESC and anything else breaks it off and begins anew.
            Some(&ESC) => State::Escape,
            _ => State::Ground,
        };
        at + 1
    }

    fn byte(&mut self, byte: u8) -> Option<Action> {
        match (self.state, byte) {
            (_, CAN | SUB) => self.state = State::Ground,
            (_, ESC) => self.state = State::Escape,
            (State::Escape, b'[') => {
                self.reader.begin_control_sequence();
                self.state = State::Sequence;
            }
            (State::Escape, b']') => self.state = State::Osc,
            (State::Escape, b'P' | b'X' | b'^' | b'_') => self.state = State::String,
            (State::Escape, 0x20..0x7f) => {
                self.reader.begin_escape();
                self.state = State::Sequence;
                return self.read(byte);
            }
            _ => return self.read(byte),
        }
        None
    }

    fn read(&mut self, byte: u8) -> Option<Action> {
        let action = match self.reader.byte(byte) {
            Step::More => return None,
            Step::Control(byte) => return Some(Action::Control(byte)),
            Step::Escape(last) => {
                let intermediate = self.reader.intermediates().last().copied();
                let intermediate = intermediate.unwrap_or_default();
                Some(Action::Escape { intermediate, last })
            }
            Step::ControlSequence => Some(Action::ControlSequence),
            Step::Ignored => None,
        };
        self.state = State::Ground;
        action
    }
}
