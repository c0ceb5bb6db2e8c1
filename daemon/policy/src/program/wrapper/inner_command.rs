//! What a command starts.

use super::batch_command::BatchCommand;
use super::typed_keys::TypedKeys;
use crate::program::kind::SqlClient;
use crate::shell::word::{Word, joined};

/// What a command starts. `at` is the number of the argument that a text stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum InnerCommand {
    /// A command, its words expanded.
    Argv(Vec<Word>),
    /// Options that a variable adds to a program, behind its name. They start nothing by themselves.
    Options(Vec<Word>),
    /// A command that also gets words which the program reads.
    Batch(BatchCommand),
    /// A line for a shell.
    Line { text: String, at: usize },
    /// Keys that are typed into another terminal.
    Keys { keys: TypedKeys, at: usize },
    /// A script of a shell, with the words that it gets as `$0`, `$1` and so on.
    Script {
        text: String,
        at: usize,
        parameters: Vec<Word>,
    },
    /// A file that a shell reads as its script.
    ScriptFile(Vec<Word>),
    /// A file that programs obey, as a variable or a setting names it.
    ObeyedFile(String),
    /// A directory whose files programs obey, as a variable or an option names it.
    ObeyedHome(ObeyedHome),
    /// Something that is not read and runs. To a rule, that may be any command.
    Any,
    /// Code for an interpreter.
    Code { text: String, at: usize },
    /// Statements for a database.
    Sql {
        client: SqlClient,
        text: String,
        at: usize,
    },
    /// Something that cannot be known, with the reason.
    Unknown(&'static str),
    /// A file that it writes, as a script names it.
    Writes(String),
    /// A reason to doubt what is read.
    Doubtful(&'static str),
    /// Something dangerous that is not a command, with the reason.
    Dangerous(String),
    /// A `PATH` with a directory of the user's: what a name starts is not known to be the system's.
    OwnPath,
}

/// What the files of a directory are to programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObeyedHome {
    /// What those of a home are: `HOME`.
    Home,
    /// What those of `~/.config` are: `XDG_CONFIG_HOME`.
    Config,
    /// What those of `~/.vim` are to vim(1): `runtimepath`.
    VimRuntime,
}

impl InnerCommand {
    /// A line for a shell, as an option or an operand gives it.
    pub(super) fn line((at, text): (usize, &str)) -> Self {
        let text = text.to_owned();
        Self::Line { text, at }
    }

    /// Code for an interpreter, as an option or an operand gives it.
    pub(super) fn code((at, text): (usize, &str)) -> Self {
        let text = text.to_owned();
        Self::Code { text, at }
    }

    /// The command in these words, if there are any.
    pub(super) fn argv(words: &[Word]) -> Vec<Self> {
        if words.is_empty() {
            Vec::new()
        } else {
            vec![Self::Argv(words.to_vec())]
        }
    }

    /// The arguments from `from` on as one shell line, as eval(1p), watch(1) and ssh(1) join them.
    pub(super) fn joined_line(args: &[Word], from: usize) -> Vec<Self> {
        let text = joined(args.get(from..).unwrap_or_default());
        if text.is_empty() {
            Vec::new()
        } else {
            vec![Self::Line { text, at: from }]
        }
    }
}
