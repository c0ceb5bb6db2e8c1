//! The errors that a peer gets where something cannot be done to a terminal.

use std::io;
use std::path::Path;

use nix::libc;
use serde_json::json;
use termd_keeper::protocol::confinement::Restriction;
use termd_keeper::protocol::message::{SpawnFailure, SpawnStep};
use termd_proto::{ErrorKind, code};

use super::RpcError;
use crate::terminal::TerminalError;
use crate::terminal::error::Refusal;
use crate::terminal::input::shell_prompt::PromptState;
use crate::terminal::lifecycle::launch::LaunchError;

impl From<TerminalError> for RpcError {
    fn from(error: TerminalError) -> Self {
        let message = error.to_string();
        let of = |code, kind| Self::new(code, kind, message.clone());
        match error {
            TerminalError::Invalid { field, problem } => Self::invalid_params(field, &problem),
            TerminalError::Launch(error) => of_launch(error, &message),
            TerminalError::NotFound(reference) => Self::terminal_not_found(&reference),
            TerminalError::Ambiguous { matches, .. } => {
                of(code::AMBIGUOUS, ErrorKind::TerminalAmbiguous).with("matches", json!(matches))
            }
            TerminalError::LabelTaken(_) => of(code::AMBIGUOUS, ErrorKind::LabelTaken),
            TerminalError::InPlace(reason) => {
                of(code::IN_PLACE, ErrorKind::InPlace).with("reason", reason)
            }
            TerminalError::Spawn { command, failure } => of_spawn(&command, failure),
            TerminalError::Unconfinable { .. } => of(code::SPAWN_FAILED, ErrorKind::Unconfinable),
            TerminalError::NoScope { wall, .. } => {
                of(code::SPAWN_FAILED, ErrorKind::Unconfinable).with("step", wall.name())
            }
            TerminalError::DiskFloor { floor, free } => of(code::OVERLOADED, ErrorKind::DiskFloor)
                .with("limit", "free_floor")
                .with("floor", floor)
                .with("free", free),
            TerminalError::DiskFull { free } => {
                of(code::OVERLOADED, ErrorKind::DiskFull).with("free", free)
            }
            TerminalError::InputQueueFull { limit, .. } => {
                of(code::OVERLOADED, ErrorKind::InputQueueFull).with("limit", limit)
            }
            TerminalError::TooMany(limit) => of(code::OVERLOADED, ErrorKind::Overloaded)
                .with("limit", limit.name())
                .with("max", limit.value()),
            TerminalError::TooManyOfClient { max_running } => {
                of(code::OVERLOADED, ErrorKind::Overloaded)
                    .with("limit", "max_running of this client")
                    .with("max_running", max_running)
            }
            TerminalError::Exited(_) => of(code::WRONG_STATE, ErrorKind::TerminalExited),
            TerminalError::Closed {
                cause,
                idle_timeout,
                ..
            } => {
                let error = of(code::WRONG_STATE, ErrorKind::TerminalExited);
                let error = error.with("cause", json!(cause));
                match idle_timeout {
                    Some(timeout) => error.with("idle_timeout_ms", timeout.ms()),
                    None => error,
                }
            }
            TerminalError::NoInput(_) => of(code::WRONG_STATE, ErrorKind::NoInput),
            TerminalError::InputEnded(_) => of(code::WRONG_STATE, ErrorKind::InputEnded),
            TerminalError::NoSecretAwaited(_) => {
                of(code::INPUT_REFUSED, ErrorKind::NoSecretAwaited)
            }
            TerminalError::NotAtPrompt { state, .. } => {
                of(code::INPUT_REFUSED, ErrorKind::NotAtPrompt).with_prompt(state)
            }
            TerminalError::CanonicalLimit { limit, .. } => {
                of(code::INPUT_REFUSED, ErrorKind::CanonicalLimit).with("limit", limit)
            }
            TerminalError::ConfirmationRequired(refusal) => {
                of(code::CONFIRMATION_REQUIRED, ErrorKind::ConfirmationRequired)
                    .with_refusal(&refusal)
            }
            TerminalError::Denied(refusal) => {
                of(code::DENIED, ErrorKind::Denied).with_refusal(&refusal)
            }
            TerminalError::Rejected(refusal) => {
                of(code::DENIED, ErrorKind::Rejected).with_refusal(&refusal)
            }
            TerminalError::File(error) => error.into(),
            TerminalError::NoQuestion(_) => {
                of(code::RESOURCE_NOT_FOUND, ErrorKind::ApprovalNotFound)
            }
            TerminalError::QuestionOver(info) => {
                of(code::WRONG_STATE, ErrorKind::ApprovalAnswered).with("state", json!(info.state))
            }
            TerminalError::ApproverRefused(_)
            | TerminalError::NotItsQuestion(_)
            | TerminalError::OwnQuestion
            | TerminalError::NotForAlways(_) => of(code::DENIED, ErrorKind::ApproverRefused),
            TerminalError::StillOpen(_) => of(code::WRONG_STATE, ErrorKind::TerminalOpen),
            TerminalError::ForeignTerminal(_) | TerminalError::NotOwn(_) => {
                of(code::DENIED, ErrorKind::ForeignTerminal)
            }
            TerminalError::NotWritten(_) => of(code::WRONG_STATE, ErrorKind::AlwaysRefused),
            TerminalError::Audit(cause) => {
                tracing::error!(%cause, "an audit record could not be written");
                of(code::AUDIT_UNAVAILABLE, ErrorKind::AuditUnavailable)
            }
            TerminalError::Store(error) => error.into(),
            TerminalError::Transcript(cause) => Self::internal(&cause),
            TerminalError::ProcessesLeft(left) => {
                of(code::WRONG_STATE, ErrorKind::ProcessesLeft).with("left", left)
            }
            TerminalError::Keeper(cause) => Self::internal(&cause),
            TerminalError::Io(cause) => Self::internal(&cause),
            TerminalError::Stopping => of(code::UNAVAILABLE, ErrorKind::Unavailable),
        }
    }
}

