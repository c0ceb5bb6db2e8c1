//! The state of a shell behind courses of which one is taken.

use super::shell_state::ShellState;

/// What may be so behind any of the courses that were added.
#[derive(Debug, Default)]
pub(crate) struct StateUnion {
    state: Option<ShellState>,
}

impl StateUnion {
    /// Adds what one course leaves.
    pub(crate) fn add(&mut self, state: &ShellState) {
        match &mut self.state {
            Some(union) => union.join(state),
            None => self.state = Some(state.clone()),
        }
    }

    /// `None`: no course was added.
    pub(crate) fn state(&self) -> Option<&ShellState> {
        self.state.as_ref()
    }

    /// `None`: no course was added.
    pub(crate) fn into_state(self) -> Option<ShellState> {
        self.state
    }
}
