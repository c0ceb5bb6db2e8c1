//! A tool: what a client sees of it, the function that runs it, and what the functions share.

mod answer;
mod answer_text;
mod call;
mod environment;
mod excerpt;
mod facts;
mod first_wait;
mod listening;
mod omitted;
mod pages;
mod progress;
mod prompt_cut;
mod schema;
mod screen_rows;
mod search;
mod standing;
mod task;
mod temporary;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use rmcp::model::ToolAnnotations;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use termd_proto::terminal::TerminalInfo;

pub(crate) use answer::{GateQuestion, Outcome, ToolAnswer, ToolError};
pub(crate) use call::{Call, line_by_line};
pub(crate) use environment::{directory, environment};
pub(crate) use excerpt::Bounds;
pub(crate) use facts::{Facts, add, set, to_milliseconds};
pub(crate) use first_wait::{Awaited, MAX_OTHERS};
pub(crate) use omitted::Omitted;
pub(crate) use pages::Pages;
pub(crate) use progress::{Progress, progress_line};
pub(crate) use prompt_cut::PromptCut;
pub(crate) use schema::{Field, OutputSchema, object};
pub(crate) use screen_rows::{ScreenChange, ScreenRows, changed_lines};
pub(crate) use search::{Found, Query};
pub(crate) use standing::{Standing, State};
pub(crate) use task::{ANSWERED_AFTER, TaskNote, TaskOffer, task_of};
pub(crate) use temporary::TemporaryTerminal;

use schema::{ArgumentError, InputSchema};

/// What a tool does to the world (MCP's annotations). Some clients ask a person before some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Looks, and changes nothing.
    Reads,
    /// Changes something of the terminal; twice is as good as once.
    Sets,
    /// Ends something; twice is as good as once.
    Ends,
    /// Starts or types something, whatever that does.
    Runs,
}

/// One tool.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    /// Its name for a person.
    pub(crate) title: &'static str,
    /// When to use it, for a model.
    pub(crate) description: &'static str,
    pub(crate) effect: Effect,
    pub(crate) output: OutputSchema,
    pub(crate) handler: Handler,
}

/// A tool's function, with the schema of the arguments that it takes.
pub(crate) struct Handler {
    input: InputSchema,
    run: Run,
    /// Forms the result of a task.
    conclude: Option<Conclude>,
}

type Conclude = Box<dyn Fn(Call, TerminalInfo, Value) -> BoxFuture<'static, Outcome> + Send + Sync>;
type Run = Box<dyn Fn(Call, Map<String, Value>) -> BoxFuture<'static, Outcome> + Send + Sync>;

impl Handler {
    /// An async function; the schema is that of its arguments' struct.
    pub(crate) fn new<A, F, R>(function: F) -> Self
    where
        A: DeserializeOwned + JsonSchema,
        F: Fn(Call, A) -> R + Send + Sync + 'static,
        R: Future<Output = Outcome> + Send + 'static,
    {
        Self {
            input: InputSchema::of::<A>(),
            run: Box::new(move |call, arguments| {
                match serde_path_to_error::deserialize(Value::Object(arguments)) {
                    Ok(arguments) => Box::pin(function(call, arguments)),
                    Err(error) => {
                        let error = ToolError::validation(error.to_string());
                        Box::pin(std::future::ready(Err(error)))
                    }
                }
            }),
            conclude: None,
        }
    }

    /// Lets a task answer its calls. The function forms the result of a command that is over, or goes
    /// on past the time of its call, from what the task's note keeps.
    pub(crate) fn concluded_by<T, F, R>(mut self, function: F) -> Self
    where
        T: DeserializeOwned,
        F: Fn(Call, TerminalInfo, T) -> R + Send + Sync + 'static,
        R: Future<Output = Outcome> + Send + 'static,
    {
        self.conclude = Some(Box::new(
            move |call, info, form| match serde_json::from_value(form) {
                Ok(form) => Box::pin(function(call, info, form)),
                Err(error) => {
                    let error = ToolError::validation(format!("of another version: {error}"));
                    Box::pin(std::future::ready(Err(error)))
                }
            },
        ));
        self
    }

    /// Sets a parameter's default, where the settings say it.
    pub(crate) fn default(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.input.set_default(name, value.into());
        self
    }
}

impl Tool {
    /// The tool as MCP lists it.
    pub(crate) fn to_mcp(&self) -> rmcp::model::Tool {
        let (read_only, destructive, idempotent, open_world) = match self.effect {
            Effect::Reads => (true, false, true, false),
            Effect::Sets => (false, false, true, false),
            Effect::Ends => (false, true, true, false),
            Effect::Runs => (false, true, false, true),
        };
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(read_only)
            .destructive(destructive)
            .idempotent(idempotent)
            .open_world(open_world);
        let mut tool = rmcp::model::Tool::new(self.name, self.description, Arc::new(self.input()));
        tool.title = Some(self.title.to_owned());
        tool.annotations = Some(annotations);
        if let OutputSchema::Object(schema) = &self.output {
            tool.output_schema = Some(Arc::new(schema.clone()));
        }
        tool
    }

    /// Whether a task may answer its calls.
    pub(crate) fn has_tasks(&self) -> bool {
        self.handler.conclude.is_some()
    }

    /// The result of a task. `None`: the tool has none.
    pub(crate) async fn conclude(
        &self,
        call: Call,
        info: TerminalInfo,
        form: Value,
    ) -> Option<Outcome> {
        let conclude = self.handler.conclude.as_ref()?;
        Some(conclude(call, info, form).await)
    }

    /// The schema of its arguments.
    pub(crate) fn input(&self) -> Map<String, Value> {
        self.handler.input.to_json()
    }

    /// Checks arguments, and fills in defaults.
    pub(crate) fn check(&self, arguments: &mut Map<String, Value>) -> Result<(), ArgumentError> {
        self.handler.input.check(arguments)
    }

    /// Runs the tool. `confirmed`: somebody has agreed, whatever the arguments say.
    pub(crate) async fn call(
        &self,
        call: Call,
        mut arguments: Map<String, Value>,
        confirmed: bool,
    ) -> Outcome {
        self.check(&mut arguments)?;
        if confirmed {
            // After the check: not every tool has it among its parameters.
            arguments.insert("confirmed".to_owned(), true.into());
        }
        (self.handler.run)(call, arguments).await
    }
}
