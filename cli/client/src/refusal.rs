//! The data of the daemon's errors.

use jsonrpsee::types::ErrorObjectOwned;
use serde::de::DeserializeOwned;
use serde_json::Value;
use termd_proto::ErrorKind;
use termd_proto::approval::ApprovalId;

/// The id of the gate's question, if the gate asks one.
pub fn approval_of(error: &ErrorObjectOwned) -> Option<ApprovalId> {
    member(error, "approval")
}

/// Until when a question of the gate, or the answer to it, holds.
pub fn expires_at_ms(error: &ErrorObjectOwned) -> Option<i64> {
    member(error, "expires_at_ms")
}

/// Whether only a person can agree to what was refused.
pub fn needs_person(error: &ErrorObjectOwned) -> bool {
    member(error, "needs_person").unwrap_or(false)
}

/// Whether a line that was typed before waits at the shell's prompt.
pub fn line_waits(error: &ErrorObjectOwned) -> bool {
    member(error, "line_waits").unwrap_or(false)
}

/// Whether answers of the terminal stand at the shell's prompt that a command did not read.
pub fn answers_stand(error: &ErrorObjectOwned) -> bool {
    member(error, "answers_stand").unwrap_or(false)
}

/// The errno of a command that could not be executed: neither its directory nor its sandbox failed.
pub fn exec_errno(error: &ErrorObjectOwned) -> Option<i32> {
    let step: String = member(error, "step")?;
    (step == "exec").then(|| member(error, "errno"))?
}

/// The kind in an error's data.
pub fn kind_of(error: &ErrorObjectOwned) -> Option<ErrorKind> {
    member(error, "kind")
}

/// What is wrong with this param, if that was refused.
pub fn wrong_param(error: &ErrorObjectOwned, name: &str) -> Option<String> {
    let field: String = member(error, "field")?;
    (field == name).then(|| member(error, "detail"))?
}

fn member<T: DeserializeOwned>(error: &ErrorObjectOwned, name: &str) -> Option<T> {
    let data: Value = serde_json::from_str(error.data()?.get()).ok()?;
    serde_json::from_value(data.get(name)?.clone()).ok()
}
