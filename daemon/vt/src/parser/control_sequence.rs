//! Control sequences: ECMA-48 §5.4.

use vte::{Parser, Perform};

use super::Handler;

/// Most parameters of a control sequence; more are left out, as in vte.
pub(crate) const MAX_PARAMS: usize = 32;
/// A parameter's value beyond this is this, as in vte.
const MAX_VALUE: u32 = u16::MAX as u32;

/// The parameters of a control sequence. One that is left out is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Params {
    values: [u16; MAX_PARAMS],
    /// Bit i: value i stands after a colon, and belongs to the one before.
    after_colon: u32,
    len: usize,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            values: [0; MAX_PARAMS],
            after_colon: 0,
            len: 0,
        }
    }
}

impl Params {
    #[inline]
    fn push(&mut self, value: u16, separator: Separator) {
        if self.len < MAX_PARAMS {
            self.values[self.len] = value;
            if separator == Separator::Colon {
                self.after_colon |= 1 << self.len;
            }
            self.len += 1;
        }
    }

    /// How many, those after colons counted.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A parameter; 0 where it is not there.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> u16 {
        if index < self.len {
            self.values[index]
        } else {
            0
        }
    }

    /// A count: a parameter that is not there or 0 is 1.
    #[inline]
    pub(crate) fn count(&self, index: usize) -> usize {
        usize::from(self.get(index).max(1))
    }

    /// All of them.
    pub(crate) fn values(&self) -> &[u16] {
        &self.values[..self.len]
    }

    /// Whether any belongs to the one before it.
    #[inline]
    pub(crate) fn has_colons(&self) -> bool {
        self.after_colon != 0
    }

    /// Whether one belongs to the one before it.
    #[inline]
    pub(crate) fn is_after_colon(&self, index: usize) -> bool {
        index < MAX_PARAMS && self.after_colon & 1 << index != 0
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    Semicolon,
    Colon,
}

/// A control sequence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ControlSequence {
    /// `<`, `=`, `>` or `?`; 0: none.
    pub prefix: u8,
    /// Its parameters.
    pub params: Params,
    /// A byte of 0x20 to 0x2f; 0: none.
    pub intermediate: u8,
    /// What it does.
    pub function: u8,
}

impl ControlSequence {
    /// One without prefix, parameters and intermediate.
    pub(crate) fn plain(function: u8) -> Self {
        Self {
            prefix: 0,
            params: Params::default(),
            intermediate: 0,
            function,
        }
    }
}

/// Reads what follows CSI in one go, into a place that is used again: making one anew costs more than
/// most sequences do. Returns how many bytes it took; `None`: it is cut, or something in it is
/// unusual.
#[inline]
pub(crate) fn parse_csi(bytes: &[u8], sequence: &mut ControlSequence) -> Option<usize> {
    let mut byte = *bytes.first()?;
    let mut at = 0;
    sequence.prefix = 0;
    if let b'<'..=b'?' = byte {
        sequence.prefix = byte;
        at = 1;
    }
    let params = &mut sequence.params;
    params.len = 0;
    params.after_colon = 0;
    let mut separator = None;
    loop {
        let begin = at;
        let mut value = 0;
        byte = *bytes.get(at)?;
        while byte.is_ascii_digit() {
            value = (value * 10 + u32::from(byte - b'0')).min(MAX_VALUE);
            at += 1;
            byte = *bytes.get(at)?;
        }
        let next = match byte {
            b';' => Separator::Semicolon,
            b':' => Separator::Colon,
            _ if at == begin && separator.is_none() => break,
            _ if params.len == MAX_PARAMS => return None,
            _ => {
                params.push(saturated(value), separator.unwrap_or(Separator::Semicolon));
                break;
            }
        };
        params.push(saturated(value), separator.unwrap_or(Separator::Semicolon));
        separator = Some(next);
        at += 1;
    }
    sequence.intermediate = 0;
    if let 0x20..=0x2f = byte {
        sequence.intermediate = byte;
        at += 1;
        byte = *bytes.get(at)?;
    }
    sequence.function = byte;
    matches!(byte, 0x40..=0x7e).then_some(at + 1)
}

#[inline]
fn saturated(value: u32) -> u16 {
    u16::try_from(value).unwrap_or(u16::MAX)
}

/// vte, for the sequences that are not whole or not usual. Its OSC buffer is never used.
#[derive(Default)]
pub(crate) struct Slow {
    parser: Option<Box<Parser<1>>>,
}

impl std::fmt::Debug for Slow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Slow").finish_non_exhaustive()
    }
}

impl Slow {
    /// Begins with ESC and the byte after it.
    pub(crate) fn begin(&mut self, handler: &mut impl Handler, byte: u8) {
        self.advance(handler, &[super::ESC, byte]);
    }

    /// Goes on.
    pub(crate) fn advance(&mut self, handler: &mut impl Handler, bytes: &[u8]) {
        self.hand_on(handler, bytes, Numbers::Some);
    }

    /// The last byte of a control sequence.
    pub(crate) fn end(&mut self, handler: &mut impl Handler, byte: u8, numbers: Numbers) {
        self.hand_on(handler, &[byte], numbers);
    }

    fn hand_on(&mut self, handler: &mut impl Handler, bytes: &[u8], numbers: Numbers) {
        let parser = self.parser.get_or_insert_with(Box::default);
        parser.advance(&mut Sequencer { handler, numbers }, bytes);
    }
}

/// Whether a control sequence has parameters: vte gives one that is 0 where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Digits or separators.
    Some,
    /// Nothing.
    None,
}

/// Hands on what vte has understood.
struct Sequencer<'a, H> {
    handler: &'a mut H,
    numbers: Numbers,
}

impl<H: Handler> Perform for Sequencer<'_, H> {
    fn execute(&mut self, byte: u8) {
        self.handler.control(byte);
    }

    fn csi_dispatch(&mut self, params: &vte::Params, intermediates: &[u8], ignore: bool, c: char) {
        let (Ok(function), false) = (u8::try_from(c), ignore && intermediates.len() >= 2) else {
            return;
        };
        let mut sequence = ControlSequence {
            prefix: 0,
            params: Params::default(),
            intermediate: 0,
            function,
        };
        let given = params.iter().filter(|_| self.numbers == Numbers::Some);
        for parts in given {
            for (at, value) in parts.iter().enumerate() {
                let separator = if at == 0 {
                    Separator::Semicolon
                } else {
                    Separator::Colon
                };
                sequence.params.push(*value, separator);
            }
        }
        for byte in intermediates {
            match byte {
                b'<'..=b'?' => sequence.prefix = *byte,
                _ if sequence.intermediate == 0 => sequence.intermediate = *byte,
                // No function has two.
                _ => return,
            }
        }
        self.handler.control_sequence(&sequence);
    }

    fn esc_dispatch(&mut self, intermediates: &[u8], ignore: bool, byte: u8) {
        if !ignore {
            self.handler.escape(intermediates, byte);
        }
    }
}
