//! Escape and control sequences, byte by byte: ECMA-48 §5.4, and Paul Williams's state diagram of
//! DEC's parser. The model and [`plain`](crate::plain) both read with it.

use super::control_sequence::{ControlSequence, MAX_VALUE, Separator, parse_csi};

/// The most intermediates of an escape sequence; one with more has no function.
const MAX_INTERMEDIATES: usize = 2;

/// What a byte brought about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The sequence goes on.
    More,
    /// A C0 control, which acts in the middle of a sequence too (DEC STD 070).
    Control(u8),
    /// An escape sequence is whole: see [`SequenceReader::intermediates`]. Its final byte.
    Escape(u8),
    /// A control sequence is whole: see [`SequenceReader::sequence`].
    ControlSequence,
    /// The sequence has ended and has no function.
    Ignored,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// After ESC, or after its intermediates.
    #[default]
    Escape,
    /// After CSI.
    Entry,
    Params,
    Intermediate,
    /// A control sequence that is not well formed, up to its final byte.
    Ignore,
}

/// Reads one sequence. The caller handles what ends or begins a sequence in any state: CAN, SUB and
/// ESC.
#[derive(Debug, Clone, Default)]
pub(crate) struct SequenceReader {
    state: State,
    sequence: ControlSequence,
    /// The parameter that is being read, and what stood before it.
    value: u32,
    separator: Option<Separator>,
    has_params: bool,
    intermediates: [u8; MAX_INTERMEDIATES],
    intermediate_count: usize,
}

impl SequenceReader {
    /// Begins after ESC.
    pub(crate) fn begin_escape(&mut self) {
        self.state = State::Escape;
        self.intermediate_count = 0;
    }

    /// Begins after CSI.
    pub(crate) fn begin_control_sequence(&mut self) {
        *self = Self {
            state: State::Entry,
            ..Self::default()
        };
    }

    /// Reads a control sequence that lies whole at the front of the bytes, after CSI. Returns how
    /// many bytes it took; `None` where the sequence is cut or unusual.
    #[inline]
    pub(crate) fn read_whole(&mut self, bytes: &[u8]) -> Option<usize> {
        parse_csi(bytes, &mut self.sequence)
    }

    /// The control sequence that is whole.
    #[inline]
    pub(crate) fn sequence(&self) -> &ControlSequence {
        &self.sequence
    }

    /// The intermediates of the escape sequence that is whole.
    pub(crate) fn intermediates(&self) -> &[u8] {
        &self.intermediates[..self.intermediate_count.min(MAX_INTERMEDIATES)]
    }

    /// Takes the next byte.
    pub(crate) fn byte(&mut self, byte: u8) -> Step {
        match (self.state, byte) {
            (_, 0..0x20) => return Step::Control(byte),
            // DEL, and what is not ASCII, is passed over.
            (_, 0x7f..) => {}
            (State::Escape, 0x20..0x30) => {
                if let Some(place) = self.intermediates.get_mut(self.intermediate_count) {
                    *place = byte;
                }
                self.intermediate_count += 1;
            }
            (State::Escape, _) if self.intermediate_count > MAX_INTERMEDIATES => {
                return Step::Ignored;
            }
            (State::Escape, _) => return Step::Escape(byte),
            (State::Ignore, 0x40..) => return Step::Ignored,
            (State::Ignore, _) => {}
            (_, 0x20..0x30) => {
                self.state = State::Intermediate;
                self.intermediate_count += 1;
                self.sequence.intermediate = byte;
            }
            (State::Entry, b'<'..=b'?') => {
                self.state = State::Params;
                self.sequence.prefix = byte;
            }
            (State::Entry | State::Params, b'0'..=b';') => {
                self.state = State::Params;
                self.param(byte);
            }
            (_, 0x30..0x40) => self.state = State::Ignore,
            (_, last) => return self.end(last),
        }
        Step::More
    }

    fn param(&mut self, byte: u8) {
        self.has_params = true;
        let separator = match byte {
            b';' => Separator::Semicolon,
            b':' => Separator::Colon,
            digit => {
                self.value = (self.value * 10 + u32::from(digit - b'0')).min(MAX_VALUE);
                return;
            }
        };
        self.push_param();
        self.separator = Some(separator);
    }

    fn push_param(&mut self) {
        let separator = self.separator.unwrap_or(Separator::Semicolon);
        self.sequence.params.push(self.value, separator);
        self.value = 0;
    }

    fn end(&mut self, last: u8) -> Step {
        if self.has_params {
            self.push_param();
        }
        self.sequence.function = last;
        // No function has two intermediates.
        if self.intermediate_count > 1 {
            Step::Ignored
        } else {
            Step::ControlSequence
        }
    }
}