fn of_spawn(command: &Path, SpawnFailure { step, errno }: SpawnFailure) -> RpcError {
    let command = command.display().to_string();
    let reason = io::Error::from_raw_os_error(errno);
    let (name, advice) = (step_name(step), advice(step, errno));
    let message = format!("cannot start {command}: {name}: {reason}{advice}");
    spawn_failed(message, &command, name, errno, "command")
}

impl RpcError {
    /// The same, with what stands at the prompt.
    fn with_prompt(self, state: PromptState) -> Self {
        self.with("line_waits", state == PromptState::LineWaits)
            .with("answers_stand", state == PromptState::AnswersStand)
    }

    /// The same, with what the gate said of the command that it did not let through.
    fn with_refusal(self, refusal: &Refusal) -> Self {
        let judgement = &refusal.judgement;
        let mut error = self
            .with("verdict", json!(judgement.verdict))
            .with("reason", json!(judgement.reason))
            .with("command", json!(refusal.command))
            .with("span", json!(judgement.span));
        if refusal.needs_person {
            error = error.with("needs_person", true);
        }
        if let Some(rule) = judgement.rule {
            error = error.with("rule", rule);
        }
        if let Some(approval) = &refusal.approval {
            error = error
                .with("approval", json!(approval.id))
                .with("expires_at_ms", approval.expires_at_ms);
        }
        error
    }
}

fn of_launch(error: LaunchError, message: &str) -> RpcError {
    match error {
        LaunchError::Invalid { field, problem } => RpcError::invalid_params(field, problem),
        LaunchError::Program { command, errno } => {
            spawn_failed(message.to_owned(), &command, "exec", errno, "command")
        }
        LaunchError::Directory { command, errno, .. } => {
            spawn_failed(message.to_owned(), &command, "chdir", errno, "cwd")
        }
    }
}

/// A command that was not started: the step that failed, and the param that it hangs on.
fn spawn_failed(message: String, command: &str, step: &str, errno: i32, field: &str) -> RpcError {
    let reason = io::Error::from_raw_os_error(errno).to_string();
    RpcError::new(code::SPAWN_FAILED, ErrorKind::SpawnFailed, message)
        .with("command", command)
        .with("step", step)
        .with("errno", errno)
        .with("reason", reason)
        .with("field", field)
}

/// What to do about a step that failed, where there is something.
fn advice(step: SpawnStep, errno: i32) -> &'static str {
    match (step, errno) {
        (SpawnStep::Confine(Restriction::Bubblewrap), libc::ENOENT) => {
            "; install bubblewrap (bwrap in /usr/local/bin, /usr/bin or /bin), or leave `builder` out \
             of the profile"
        }
        (SpawnStep::Confine(Restriction::Bubblewrap), libc::EPERM) => {
            "; bwrap and its directory must be root's, and nobody else's to write"
        }
        (SpawnStep::Confine(Restriction::Bubblewrap), _) => {
            "; what bubblewrap said is in termd's log"
        }
        (SpawnStep::Confine(Restriction::Protected), libc::EOPNOTSUPP) => {
            "; bubblewrap can hold no symbolic link: leave `builder` out of the profile"
        }
        (SpawnStep::Confine(Restriction::PidNamespace), libc::EPERM) => {
            "; this container hides parts of /proc, so a sandbox cannot have its own: set \
             `best_effort` in the profile to run without"
        }
        _ => "",
    }
}

fn step_name(step: SpawnStep) -> &'static str {
    match step {
        SpawnStep::Confine(wall) => wall.name(),
        SpawnStep::OpenPty => "openpty",
        SpawnStep::Spool => "memfd_create",
        SpawnStep::Pipe => "pipe",
        SpawnStep::Fork => "fork",
        SpawnStep::Session => "setsid",
        SpawnStep::Chdir => "chdir",
        SpawnStep::Exec => "exec",
        SpawnStep::ExecGate => "hold",
    }
}
