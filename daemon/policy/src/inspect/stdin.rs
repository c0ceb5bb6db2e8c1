//! What a command reads.

/// What a command reads from its standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stdin {
    /// The terminal, or a file that the command line names.
    Given,
    /// This text.
    Literal(String),
    /// Bytes from a network, or out of an encoding that hides them.
    Fetched,
    /// The output of another command.
    Computed,
}
