//! `terminal_read`.

use serde::Deserialize;
use serde_json::json;
use termd_proto::Offset;
use termd_proto::interact::{Until, WaitEnd};
use termd_proto::terminal::TerminalState;

use super::fields::{self, Facts, add, bad};
use super::session::{find, milliseconds};
use super::text::Part;
use crate::answer::{Outcome, ToolAnswer};
use crate::call::Call;
use crate::schema::{Field, Schema};
use crate::tool::{Effect, Tool, run};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    session_id: String,
    timeout: u64,
    idle_timeout: u64,
    max_lines: u64,
    since: Option<u64>,
}

pub(super) fn tool() -> Tool {
    let mut output = fields::text();
    output.push(Field::boolean("timedOut", "").required());
    output.push(Field::boolean("alive", "Whether its program runs"));
    output.push(fields::end_cause());
    Tool {
        name: "terminal_read",
        title: "Read a terminal",
        description: "Read what was printed since the last read, once it is quiet for idleTimeout ms. \
                      With since=position: from there on, the first maxLines, and position goes on \
                      behind them, so that any amount is read by pages. Ended terminals too.",
        effect: Effect::Reads,
        input: Schema::input(vec![
            fields::session_id(),
            Field::integer("timeout", "Most milliseconds to wait")
                .between(500, 300_000)
                .default(30_000),
            Field::integer("idleTimeout", "Must be < timeout")
                .between(100, 10_000)
                .default(500),
            fields::max_lines(),
            Field::integer("since", "Position to read from").between(0, fields::MAX_INTEGER),
        ]),
        output: Some(fields::output(output)),
        run: run(read),
        error: fields::error,
    }
}

async fn read(call: Call) -> Outcome {
    let arguments: Arguments = call.arguments()?;
    if arguments.idle_timeout >= arguments.timeout {
        return Err(bad("idleTimeout must be less than timeout."));
    }
    let info = find(&call, &arguments.session_id).await?;
    let backend = call.backend();
    let since = arguments.since.map(Offset);
    if let Some(since) = since
        && since > info.end
    {
        return Err(bad(format!(
            "since {since} is past the end of the output, which is {}",
            info.end
        )));
    }
    let from = since.unwrap_or_else(|| call.shared.cursors.of(&info.id).read);
    let has_some = since.is_some_and(|since| since < info.end);
    let (until, timed_out, alive, limit) = if info.state != TerminalState::Running || has_some {
        (
            info.end,
            false,
            info.state == TerminalState::Running,
            info.end_cause,
        )
    } else {
        let until = Until {
            settle_ms: Some(arguments.idle_timeout),
            ..Until::default()
        };
        let timeout = milliseconds(arguments.timeout);
        let waiting = backend.wait_for(&info.id, Some(info.end), &until, timeout);
        let terminal = (&info.id).into();
        let wait = call.progress.during(backend, &terminal, waiting).await?;
        let end = wait.end.max(wait.activity.end);
        let runs = wait.activity.state == TerminalState::Running;
        (
            end,
            wait.ended_by == WaitEnd::Timeout,
            runs,
            wait.activity.end_cause,
        )
    };
    let part = Part {
        backend,
        id: &info.id,
        from,
        until: until.max(from),
    };
    let text = if since.is_some() {
        part.first(arguments.max_lines).await?
    } else {
        part.both_ends(arguments.max_lines).await?
    };
    call.shared.cursors.set_read(&info.id, text.next);
    let mut facts = Facts::new();
    text.describe(&mut facts);
    facts.insert("timedOut".to_owned(), timed_out.into());
    facts.insert("alive".to_owned(), alive.into());
    add(&mut facts, json!({ "endCause": limit }));
    Ok(ToolAnswer::Facts(facts.into()))
}
