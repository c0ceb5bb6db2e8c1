//! The server's side of the exec gate: commands that wait between fork and exec.

use termd_keeper::protocol::message::{
    Hold, LEVEL_HOLD, LEVEL_HOLD_BEFORE_EXEC, LetGo, ProcessId, SpawnRequest, Spawned, ToKeeper,
    ToServer,
};
use termd_proto::TerminalId;
use termd_proto::terminal::Stdio;

use super::error::refusal;
use super::{KeeperClient, KeeperError};

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
        stdio: Stdio,
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
