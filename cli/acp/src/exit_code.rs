//! The agent's exit code.

use std::num::NonZeroU8;

/// The agent's exit code, as a shell shows it: 128+n where signal n ended the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentExitCode(u8);

impl AgentExitCode {
    /// The agent's end is unknown.
    pub(crate) const FAILED: Self = Self(1);
    /// No agent was named.
    pub(crate) const USAGE: Self = Self(2);
    /// The program cannot be executed; a shell uses the same code.
    pub(crate) const NOT_EXECUTABLE: Self = Self(126);
    /// The program does not exist; a shell uses the same code.
    pub(crate) const NOT_FOUND: Self = Self(127);
    /// SIGTERM ended the agent.
    pub(crate) const SIGTERM: Self = Self(128 + 15);

    /// The code as a number.
    pub fn get(self) -> u8 {
        self.0
    }

    /// Converts the exit code of a process.
    pub(crate) fn of_exit(code: i32) -> Self {
        u8::try_from(code).map_or(Self::FAILED, Self)
    }

    /// Converts the number of the signal that ended a process.
    pub(crate) fn of_signal(number: i32) -> Self {
        u8::try_from(number)
            .ok()
            .and_then(NonZeroU8::new)
            .map_or(Self::FAILED, |number| {
                Self(number.get().saturating_add(128))
            })
    }
}
