/// A set of tools that the server offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toolset {
    /// Terminals that stay open over many calls, as terminal-mcp has them.
    TerminalMcp,
    /// Terminals and programs that are run directly, as smart-terminal-mcp has them.
    SmartTerminal,
    /// Few tools in few words, for clients without habits.
    Lean,
}
