//! Errors of termctl: one line for a person, one object for a program.

use jsonrpsee::types::ErrorObjectOwned;
use serde_json::{Value, json};
use termd_acp::AcpError;
use termd_client::refusal::kind_of;
use termd_client::{BadAnswer, ClientError};
use termd_mcp::McpError;
use termd_picture::PictureError;
use termd_proto::{ErrorKind, code};
use thiserror::Error;

use crate::desktop::DesktopError;
use crate::exit_code::ExitCode;
use crate::setup::SetupError;
use crate::usage_error::UsageError;

/// Why termctl failed.
#[derive(Debug, Error)]
pub(crate) enum CliError {
    /// The arguments do not make sense.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// The daemon was not reached, or refused, or its answer makes no sense.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The reader of standard output has closed it.
    #[error("standard output is closed")]
    StdoutClosed,
    #[error(transparent)]
    Picture(#[from] PictureError),
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error(transparent)]
    Desktop(#[from] DesktopError),
    /// `mcp` did not serve to its end.
    #[error(transparent)]
    Mcp(#[from] McpError),
    /// `acp` did not start its agent.
    #[error(transparent)]
    Acp(#[from] AcpError),
    /// A system call of termctl failed: the action, and the system's error.
    #[error("{0}: {1}")]
    Io(&'static str, #[source] std::io::Error),
}

impl From<BadAnswer> for CliError {
    fn from(answer: BadAnswer) -> Self {
        Self::Client(answer.into())
    }
}

impl CliError {
    /// The daemon's refusal, if this is one.
    pub(crate) fn refusal(&self) -> Option<&ErrorObjectOwned> {
        match self {
            Self::Client(error) => error.refusal(),
            _ => None,
        }
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) | Self::Mcp(McpError::Handshake(_)) => ExitCode::USAGE,
            Self::StdoutClosed => ExitCode::PIPE,
            Self::Picture(_)
            | Self::Setup(_)
            | Self::Desktop(_)
            | Self::Mcp(_)
            | Self::Acp(_)
            | Self::Io(..)
            | Self::Client(ClientError::BadAnswer(_)) => ExitCode::FAILED,
            Self::Client(ClientError::Refused(refusal)) => {
                match (refusal.code(), kind_of(refusal)) {
                    (code::RESOURCE_NOT_FOUND, _) | (_, Some(ErrorKind::TerminalAmbiguous)) => {
                        ExitCode::NO_TERMINAL
                    }
                    _ => ExitCode::FAILED,
                }
            }
            Self::Client(_) => ExitCode::UNREACHABLE,
        }
    }

    /// `{"error": {"code", "kind", "message"}}`, and the daemon's `data`. An error of termctl's own has
    /// no `code`.
    pub(crate) fn to_json(&self) -> Value {
        let own = |kind: &str| json!({ "error": { "code": null, "kind": kind, "message": self.to_string() } });
        match self {
            Self::Usage(_) | Self::Mcp(McpError::Handshake(_)) => own("usage"),
            Self::Client(ClientError::Refused(refusal)) => json!({ "error": {
                "code": refusal.code(),
                "kind": kind_of(refusal),
                "message": refusal.message(),
                "data": refusal.data(),
            } }),
            Self::Client(ClientError::BadAnswer(_)) | Self::Mcp(McpError::Stopped(_)) => {
                own("bad_answer")
            }
            Self::Client(_) => own("unreachable"),
            Self::StdoutClosed => own("stdout_closed"),
            Self::Picture(_) => own("picture"),
            Self::Setup(_) => own("setup"),
            Self::Desktop(_) => own("desktop"),
            Self::Mcp(McpError::Signals(_)) | Self::Acp(_) | Self::Io(..) => own("io"),
        }
    }
}

#[cfg(test)]
mod tests {
    use jsonrpsee::core::ClientError as RpcError;

    use super::*;

    fn refused(code: i32, kind: &str) -> CliError {
        let refusal = ErrorObjectOwned::owned(code, "m\u{1b}", Some(json!({ "kind": kind })));
        ClientError::Refused(refusal).into()
    }

    #[test]
    fn exit_codes() {
        let table = [
            (UsageError::NothingToSend.into(), 2),
            (ClientError::NoHome.into(), 4),
            (ClientError::WentAway.into(), 4),
            (ClientError::InDoubt.into(), 4),
            (CliError::StdoutClosed, 141),
            (BadAnswer::Missing("x").into(), 1),
            (refused(code::RESOURCE_NOT_FOUND, "terminal_not_found"), 3),
            (refused(code::AMBIGUOUS, "terminal_ambiguous"), 3),
            (refused(code::AMBIGUOUS, "label_taken"), 1),
            (refused(code::SPAWN_FAILED, "spawn_failed"), 1),
            (refused(code::INTERNAL, "a kind of the future"), 1),
            (ClientError::from(RpcError::RequestTimeout).into(), 4),
        ];
        for (error, want) in table {
            assert_eq!(error.exit_code(), ExitCode(want), "{error:?}");
        }
    }

    #[test]
    fn a_program_gets_code_kind_and_message() {
        let error = refused(code::SPAWN_FAILED, "spawn_failed").to_json();
        assert_eq!(error["error"]["code"], code::SPAWN_FAILED);
        assert_eq!(error["error"]["kind"], "spawn_failed");
        assert_eq!(error["error"]["message"], "m\u{1b}");
        let own = CliError::from(ClientError::WentAway).to_json();
        assert_eq!(own["error"]["code"], Value::Null);
        assert_eq!(own["error"]["kind"], "unreachable");
    }

    #[test]
    fn a_person_never_gets_a_control_character() {
        let line = refused(code::INTERNAL, "internal").to_string();
        assert_eq!(line, "m\\x1b");
    }
}
