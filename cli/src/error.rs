//! Errors of termctl: one line for a person, one object for a program.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use jsonrpsee::types::ErrorObjectOwned;
use serde_json::{Value, json};
use termd_acp::AcpError;
use termd_client::escape::escaped;
use termd_client::refusal::{approval_of, exec_errno, expires_at_ms, kind_of};
use termd_client::timestamp::local;
use termd_client::{BadAnswer, ClientError};
use termd_mcp::McpError;
use termd_picture::PictureError;
use termd_proto::terminal::ListScope;
use termd_proto::{ErrorKind, Label, Tags, code};
use thiserror::Error;

use crate::daemon_error::DaemonError;
use crate::desktop::DesktopError;
use crate::exec_error::ExecError;
use crate::exit_code::ExitCode;
use crate::setup::SetupError;
use crate::usage_error::UsageError;

/// errno(3): there is no such file.
const ENOENT: i32 = 2;

/// Why termctl failed.
#[derive(Debug, Error)]
pub(crate) enum CliError {
    /// The arguments do not make sense.
    #[error(transparent)]
    Usage(#[from] UsageError),
    /// The daemon was not reached, or refused, or its answer makes no sense.
    #[error("{}", with_options(.0))]
    Client(#[from] ClientError),
    /// `attach` without an argument found none.
    #[error("no terminal runs that one can attach to; `termctl new` opens one")]
    NothingToAttach,
    /// `--tag` of a verb that acts on terminals.
    #[error("no {} terminal has {}", in_words(*scope), one_of(tags))]
    NoneTagged { scope: ListScope, tags: Tags },
    /// `search --label`.
    #[error("no terminal has the label {}", escaped(.0.as_str()))]
    NoneLabelled(Label),
    /// A failure of termctl's own in a verb that passes on a command's exit code.
    #[error(transparent)]
    PassingOn(Box<Self>),
    /// A part of what was to be typed was, and the rest was not.
    #[error("{error}; typed before that, and still there: {typed}")]
    TypedInPart { error: Box<Self>, typed: String },
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
    /// `exec` did not run its line, or did not see its end.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// `daemon` did not do what it was to do.
    #[error(transparent)]
    Daemon(#[from] DaemonError),
    /// A program that termctl runs cannot be started.
    #[error("cannot start {}: {}", escaped(&.0.to_string_lossy()), .1)]
    NotStarted(PathBuf, #[source] io::Error),
    /// A file cannot be written.
    #[error("cannot write {}: {source}", escaped(&.path.to_string_lossy()))]
    Unwritable { path: PathBuf, source: io::Error },
    /// A system call of termctl failed: the action, and the system's error.
    #[error("{0}: {1}")]
    Io(&'static str, #[source] io::Error),
}

fn in_words(scope: ListScope) -> &'static str {
    match scope {
        ListScope::Open => "open",
        ListScope::Running => "running",
        ListScope::All => "known",
    }
}

fn one_of(tags: &Tags) -> String {
    match tags.iter().count() {
        1 => format!("the tag {tags}"),
        _ => format!("one of the tags {tags}"),
    }
}

/// Where the daemon's refusal says how long it holds.
const REFUSED_UNTIL: &str = ", and is refused until ";

/// Params of the API, and the options that they come from.
const OPTIONS: [(&str, &str); 14] = [
    ("at", "--at"),
    ("at_ms", "--at"),
    ("cols", "--cols"),
    ("confirmed", "--confirmed"),
    ("cwd", "--cwd"),
    ("eof_ms", "--eof"),
    ("events", "the recording"),
    ("force", "--force"),
    ("input.keys", "--key"),
    ("max_bytes", "--bytes"),
    ("number", "--command"),
    ("rows", "--rows"),
    ("settle_ms", "--settle"),
    ("since", "--since"),
];

/// The error with options' names in the place of params'.
fn with_options(error: &ClientError) -> String {
    let mut said = error.to_string();
    if let Some(refusal) = error.refusal() {
        said = rejection(refusal, &said).unwrap_or(said);
        for (param, option) in OPTIONS {
            said = said.replace(&format!("`{param}`"), option);
        }
    }
    said
}

/// That a person has said no before, in their time, and without what is for agents.
fn rejection(refusal: &ErrorObjectOwned, said: &str) -> Option<String> {
    let is_rejection = kind_of(refusal) == Some(ErrorKind::Rejected);
    let (who, _) = said.split_once(REFUSED_UNTIL).filter(|_| is_rejection)?;
    let until = local(expires_at_ms(refusal)?);
    let id = approval_of(refusal)?;
    let warning = if io::stderr().is_terminal() {
        ""
    } else {
        "; do not try it another way"
    };
    Some(format!(
        "{who}{REFUSED_UNTIL}{until}, with --confirmed, too{warning}. Only a person can lift that, by \
         `termctl approve {id}`"
    ))
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
            Self::PassingOn(error) | Self::TypedInPart { error, .. } => error.refusal(),
            _ => None,
        }
    }

    /// The same where these parts were typed before it.
    pub(crate) fn after_typing(self, typed: &[String]) -> Self {
        if typed.is_empty() {
            return self;
        }
        Self::TypedInPart {
            error: Box::new(self),
            typed: typed.join(" "),
        }
    }

    /// The same in a verb that passes on a command's exit code, which must not be taken for it.
    pub(crate) fn passing_on(self) -> Self {
        Self::PassingOn(Box::new(self))
    }

    /// Whether the reader of standard output has gone, who wants no message.
    pub(crate) fn is_of_closed_stdout(&self) -> bool {
        match self {
            Self::PassingOn(error) => error.is_of_closed_stdout(),
            error => matches!(error, Self::StdoutClosed),
        }
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::PassingOn(error) => error.exit_code_beside_commands(),
            Self::TypedInPart { error, .. } => error.exit_code(),
            Self::NothingToAttach | Self::NoneTagged { .. } | Self::NoneLabelled(_) => {
                ExitCode::NO_TERMINAL
            }
            Self::Usage(_) | Self::Mcp(McpError::Handshake(_)) => ExitCode::USAGE,
            Self::StdoutClosed => ExitCode::PIPE,
            Self::Picture(_)
            | Self::Setup(_)
            | Self::Desktop(_)
            | Self::Mcp(_)
            | Self::Acp(_)
            | Self::Exec(_)
            | Self::Daemon(_)
            | Self::Io(..)
            | Self::NotStarted(..)
            | Self::Unwritable { .. }
            | Self::Client(ClientError::BadAnswer(_)) => ExitCode::FAILED,
            Self::Client(ClientError::Refused(refusal)) => {
                match (refusal.code(), kind_of(refusal)) {
                    (code::RESOURCE_NOT_FOUND, _) | (_, Some(ErrorKind::TerminalAmbiguous)) => {
                        ExitCode::NO_TERMINAL
                    }
                    (code::INVALID_PARAMS, _) => ExitCode::USAGE,
                    _ => ExitCode::FAILED,
                }
            }
            Self::Client(_) => ExitCode::UNREACHABLE,
        }
    }

    /// The exit code beside those of commands, as of env(1) and `docker run`.
    fn exit_code_beside_commands(&self) -> ExitCode {
        match (
            self,
            self.refusal().map(|refusal| (kind_of(refusal), refusal)),
        ) {
            (Self::StdoutClosed, _) => ExitCode::PIPE,
            (_, Some((Some(ErrorKind::SpawnFailed), refusal))) => match exec_errno(refusal) {
                Some(ENOENT) => ExitCode::NOT_FOUND,
                Some(_) => ExitCode::NOT_EXECUTABLE,
                None => ExitCode::OWN_FAILURE,
            },
            (
                _,
                Some((
                    Some(ErrorKind::ConfirmationRequired | ErrorKind::Denied | ErrorKind::Rejected),
                    _,
                )),
            ) => ExitCode::NOT_EXECUTABLE,
            _ => ExitCode::OWN_FAILURE,
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
            Self::PassingOn(error) => error.to_json(),
            Self::TypedInPart { error, typed } => {
                let mut json = error.to_json();
                json["error"]["typed"] = typed.as_str().into();
                json
            }
            Self::NothingToAttach => own("nothing_to_attach"),
            Self::NoneTagged { .. } => own("none_tagged"),
            Self::NoneLabelled(_) => own("none_labelled"),
            Self::StdoutClosed => own("stdout_closed"),
            Self::Picture(_) => own("picture"),
            Self::Setup(_) => own("setup"),
            Self::Desktop(_) => own("desktop"),
            Self::Exec(_) => own("exec"),
            Self::Daemon(_) => own("daemon"),
            Self::Mcp(McpError::Signals(_))
            | Self::Acp(_)
            | Self::Io(..)
            | Self::NotStarted(..)
            | Self::Unwritable { .. } => own("io"),
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
            (refused(code::INVALID_PARAMS, "invalid_params"), 2),
            (refused(code::INTERNAL, "a kind of the future"), 1),
            (ClientError::from(RpcError::RequestTimeout).into(), 4),
        ];
        for (error, want) in table {
            assert_eq!(error.exit_code(), ExitCode(want), "{error:?}");
        }
        let exec = |step: &str, errno: i32| {
            let data = json!({ "kind": "spawn_failed", "step": step, "errno": errno });
            let refusal = ErrorObjectOwned::owned(code::SPAWN_FAILED, "m", Some(data));
            CliError::from(ClientError::Refused(refusal))
        };
        for (error, beside_commands) in [
            (exec("exec", 2), 127),
            (exec("exec", 13), 126),
            (exec("exec", 8), 126),
            (exec("chdir", 2), 125),
            (refused(code::DENIED, "denied"), 126),
            (refused(code::DENIED, "rejected"), 126),
            (
                refused(code::CONFIRMATION_REQUIRED, "confirmation_required"),
                126,
            ),
            (refused(code::AMBIGUOUS, "label_taken"), 125),
            (refused(code::RESOURCE_NOT_FOUND, "terminal_not_found"), 125),
            (ClientError::WentAway.into(), 125),
            (UsageError::NothingToSend.into(), 125),
            (CliError::StdoutClosed, 141),
        ] {
            let error = error.passing_on();
            assert_eq!(error.exit_code(), ExitCode(beside_commands), "{error:?}");
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
    fn a_person_reads_of_options_and_a_program_of_params() {
        let said = "`input.keys` has no key \"foo\"; `force` types `it`";
        let refusal = ErrorObjectOwned::owned(code::INVALID_PARAMS, said, None::<()>);
        let error = CliError::from(ClientError::Refused(refusal));
        let shown = "--key has no key \"foo\"; --force types `it`";
        assert_eq!(error.to_string(), shown);
        assert_eq!(error.to_json()["error"]["message"], said);
    }

    #[test]
    fn a_person_reads_of_their_no_in_their_time() {
        let said = "this was rejected through termctl (rm), and is refused until \
                    2026-11-22 09:00:00 UTC, with `confirmed`, too; do not try it another way. Only a \
                    person can lift that, by `termctl approve qcjxld`";
        let at = 1_795_338_000_000;
        let data = json!({ "kind": "rejected", "approval": "qcjxld", "expires_at_ms": at });
        let refusal = ErrorObjectOwned::owned(code::DENIED, said, Some(data));
        let shown = CliError::from(ClientError::Refused(refusal)).to_string();
        let until = format!("through termctl (rm), and is refused until {}, ", local(at));
        assert!(shown.contains(&until), "{shown}");
        assert!(shown.contains("with --confirmed, too"), "{shown}");
        assert!(shown.ends_with("by `termctl approve qcjxld`"), "{shown}");
    }

    #[test]
    fn a_person_never_gets_a_control_character() {
        let line = refused(code::INTERNAL, "internal").to_string();
        assert_eq!(line, "m\\x1b");
    }
}
