//! Control sequences (ECMA-48 §5.4).

/// The most parameters of a control sequence; further ones are dropped.
pub(super) const MAX_PARAMS: usize = 32;
/// The greatest value of a parameter; greater ones become this.
pub(super) const MAX_VALUE: u32 = u16::MAX as u32;

/// The parameters of a control sequence. A missing one is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Params {
    values: [u16; MAX_PARAMS],
    /// Bit i: value i follows a colon, and so belongs to the value before it.
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

    /// How many values there are, those after colons included.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A value; 0 if it is missing.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> u16 {
        if index < self.len {
            self.values[index]
        } else {
            0
        }
    }

    /// A count: a value that is missing or 0 counts as 1.
    #[inline]
    pub(crate) fn count(&self, index: usize) -> usize {
        usize::from(self.get(index).max(1))
    }

    pub(crate) fn values(&self) -> &[u16] {
        &self.values[..self.len]
    }

    #[inline]
    pub(crate) fn has_colons(&self) -> bool {
        self.after_colon != 0
    }

    /// Whether a value belongs to the one before it.
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
    /// `<`, `=`, `>` or `?`; 0 for none.
    pub prefix: u8,
    pub params: Params,
    /// 0x20 to 0x2f; 0 for none.
    pub intermediate: u8,
    /// The final byte, which names the function.
    pub function: u8,
}

impl ControlSequence {
    /// A sequence of its final byte alone.
    pub(crate) fn plain(function: u8) -> Self {
        Self {
            prefix: 0,
            params: Params::default(),
            intermediate: 0,
            function,
        }
    }
}

/// Reads what follows CSI in one go, into a sequence that is used again: a new one costs more than
/// reading most sequences. Returns how many bytes it took; `None` where the sequence is cut or
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
