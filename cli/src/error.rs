//! What can go wrong, said in one line to a person and in one object to a program.

use jsonrpsee::core::ClientError;
use jsonrpsee::types::ErrorObjectOwned;
use serde_json::{Value, json};
use termd_proto::approval::ApprovalId;
use termd_proto::{ErrorKind, code};
use thiserror::Error;

use crate::desktop::DesktopError;
use crate::escape::escaped;
use crate::exit::ExitCode;
use crate::screenshot::ScreenshotError;
use crate::setup::SetupError;

/// Why termctl could not do what was asked.
#[derive(Debug, Error)]
pub(crate) enum CliError {
    /// The arguments do not make sense.
    #[error("{0}")]
    Usage(String),
    /// The daemon cannot be reached, or not be started.
    #[error("{0}")]
    Unreachable(String),
    /// The connection broke between a request and its answer; it is not safe to send it again.
    #[error(
        "the connection broke before the answer: it may have been done or not (`termctl list`, \
         `termctl audit` show it)"
    )]
    InDoubt,
    /// The daemon said no.
    #[error("{}", rpc_message(.0))]
    Refused(ErrorObjectOwned),
    /// What the daemon said is not what its API promises.
    #[error("the daemon's answer makes no sense ({0}): are termctl and termd of the same version?")]
    Nonsense(String),
    /// Standard output was closed by its reader; nobody is left to be told.
    #[error("standard output is closed")]
    StdoutClosed,
    /// There is no picture.
    #[error(transparent)]
    Picture(#[from] ScreenshotError),
    /// A client is not set up.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// There are no desktop notifications.
    #[error(transparent)]
    Desktop(#[from] DesktopError),
    /// Something on this side failed: what, and why.
    #[error("{0}: {1}")]
    Io(&'static str, #[source] std::io::Error),
}

/// What the daemon said, and what to do about it where that is not plain.
fn rpc_message(error: &ErrorObjectOwned) -> String {
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

/// The question that the gate left, where it left one.
pub(crate) fn approval_of(error: &ErrorObjectOwned) -> Option<ApprovalId> {
    let data: Value = serde_json::from_str(error.data()?.get()).ok()?;
    serde_json::from_value(data.get("approval")?.clone()).ok()
}

/// The stable word in an error's data.
pub(crate) fn kind_of(error: &ErrorObjectOwned) -> Option<ErrorKind> {
    let data: Value = serde_json::from_str(error.data()?.get()).ok()?;
    serde_json::from_value(data.get("kind")?.clone()).ok()
}

impl CliError {
    /// An answer that did not come, on a connection that still stands.
    pub(crate) fn of_client(error: ClientError) -> Self {
        match error {
            ClientError::Call(object) => Self::Refused(object),
            ClientError::RequestTimeout => Self::Unreachable(
                "the daemon does not answer; `termctl status` may say more".to_owned(),
            ),
            other => Self::Nonsense(other.to_string()),
        }
    }

    /// What termctl exits with.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::USAGE,
            Self::Unreachable(_) | Self::InDoubt => ExitCode::UNREACHABLE,
            Self::StdoutClosed => ExitCode::PIPE,
            Self::Nonsense(_)
            | Self::Picture(_)
            | Self::Setup(_)
            | Self::Desktop(_)
            | Self::Io(..) => ExitCode::FAILED,
            Self::Refused(error) => match (error.code(), kind_of(error)) {
                (code::RESOURCE_NOT_FOUND, _) | (_, Some(ErrorKind::TerminalAmbiguous)) => {
                    ExitCode::NO_TERMINAL
                }
                _ => ExitCode::FAILED,
            },
        }
    }

    /// `{"error": {"code", "kind", "message"}}`, and the daemon's `data` where it sent some.
    /// `code` is null where the error is termctl's own.
    pub(crate) fn to_json(&self) -> Value {
        let own = |kind: &str| json!({ "error": { "code": null, "kind": kind, "message": self.to_string() } });
        match self {
            Self::Usage(_) => own("usage"),
            Self::Unreachable(_) | Self::InDoubt => own("unreachable"),
            Self::Nonsense(_) => own("bad_answer"),
            Self::StdoutClosed => own("stdout_closed"),
            Self::Picture(_) => own("picture"),
            Self::Setup(_) => own("setup"),
            Self::Desktop(_) => own("desktop"),
            Self::Io(..) => own("io"),
            Self::Refused(error) => json!({ "error": {
                "code": error.code(),
                "kind": kind_of(error),
                "message": error.message(),
                "data": error.data(),
            } }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: i32, kind: &str) -> CliError {
        CliError::Refused(ErrorObjectOwned::owned(
            code,
            "m\u{1b}",
            Some(json!({ "kind": kind })),
        ))
    }

    #[test]
    fn exit_codes() {
        let table = [
            (CliError::Usage(String::new()), 2),
            (CliError::Unreachable(String::new()), 4),
            (CliError::StdoutClosed, 141),
            (CliError::Nonsense(String::new()), 1),
            (refused(code::RESOURCE_NOT_FOUND, "terminal_not_found"), 3),
            (refused(code::AMBIGUOUS, "terminal_ambiguous"), 3),
            (refused(code::AMBIGUOUS, "label_taken"), 1),
            (refused(code::SPAWN_FAILED, "spawn_failed"), 1),
            (refused(code::INTERNAL, "a kind of the future"), 1),
            (CliError::of_client(ClientError::RequestTimeout), 4),
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
        let own = CliError::Unreachable("x".to_owned()).to_json();
        assert_eq!(own["error"]["code"], Value::Null);
        assert_eq!(own["error"]["kind"], "unreachable");
    }

    #[test]
    fn a_person_never_gets_a_control_character() {
        let line = refused(code::INTERNAL, "internal").to_string();
        assert_eq!(line, "m\\x1b");
    }
}
