//! Starting a command whose start has to be recorded first: forked and prepared meanwhile, held
//! before its exec, and let go once the record is on the disk.
//!
//! Promises: none of a command's code runs before its start is recorded, nor before the limits of its
//! scope hold; where one of them does not come about, nothing of the command is left. It must not
//! know what a record says, nor how a scope is made.

use std::fmt;

use termd_proto::TerminalId;
use termd_proto::terminal::{ScopeLimits, Stdio};

use super::Terminals;
use super::scope::InScope;
use crate::keeper_client::KeeperError;
use crate::scope::ScopeLimit;
use crate::terminal::error::TerminalError;
use termd_keeper::protocol::exec_gate::{ExecRelease, PausePoint};
use termd_keeper::protocol::message::{SpawnRequest, Spawned};
use termd_policy::Profile;

/// Why a command was not started.
#[derive(Debug)]
pub(super) enum StartError {
    /// No record of it could be written.
    NotRecorded(TerminalError),
    /// The keeper did not.
    Keeper(KeeperError),
    /// A limit of its scope would not hold.
    Scope {
        /// Which.
        wall: ScopeLimit,
        /// Why not.
        problem: String,
    },
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRecorded(error) => error.fmt(f),
            Self::Keeper(error) => error.fmt(f),
            Self::Scope { wall, problem } => write!(f, "{}: {problem}", wall.name()),
        }
    }
}

impl From<KeeperError> for StartError {
    fn from(error: KeeperError) -> Self {
        Self::Keeper(error)
    }
}

/// A command that waits for its exec in a scope of its own.
#[derive(Debug)]
struct Held {
    id: TerminalId,
    stdio: Stdio,
    cgroup: Vec<u8>,
}

impl Terminals {
    /// Starts a command, in a scope where its profile asks for one. It is prepared while its start is
    /// being recorded, and runs only once that has come about.
    pub(super) async fn start_recorded(
        &self,
        recorded: impl Future<Output = Result<(), TerminalError>>,
        request: SpawnRequest,
        profile: &Profile,
    ) -> Result<(Spawned, InScope), StartError> {
        let keeper = &self.inner.keeper;
        match profile.limits.scope() {
            None if keeper.can_pause_before_exec() => {
                let spawned = self.start_held(recorded, request).await?;
                Ok((spawned, InScope::default()))
            }
            None => {
                recorded.await.map_err(StartError::NotRecorded)?;
                Ok((keeper.spawn(request).await?, InScope::default()))
            }
            Some(limits) => {
                self.start_in_scope(recorded, request, profile, &limits)
                    .await
            }
        }
    }

    /// The command waits before its exec, and is let go as soon as its start is recorded: without
    /// asking whether it waits already, for the keeper does one thing after the other.
    async fn start_held(
        &self,
        recorded: impl Future<Output = Result<(), TerminalError>>,
        request: SpawnRequest,
    ) -> Result<Spawned, StartError> {
        let keeper = &self.inner.keeper;
        let (id, stdio) = (request.id.clone(), request.stdio);
        let walls_take_longer = request.confinement.sandbox.is_some();
        let prepared = async {
            let held = keeper.spawn_paused(request, PausePoint::BeforeExec).await;
            if let Ok(process) = &held {
                self.is_started_as(&id, process.pid);
            }
            held
        };
        let let_go = async {
            if walls_take_longer {
                // What is woken last runs first: the record, for the disk takes longest. Walls take
                // longer still, so here the keeper is asked before the thread that writes is woken,
                // which would take the processor.
                tokio::task::yield_now().await;
            }
            recorded.await.map_err(StartError::NotRecorded)?;
            let run = ExecRelease::Run { cgroup: Vec::new() };
            Ok(keeper.release_exec(&id, stdio, run).await)
        };
        match tokio::join!(prepared, let_go) {
            (Ok(_), Ok(spawned)) => Ok(spawned?),
            (Err(error), Ok(_)) => Err(error.into()),
            (Ok(_), Err(error)) => {
                self.give_up(id, stdio).await;
                Err(error)
            }
            (Err(_), Err(error)) => Err(error),
        }
    }

    async fn start_in_scope(
        &self,
        recorded: impl Future<Output = Result<(), TerminalError>>,
        request: SpawnRequest,
        profile: &Profile,
        limits: &ScopeLimits,
    ) -> Result<(Spawned, InScope), StartError> {
        let keeper = &self.inner.keeper;
        let best_effort = profile.scope_best_effort == Some(true);
        if let Err(error) = keeper.can_pause() {
            let scope = InScope::nothing(limits, &error);
            recorded.await.map_err(StartError::NotRecorded)?;
            enough(&scope, best_effort)?;
            return Ok((keeper.spawn(request).await?, scope));
        }
        let prepared = self.prepare_in_scope(request, limits, best_effort);
        let recorded = async { recorded.await.map_err(StartError::NotRecorded) };
        match tokio::join!(prepared, recorded) {
            (Ok((held, scope)), Ok(())) => {
                let Held { id, stdio, cgroup } = held;
                let spawned = keeper
                    .release_exec(&id, stdio, ExecRelease::Run { cgroup })
                    .await;
                if spawned.is_err() {
                    self.inner.scopes.forget(&id);
                }
                Ok((spawned?, scope))
            }
            (Ok((held, _)), Err(error)) => {
                self.give_up(held.id, held.stdio).await;
                Err(error)
            }
            (Err(_), Err(error)) | (Err(error), Ok(())) => Err(error),
        }
    }

    async fn prepare_in_scope(
        &self,
        request: SpawnRequest,
        limits: &ScopeLimits,
        best_effort: bool,
    ) -> Result<(Held, InScope), StartError> {
        let (id, stdio) = (request.id.clone(), request.stdio);
        let process = self
            .inner
            .keeper
            .spawn_paused(request, PausePoint::BeforeConfinement)
            .await?;
        self.is_started_as(&id, process.pid);
        let (scope, cgroup) = self.put_into_scope(&id, process, limits).await;
        match enough(&scope, best_effort) {
            Ok(()) => Ok((Held { id, stdio, cgroup }, scope)),
            Err(error) => {
                self.give_up(id, stdio).await;
                Err(error)
            }
        }
    }

    /// It may ask for something before it is listed, and is known by its pid.
    fn is_started_as(&self, id: &TerminalId, pid: i32) {
        if let Some(starting) = self.index().starting.get_mut(id) {
            starting.pid = Some(pid);
        }
    }

    async fn give_up(&self, id: TerminalId, stdio: Stdio) {
        self.inner.scopes.forget(&id);
        // Its answer is how it ended, which is as it was meant.
        let keeper = &self.inner.keeper;
        let _ = keeper.release_exec(&id, stdio, ExecRelease::Cancel).await;
    }
}

/// Whether what holds is enough.
fn enough(scope: &InScope, best_effort: bool) -> Result<(), StartError> {
    match scope.missing.first() {
        Some((wall, problem)) if !best_effort => Err(StartError::Scope {
            wall: *wall,
            problem: problem.clone(),
        }),
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
#[path = "starting_tests.rs"]
mod tests;
