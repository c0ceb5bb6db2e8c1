//! Up to older rows, or down to newer ones.

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Up,
    Down,
}

impl Direction {
    pub(super) fn opposite(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }

    pub(super) fn next_to(self, row: i64) -> i64 {
        match self {
            Self::Up => row - 1,
            Self::Down => row + 1,
        }
    }

    /// The key that begins a search this way.
    pub(super) fn sign(self) -> char {
        match self {
            Self::Up => '?',
            Self::Down => '/',
        }
    }
}
