//! Lines of the socket: the same lines however they arrive; any line is a call or is refused, with
//! an id that can be sent back; any params are read or their fault is told in one line.

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use termd::rpc::framing::{Frame, LineBuffer};
use termd::rpc::request::{Incoming, Params, cancelled_id, same_id};
use termd::rpc::{limits, params};
use termd_proto::acp::CreateTerminalRequest;
use termd_proto::approval::AnswerApproval;
use termd_proto::audit::ListAudit;
use termd_proto::command::ListCommands;
use termd_proto::daemon::Hello;
use termd_proto::interact::Interact;
use termd_proto::policy::ExplainPolicy;
use termd_proto::screen::ReadScreen;
use termd_proto::terminal::{CreateTerminal, ReadTerminal};

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
        let mut rest = piece;
        while !rest.is_empty() {
            let space = buffer.space();
            let (part, others) = rest.split_at(rest.len().min(space.len()));
            space[..part.len()].copy_from_slice(part);
            buffer.fill(part.len());
            rest = others;
        }
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
    if let Params::Structured(raw) = params {
        all_params(raw);
    }
}

/// Reads params as those of the methods that have the most of them.
fn all_params(raw: &str) {
    as_params::<CreateTerminalRequest>(raw);
    as_params::<CreateTerminal>(raw);
    as_params::<ReadTerminal>(raw);
    as_params::<ReadScreen>(raw);
    as_params::<Interact>(raw);
    as_params::<ListAudit>(raw);
    as_params::<ListCommands>(raw);
    as_params::<Hello>(raw);
    as_params::<ExplainPolicy>(raw);
    as_params::<AnswerApproval>(raw);
}

fn as_params<T: DeserializeOwned>(raw: &str) {
    if let Err(error) = params::read::<T>(raw) {
        for key in ["field", "detail"] {
            let text = error.data[key].as_str().unwrap_or_default();
            assert!(!text.is_empty(), "{raw}: {error:?}");
            assert!(!text.contains(char::is_control), "{text:?}");
            assert!(text.chars().count() <= limits::DETAIL_SHOWN_CHARS);
        }
    }
}
