//! `terminal_extra`: one listed tool that calls the unlisted ones.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::commands::{diff, retry};
use super::files::write_file;
use super::input::{resize, send_key};
use super::output::{history, watch};
use super::params::Confirmed;
use super::programs::paged;
use super::results::bad;
use crate::tool::{Call, Effect, Handler, Outcome, Tool, ToolAnswer, object};

/// Begins the name of each tool of the set.
const PREFIX: &str = "terminal_";

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    /// Show their parameters
    #[serde(default)]
    list: bool,
    tool: Option<String>,
    args: Option<Map<String, Value>>,
    confirmed: Confirmed,
}

/// The tools that are not listed. Each can also be called by its name.
pub(crate) fn unlisted() -> Vec<Tool> {
    vec![
        paged::tool(),
        history::tool(),
        resize::tool(),
        send_key::tool(),
        watch::tool(),
        retry::tool(),
        diff::tool(),
        write_file::tool(),
    ]
}

pub(super) fn tool() -> Tool {
    let tools: Arc<Vec<Tool>> = Arc::new(unlisted());
    Tool {
        name: "terminal_extra",
        title: "More terminal tools",
        description: "More tools, terminal_…: run_paged, get_history, resize, send_key, watch, retry, diff, write_file.",
        effect: Effect::Runs,
        output: object(Vec::new()),
        handler: Handler::new(move |call, arguments| extra(call, arguments, Arc::clone(&tools))),
    }
}

async fn extra(call: Call, arguments: Arguments, tools: Arc<Vec<Tool>>) -> Outcome {
    let names: Vec<_> = tools.iter().map(|tool| tool.name).collect();
    let names = names.join(", ");
    if arguments.list {
        return Ok(ToolAnswer::Facts(tools.iter().map(described).collect()));
    }
    let Some(name) = arguments.tool else {
        return Err(bad(format!(
            "Pass list=true to see schemas, or specify tool. Available: {names}"
        )));
    };
    // The description has the names without this prefix.
    let short = name.strip_prefix(PREFIX).unwrap_or(&name);
    let is_it = |tool: &&Tool| tool.name.strip_prefix(PREFIX) == Some(short);
    let Some(tool) = tools.iter().find(is_it) else {
        return Err(bad(format!("Unknown tool \"{name}\". Available: {names}")));
    };
    let mut args = arguments.args.unwrap_or_default();
    tool.check(&mut args)
        .map_err(|problem| bad(format!("Invalid args for {name}: {problem}")))?;
    tool.call(call, args, arguments.confirmed.0).await
}

/// A tool as `list` describes it.
fn described(tool: &Tool) -> (String, Value) {
    let mut schema = tool.input();
    let mut described = Map::new();
    described.insert("description".to_owned(), tool.description.into());
    let parameters = schema.remove("properties").unwrap_or_default();
    described.insert("parameters".to_owned(), parameters);
    if let Some(required) = schema.remove("required") {
        described.insert("required".to_owned(), required);
    }
    (tool.name.to_owned(), Value::Object(described))
}
