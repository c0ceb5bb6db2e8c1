//! Starting a command whose start has to be recorded first. The command is forked and prepared
//! meanwhile, waits before its exec, and is released once the record is on the disk.
//!
//! **Promises:** none of a command's code runs before its start is recorded, nor before the limits of
//! its scope hold. Where one of them does not come about, nothing of the command is left.

use termd_proto::TerminalId;
use termd_proto::terminal::{CreateTerminal, ScopeLimits, Stdin, Stdio};
use thiserror::Error;

use crate::keeper_client::{KeeperClient, KeeperError, SpawnCommand};
use crate::scope::ScopeLimit;
use crate::service::scopes::{ScopeEnforcement, Scopes};
use crate::terminal::error::TerminalError;
use termd_keeper::protocol::confinement::Confinement;
use termd_keeper::protocol::exec_gate::{ExecRelease, PausePoint};
use termd_keeper::protocol::message::Spawned;
use termd_policy::Profile;

/// Why a command was not started.
#[derive(Debug, Error)]
pub(crate) enum StartError {
    #[error("{0}")]
    NotRecorded(TerminalError),
    #[error(transparent)]
    Keeper(#[from] KeeperError),
    /// A limit of the scope would not hold.
    #[error("{}: {problem}", wall.name())]
    Scope { wall: ScopeLimit, problem: String },
}

/// Starts commands.
#[derive(Debug)]
pub(crate) struct Starter {
    keeper: KeeperClient,
    scopes: Scopes,
}

/// A command that waits for its exec in a scope of its own.
#[derive(Debug)]
struct PreparedChild {
    id: TerminalId,
    stdio: Stdio,
    cgroup: Vec<u8>,
}

impl Starter {
    pub(crate) fn new(keeper: KeeperClient, scopes: Scopes) -> Self {
        Self { keeper, scopes }
    }

    /// Checks that the keeper can start a command with this standard input and output.
    pub(super) fn check_stdio(&self, options: &CreateTerminal) -> Result<(), TerminalError> {
        if options.stdio == Stdio::Pty && options.stdin != Stdin::Null {
            return Err(TerminalError::Invalid {
                field: "stdin",
                problem: "can be a pipe only where `stdio` is \"pipes\"".to_owned(),
            });
        }
        let possible = self.keeper.can_start(options.stdio, options.stdin);
        possible.map_err(|error| TerminalError::Invalid {
            field: "stdio",
            problem: format!("cannot be pipes: {error}"),
        })
    }

    /// Checks that the keeper can hold a command to what its profile asks for.
    pub(super) fn check_confinement(
        &self,
        confinement: &Confinement,
        profile: &Profile,
    ) -> Result<(), TerminalError> {
        let possible = self.keeper.can_confine(confinement);
        possible.map_err(|error| TerminalError::Unconfinable {
            profiles: profile.names.join(", "),
            problem: error.to_string(),
        })
    }

    /// Starts a command, in a scope where its profile asks for one. The command is prepared while
    /// `recorded` is under way, and runs only once that has succeeded. `on_fork` gets its pid
    /// before it runs.
    pub(super) async fn start(
        &self,
        recorded: impl Future<Output = Result<(), TerminalError>>,
        mut command: SpawnCommand,
        profile: &Profile,
        on_fork: impl Fn(i32),
    ) -> Result<(Spawned, ScopeEnforcement), StartError> {
        let missing = (self.keeper).remove_unsupported(&mut command.request.confinement);
        let (mut spawned, scope) = self
            .start_supported(recorded, command, profile, on_fork)
            .await?;
        spawned.enforced.missing.extend(missing);
        Ok((spawned, scope))
    }

    async fn start_supported(
        &self,
        recorded: impl Future<Output = Result<(), TerminalError>>,
        command: SpawnCommand,
        profile: &Profile,
        on_fork: impl Fn(i32),
    ) -> Result<(Spawned, ScopeEnforcement), StartError> {
        let recorded = async { recorded.await.map_err(StartError::NotRecorded) };
        match profile.limits.scope() {
            None if self.keeper.can_pause_before_exec() => {
                let spawned = self.start_held(recorded, command, on_fork).await?;
                Ok((spawned, ScopeEnforcement::default()))
            }
            None => {
                recorded.await?;
                let spawned = self.keeper.spawn(command).await?;
                Ok((spawned, ScopeEnforcement::default()))
            }
            Some(limits) => {
                let best_effort = profile.scope_best_effort == Some(true);
                self.start_in_scope(recorded, command, &limits, best_effort, on_fork)
                    .await
            }
        }
    }

