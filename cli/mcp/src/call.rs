//! One call of a tool, as its function sees it.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::Shared;
use super::answer::ToolError;
use super::backend::Backend;
use super::progress::Progress;

/// One call of a tool.
pub(crate) struct Call {
    /// The daemon, the settings, the cursors.
    pub(crate) shared: Arc<Shared>,
    /// Tells the client how it goes, where it wants to know.
    pub(crate) progress: Progress,
    arguments: Map<String, Value>,
}

impl Call {
    /// A call with arguments that were checked against the tool's schema.
    pub(crate) fn new(
        shared: Arc<Shared>,
        progress: Progress,
        arguments: Map<String, Value>,
    ) -> Self {
        Self {
            shared,
            progress,
            arguments,
        }
    }

    /// The arguments as a struct of the tool's own; its fields are those of the schema.
    pub(crate) fn arguments<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        serde_json::from_value(Value::Object(self.arguments.clone()))
            .map_err(|error| ToolError::validation(error.to_string()))
    }

    /// The daemon.
    pub(crate) fn backend(&self) -> &Backend {
        &self.shared.backend
    }
}
