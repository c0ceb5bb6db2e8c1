//! What a wait waits for.

use std::sync::Arc;
use std::time::Duration;

use termd_proto::interact::Until;

use super::pattern::{Pattern, Secrets};
use crate::terminal::error::TerminalError;

/// The conditions of a wait, checked. The first that holds ends the wait, and so does the exit.
#[derive(Debug, Clone)]
pub struct WaitCondition {
    pub(super) pattern: Option<Arc<Pattern>>,
    /// The command that was typed is done.
    pub(super) done: bool,
    /// Nothing changes for so long.
    pub(super) settle: Option<Duration>,
}

impl WaitCondition {
    /// The command that was typed is done, or input is awaited.
    pub(super) const DONE: Self = Self {
        pattern: None,
        done: true,
        settle: None,
    };

    pub fn new(until: &Until) -> Result<Self, TerminalError> {
        let pattern = until.pattern.as_deref().map(Pattern::new).transpose()?;
        Ok(Self {
            pattern: pattern.map(Arc::new),
            done: until.done,
            settle: until.settle_ms.map(Duration::from_millis),
        })
    }

    /// The same for somebody from whom secrets are hidden.
    pub(crate) fn hiding(mut self, secrets: Option<Secrets>) -> Self {
        self.pattern = self
            .pattern
            .map(|pattern| Arc::new(Pattern::clone(&pattern).hiding(secrets)));
        self
    }
}
