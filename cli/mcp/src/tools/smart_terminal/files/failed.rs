//! Why a file could not be used, in smart-terminal-mcp's words.

use serde_json::Value;
use termd_client::ClientError;
use termd_client::refusal::kind_of;
use termd_proto::ErrorKind;

use crate::tool::ToolError;
use crate::tools::smart_terminal::results::bad;

/// The error of a tool that could not use this path.
pub(crate) fn failed(error: ClientError, path: &str) -> ToolError {
    match detail(&error) {
        Some(detail) => bad(format!("Invalid path \"{path}\": {detail}")),
        None => error.into(),
    }
}

/// What is wrong with the path, where that is the error.
pub(crate) fn detail(error: &ClientError) -> Option<String> {
    let ClientError::Refused(refusal) = error else {
        return None;
    };
    let data: Value = serde_json::from_str(refusal.data()?.get()).ok()?;
    let is_path = data.get("field").and_then(Value::as_str) == Some("path");
    match kind_of(refusal)? {
        ErrorKind::FileFailed => {}
        ErrorKind::InvalidParams if is_path => {}
        _ => return None,
    }
    data.get("detail")?.as_str().map(str::to_owned)
}
