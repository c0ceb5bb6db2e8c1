//! Escape sequences: ECMA-48's state machine (5.4, 5.6; Williams's diagram of DEC's), as far as
//! text needs it.
//!
//! A few dozen bytes, whatever comes: parameters are counted and capped, strings (OSC, DCS, SOS,
//! PM, APC) are passed over and not kept. It is our own and not `vte`'s because a reader's state is
//! kept by offset, so it must be `Clone`, and because text has to be told exactly where a sequence
//! began and whether one is open.

/// Parameters that are kept; further ones are of no control function that moves text.
const MAX_PARAMS: usize = 8;

const ESC: u8 = 0x1b;

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// A C0 control, which acts in the middle of a sequence too (DEC STD 070).
    Control(u8),
    /// ESC, an intermediate if there was one, and a final byte.
    Escape { intermediate: u8, last: u8 },
    /// A control sequence.
    Csi { params: Params, last: u8 },
}

/// The parameters of a control sequence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Params {
    values: [u16; MAX_PARAMS],
    count: usize,
    /// `<`, `=`, `>` or `?`; else 0.
    pub(super) private: u8,
    /// The last one; else 0.
    pub(super) intermediate: u8,
    /// In a sub-parameter: after a colon.
    in_sub: bool,
}

impl Params {
    /// The parameter, where absent and 0 mean 1: a count, or a position from 1.
    pub(super) fn count(&self, index: usize) -> usize {
        self.value(index).max(1)
    }

    /// The parameter, where absent means 0.
    pub(super) fn value(&self, index: usize) -> usize {
        usize::from(self.values.get(index).copied().unwrap_or_default())
    }

    /// All of them; one at the least.
    pub(super) fn all(&self) -> impl Iterator<Item = u16> {
        self.values.into_iter().take(self.count + 1)
    }

    fn digit(&mut self, byte: u8) {
        if !self.in_sub
            && let Some(value) = self.values.get_mut(self.count)
        {
            *value = value
                .saturating_mul(10)
                .saturating_add(u16::from(byte - b'0'));
        }
    }

    fn next(&mut self) {
        self.in_sub = false;
        self.count = (self.count + 1).min(MAX_PARAMS);
    }
}

/// Where in a sequence we are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape {
        intermediate: u8,
    },
    Csi,
    /// A control sequence that makes no sense: passed over up to its final byte.
    CsiIgnore,
    /// OSC, which BEL ends too (xterm).
    Osc,
    /// DCS, SOS, PM, APC.
    Text,
}

/// The state machine.
#[derive(Debug, Clone, Default)]
pub(super) struct Sequences {
    state: State,
    params: Params,
}

impl Sequences {
    pub(super) fn is_ground(&self) -> bool {
        self.state == State::Ground
    }

    /// ESC was seen in the ground state.
    pub(super) fn begin(&mut self) {
        self.state = State::Escape { intermediate: 0 };
    }

    /// Goes on: how many of the bytes were taken (one at the least), and what they mean.
    pub(super) fn advance(&mut self, bytes: &[u8]) -> (usize, Option<Action>) {
        if matches!(self.state, State::Osc | State::Text) {
            let bell = if self.state == State::Osc { 0x07 } else { ESC };
            let ends = |byte: &u8| matches!(*byte, ESC | 0x18 | 0x1a) || *byte == bell;
            let Some(at) = bytes.iter().position(ends) else {
                return (bytes.len(), None);
            };
            self.state = match bytes.get(at) {
                // ESC \ ends it; any other ESC breaks it off and begins anew.
                Some(&ESC) => State::Escape { intermediate: 0 },
                _ => State::Ground,
            };
            return (at + 1, None);
        }
        for (at, byte) in bytes.iter().enumerate() {
            let action = self.byte(*byte);
            if action.is_some() || matches!(self.state, State::Ground | State::Osc | State::Text) {
                return (at + 1, action);
            }
        }
        (bytes.len(), None)
    }

    fn byte(&mut self, byte: u8) -> Option<Action> {
        match (self.state, byte) {
            (_, 0x18 | 0x1a) => self.state = State::Ground,
            (_, ESC) => self.begin(),
            (_, 0x00..0x20) => return Some(Action::Control(byte)),
            (_, 0x7f..) => {}
            (State::Escape { .. }, 0x20..0x30) => {
                self.state = State::Escape { intermediate: byte };
            }
            (State::Escape { intermediate: 0 }, b'[') => {
                self.params = Params::default();
                self.state = State::Csi;
            }
            (State::Escape { intermediate: 0 }, b']') => self.state = State::Osc,
            (State::Escape { intermediate: 0 }, b'P' | b'X' | b'^' | b'_') => {
                self.state = State::Text;
            }
            (State::Escape { intermediate }, last) => {
                self.state = State::Ground;
                return Some(Action::Escape { intermediate, last });
            }
            (State::Csi, 0x20..0x30) => self.params.intermediate = byte,
            (State::Csi, 0x30..0x40) if self.params.intermediate != 0 => {
                self.state = State::CsiIgnore;
            }
            (State::Csi, b'0'..=b'9') => self.params.digit(byte),
            (State::Csi, b':') => self.params.in_sub = true,
            (State::Csi, b';') => self.params.next(),
            (State::Csi, 0x3c..0x40) => {
                let is_first = self.params == Params::default();
                if is_first {
                    self.params.private = byte;
                } else {
                    self.state = State::CsiIgnore;
                }
            }
            (State::Csi, last) => {
                self.state = State::Ground;
                let params = self.params;
                return Some(Action::Csi { params, last });
            }
            (State::CsiIgnore, 0x40..) => self.state = State::Ground,
            (State::CsiIgnore | State::Ground | State::Osc | State::Text, _) => {}
        }
        None
    }
}
