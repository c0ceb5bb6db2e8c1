//! `terminal_stop`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use termd_proto::TerminalRef;
use termd_proto::file::WriteFile;
use termd_proto::terminal::{CloseTerminal, TerminalState};

use super::session::{find, not_found};
use crate::tool::{Call, Effect, Facts, Field, Handler, Outcome, Tool, ToolAnswer, add};
use crate::tools::smart_terminal::files::failed::failed;
use crate::tools::smart_terminal::output::line_history::LineHistory;
use crate::tools::smart_terminal::params::{Confirmed, SessionName};
use crate::tools::smart_terminal::results;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    session_id: SessionName,
    /// Return its last lines
    #[schemars(range(min = 0, max = 2_000), extend("default" = 0))]
    snapshot_lines: u64,
    /// A file for all its output
    #[schemars(length(min = 1))]
    transcript_path: Option<String>,
    confirmed: Confirmed,
}

pub(crate) fn tool() -> Tool {
    Tool {
        name: "terminal_stop",
        title: "Stop a terminal",
        description: "End a terminal and all in it. Its output stays readable.",
        effect: Effect::Ends,
        output: results::output_or_question(vec![
            Field::boolean("success", "").required(),
            Field::string("message", ""),
            Field::object("snapshot", "text, lineCount, totalLines"),
            Field::object("transcript", "path, bytes"),
            Field::integer("exitCode", ""),
            Field::string("signal", ""),
            results::end_cause(),
        ]),
        handler: Handler::new(stop),
    }
}

async fn stop(call: Call, arguments: Arguments) -> Outcome {
    let info = find(&call, &arguments.session_id.0).await?;
    if info.state == TerminalState::Closed {
        return Err(not_found(&arguments.session_id.0));
    }
    let backend = call.backend();
    let mut transcript = None;
    if let Some(path) = &arguments.transcript_path {
        let request = WriteFile {
            id: TerminalRef::from(&info.id),
            path: path.clone(),
            text: None,
            data: None,
            transcript: Some(true),
            mode: None,
            follow_link: Some(false),
            confirmed: Some(arguments.confirmed.0),
        };
        let written = backend.pool().once(&request).await;
        transcript = Some(written.map_err(|error| failed(error, path))?);
    }
    let mut facts = Facts::new();
    add(
        &mut facts,
        json!({ "success": true, "message": format!("Session {} stopped.", info.id) }),
    );
    if arguments.snapshot_lines > 0 {
        let past = LineHistory::read(backend, &info, arguments.snapshot_lines).await?;
        let lines: Vec<String> = past.lines.into();
        let snapshot = json!({
            "lineCount": lines.len(),
            "text": lines.join("\n"),
            "totalLines": past.total,
        });
        add(&mut facts, json!({ "snapshot": snapshot }));
    }
    if let Some(written) = transcript {
        let written = json!({ "path": written.path, "bytes": written.bytes });
        add(&mut facts, json!({ "transcript": written }));
    }
    let closed = backend
        .pool()
        .repeat(&CloseTerminal {
            id: TerminalRef::from(&info.id),
            eof_ms: None,
        })
        .await?;
    backend.pool().stop_holding(&info.id)?;
    results::describe_exit(&mut facts, closed.exit_status.as_ref());
    add(&mut facts, json!({ "endCause": closed.end_cause }));
    Ok(ToolAnswer::Facts(facts.into()))
}
