//! What an inspection finds.

use termd_proto::policy::{Span, Verdict};

use crate::shell::word::Word;

/// Something that is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) verdict: Verdict,
    pub(crate) reason: String,
    pub(crate) span: Span,
    /// Whether only a person can agree.
    pub(crate) needs_person: bool,
}

/// One command of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InspectedCommand {
    /// The last part of its program's path.
    pub(crate) program: String,
    /// Whether the program is only known once it runs, or only by custom (`$EDITOR`).
    pub(crate) computed: bool,
    pub(crate) args: Vec<Word>,
    /// The arguments, joined by one space.
    pub(crate) arguments: String,
    /// What is wrong with the command itself, and not with a command that it starts.
    pub(crate) finding: Option<Finding>,
}