    /// The command waits before its exec, and is released as soon as its start is recorded. Whether
    /// it waits already is not asked: the keeper does one thing after the other.
    async fn start_held(
        &self,
        recorded: impl Future<Output = Result<(), StartError>>,
        command: SpawnCommand,
        on_fork: impl Fn(i32),
    ) -> Result<Spawned, StartError> {
        let keeper = &self.keeper;
        let (id, stdio) = (command.request.id.clone(), command.request.stdio);
        let has_sandbox = command.request.confinement.sandbox.is_some();
        let prepared = async {
            let held = keeper.spawn_paused(command, PausePoint::BeforeExec).await;
            if let Ok(process) = &held {
                on_fork(process.pid);
            }
            held
        };
        let released = async {
            if has_sandbox {
                // The task that is woken last runs first. That is the record, because the disk takes
                // longest. A sandbox takes longer still: here the keeper is asked before the writing
                // thread is woken, which would take the processor.
                tokio::task::yield_now().await;
            }
            recorded.await?;
            let run = ExecRelease::Run { cgroup: Vec::new() };
            Ok(keeper.release_exec(&id, stdio, run).await)
        };
        match tokio::join!(prepared, released) {
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
        recorded: impl Future<Output = Result<(), StartError>>,
        command: SpawnCommand,
        limits: &ScopeLimits,
        best_effort: bool,
        on_fork: impl Fn(i32),
    ) -> Result<(Spawned, ScopeEnforcement), StartError> {
        let keeper = &self.keeper;
        if let Err(error) = keeper.can_pause() {
            let scope = ScopeEnforcement::nothing(limits, &error);
            recorded.await?;
            check_scope(&scope, best_effort)?;
            return Ok((keeper.spawn(command).await?, scope));
        }
        let prepared = self.prepare_in_scope(command, limits, best_effort, on_fork);
        match tokio::join!(prepared, recorded) {
            (Ok((child, scope)), Ok(())) => {
                let PreparedChild { id, stdio, cgroup } = child;
                let spawned = keeper
                    .release_exec(&id, stdio, ExecRelease::Run { cgroup })
                    .await;
                if spawned.is_err() {
                    self.scopes.forget(&id);
                }
                Ok((spawned?, scope))
            }
            (Ok((child, _)), Err(error)) => {
                self.give_up(child.id, child.stdio).await;
                Err(error)
            }
            (Err(_), Err(error)) | (Err(error), Ok(())) => Err(error),
        }
    }

    async fn prepare_in_scope(
        &self,
        command: SpawnCommand,
        limits: &ScopeLimits,
        best_effort: bool,
        on_fork: impl Fn(i32),
    ) -> Result<(PreparedChild, ScopeEnforcement), StartError> {
        let (id, stdio) = (command.request.id.clone(), command.request.stdio);
        let process = self
            .keeper
            .spawn_paused(command, PausePoint::BeforeConfinement)
            .await?;
        on_fork(process.pid);
        let (scope, cgroup) = self.scopes.enclose(&id, process, limits).await;
        match check_scope(&scope, best_effort) {
            Ok(()) => Ok((PreparedChild { id, stdio, cgroup }, scope)),
            Err(error) => {
                self.give_up(id, stdio).await;
                Err(error)
            }
        }
    }

    async fn give_up(&self, id: TerminalId, stdio: Stdio) {
        self.scopes.forget(&id);
        // The answer is an error that says how the command ended, as intended.
        let _ = self
            .keeper
            .release_exec(&id, stdio, ExecRelease::Cancel)
            .await;
    }
}

/// Checks that enough of a scope's limits hold.
fn check_scope(scope: &ScopeEnforcement, best_effort: bool) -> Result<(), StartError> {
    match scope.first_missing() {
        Some((wall, problem)) if !best_effort => Err(StartError::Scope {
            wall: *wall,
            problem: problem.clone(),
        }),
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
