//! `shell.*`: what the shell of an agent says beside its create.

use serde::{Deserialize, Serialize};

/// How the output of an agent's commands is shown to its model, as `[agents.output]` of config.toml says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellOutput {
    /// Bytes of one command's output beyond which only its head, its tail and what looks like an error
    /// are shown; absent: all of it, as it came.
    pub limit: Option<u64>,
    /// Whether values that are known to be secret are shown as `[secret NAME]`.
    pub hide_secrets: bool,
}

/// Params of `shell.in_place`: an agent's shell executes the real one where it is, and the daemon
/// records that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportInPlace {
    /// The shell and its arguments.
    pub argv: Vec<String>,
    /// Where.
    pub cwd: String,
    /// Why, in some words.
    pub reason: String,
}
