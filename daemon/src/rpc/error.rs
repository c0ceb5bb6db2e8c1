//! From what went wrong to what a peer is told: one code and one `data.kind` each. Causes that are
//! ours go to the log.

use std::io;

use jsonrpsee::types::ErrorObjectOwned;
use nix::libc;
use serde_json::{Map, Value, json};
use termd_proto::{ErrorKind, TerminalId, code};

use super::context::IntroductionError;
use crate::store::StoreError;
use crate::terminal::TerminalError;
use crate::terminal::error::Refusal;
use crate::terminal::launch::LaunchError;
use termd_keeper::protocol::confinement::Wall;
use termd_keeper::protocol::message::{SpawnFailure, SpawnStep};

/// An error answer: `kind` and the other members of `data`.
pub(super) fn error_object(
    code: i32,
    kind: ErrorKind,
    message: impl Into<String>,
    more: Map<String, Value>,
) -> ErrorObjectOwned {
    let mut data = more;
    data.insert("kind".to_owned(), json!(kind));
    ErrorObjectOwned::owned(code, message, Some(data))
}

/// A bad param, by its name on the wire.
pub(super) fn invalid_params(field: &str, problem: &str) -> ErrorObjectOwned {
    let more = Map::from_iter([
        ("field".to_owned(), json!(field)),
        ("detail".to_owned(), json!(problem)),
    ]);
    error_object(
        code::INVALID_PARAMS,
        ErrorKind::InvalidParams,
        format!("`{field}` {problem}"),
        more,
    )
}

/// ACP's not-found error, the same for an unknown, a released and somebody else's terminal.
pub(super) fn terminal_not_found(reference: &str) -> ErrorObjectOwned {
    let shown: String = reference.chars().take(100).collect();
    let more = Map::from_iter([("terminal".to_owned(), json!(shown))]);
    let message = format!("no terminal {}", shown.escape_debug());
    error_object(
        code::RESOURCE_NOT_FOUND,
        ErrorKind::TerminalNotFound,
        message,
        more,
    )
}

/// A terminal that is there, and nothing with this number was run in it.
pub(super) fn command_not_found(terminal: &TerminalId, number: i64) -> ErrorObjectOwned {
    let more = Map::from_iter([
        ("terminal".to_owned(), json!(terminal)),
        ("number".to_owned(), json!(number)),
    ]);
    error_object(
        code::RESOURCE_NOT_FOUND,
        ErrorKind::CommandNotFound,
        format!("terminal {terminal} has no command {number}"),
        more,
    )
}

