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
    /// Whether the commands of what it is about are read. To a rule it is no other command then.
    pub(crate) is_read: bool,
}

/// A dangerous command of a text, all words of which are known. A person's denial of the text is one of
/// the command, in whatever text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DangerousCommand {
    /// Its words, joined by one space, each quoted where a shell needs it.
    pub text: String,
    /// The directories in which it may run, as far as the text tells.
    pub directories: Vec<String>,
}

/// One command of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InspectedCommand {
    /// The last part of its program's path. By custom, where the program is only known once it runs.
    pub(crate) program: String,
    /// The end of the program's name, where the program is only known once it runs.
    pub(crate) name_end: Option<String>,
    /// Whether the program is found by its name in the directories of the system, or is named there by a
    /// path. Another file of this name may be anything.
    pub(crate) is_installed: bool,
    /// Whether it is known to run. A line in the code of another language may be only text.
    pub(crate) is_certain: bool,
    pub(crate) args: Vec<Word>,
    /// The arguments, joined by one space.
    pub(crate) arguments: String,
    /// What is wrong with the command itself, and not with a command that it starts.
    pub(crate) finding: Option<Finding>,
}

impl InspectedCommand {
    /// A command of which nothing is known.
    pub(crate) fn any(span: Span) -> Self {
        let word = Word::unknown(span);
        Self {
            program: word.text.clone(),
            name_end: Some(String::new()),
            is_installed: false,
            is_certain: true,
            arguments: word.text.clone(),
            args: vec![word],
            finding: None,
        }
    }

    /// Whether all of its words are known.
    pub(crate) fn is_known(&self) -> bool {
        self.name_end.is_none() && self.args.iter().all(Word::is_known)
    }
}
