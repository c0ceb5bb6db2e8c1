//! `terminal_get_history`, and a terminal's whole output by lines for `terminal_stop`.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::json;
use termd_client::ClientError;
use termd_proto::Offset;
use termd_proto::terminal::TerminalInfo;

use super::fields::{self, Facts, add, set};
use super::session::find;
use super::text::Part;
use crate::answer::{Outcome, ToolAnswer};
use crate::backend::Backend;
use crate::call::Call;
use crate::schema::{Field, Schema};
use crate::settings::MAX_OUTPUT_BYTES;
use crate::tool::{Effect, Tool, run};

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
    kept: u64,
    first: Option<Offset>,
    /// Output before this was not gone through.
    omitted: Option<Offset>,
    /// Whether the last line is not ended yet.
    is_open: bool,
}

impl Past {
    /// Nothing yet; at most `kept` lines.
    pub(super) fn new(kept: u64) -> Self {
        Self {
            kept,
            ..Self::default()
        }
    }

    /// Where to begin, for what one call goes through.
    pub(super) fn begin(info: &TerminalInfo) -> Offset {
        Offset(info.end.0.saturating_sub(MAX_BYTES)).max(info.start)
    }

    /// Goes through the output and keeps at most `kept` lines.
    async fn read(backend: &Backend, info: &TerminalInfo, kept: u64) -> Result<Self, ClientError> {
        let mut past = Self::new(kept);
        let begin = Self::begin(info);
        pages(backend, info, begin, |start, text| past.take(start, text)).await?;
        past.finish();
        Ok(past)
    }

    /// The next page.
    pub(super) fn take(&mut self, start: Offset, text: &str) {
        self.first.get_or_insert(start);
        for line in text.split_inclusive('\n') {
            let words = line.strip_suffix('\n').unwrap_or(line);
            if self.is_open {
                if let Some(last) = self.lines.back_mut() {
                    last.push_str(words);
                }
            } else {
                self.total += 1;
                self.lines.push_back(words.to_owned());
                if self.lines.len() as u64 > self.kept {
                    self.lines.pop_front();
                }
            }
            self.is_open = words.len() == line.len();
        }
    }

    /// That was all: empty lines at the end do not count.
    pub(super) fn finish(&mut self) {
        self.omitted = self.first.filter(|first| *first > Offset::ZERO);
        while self.lines.back().is_some_and(|line| line.trim().is_empty()) {
            self.lines.pop_back();
            self.total -= 1;
        }
    }
}

/// All of a terminal's output as plain text, a page at a time, each with its offset.
pub(super) async fn pages(
    backend: &Backend,
    info: &TerminalInfo,
    begin: Offset,
    mut each: impl FnMut(Offset, &str),
) -> Result<(), ClientError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_pages_cut_are_one_and_the_last_are_kept() {
        let mut past = Past::new(3);
        for (start, text) in [(7, "a\nb"), (10, "c\nd\n"), (15, "e\n \n")] {
            past.take(Offset(start), text);
        }
        past.finish();
        assert_eq!(past.lines, ["d", "e"]);
        assert_eq!(past.total, 4);
        assert_eq!(past.omitted, Some(Offset(7)));
    }
}
