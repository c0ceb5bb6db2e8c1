//! The commands that the person allowed for the rest of a session.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

/// Most commands that are remembered; the oldest is asked about again.
const MAX_ALLOWED: usize = 1_024;

/// One command. A command that differs in anything is not allowed with it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AllowedCommand {
    pub(crate) session: String,
    /// Everything that decides what runs: `command`, `args`, `env`, `cwd`.
    pub(crate) params: Value,
}

/// The allowed commands, oldest first.
#[derive(Debug, Default)]
pub(crate) struct AllowedCommands(Mutex<VecDeque<AllowedCommand>>);

impl AllowedCommands {
    pub(crate) fn contains(&self, command: &AllowedCommand) -> bool {
        self.lock().contains(command)
    }

    pub(crate) fn add(&self, command: AllowedCommand) {
        let mut all = self.lock();
        if all.contains(&command) {
            return;
        }
        if all.len() >= MAX_ALLOWED {
            all.pop_front();
        }
        all.push_back(command);
    }

    /// Forgets the commands of a session.
    pub(crate) fn forget(&self, session: &str) {
        self.lock().retain(|allowed| allowed.session != session);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<AllowedCommand>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_allowed_is_exact_bounded_and_the_sessions_own() {
        let allowed = AllowedCommands::default();
        let command = |session: &str, number: usize| AllowedCommand {
            session: session.to_owned(),
            params: json!({ "command": "rm", "args": [number] }),
        };
        allowed.add(command("a", 0));
        assert!(allowed.contains(&command("a", 0)));
        assert!(!allowed.contains(&command("a", 1)));
        assert!(!allowed.contains(&command("b", 0)));
        for number in 0..=MAX_ALLOWED {
            allowed.add(command("b", number));
        }
        assert!(!allowed.contains(&command("a", 0)));
        assert!(!allowed.contains(&command("b", 0)));
        assert!(allowed.contains(&command("b", MAX_ALLOWED)));
        allowed.forget("b");
        assert!(allowed.lock().is_empty());
    }
}
