//! Commands that wait between fork and exec: while the server puts their process somewhere, into a
//! cgroup of its own, which takes a pid; and while their start is being recorded.
//!
//! A held command runs none of its code. It goes on when the server lets it go, and ends, with
//! [`SpawnStep::Hold`](super::message::SpawnStep::Hold), when the server gives it up, when the server
//! or the keeper is gone, or when nobody has said anything for [`LONGEST_HOLD`].

use std::time::Duration;

use termd_proto::TerminalId;

use super::client::{KeeperClient, KeeperError};
use super::error::refusal;
use super::fields::{Reader, Writer};
use super::message::{
    LEVEL_HOLD, LEVEL_HOLD_BEFORE_EXEC, ProcessId, SpawnRequest, Spawned, ToKeeper, ToServer,
};
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

impl KeeperClient {
    /// Whether the keeper can hold commands. An older one would run them at once.
    pub fn can_hold(&self) -> Result<(), KeeperError> {
        if self.level() < LEVEL_HOLD {
            return Err(KeeperError::TooOld("scopes"));
        }
        Ok(())
    }

    /// Whether it can hold them there. One that cannot is asked for nothing else: to have a start
    /// recorded meanwhile saves time, and the record can as well come first.
    pub fn can_hold_before_exec(&self) -> bool {
        self.level() >= LEVEL_HOLD_BEFORE_EXEC
    }

    /// Forks a command that then waits there for [`let_go`](Self::let_go).
    pub async fn spawn_held(
        &self,
        request: SpawnRequest,
        hold: Hold,
    ) -> Result<ProcessId, KeeperError> {
        self.can_hold()?;
        let id = request.id.clone();
        self.can_start(request.stdio)?;
        self.can_confine(&request.confinement)?;
        let held = SpawnRequest { hold, ..request };
        match self.ask_for(ToKeeper::Spawn(Box::new(held))).await? {
            (ToServer::Held { process }, _) => Ok(process),
            (other, _) => Err(refusal(&other, &id)),
        }
    }

    /// Goes on with a held command, and resolves as [`spawn`](Self::spawn) does; or gives it up,
    /// and resolves with that error when it has ended.
    pub async fn let_go(
        &self,
        id: &TerminalId,
        stdio: termd_proto::terminal::Stdio,
        how: LetGo,
    ) -> Result<Spawned, KeeperError> {
        let id = id.clone();
        let message = ToKeeper::LetGo {
            id: id.clone(),
            how,
        };
        let (message, fds) = self.ask_for(message).await?;
        Self::spawned(message, fds, stdio, &id)
    }
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
