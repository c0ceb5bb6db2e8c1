//! `terminal_get_history`, and a terminal's whole output by lines for `terminal_stop`.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::json;
use termd_proto::Offset;
use termd_proto::terminal::TerminalInfo;

use super::fields::{self, Facts, add, set};
use super::session::find;
use super::text::Part;
use crate::error::CliError;
use crate::mcp::answer::{Outcome, ToolAnswer};
use crate::mcp::backend::Backend;
use crate::mcp::call::Call;
use crate::mcp::schema::{Field, Schema};
use crate::mcp::settings::MAX_OUTPUT_BYTES;
use crate::mcp::tool::{Effect, Tool, run};

/// The most output that one call goes through: some seconds' work. Lines before are not counted.
const MAX_BYTES: u64 = 64 << 20;

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    Lines,
    Text,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    session_id: String,
    offset: u64,
    max_lines: u64,
    format: Format,
}

pub(super) fn tool() -> Tool {
    Tool {
        name: "terminal_get_history",
        title: "Past output",
        description: "Get past output from a terminal session by lines, counted back from its end; \
                      of ended ones too. It does not move the place where terminal_read goes on.",
        effect: Effect::Reads,
        input: Schema::input(vec![
            fields::session_id(),
            Field::integer("offset", "Lines to skip from the end")
                .between(0, fields::MAX_INTEGER)
                .default(0),
            Field::integer("maxLines", "")
                .between(1, 10_000)
                .default(200),
            Field::string("format", "")
                .one_of(&["lines", "text"])
                .default("lines"),
        ]),
        output: Some(fields::output(vec![
            Field::string("sessionId", "").required(),
            Field::integer("totalLines", "").required(),
            Field::integer("returnedFrom", "").required(),
            Field::integer("returnedTo", "").required(),
            Field::list("lines", json!({ "type": "string" }), ""),
            Field::string("text", ""),
            Field::object("omitted", "Older output, by position, that was not counted"),
        ])),
        run: run(history),
        error: fields::error,
    }
}

async fn history(call: Call) -> Outcome {
    let arguments: Arguments = call.arguments()?;
    let info = find(&call, &arguments.session_id).await?;
    let kept = arguments.offset.saturating_add(arguments.max_lines);
    let past = Past::read(call.backend(), &info, kept).await?;
    let to = past.total.saturating_sub(arguments.offset);
    let from = to.saturating_sub(arguments.max_lines);
    let first = past.total - past.lines.len() as u64;
    let skip = usize::try_from(from.saturating_sub(first)).unwrap_or(usize::MAX);
    let take = usize::try_from(to - from).unwrap_or(usize::MAX);
    let lines: Vec<String> = past.lines.into_iter().skip(skip).take(take).collect();
    let mut facts = Facts::new();
    set(
        &mut facts,
        json!({
            "sessionId": info.id,
            "totalLines": past.total,
            "returnedFrom": from,
            "returnedTo": to,
        }),
    );
    match arguments.format {
        Format::Lines => facts.insert("lines".to_owned(), lines.into()),
        Format::Text => facts.insert("text".to_owned(), lines.join("\n").into()),
    };
    add(
        &mut facts,
        json!({ "omitted": past.omitted.map(|to| json!({ "from": 0, "to": to })) }),
    );
    Ok(ToolAnswer::Facts(facts.into()))
}

/// The last lines of a terminal's output, and how many there are.
#[derive(Debug, Default)]
pub(super) struct Past {
    /// All lines.
    pub(super) total: u64,
    /// The last of them, oldest first.
    pub(super) lines: VecDeque<String>,
    /// Output before this was not gone through.
    omitted: Option<Offset>,
}

impl Past {
    /// Goes through the output and keeps at most `kept` lines.
    pub(super) async fn read(
        backend: &Backend,
        info: &TerminalInfo,
        kept: u64,
    ) -> Result<Self, CliError> {
        let begin = Offset(info.end.0.saturating_sub(MAX_BYTES)).max(info.start);
        let mut past = Self::default();
        let mut first = None;
        pages(backend, info, begin, |start, text| {
            first.get_or_insert(start);
            for line in text.lines() {
                past.total += 1;
                past.lines.push_back(line.to_owned());
                if past.lines.len() as u64 > kept {
                    past.lines.pop_front();
                }
            }
        })
        .await?;
        let first = first.unwrap_or(begin);
        past.omitted = (first > Offset::ZERO).then_some(first);
        while past.lines.back().is_some_and(|line| line.trim().is_empty()) {
            past.lines.pop_back();
            past.total -= 1;
        }
        Ok(past)
    }
}

/// All of a terminal's output as plain text, a page at a time, each with its offset.
pub(super) async fn pages(
    backend: &Backend,
    info: &TerminalInfo,
    begin: Offset,
    mut each: impl FnMut(Offset, &str),
) -> Result<(), CliError> {
    let part = Part {
        backend,
        id: &info.id,
        from: begin,
        until: info.end,
    };
    let mut from = begin;
    while from < info.end {
        let page = part
            .page(from, info.end, u64::MAX, MAX_OUTPUT_BYTES)
            .await?;
        each(page.start, &page.text.unwrap_or_default());
        if page.end <= from {
            break;
        }
        from = page.end;
    }
    Ok(())
}
