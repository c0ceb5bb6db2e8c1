//! Errors of calls: the daemon was not reached, it refused, or its answer makes no sense.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jsonrpsee::core::ClientError as RpcError;
use jsonrpsee::types::ErrorObjectOwned;
use termd_proto::{ErrorKind, code};
use thiserror::Error;

use crate::escape::escaped;
use crate::refusal::{approval_of, kind_of, needs_person};

/// Why a call has no answer. All who wait for a connection get the same error, so it can be cloned.
#[derive(Debug, Clone, Error)]
pub enum ClientError {
    /// The socket's path is unknown.
    #[error("no home directory: set HOME, or TERMD_SOCKET")]
    NoHome,
    /// The socket's path cannot be inspected.
    #[error("cannot look at {}: {source}", .path.display())]
    Inspect {
        /// The socket's path.
        path: PathBuf,
        /// What the system says.
        source: Arc<io::Error>,
    },
    /// There is a file or a link at the socket's path.
    #[error("{} is no socket: move it away, or set TERMD_SOCKET", .path.display())]
    NotASocket {
        /// The socket's path.
        path: PathBuf,
    },
    /// The socket is another user's.
    #[error("{} belongs to user {owner}, not to you: not connecting", .path.display())]
    ForeignSocket {
        /// The socket's path.
        path: PathBuf,
        /// That user's id.
        owner: u32,
    },
    /// The socket is this user's, but another user's process listens.
    #[error("user {peer} listens at {}, not you: not speaking to it", .path.display())]
    ForeignPeer {
        /// The socket's path.
        path: PathBuf,
        /// The user id of that process.
        peer: u32,
    },
    /// The daemon does not run, and may not be started.
    #[error("the daemon is not running (nothing listens at {})", .path.display())]
    NotRunning {
        /// The socket's path.
        path: PathBuf,
    },
    /// There is no daemon's binary.
    #[error(
        "the daemon is not running, and its program is not to be found: there is no {binary}{}",
        if binary.contains('/') {
            " (from TERMD_BIN, or beside termctl)"
        } else {
            " beside termctl or on PATH; TERMD_BIN may name one"
        }
    )]
    NoProgram {
        /// The binary, escaped.
        binary: String,
    },
    /// The daemon's binary cannot be executed.
    #[error("the daemon is not running and {binary} cannot be started: {source}")]
    Spawn {
        /// The binary, escaped.
        binary: String,
        /// What the system says.
        source: Arc<io::Error>,
    },
    /// The daemon did not listen in time.
    #[error("{binary} --detach did not come up within {} s", .limit.as_secs())]
    StartTimedOut {
        /// The binary, escaped.
        binary: String,
        /// The deadline.
        limit: Duration,
    },
    /// The daemon printed why it cannot start.
    #[error("{reason}")]
    StartRefused {
        /// Its last line on standard error, or its answer, escaped.
        reason: String,
    },
    /// The daemon ended and printed nothing.
    #[error("{binary} --detach failed: {outcome}")]
    StartFailed {
        /// The binary, escaped.
        binary: String,
        /// Its exit status, or why that is not known.
        outcome: String,
    },
    /// The daemon has started and listens elsewhere.
    #[error("the daemon was started, but nothing listens at {}", .path.display())]
    NothingListens {
        /// The socket's path.
        path: PathBuf,
    },
    /// The daemon that uses this database listens elsewhere than was asked for.
    #[error(
        "nothing listens at {}, which TERMD_SOCKET names: termd runs already and listens at {}",
        .named.display(), .socket.display()
    )]
    ListensElsewhere {
        /// The socket that was named.
        named: PathBuf,
        /// Its own.
        socket: PathBuf,
    },
    /// The daemon listens and accepts no connection.
    #[error("cannot connect to {}: {source}", .path.display())]
    Connect {
        /// The socket's path.
        path: PathBuf,
        /// What the system says.
        source: Arc<io::Error>,
    },
    /// The daemon ended, and no other started in time.
    #[error(
        "the daemon went away, and did not come back (`journalctl --user -u termd`, or termd.log beside \
         the database, may say why)"
    )]
    WentAway,
    /// The connection stands, but no answer came within the call's deadline.
    #[error("the daemon does not answer; `termctl status` may say more")]
    NoAnswer,
    /// The connection broke between a request and its answer, and the request must not be sent twice.
    #[error(
        "the connection broke before the answer: it may have been done or not (`termctl list`, \
         `termctl audit` show it)"
    )]
    InDoubt,
    /// The daemon refused.
    #[error("{}", message_of(.0))]
    Refused(ErrorObjectOwned),
    /// The answer is not what the API promises.
    #[error("the daemon's answer makes no sense ({0}): are termctl and termd of the same version?")]
    BadAnswer(#[from] BadAnswer),
}

/// What is wrong with an answer.
#[derive(Debug, Clone, Error)]
pub enum BadAnswer {
    /// The message is no JSON-RPC answer, or its result has another type.
    #[error(transparent)]
    Rpc(Arc<RpcError>),
    #[error(transparent)]
    Json(Arc<serde_json::Error>),
    #[error(transparent)]
    Base64(#[from] base64::DecodeError),
    #[error(transparent)]
    TerminalId(#[from] termd_proto::id::InvalidTerminalId),
    /// Something requested is not there.
    #[error("{0}")]
    Missing(&'static str),
}

impl From<serde_json::Error> for BadAnswer {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(Arc::new(error))
    }
}

impl ClientError {
    /// Whether the daemon was not reached.
    pub fn is_unreachable(&self) -> bool {
        !matches!(self, Self::InDoubt | Self::Refused(_) | Self::BadAnswer(_))
    }

    /// The daemon's refusal, if this is one.
    pub fn refusal(&self) -> Option<&ErrorObjectOwned> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }
}

impl From<RpcError> for ClientError {
    fn from(error: RpcError) -> Self {
        match error {
            RpcError::Call(refusal) if refusal.code() == code::START_FAILED => Self::StartRefused {
                reason: escaped(refusal.message()),
            },
            RpcError::Call(refusal) => Self::Refused(refusal),
            RpcError::RequestTimeout => Self::NoAnswer,
            other => Self::BadAnswer(BadAnswer::Rpc(Arc::new(other))),
        }
    }
}

/// The daemon's message, with a hint where one helps.
fn message_of(error: &ErrorObjectOwned) -> String {
    let message = escaped(error.message());
    match kind_of(error) {
        Some(ErrorKind::TerminalNotFound) => {
            format!("{message} (`termctl list --all` has them all)")
        }
        Some(ErrorKind::MethodNotFound) => {
            format!(
                "{message}: termd is older than termctl; `systemctl --user reload termd` or restart it"
            )
        }
        Some(ErrorKind::ConfirmationRequired) => match (approval_of(error), needs_person(error)) {
            (Some(id), false) => format!(
                "{message} (--confirmed runs it all the same; or `termctl approve {id}`, and again)"
            ),
            (Some(id), true) => format!(
                "{message} (a person has to agree, by `termctl approve {id}` in a terminal of their \
                 own; then run it again)"
            ),
            (None, false) => format!("{message} (--confirmed runs it all the same)"),
            (None, true) => format!("{message} (a person has to agree)"),
        },
        _ => message,
    }
}
