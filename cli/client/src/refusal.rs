//! What the data of a daemon's error says.

use jsonrpsee::types::ErrorObjectOwned;
use serde::de::DeserializeOwned;
use serde_json::Value;
use termd_proto::ErrorKind;
use termd_proto::approval::ApprovalId;

/// The question that the gate left, where it left one.
pub fn approval_of(error: &ErrorObjectOwned) -> Option<ApprovalId> {
    member(error, "approval")
}

/// The stable word in an error's data.
pub fn kind_of(error: &ErrorObjectOwned) -> Option<ErrorKind> {
    member(error, "kind")
}

fn member<T: DeserializeOwned>(error: &ErrorObjectOwned, name: &str) -> Option<T> {
    let data: Value = serde_json::from_str(error.data()?.get()).ok()?;
    serde_json::from_value(data.get(name)?.clone()).ok()
}
