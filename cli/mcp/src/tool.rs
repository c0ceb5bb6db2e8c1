//! What a tool is: what a client is told of it, and the function that does it.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use rmcp::model::ToolAnnotations;

use super::answer::{Outcome, ToolError};
use super::call::Call;
use super::schema::Schema;

/// What a tool does to the world (MCP's annotations): true ones, for clients that ask a person
/// before some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Looks, and changes nothing.
    Reads,
    /// Changes something of the terminal, and done twice it is as done once.
    Sets,
    /// Ends something; done twice it is as done once.
    Ends,
    /// Starts or types something: whatever that does.
    Runs,
}

/// One tool.
pub(crate) struct Tool {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its name for a person.
    pub(crate) title: &'static str,
    /// When to use it, for a model.
    pub(crate) description: &'static str,
    /// What it does to the world.
    pub(crate) effect: Effect,
    /// What it takes.
    pub(crate) input: Schema,
    /// What it gives; absent: an image, or what has no shape.
    pub(crate) output: Option<Schema>,
    /// Does it.
    pub(crate) run: Run,
    /// How its set writes an error.
    pub(crate) error: fn(&ToolError) -> super::answer::ToolAnswer,
}

/// A tool's function; [`run`] makes one of an async function.
pub(crate) type Run = Box<dyn Fn(Call) -> BoxFuture<'static, Outcome> + Send + Sync>;

/// The function as [`Tool::run`] holds it.
pub(crate) fn run<F, R>(function: F) -> Run
where
    F: Fn(Call) -> R + Send + Sync + 'static,
    R: Future<Output = Outcome> + Send + 'static,
{
    Box::new(move |call| Box::pin(function(call)))
}

impl Tool {
    /// As MCP lists it.
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
        let mut tool =
            rmcp::model::Tool::new(self.name, self.description, Arc::new(self.input.to_json()));
        tool.title = Some(self.title.to_owned());
        tool.annotations = Some(annotations);
        tool.output_schema = self
            .output
            .as_ref()
            .map(|schema| Arc::new(schema.to_json()));
        tool
    }
}
