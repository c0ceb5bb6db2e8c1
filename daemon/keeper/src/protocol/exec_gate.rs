//! Commands that wait between fork and exec: while the server puts their process somewhere, into a
//! cgroup of its own, which takes a pid; and while their start is being recorded.
//!
//! A held command runs none of its code. It goes on when the server lets it go, and ends, with
//! [`SpawnStep::Hold`](super::message::SpawnStep::Hold), when the server gives it up, when the server
//! or the keeper is gone, or when nobody has said anything for [`LONGEST_HOLD`].

use std::time::Duration;

use super::fields::{Reader, Writer};
use super::wire::Malformed;

/// The longest that a command is held. Whoever holds it for a scope bounds its own work well below;
/// where the disk takes longer than this for the record of a start, the start fails.
pub const LONGEST_HOLD: Duration = Duration::from_secs(20);

/// Whether and where a command waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hold {
    /// It goes on at once.
    #[default]
    No,
    /// It waits for a [`LetGo`] before its walls are built.
    BeforeWalls,
    /// It waits when all is done but its exec. A step that fails is told to whoever lets it go.
    BeforeExec,
}

/// What becomes of a held command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LetGo {
    /// It goes on.
    Run {
        /// The directory of the cgroup that it was put into, in which the keeper finds what else
        /// belongs to it; empty: it has none of its own.
        cgroup: Vec<u8>,
    },
    /// It ends, and was never started.
    GiveUp,
}

impl Writer {
    pub(super) fn hold(&mut self, hold: Hold) {
        self.u8(match hold {
            Hold::No => 0,
            Hold::BeforeWalls => 1,
            Hold::BeforeExec => 2,
        });
    }

    pub(super) fn let_go(&mut self, how: &LetGo) {
        match how {
            LetGo::Run { cgroup } => {
                self.u8(0);
                self.bytes(cgroup);
            }
            LetGo::GiveUp => self.u8(1),
        }
    }
}

impl Reader<'_> {
    /// Added later: a server that holds nothing says nothing here.
    pub(super) fn hold(&mut self) -> Result<Hold, Malformed> {
        if self.0.is_empty() {
            return Ok(Hold::No);
        }
        match self.u8()? {
            0 => Ok(Hold::No),
            1 => Ok(Hold::BeforeWalls),
            2 => Ok(Hold::BeforeExec),
            _ => Err(Malformed),
        }
    }

    pub(super) fn let_go(&mut self) -> Result<LetGo, Malformed> {
        match self.u8()? {
            0 => Ok(LetGo::Run {
                cgroup: self.bytes()?,
            }),
            1 => Ok(LetGo::GiveUp),
            _ => Err(Malformed),
        }
    }
}
