//! Control strings: OSC, DCS, APC, PM, SOS (ECMA-48 §5.6).

/// The most bytes that are kept of a string. A command line (OSC 633;E) or a link may be long; the
/// data of a picture is not needed.
pub(crate) const MAX_STRING_BYTES: usize = 64 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StringKind {
    /// ESC ]
    Osc,
    /// ESC P
    Dcs,
    /// ESC _
    Apc,
    /// ESC ^
    Pm,
    /// ESC X
    Sos,
}

impl StringKind {
    pub(crate) fn introduced_by(byte: u8) -> Option<Self> {
        match byte {
            b']' => Some(Self::Osc),
            b'P' => Some(Self::Dcs),
            b'_' => Some(Self::Apc),
            b'^' => Some(Self::Pm),
            b'X' => Some(Self::Sos),
            _ => None,
        }
    }

    fn introducer(self) -> u8 {
        match self {
            Self::Osc => b']',
            Self::Dcs => b'P',
            Self::Apc => b'_',
            Self::Pm => b'^',
            Self::Sos => b'X',
        }
    }
}

/// What ended a string. A reply to it ends the same way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Terminator {
    /// ST.
    #[default]
    St,
    /// BEL, which xterm accepts for an OSC.
    Bel,
}

/// A string as far as it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ControlString {
    kind: StringKind,
    bytes: Vec<u8>,
    /// Length in bytes, with those that are not kept.
    len: usize,
    terminator: Terminator,
}

impl ControlString {
    pub(crate) fn new(kind: StringKind) -> Self {
        Self {
            kind,
            bytes: Vec::new(),
            len: 0,
            terminator: Terminator::St,
        }
    }

    pub(crate) fn end_with(&mut self, terminator: Terminator) {
        self.terminator = terminator;
    }

    pub(crate) fn terminator(&self) -> Terminator {
        self.terminator
    }

    pub(crate) fn kind(&self) -> StringKind {
        self.kind
    }

    /// The bytes that are kept.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether all of its bytes are kept.
    pub(crate) fn is_whole(&self) -> bool {
        self.len == self.bytes.len()
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.len = self.len.saturating_add(bytes.len());
        let room = MAX_STRING_BYTES - self.bytes.len();
        self.bytes
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Returns whether a byte 0x9c ends the string, and is not a part of a UTF-8 character. In
    /// UTF-8, ST is C2 9C.
    pub(crate) fn is_ended_by_c1(&mut self, utf8: bool) -> bool {
        if !utf8 {
            return true;
        }
        let is_st = self.is_whole() && self.bytes.last() == Some(&0xc2);
        if is_st {
            self.bytes.pop();
            self.len -= 1;
        }
        is_st
    }

    /// The string as it was sent, for a dump. One byte stands for those that are not kept, so that
    /// the string is not whole after a restore either.
    pub(crate) fn as_sent(&self) -> impl Iterator<Item = u8> + '_ {
        [super::ESC, self.kind.introducer()]
            .into_iter()
            .chain(self.bytes.iter().copied())
            .chain((!self.is_whole()).then_some(b' '))
    }
}
