//! What was found out about one thing.

use serde::Serialize;
use termd_client::escape::escaped;

/// One thing that was tried.
#[derive(Debug, Serialize)]
pub(super) struct Check {
    pub(super) name: String,
    pub(super) state: State,
    /// What was seen, or why it does not work.
    pub(super) detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    Works,
    Fails,
    NotSetUp,
}

impl Check {
    pub(super) fn works(name: &str, detail: impl Into<String>) -> Self {
        Self::new(name, State::Works, detail)
    }

    pub(super) fn fails(name: &str, detail: impl Into<String>) -> Self {
        Self::new(name, State::Fails, detail)
    }

    pub(super) fn not_set_up(name: &str, detail: impl Into<String>) -> Self {
        Self::new(name, State::NotSetUp, detail)
    }

    fn new(name: &str, state: State, detail: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            state,
            detail: detail.into(),
        }
    }

    /// For a person.
    pub(super) fn text(&self) -> String {
        let state = match self.state {
            State::Works => "works",
            State::Fails => "FAILS",
            State::NotSetUp => "not set up",
        };
        format!("{state}: {}", escaped(&self.detail))
    }
}
