//! What the person is asked to type, or to agree to. Pure.

use termd_proto::TerminalId;
use termd_proto::approval::ApprovalId;

use crate::text_field::TextField;

/// A line that is typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Prompt {
    pub(super) kind: PromptKind,
    pub(super) field: TextField,
}

/// What the line is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PromptKind {
    /// It filters the list while it is typed.
    Filter,
    /// It is typed into a terminal.
    Line(TerminalId),
    /// The same, and no person sees it.
    Secret(TerminalId),
    /// It answers a program's question for a secret.
    AskedSecret(ApprovalId),
    /// It is run in a new terminal.
    New,
    /// It is searched for in all output.
    Search,
    /// It becomes a terminal's tags.
    Tags(TerminalId),
}

impl Prompt {
    pub(super) fn new(kind: PromptKind, text: &str) -> Self {
        let field = TextField::with_text(text);
        Self { kind, field }
    }

    /// What stands before the line.
    pub(super) fn label(&self) -> &'static str {
        match self.kind {
            PromptKind::Filter => "filter: ",
            PromptKind::Line(_) => "type: ",
            PromptKind::Secret(_) | PromptKind::AskedSecret(_) => "secret (not shown): ",
            PromptKind::New => "run: ",
            PromptKind::Search => "search all output: ",
            PromptKind::Tags(_) => "tags: ",
        }
    }

    /// What an empty line means.
    pub(super) fn hint(&self) -> &'static str {
        match self.kind {
            PromptKind::New => "nothing: a shell",
            PromptKind::Tags(_) => "apart by blanks",
            PromptKind::AskedSecret(_) => "nothing: no",
            _ => "",
        }
    }

    pub(super) fn is_secret(&self) -> bool {
        matches!(
            self.kind,
            PromptKind::Secret(_) | PromptKind::AskedSecret(_)
        )
    }
}

/// What is done if the person agrees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Confirmed {
    Kill(TerminalId),
    Close(TerminalId),
}
