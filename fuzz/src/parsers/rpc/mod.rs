//! Lines of the socket: the same lines however they arrive; any line is a call or is refused, with
//! an id that can be sent back; any params are read or their fault is told in one line.
#![allow(dead_code, reason = "what the properties do not need of these files")]

#[path = "../../../../daemon/src/rpc/bad_params.rs"]
mod bad_params;
#[path = "../../../../daemon/src/rpc/framing.rs"]
mod framing;
#[path = "../../../../daemon/src/rpc/limits.rs"]
mod limits;
#[path = "../../../../daemon/src/rpc/request.rs"]
mod request;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use termd_proto::acp::{EnvVariable, LenientMeta};
use termd_proto::approval::{ApprovalId, Decision};
use termd_proto::audit::AuditFilter;
use termd_proto::command::CommandFilter;
use termd_proto::daemon::ClientSettings;
use termd_proto::interact::{TypedInput, Until};
use termd_proto::policy::PolicyQuery;
use termd_proto::terminal::{CreateTerminal, ReadOptions};
use termd_proto::{Label, TerminalId};

use framing::{Frame, LineBuffer};
use request::{Incoming, Params, cancelled_id, same_id};

/// A line of the test, at the most.
const LINE_BYTES: usize = 300;

/// What a peer sends.
pub fn holds(data: &[u8]) {
    let whole = frames(data, data.len().max(1));
    for piece in [1, 7] {
        assert_eq!(frames(data, piece), whole);
    }
    for line in whole.iter().flatten().map(Vec::as_slice).chain([data]) {
        read(line);
    }
}

/// The lines of a stream that comes in pieces; `None`: one that is too long.
fn frames(data: &[u8], piece: usize) -> Vec<Option<Vec<u8>>> {
    let mut buffer = LineBuffer::new(LINE_BYTES);
    let mut lines = Vec::new();
    for piece in data.chunks(piece) {
        buffer.space().extend_from_slice(piece);
        while let Some(frame) = buffer.next_frame() {
            lines.push(match frame {
                Frame::Line(line) => Some(line.to_vec()),
                Frame::TooLong => None,
            });
        }
    }
    lines.extend(buffer.last_line().map(|line| Some(line.to_vec())));
    lines
}

fn read(line: &[u8]) {
    let (id, params) = match Incoming::parse(line) {
        Incoming::Request { id, params, .. } => (id, params),
        Incoming::Notification { params, .. } => ("null", params),
        Incoming::Invalid { id, .. } => (id, Params::Absent),
    };
    let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":null}}"#);
    assert!(
        serde_json::from_str::<&RawValue>(&answer).is_ok(),
        "{answer}"
    );
    assert!(same_id(id, id));
    cancelled_id(params);
    if let Params::Structured(params) = params {
        all_params(params);
    }
}

/// Reads params as those of every method whose params are a type of their own.
fn all_params(params: &str) {
    as_params::<CreateTerminal>(params);
    as_params::<ReadOptions>(params);
    as_params::<TypedInput>(params);
    as_params::<Until>(params);
    as_params::<AuditFilter>(params);
    as_params::<CommandFilter>(params);
    as_params::<ClientSettings>(params);
    as_params::<PolicyQuery>(params);
    as_params::<EnvVariable>(params);
    as_params::<LenientMeta>(params);
    // Values inside of params.
    if let Ok(values) =
        serde_json::from_str::<std::collections::BTreeMap<String, &RawValue>>(params)
    {
        for value in values.values().map(|value| value.get()) {
            as_params::<ApprovalId>(value);
            as_params::<Decision>(value);
            as_params::<TerminalId>(value);
            as_params::<Label>(value);
        }
    }
}

fn as_params<T: DeserializeOwned>(params: &str) {
    if let Err(error) = serde_json::from_str::<T>(params) {
        let bad = bad_params::locate(params, &error.to_string());
        for told in [&bad.field, &bad.detail] {
            assert!(!told.contains(char::is_control), "{told:?}");
            assert!(told.chars().count() <= limits::DETAIL_SHOWN_CHARS);
        }
    }
}
