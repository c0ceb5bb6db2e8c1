//! The agent's exit code.

use std::num::NonZeroU8;

/// The agent's exit code, as a shell shows it: 128+n where signal n ended the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentExitCode(u8);

impl AgentExitCode {
    /// How the agent ended is not known.
    pub(crate) const FAILED: Self = Self(1);
    /// No agent was named.
    pub(crate) const USAGE: Self = Self(2);
    /// What a shell says where it cannot run what it finds.
    pub(crate) const NOT_EXECUTABLE: Self = Self(126);
    /// What a shell says where it finds no such command.
    pub(crate) const NOT_FOUND: Self = Self(127);
    /// SIGTERM ended the agent.
    pub(crate) const SIGTERM: Self = Self(128 + 15);

    /// The number that a process exits with.
    pub fn get(self) -> u8 {
        self.0
    }

    /// Of a process that exited with this.
    pub(crate) fn of_exit(code: i32) -> Self {
        u8::try_from(code).map_or(Self::FAILED, Self)
    }

    /// Of a process that signal `number` ended.
    pub(crate) fn of_signal(number: i32) -> Self {
        u8::try_from(number)
            .ok()
            .and_then(NonZeroU8::new)
            .map_or(Self::FAILED, |number| {
                Self(number.get().saturating_add(128))
            })
    }
}
