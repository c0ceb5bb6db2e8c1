//! `terminal_extra`: the tools that are not listed, by one that is.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::fields::{self, bad};
use super::unlisted;
use crate::answer::{Outcome, ToolAnswer};
use crate::call::Call;
use crate::schema::{Field, Schema};
use crate::tool::{Effect, Tool, run};

#[derive(Debug, Deserialize)]
struct Arguments {
    list: bool,
    tool: Option<String>,
    #[serde(default)]
    args: Map<String, Value>,
    confirmed: bool,
}

pub(super) fn tool() -> Tool {
    let tools: Arc<Vec<Tool>> = Arc::new(unlisted());
    Tool {
        name: "terminal_extra",
        title: "More terminal tools",
        description: "More tools: run_paged, get_history, resize, send_key, watch, retry, diff, \
                      write_file (each terminal_…). list=true shows their parameters; tool and args \
                      call one.",
        effect: Effect::Runs,
        input: Schema::input(vec![
            Field::boolean("list", "Show the tools' parameters").default(false),
            Field::string("tool", "The tool to call"),
            Field::object("args", "Its parameters"),
            fields::confirmed(),
        ]),
        output: Some(Schema::output(Vec::new())),
        run: run(move |call| extra(call, Arc::clone(&tools))),
        error: fields::error,
    }
}

async fn extra(call: Call, tools: Arc<Vec<Tool>>) -> Outcome {
    let Arguments {
        list,
        tool,
        mut args,
        confirmed,
    } = call.arguments()?;
    let names: Vec<_> = tools.iter().map(|tool| tool.name).collect();
    let names = names.join(", ");
    if list {
        return Ok(ToolAnswer::Facts(tools.iter().map(described).collect()));
    }
    let Some(name) = tool else {
        return Err(bad(format!(
            "Pass list=true to see schemas, or specify tool. Available: {names}"
        )));
    };
    let Some(tool) = tools.iter().find(|tool| tool.name == name) else {
        return Err(bad(format!("Unknown tool \"{name}\". Available: {names}")));
    };
    tool.input
        .check(&mut args)
        .map_err(|problem| bad(format!("Invalid args for {name}: {problem}")))?;
    // After the check: not every one of them has it among its parameters.
    if confirmed {
        args.insert("confirmed".to_owned(), true.into());
    }
    let inner = Call::new(Arc::clone(&call.shared), call.progress.clone(), args);
    (tool.run)(inner).await
}

/// A tool as `list` shows it.
fn described(tool: &Tool) -> (String, Value) {
    let mut schema = tool.input.to_json();
    let mut described = Map::new();
    described.insert("description".to_owned(), tool.description.into());
    let parameters = schema.remove("properties").unwrap_or_default();
    described.insert("parameters".to_owned(), parameters);
    if let Some(required) = schema.remove("required") {
        described.insert("required".to_owned(), required);
    }
    (tool.name.to_owned(), Value::Object(described))
}
