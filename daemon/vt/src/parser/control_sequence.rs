//! Control sequences: ECMA-48 §5.4.

/// Most parameters of a control sequence; more are left out, as in vte.
pub(super) const MAX_PARAMS: usize = 32;
/// A parameter's value beyond this is this, as in vte.
pub(super) const MAX_VALUE: u32 = u16::MAX as u32;

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
    pub(super) fn push(&mut self, value: u32, separator: Separator) {
        if self.len < MAX_PARAMS {
            self.values[self.len] = u16::try_from(value).unwrap_or(u16::MAX);
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

/// What stands before a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
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
                params.push(value, separator.unwrap_or(Separator::Semicolon));
                break;
            }
        };
        params.push(value, separator.unwrap_or(Separator::Semicolon));
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