impl From<TerminalError> for ErrorObjectOwned {
    fn from(error: TerminalError) -> Self {
        let plain = |code, kind, message: String| error_object(code, kind, message, Map::new());
        match error {
            TerminalError::Invalid { field, problem } => invalid_params(field, &problem),
            TerminalError::Launch(LaunchError::Invalid { field, problem }) => {
                invalid_params(field, problem)
            }
            TerminalError::NotFound(reference) => terminal_not_found(&reference),
            TerminalError::Ambiguous { ref matches, .. } => {
                let matches: Vec<&str> = matches
                    .iter()
                    .map(termd_proto::TerminalId::as_str)
                    .collect();
                let more = Map::from_iter([("matches".to_owned(), json!(matches))]);
                let message = error.to_string();
                error_object(code::AMBIGUOUS, ErrorKind::TerminalAmbiguous, message, more)
            }
            TerminalError::LabelTaken(_) => {
                plain(code::AMBIGUOUS, ErrorKind::LabelTaken, error.to_string())
            }
            TerminalError::Launch(LaunchError::Program { ref command, errno }) => {
                spawn_failed(&error.to_string(), command, "exec", errno, "command")
            }
            TerminalError::Launch(LaunchError::Directory {
                ref command, errno, ..
            }) => spawn_failed(&error.to_string(), command, "chdir", errno, "cwd"),
            TerminalError::Spawn {
                command,
                failure: SpawnFailure { step, errno },
            } => {
                let command = command.display().to_string();
                let reason = io::Error::from_raw_os_error(errno);
                let advice = advice(step, errno);
                let step = step_name(step);
                let message = format!("cannot start {command}: {step}: {reason}{advice}");
                spawn_failed(&message, &command, step, errno, "command")
            }
            TerminalError::DiskFloor { floor, free } => {
                let more = Map::from_iter([
                    ("limit".to_owned(), json!("free_floor")),
                    ("floor".to_owned(), json!(floor)),
                    ("free".to_owned(), json!(free)),
                ]);
                let message = error.to_string();
                error_object(code::OVERLOADED, ErrorKind::DiskFloor, message, more)
            }
            TerminalError::Unconfinable { .. } | TerminalError::NoScope { .. } => {
                unconfinable(&error)
            }
            TerminalError::Exited(_)
            | TerminalError::Closed { .. }
            | TerminalError::NoInput(_)
            | TerminalError::CanonicalLimit { .. }
            | TerminalError::NoSecretAwaited(_) => not_typed(&error),
            TerminalError::InputQueueFull { limit, .. } => {
                over(&error, ErrorKind::InputQueueFull, json!(limit), Map::new())
            }
            TerminalError::TooMany(limit) => {
                let more = Map::from_iter([("max".to_owned(), json!(limit.value()))]);
                over(&error, ErrorKind::Overloaded, json!(limit.name()), more)
            }
            TerminalError::TooManyOfClient { max_running } => {
                let more = Map::from_iter([("max_running".to_owned(), json!(max_running))]);
                let limit = json!("max_running of this client");
                over(&error, ErrorKind::Overloaded, limit, more)
            }
            TerminalError::Audit(ref cause) => {
                tracing::error!(%cause, "an audit record could not be written");
                plain(
                    code::AUDIT_UNAVAILABLE,
                    ErrorKind::AuditUnavailable,
                    error.to_string(),
                )
            }
            TerminalError::Store(error) => store_error(error),
            TerminalError::Transcript(cause) => internal(&cause),
            TerminalError::Keeper(cause) => internal(&cause),
            TerminalError::Io(cause) => internal(&cause),
            TerminalError::ConfirmationRequired(ref refusal) => refused(
                code::CONFIRMATION_REQUIRED,
                ErrorKind::ConfirmationRequired,
                &error,
                refusal,
            ),
            TerminalError::Denied(ref refusal) => {
                refused(code::DENIED, ErrorKind::Denied, &error, refusal)
            }
            TerminalError::Rejected(ref refusal) => {
                refused(code::DENIED, ErrorKind::Rejected, &error, refusal)
            }
            TerminalError::NoQuestion(_)
            | TerminalError::QuestionOver(_)
            | TerminalError::ApproverRefused(_)
            | TerminalError::NotForAlways(_)
            | TerminalError::NotWritten(_) => not_answered(&error),
            TerminalError::Stopping => {
                plain(code::UNAVAILABLE, ErrorKind::Unavailable, error.to_string())
            }
        }
    }
}

/// What its profile asks for cannot be held.
fn unconfinable(error: &TerminalError) -> ErrorObjectOwned {
    let mut more = Map::new();
    if let TerminalError::NoScope { wall, .. } = error {
        more.insert("step".to_owned(), json!(wall.name()));
    }
    let message = error.to_string();
    error_object(code::SPAWN_FAILED, ErrorKind::Unconfinable, message, more)
}

/// Why an answer to the gate's question was not taken.
fn not_answered(error: &TerminalError) -> ErrorObjectOwned {
    let mut more = Map::new();
    let (code, kind) = match error {
        TerminalError::QuestionOver(info) => {
            more.insert("state".to_owned(), json!(info.state));
            (code::WRONG_STATE, ErrorKind::ApprovalAnswered)
        }
        TerminalError::ApproverRefused(_) | TerminalError::NotForAlways(_) => {
            (code::DENIED, ErrorKind::ApproverRefused)
        }
        TerminalError::NotWritten(_) => (code::WRONG_STATE, ErrorKind::AlwaysRefused),
        _ => (code::RESOURCE_NOT_FOUND, ErrorKind::ApprovalNotFound),
    };
    error_object(code, kind, error.to_string(), more)
}

/// What cannot be typed into a terminal, and why.
fn not_typed(error: &TerminalError) -> ErrorObjectOwned {
    let mut more = Map::new();
    let (code, kind) = match error {
        TerminalError::NoInput(_) => (code::WRONG_STATE, ErrorKind::NoInput),
        TerminalError::NoSecretAwaited(_) => (code::INPUT_REFUSED, ErrorKind::NoSecretAwaited),
        TerminalError::CanonicalLimit { limit, .. } => {
            more.insert("limit".to_owned(), json!(limit));
            (code::INPUT_REFUSED, ErrorKind::CanonicalLimit)
        }
        TerminalError::Closed {
            cause,
            idle_timeout,
            ..
        } => {
            more.insert("cause".to_owned(), json!(cause));
            if let Some(timeout) = idle_timeout {
                more.insert("idle_timeout_ms".to_owned(), json!(timeout.ms()));
            }
            (code::WRONG_STATE, ErrorKind::TerminalExited)
        }
        _ => (code::WRONG_STATE, ErrorKind::TerminalExited),
    };
    error_object(code, kind, error.to_string(), more)
}

