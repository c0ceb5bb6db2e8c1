//! Why the daemon did not do what was asked: it was not reached, it refused, or it made no sense.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use jsonrpsee::core::ClientError as RpcError;
use jsonrpsee::types::ErrorObjectOwned;
use termd_proto::ErrorKind;
use thiserror::Error;

use crate::escape::escaped;
use crate::refusal::{approval_of, kind_of};

/// Why a call has no answer.
#[derive(Debug, Error)]
pub enum ClientError {
    /// Nothing says where the socket would be.
    #[error("no home directory: set HOME, or TERMD_SOCKET")]
    NoHome,
    /// The socket's place cannot be inspected.
    #[error("cannot look at {}: {source}", .path.display())]
    Inspect {
        /// The socket's path.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Something else is in the socket's place: a file, a link.
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
    /// The socket is ours, and the process that listens there is not.
    #[error("user {peer} listens at {}, not you: not speaking to it", .path.display())]
    ForeignPeer {
        /// The socket's path.
        path: PathBuf,
        /// The user id of that process.
        peer: u32,
    },
    /// The daemon does not run, and was not to be started.
    #[error("the daemon is not running (nothing listens at {})", .path.display())]
    NotRunning {
        /// The socket's path.
        path: PathBuf,
    },
    /// The daemon's binary cannot be executed.
    #[error("the daemon is not running and {binary} cannot be started: {source}")]
    Spawn {
        /// The binary, escaped.
        binary: String,
        /// What the system says.
        source: io::Error,
    },
    /// The daemon did not listen in time.
    #[error("{binary} --detach did not come up within {} s", .limit.as_secs())]
    StartTimedOut {
        /// The binary, escaped.
        binary: String,
        /// How long it was waited for.
        limit: Duration,
    },
    /// The daemon said why it cannot start.
    #[error("{reason}")]
    StartRefused {
        /// Its last line on standard error, escaped.
        reason: String,
    },
    /// The daemon ended without a word.
    #[error("{binary} --detach failed: {outcome}")]
    StartFailed {
        /// The binary, escaped.
        binary: String,
        /// Its exit status, or why that is not known.
        outcome: String,
    },
    /// The daemon has started, and listens elsewhere.
    #[error("the daemon was started, but nothing listens at {}", .path.display())]
    NothingListens {
        /// The socket's path.
        path: PathBuf,
    },
    /// The daemon listens, and takes no connection.
    #[error("cannot connect to {}: {source}", .path.display())]
    Connect {
        /// The socket's path.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The daemon ended, and none took its place in time.
    #[error("the daemon went away, and did not come back")]
    WentAway,
    /// The connection stands, and the answer did not come within the call's deadline.
    #[error("the daemon does not answer; `termctl status` may say more")]
    NoAnswer,
    /// The connection broke between a request and its answer; it is not safe to send it again.
    #[error(
        "the connection broke before the answer: it may have been done or not (`termctl list`, \
         `termctl audit` show it)"
    )]
    InDoubt,
    /// The daemon said no.
    #[error("{}", message_of(.0))]
    Refused(ErrorObjectOwned),
    /// The answer is not what the API promises.
    #[error("the daemon's answer makes no sense ({0}): are termctl and termd of the same version?")]
    BadAnswer(#[from] BadAnswer),
}

/// In which way an answer broke the API's promise.
#[derive(Debug, Error)]
pub enum BadAnswer {
    /// The message is no JSON-RPC answer, or its result is of another type.
    #[error(transparent)]
    Rpc(RpcError),
    /// A member is not JSON of its type.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// Bytes are not in base64.
    #[error(transparent)]
    Base64(#[from] base64::DecodeError),
    /// A terminal's id is none.
    #[error(transparent)]
    TerminalId(#[from] termd_proto::id::InvalidTerminalId),
    /// Something that was asked for is not there.
    #[error("{0}")]
    Missing(&'static str),
}

impl ClientError {
    /// Whether the daemon was not reached, so that nobody has answered.
    pub fn is_unreachable(&self) -> bool {
        !matches!(self, Self::InDoubt | Self::Refused(_) | Self::BadAnswer(_))
    }

    /// The daemon's refusal, where it is one.
    pub fn refusal(&self) -> Option<&ErrorObjectOwned> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }
}

impl From<RpcError> for ClientError {
    /// An answer that did not come, on a connection that still stands.
    fn from(error: RpcError) -> Self {
        match error {
            RpcError::Call(refusal) => Self::Refused(refusal),
            RpcError::RequestTimeout => Self::NoAnswer,
            other => Self::BadAnswer(BadAnswer::Rpc(other)),
        }
    }
}

/// What the daemon said, and what to do about it where that is not plain.
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
        Some(ErrorKind::ConfirmationRequired) => match approval_of(error) {
            Some(id) => format!(
                "{message} (--confirmed runs it all the same; or `termctl approve {id}`, and again)"
            ),
            None => format!("{message} (--confirmed runs it all the same)"),
        },
        _ => message,
    }
}
