//! What may stand after `termctl hook`.

use clap::{Args, ValueEnum};

/// `termctl hook`.
#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// Whose hook it is
    #[arg(value_enum)]
    pub(crate) agent: HookAgentArg,
}

/// An agent with hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookAgentArg {
    /// Claude Code: `PreToolUse`
    Claude,
    /// Codex: `PreToolUse`
    Codex,
    /// Gemini CLI: `BeforeTool`
    Gemini,
    /// Cursor: `beforeShellExecution`
    Cursor,
}
