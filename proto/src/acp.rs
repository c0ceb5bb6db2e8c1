//! ACP v1's `terminal/*` methods, names and shapes to the letter.
//!
//! Source: the Agent Client Protocol's v1 schema and its page "Terminals". Every object may carry
//! `_meta`; ours is under the key `termd`. The requests' members are the methods' named params.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::id::Offset;
use crate::tag::Tags;

/// The revision of ACP that these methods belong to.
pub const PROTOCOL_VERSION: u16 = 1;

/// An ACP `_meta` object: anybody's keys.
pub type Meta = Map<String, Value>;

/// `_meta` of a request: as the schema says, a value of another type counts as absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct LenientMeta(pub Option<Meta>);

impl<'de> Deserialize<'de> for LenientMeta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Value::deserialize(deserializer)? {
            Value::Object(meta) => Self(Some(meta)),
            _ => Self(None),
        })
    }
}

/// `_meta.termd` of `terminal/create`: what ACP's own members cannot say. A member that is absent or
/// null has its default; members that are not listed are ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct CreateMeta {
    /// Columns of the terminal.
    pub cols: Option<u16>,
    /// Rows of the terminal.
    pub rows: Option<u16>,
    /// Whether a person has agreed to the command already, so that the gate does not ask.
    pub confirmed: Option<bool>,
    /// Whether the terminal ends with the connection.
    pub close_on_disconnect: Option<bool>,
    /// The form of the text that `terminal/output` answers.
    pub output: Option<OutputForm>,
    /// Words that group the terminal with others.
    pub tags: Option<Tags>,
}

/// The form of the text that `terminal/output` answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputForm {
    /// Plain text, escape sequences resolved.
    #[default]
    Plain,
    /// UTF-8 with the escape sequences as the program wrote them.
    Raw,
}

/// One variable for the command's environment (ACP `EnvVariable`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvVariable {
    /// Its name: not empty, no `=`, no NUL.
    pub name: String,
    /// Its value: no NUL.
    pub value: String,
}

/// How a command ended (ACP `TerminalExitStatus`): exactly one of the two is set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TerminalExitStatus {
    /// The exit code, 0 to 255; null if a signal ended it.
    pub exit_code: Option<u32>,
    /// The signal's name, such as `SIGTERM`; null if it exited.
    pub signal: Option<String>,
}

/// Answer to `terminal/create` (ACP `CreateTerminalResponse`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateTerminalResponse {
    /// The new terminal's id.
    pub terminal_id: String,
    /// The request's `_meta`, untouched.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Answer to `terminal/output` (ACP `TerminalOutputResponse`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TerminalOutputResponse {
    /// The output so far, its front cut off at a character boundary where it is over the limit.
    pub output: String,
    /// Whether anything was cut off.
    pub truncated: bool,
    /// Null until the command has exited and its output is all here.
    pub exit_status: Option<TerminalExitStatus>,
    /// `{"termd": OutputRange}` and what the request's `_meta` held.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Which bytes of the transcript an answer's text was made of: `_meta.termd` of `terminal/output`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputRange {
    /// The first byte's offset.
    pub start: Offset,
    /// The offset after the last byte; where the next look may go on.
    pub end: Offset,
}

/// Answer to `terminal/wait_for_exit` (ACP `WaitForTerminalExitResponse`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitForTerminalExitResponse {
    /// How it ended.
    #[serde(flatten)]
    pub status: TerminalExitStatus,
    /// The request's `_meta`, untouched.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Answer to `terminal/kill` and `terminal/release`: `{}`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EmptyResponse {
    /// The request's `_meta`, untouched.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Params of `terminal/create` (ACP `CreateTerminalRequest`): starts a command in a new terminal and
/// answers at once with its id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateTerminalRequest {
    /// The ACP session that owns the terminal.
    pub session_id: String,
    /// The program, run as it stands with `args`. Without `args`, a command that is no executable and
    /// holds white space or shell syntax is run by the user's shell.
    pub command: String,
    /// Its arguments.
    pub args: Option<Vec<String>>,
    /// Variables on top of the daemon's environment.
    pub env: Option<Vec<EnvVariable>>,
    /// The directory, absolute; absent: the connection's default, else home.
    pub cwd: Option<String>,
    /// Bytes that `terminal/output` keeps; absent: the configured default; 0: none.
    pub output_byte_limit: Option<u64>,
    /// Anybody's keys.
    #[serde(rename = "_meta")]
    pub meta: Option<LenientMeta>,
}

/// Declares the params of a method on one terminal: they are the same for four of the five.
macro_rules! terminal_request {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            /// The ACP session that owns the terminal.
            pub session_id: String,
            /// The terminal.
            pub terminal_id: String,
            /// Anybody's keys.
            #[serde(rename = "_meta")]
            pub meta: Option<LenientMeta>,
        }
    };
}

terminal_request! {
    /// Params of `terminal/output`: the output so far, and the exit status if there is one.
    TerminalOutputRequest
}
terminal_request! {
    /// Params of `terminal/wait_for_exit`: answers when the command has exited and its output is all
    /// there, however long that takes.
    WaitForTerminalExitRequest
}
terminal_request! {
    /// Params of `terminal/kill`: ends the command and all that it started; the id stays valid.
    KillTerminalRequest
}
terminal_request! {
    /// Params of `terminal/release`: ends the command if it still runs, and the id for all of
    /// `terminal/*`.
    ReleaseTerminalRequest
}
