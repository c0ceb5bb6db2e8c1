//! ACP v1's `terminal/*` methods, names and shapes to the letter.
//!
//! Source: the Agent Client Protocol's v1 schema and its page "Terminals". Every object may carry
//! `_meta`; ours is under the key `termd`. The requests' members are the methods' named params.

use jsonrpsee::core::RpcResult;
use jsonrpsee::proc_macros::rpc;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::id::Offset;

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

/// ACP v1's terminal methods, which the client's side of ACP serves.
#[rpc(server, client)]
pub trait AcpTerminals {
    /// Starts a command in a new terminal and answers at once with its id.
    ///
    /// `command` with `args` is run as it stands; without `args`, a `command` that is no
    /// executable and holds white space or shell syntax is run by the user's shell.
    /// `cwd` is absolute; absent, the owner's default, else home. `outputByteLimit` is what
    /// `terminal/output` keeps, in bytes: null for the default, 0 for nothing.
    #[method(name = "terminal/create", param_kind = map, with_extensions)]
    async fn create(
        &self,
        #[argument(rename = "sessionId")] session_id: String,
        command: String,
        args: Option<Vec<String>>,
        env: Option<Vec<EnvVariable>>,
        cwd: Option<String>,
        #[argument(rename = "outputByteLimit")] output_byte_limit: Option<u64>,
        #[argument(rename = "_meta")] meta: Option<LenientMeta>,
    ) -> RpcResult<CreateTerminalResponse>;

    /// The output so far, and the exit status if there is one.
    #[method(name = "terminal/output", param_kind = map, with_extensions)]
    async fn output(
        &self,
        #[argument(rename = "sessionId")] session_id: String,
        #[argument(rename = "terminalId")] terminal_id: String,
        #[argument(rename = "_meta")] meta: Option<LenientMeta>,
    ) -> RpcResult<TerminalOutputResponse>;

    /// Answers when the command has exited and its output is all there, however long that takes.
    #[method(name = "terminal/wait_for_exit", param_kind = map, with_extensions)]
    async fn wait_for_exit(
        &self,
        #[argument(rename = "sessionId")] session_id: String,
        #[argument(rename = "terminalId")] terminal_id: String,
        #[argument(rename = "_meta")] meta: Option<LenientMeta>,
    ) -> RpcResult<WaitForTerminalExitResponse>;

    /// Ends the command and all that it started; the id stays valid.
    #[method(name = "terminal/kill", param_kind = map, with_extensions)]
    async fn kill(
        &self,
        #[argument(rename = "sessionId")] session_id: String,
        #[argument(rename = "terminalId")] terminal_id: String,
        #[argument(rename = "_meta")] meta: Option<LenientMeta>,
    ) -> RpcResult<EmptyResponse>;

    /// Ends the command if it still runs, and the id for all of `terminal/*`.
    #[method(name = "terminal/release", param_kind = map, with_extensions)]
    async fn release(
        &self,
        #[argument(rename = "sessionId")] session_id: String,
        #[argument(rename = "terminalId")] terminal_id: String,
        #[argument(rename = "_meta")] meta: Option<LenientMeta>,
    ) -> RpcResult<EmptyResponse>;
}
