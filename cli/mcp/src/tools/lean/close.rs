//! `term_close`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::results::{self, lean};
use crate::tool::{Call, Effect, Handler, Outcome, Standing, Tool, ToolAnswer, add};
use crate::tools::terminal_mcp::close::end;
use crate::tools::terminal_mcp::params::SessionName;

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    id: SessionName,
}

pub(super) fn tool() -> Tool {
    Tool {
        name: "term_close",
        title: "Close a terminal",
        description: "End a terminal and all in it. Its output stays readable.",
        effect: Effect::Ends,
        output: results::output(Vec::new()),
        handler: Handler::new(close),
    }
}

async fn close(call: Call, arguments: Arguments) -> Outcome {
    let mut facts = lean(end(&call, &arguments.id.0).await?);
    // It ends with the last output.
    facts.remove("offset");
    add(&mut facts, json!(Standing::EXITED));
    Ok(ToolAnswer::Facts(facts.into()))
}