/// A named limit that was reached.
fn over(
    error: &TerminalError,
    kind: ErrorKind,
    limit: Value,
    more: Map<String, Value>,
) -> ErrorObjectOwned {
    let mut more = more;
    more.insert("limit".to_owned(), limit);
    error_object(code::OVERLOADED, kind, error.to_string(), more)
}

/// What the gate did not let through, and what it said of it.
fn refused(
    code: i32,
    kind: ErrorKind,
    error: &TerminalError,
    refusal: &Refusal,
) -> ErrorObjectOwned {
    let judgement = &refusal.judgement;
    let mut more = Map::from_iter([
        ("verdict".to_owned(), json!(judgement.verdict)),
        ("reason".to_owned(), json!(judgement.reason)),
        ("command".to_owned(), json!(refusal.command)),
        ("span".to_owned(), json!(judgement.span)),
    ]);
    if let Some(rule) = judgement.rule {
        more.insert("rule".to_owned(), json!(rule));
    }
    if let Some(approval) = &refusal.approval {
        more.insert("approval".to_owned(), json!(approval.id));
        more.insert("expires_at_ms".to_owned(), json!(approval.expires_at_ms));
    }
    error_object(code, kind, error.to_string(), more)
}

/// What a front is told of a database that failed.
pub(super) fn store_error(error: StoreError) -> ErrorObjectOwned {
    match error {
        StoreError::BadCursor => invalid_params("cursor", "is none that an earlier page gave"),
        StoreError::Closed => error_object(
            code::UNAVAILABLE,
            ErrorKind::Unavailable,
            "the daemon is stopping",
            Map::new(),
        ),
        cause => {
            tracing::error!(%cause, "the database failed");
            error_object(
                code::INTERNAL,
                ErrorKind::StoreUnavailable,
                "the database failed; the log has the cause",
                Map::new(),
            )
        }
    }
}

/// Our fault: the log has the cause, the peer has the fact.
fn internal(cause: &dyn std::error::Error) -> ErrorObjectOwned {
    tracing::error!(%cause, "a call failed");
    error_object(
        code::INTERNAL,
        ErrorKind::Internal,
        "termd failed; its log has the cause",
        Map::new(),
    )
}

fn spawn_failed(
    message: &str,
    command: &str,
    step: &str,
    errno: i32,
    field: &str,
) -> ErrorObjectOwned {
    let reason = io::Error::from_raw_os_error(errno).to_string();
    let more = Map::from_iter([
        ("command".to_owned(), json!(command)),
        ("step".to_owned(), json!(step)),
        ("errno".to_owned(), json!(errno)),
        ("reason".to_owned(), json!(reason)),
        ("field".to_owned(), json!(field)),
    ]);
    error_object(
        code::SPAWN_FAILED,
        ErrorKind::SpawnFailed,
        message.to_owned(),
        more,
    )
}

/// What to do about a step that failed, where there is something.
fn advice(step: SpawnStep, errno: i32) -> &'static str {
    match (step, errno) {
        (SpawnStep::Confine(Wall::Bubblewrap), libc::ENOENT) => {
            "; install bubblewrap (bwrap in /usr/local/bin, /usr/bin or /bin), or leave `builder` out \
             of the profile"
        }
        (SpawnStep::Confine(Wall::Bubblewrap), libc::EPERM) => {
            "; bwrap and its directory must be root's, and nobody else's to write"
        }
        (SpawnStep::Confine(Wall::Bubblewrap), _) => "; what bubblewrap said is in termd's log",
        (SpawnStep::Confine(Wall::Protected), libc::EOPNOTSUPP) => {
            "; bubblewrap can hold no symbolic link: leave `builder` out of the profile"
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
        SpawnStep::Hold => "hold",
    }
}

impl From<IntroductionError> for TerminalError {
    fn from(error: IntroductionError) -> Self {
        match error {
            IntroductionError::TooLong { field, limit } => Self::Invalid {
                field,
                problem: format!("may be {limit} bytes long at the most"),
            },
            IntroductionError::Pattern(problem) => Self::Invalid {
                field: "settings.gate.patterns",
                problem: format!("is refused: {problem}"),
            },
        }
    }
}
