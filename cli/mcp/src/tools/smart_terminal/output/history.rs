//! `terminal_get_history`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::line_history::LineHistory;
use crate::tool::{
    Call, Effect, Facts, Field, Handler, Outcome, Tool, ToolAnswer, add, object, set,
};
use crate::tools::smart_terminal::params::{MAX_INTEGER, SessionName};
use crate::tools::smart_terminal::sessions::session::find;

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    Lines,
    Text,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    session_id: SessionName,
    /// Lines to skip from the end
    #[schemars(range(min = 0, max = MAX_INTEGER), extend("default" = 0))]
    offset: u64,
    #[schemars(range(min = 1, max = 10_000), extend("default" = 200))]
    max_lines: u64,
    #[schemars(extend("default" = "lines"))]
    format: Format,
}

pub(crate) fn tool() -> Tool {
    Tool {
        name: "terminal_get_history",
        title: "Past output",
        description: "Get past output from a terminal session by lines, counted back from its end; \
                      of ended ones too. It does not move the place where terminal_read goes on.",
        effect: Effect::Reads,
        output: object(vec![
            Field::string("sessionId", "").required(),
            Field::integer("totalLines", "").required(),
            Field::integer("returnedFrom", "").required(),
            Field::integer("returnedTo", "").required(),
            Field::list("lines", json!({ "type": "string" }), ""),
            Field::string("text", ""),
            Field::object("omitted", "Older output, by position, that was not counted"),
        ]),
        handler: Handler::new(history),
    }
}

async fn history(call: Call, arguments: Arguments) -> Outcome {
    let info = find(&call, &arguments.session_id.0).await?;
    let kept = arguments.offset.saturating_add(arguments.max_lines);
    let past = LineHistory::read(call.backend(), &info, kept).await?;
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
