//! `session_search`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use termd_client::gap_note;
use termd_proto::TerminalRef;
use termd_proto::search::{
    MAX_PATTERN_BYTES, OutputHit, PatternKind, SearchFilter, SearchHit, SearchIn, SearchOutput,
};
use termd_proto::terminal::ShowTerminal;

use super::params::MAX_NAME_CHARS;
use super::results::{self, success};
use crate::tool::{Call, Effect, Field, Handler, Outcome, Tool, ToolAnswer, add};

/// Characters of a line that are shown around its match: a model pays for each.
const MAX_SHOWN_CHARS: usize = 200;
/// How long one call searches, in milliseconds: shorter than clients wait for an answer.
const SEARCH_MS: u64 = 20_000;

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// Words, or a regex
    #[schemars(length(min = 1, max = MAX_PATTERN_BYTES / 4))]
    pattern: String,
    #[schemars(extend("default" = false))]
    regex: bool,
    #[schemars(length(min = 1, max = MAX_NAME_CHARS))]
    session_id: Option<String>,
    failed: Option<bool>,
    #[schemars(range(min = 1, max = 200), extend("default" = 10))]
    limit: u32,
    cursor: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool {
        name: "session_search",
        title: "Search all output",
        description: "Find lines that any terminal, closed ones too, has printed: id@offset [command] line. session_read reads on.",
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
    let terminal = arguments.session_id.map(TerminalRef);
    let request = SearchOutput {
        pattern: arguments.pattern,
        kind: Some(if arguments.regex {
            PatternKind::Regex
        } else {
            PatternKind::Words
        }),
        // Of commands `session_history` is the list.
        within: Some(SearchIn::Output),
        filter: Some(SearchFilter {
            terminal: terminal.clone(),
            failed: arguments.failed,
            ..SearchFilter::default()
        }),
        cursor: arguments.cursor,
        limit: Some(arguments.limit),
        timeout_ms: Some(SEARCH_MS),
        ..SearchOutput::default()
    };
    let page = call.backend().pool().repeat(&request).await?;
    let hits: Vec<String> = page.hits.iter().filter_map(line).collect();
    let mut facts = success();
    add(
        &mut facts,
        json!({ "count": hits.len(), "hits": hits, "next_cursor": page.next_cursor }),
    );
    let mut messages = Vec::new();
    if page.timed_out {
        messages.push("not all was searched: go on with next_cursor".to_owned());
    }
    if let Some(id) = terminal {
        let info = call.backend().pool().repeat(&ShowTerminal { id }).await?;
        messages.extend(info.not_kept().into_iter().map(gap_note));
    }
    if !messages.is_empty() {
        add(&mut facts, json!({ "message": messages.join("; ") }));
    }
    Ok(ToolAnswer::Facts(facts.into()))
}

fn line(hit: &SearchHit) -> Option<String> {
    let SearchHit::Output(hit) = hit else {
        return None;
    };
    let command = hit.command.as_ref().map_or(0, |command| command.number);
    let (terminal, offset) = (&hit.terminal, hit.offset);
    let line = around_match(hit);
    Some(format!("{terminal}@{offset} [{command}] {line}"))
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
