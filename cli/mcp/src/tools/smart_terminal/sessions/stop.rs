//! `terminal_stop`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use termd_proto::TerminalRef;
use termd_proto::terminal::{CloseTerminal, TerminalState};

use super::session::{directory, find, not_found};
use crate::tool::{Call, Effect, Facts, Field, Handler, Outcome, Tool, ToolAnswer, add, object};
use crate::tools::smart_terminal::files::place::{Existing, Place};
use crate::tools::smart_terminal::output::line_history::{LineHistory, pages};
use crate::tools::smart_terminal::params::SessionName;
use crate::tools::smart_terminal::results;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    session_id: SessionName,
    /// Return last N lines. 0 = none.
    #[schemars(range(min = 0, max = 2_000), extend("default" = 0))]
    snapshot_lines: u64,
    /// Write history to this path, as plain text; its directory has to exist
    #[schemars(length(min = 1))]
    transcript_path: Option<String>,
}

pub(crate) fn tool() -> Tool {
    Tool {
        name: "terminal_stop",
        title: "Stop a terminal",
        description: "End a terminal and all that runs in it (SIGHUP, then SIGKILL); snapshotLines \
                      returns its last lines, transcriptPath writes all its output to a file first. \
                      Its output stays readable by terminal_read with since.",
        effect: Effect::Ends,
        output: object(vec![
            Field::boolean("success", "").required(),
            Field::string("message", "").required(),
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
    let place = match &arguments.transcript_path {
        None => None,
        Some(path) => {
            let cwd = directory(&call, &info).await;
            Some(Place::check(&cwd, path, Existing::NoLink)?)
        }
    };
    let mut facts = Facts::new();
    add(
        &mut facts,
        json!({ "success": true, "message": format!("Session {} stopped.", info.id) }),
    );
    if arguments.snapshot_lines > 0 || place.is_some() {
        // Written page by page, because the output may be larger than the memory for it.
        let mut file = place.map(Place::replace).transpose()?;
        let mut past = LineHistory::new(arguments.snapshot_lines);
        let mut written = Ok(());
        let begin = match file {
            Some(_) => info.start,
            None => LineHistory::begin(&info),
        };
        pages(backend, &info, begin, |start, text| {
            past.take(start, text);
            if let (Some(file), Ok(())) = (&mut file, &written) {
                written = file.write(text.as_bytes());
            }
        })
        .await?;
        written?;
        past.finish();
        if arguments.snapshot_lines > 0 {
            let lines: Vec<String> = past.lines.into();
            let snapshot = json!({
                "lineCount": lines.len(),
                "text": lines.join("\n"),
                "totalLines": past.total,
            });
            add(&mut facts, json!({ "snapshot": snapshot }));
        }
        if let Some(file) = file {
            let (path, bytes) = file.finish()?;
            add(
                &mut facts,
                json!({ "transcript": { "path": path, "bytes": bytes } }),
            );
        }
    }
    let closed = backend
        .pool()
        .repeat(&CloseTerminal {
            id: TerminalRef::from(&info.id),
            eof_ms: None,
        })
        .await?;
    backend.pool().stop_holding(&info.id).await?;
    let status = closed.exit_status.as_ref();
    add(
        &mut facts,
        json!({
            "exitCode": status.and_then(|status| status.exit_code),
            "signal": status.and_then(|status| status.signal.clone()),
            "endCause": closed.end_cause,
        }),
    );
    Ok(ToolAnswer::Facts(facts.into()))
}
