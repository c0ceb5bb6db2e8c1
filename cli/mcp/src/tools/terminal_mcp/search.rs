//! `session_search`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use termd_proto::TerminalRef;
use termd_proto::search::{
    MAX_PATTERN_BYTES, OutputHit, PatternKind, SearchFilter, SearchHit, SearchIn, SearchOutput,
};

use super::params::MAX_NAME_CHARS;
use super::results::{self, success};
use crate::tool::{Call, Effect, Field, Handler, Outcome, Tool, ToolAnswer, add};

/// Characters of a line that are shown around its match: a model pays for each.
const MAX_SHOWN_CHARS: usize = 200;
/// How long one call searches, in milliseconds: shorter than clients wait for an answer.
const SEARCH_MS: u64 = 20_000;

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Within {
    Output,
    Commands,
    Both,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// Words that are all in the line
    #[schemars(length(min = 1, max = MAX_PATTERN_BYTES / 4))]
    pattern: String,
    /// pattern is a regular expression
    #[schemars(extend("default" = false))]
    regex: bool,
    #[schemars(rename = "in", extend("default" = "output"))]
    #[serde(rename = "in")]
    within: Within,
    /// Only this terminal's
    #[schemars(length(min = 1, max = MAX_NAME_CHARS))]
    session_id: Option<String>,
    /// true: of commands that failed
    failed: Option<bool>,
    #[schemars(range(min = 1, max = 200), extend("default" = 10))]
    limit: u32,
    cursor: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool {
        name: "session_search",
        title: "Search all output",
        description: "Search what all terminals, closed ones too, have printed. A line a hit, newest first: id@offset [command] text; session_read with that offset reads on.",
        effect: Effect::Reads,
        output: results::output(vec![
            Field::list("hits", json!({ "type": "string" }), ""),
            Field::integer("count", ""),
            Field::string("next_cursor", ""),
        ]),
        handler: Handler::new(search),
    }
}

async fn search(call: Call, arguments: Arguments) -> Outcome {
    let request = SearchOutput {
        pattern: arguments.pattern,
        kind: Some(match arguments.regex {
            true => PatternKind::Regex,
            false => PatternKind::Words,
        }),
        within: Some(match arguments.within {
            Within::Output => SearchIn::Output,
            Within::Commands => SearchIn::Commands,
            Within::Both => SearchIn::Both,
        }),
        filter: Some(SearchFilter {
            terminal: arguments.session_id.map(TerminalRef),
            failed: arguments.failed,
            ..SearchFilter::default()
        }),
        cursor: arguments.cursor,
        limit: Some(arguments.limit),
        timeout_ms: Some(SEARCH_MS),
        ..SearchOutput::default()
    };
    let page = call.backend().pool().repeat(&request).await?;
    let hits: Vec<String> = page.hits.iter().map(line).collect();
    let mut facts = success();
    add(
        &mut facts,
        json!({ "count": hits.len(), "hits": hits, "next_cursor": page.next_cursor }),
    );
    if page.timed_out {
        add(
            &mut facts,
            json!({ "message": "not all was searched: go on with next_cursor" }),
        );
    }
    Ok(ToolAnswer::Facts(facts.into()))
}

fn line(hit: &SearchHit) -> String {
    match hit {
        SearchHit::Output(hit) => {
            let command = hit.command.as_ref().map_or(0, |command| command.number);
            let (terminal, offset) = (&hit.terminal, hit.offset);
            format!("{terminal}@{offset} [{command}] {}", around_match(hit))
        }
        SearchHit::Command(command) => {
            let (terminal, offset) = (&command.terminal, command.start);
            let exit = match command.exit_code {
                Some(code) => format!(" exit {code}"),
                None => String::new(),
            };
            let text = command.agent_line.as_ref().unwrap_or(&command.text);
            let text = shown(text, 0);
            format!("{terminal}@{offset} [{}]{exit} $ {text}", command.number)
        }
    }
}

/// The line, or of a long one the part around its match.
fn around_match(hit: &OutputHit) -> String {
    let before = hit.line.get(..hit.match_start).unwrap_or_default();
    shown(&hit.line, before.chars().count())
}

fn shown(line: &str, place: usize) -> String {
    let length = line.chars().count();
    let line = line.trim_end();
    if length <= MAX_SHOWN_CHARS {
        return line.to_owned();
    }
    let from = place.saturating_sub(MAX_SHOWN_CHARS / 4);
    let part: String = line.chars().skip(from).take(MAX_SHOWN_CHARS).collect();
    let head = if from > 0 { "…" } else { "" };
    let tail = if from + MAX_SHOWN_CHARS < length {
        "…"
    } else {
        ""
    };
    format!("{head}{part}{tail}")
}
