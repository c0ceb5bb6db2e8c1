//! `session_close`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use termd_proto::TerminalRef;
use termd_proto::terminal::{CloseTerminal, TerminalState};

use super::params::SessionName;
use super::results::{self, success};
use super::status::close_cause;
use crate::tool::{Call, Effect, Facts, Field, Handler, Outcome, Tool, ToolAnswer, ToolError, add};

/// The time that a program has to end by itself at its end of file.
const EOF_MS: u64 = 300;

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    session_id: SessionName,
}

pub(super) fn tool() -> Tool {
    Tool {
        name: "session_close",
        title: "Close a terminal",
        description: "End a terminal and all in it. Its output stays readable.",
        effect: Effect::Ends,
        output: results::output(vec![
            Field::integer("exit_status", "The exit code; null where a signal ended it").or_null(),
            Field::integer("exit_code", ""),
            Field::string("signal", ""),
            results::end_cause(),
            Field::boolean("already_closed", "It had ended before"),
            Field::string(
                "closed_because",
                "idle or disconnect, where nobody asked for it",
            ),
            Field::integer("offset", "The end of its output"),
        ]),
        handler: Handler::new(close),
    }
}

async fn close(call: Call, arguments: Arguments) -> Outcome {
    let mut facts = success();
    facts.extend(end(&call, &arguments.session_id.0).await?);
    Ok(ToolAnswer::Facts(facts.into()))
}

/// Ends a terminal that is named, and tells how it ended.
pub(in crate::tools) async fn end(call: &Call, named: &str) -> Result<Facts, ToolError> {
    let backend = call.backend();
    let info = backend.show(named).await?;
    let mut facts = Facts::new();
    let (status, limit, end) = if info.state == TerminalState::Closed {
        (info.exit_status, info.end_cause, info.end)
    } else {
        let closed = backend
            .pool()
            .repeat(&CloseTerminal {
                id: TerminalRef::from(&info.id),
                eof_ms: Some(EOF_MS),
            })
            .await?;
        backend.pool().stop_holding(&info.id)?;
        (closed.exit_status, closed.end_cause, closed.end)
    };
    let exit_code = status.as_ref().and_then(|status| status.exit_code);
    facts.insert("exit_status".to_owned(), json!(exit_code));
    add(
        &mut facts,
        json!({
            "exit_code": exit_code,
            "signal": status.and_then(|status| status.signal),
            "end_cause": limit,
            "already_closed": (info.state != TerminalState::Running).then_some(true),
            "closed_because": info.close_cause.map(close_cause),
            "offset": end,
        }),
    );
    Ok(facts)
}
