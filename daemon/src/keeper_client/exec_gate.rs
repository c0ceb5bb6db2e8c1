//! The server's side of the exec gate: commands that are paused between fork and exec.

use termd_keeper::protocol::message::{
    ExecRelease, LEVEL_EXEC_GATE, LEVEL_PAUSE_BEFORE_EXEC, PausePoint, ProcessId, SpawnRequest,
    Spawned, ToKeeper, ToServer,
};
use termd_proto::TerminalId;
use termd_proto::terminal::Stdio;

use super::error::refusal;
use super::{KeeperClient, KeeperError, SpawnCommand};

impl KeeperClient {
    /// Whether the keeper can pause commands. An older one would run them at once.
    pub fn can_pause(&self) -> Result<(), KeeperError> {
        if self.level() < LEVEL_EXEC_GATE {
            return Err(KeeperError::TooOld("scopes"));
        }
        Ok(())
    }

    /// Whether the keeper can pause commands just before their exec. Without that the record of a
    /// start is written before the fork, which is slower and equally safe.
    pub fn can_pause_before_exec(&self) -> bool {
        self.level() >= LEVEL_PAUSE_BEFORE_EXEC
    }

    /// Forks a command, which then waits for [`release_exec`](Self::release_exec).
    pub async fn spawn_paused(
        &self,
        command: SpawnCommand,
        pause: PausePoint,
    ) -> Result<ProcessId, KeeperError> {
        let SpawnCommand { request, inherited } = command;
        self.can_pause()?;
        let id = request.id.clone();
        self.can_start(request.stdio, request.stdin)?;
        self.can_confine(&request.confinement)?;
        let paused = SpawnRequest {
            pause: Some(pause),
            ..request
        };
        let message = ToKeeper::Spawn(Box::new(paused));
        match self.request_with(message, inherited).await? {
            (ToServer::Paused { process }, _) => Ok(process),
            (other, _) => Err(refusal(&other, &id)),
        }
    }

    /// Continues a paused command and resolves as [`spawn`](Self::spawn) does, or cancels it and
    /// resolves with that error once it has ended.
    pub async fn release_exec(
        &self,
        id: &TerminalId,
        stdio: Stdio,
        release: ExecRelease,
    ) -> Result<Spawned, KeeperError> {
        let id = id.clone();
        let message = ToKeeper::ReleaseExec {
            id: id.clone(),
            release,
        };
        let (message, fds) = self.request(message).await?;
        Self::spawned(message, fds, stdio, &id)
    }
}
