//! Errors of arguments.

use std::io;
use std::path::PathBuf;

use termd_client::escape::escaped;
use termd_mcp::SettingsError;
use termd_proto::id::InvalidLabel;
use termd_proto::tag::TooManyTags;
use termd_proto::{Offset, TerminalId};
use thiserror::Error;

/// Arguments without sense, or that name something unusable.
#[derive(Debug, Error)]
pub(crate) enum UsageError {
    /// The first line of the argument parser's refusal.
    #[error("{0}")]
    Arguments(String),
    /// `--label` has a character or a length that labels cannot have.
    #[error(transparent)]
    Label(#[from] InvalidLabel),
    /// `--tag` too often.
    #[error(transparent)]
    Tags(#[from] TooManyTags),
    /// A path cannot stand in JSON.
    #[error("the directory's name is not UTF-8")]
    CwdNotUtf8,
    /// `notify` without a text.
    #[error("nothing to tell: TEXT is empty")]
    NothingToTell,
    /// `send` without anything to type.
    #[error("nothing to send: give TEXT, --key, --enter, --ctrl, --eof, --stdin or --secret")]
    NothingToSend,
    /// `send` of a word that tmux would press.
    #[error("{word} looks like a key: -k {key} presses it, --literal types the letters")]
    LooksLikeKey { word: String, key: String },
    /// `send --stdin` with nothing on standard input.
    #[error("nothing to send")]
    EmptyInput,
    /// `send --secret`: the person cancelled, or the file is empty.
    #[error("no secret was given")]
    NoSecret,
    /// `send --secret`: bytes that JSON cannot hold.
    #[error("the secret is not UTF-8")]
    SecretNotUtf8,
    /// `send --secret`: more bytes than this.
    #[error("a secret may be {0} bytes long at the most")]
    SecretTooLong(usize),
    /// `wait --for`, `read --grep`: no regular expression, or too large a one.
    #[error("{option} {pattern:?} is no regular expression: {problem}")]
    Pattern {
        option: &'static str,
        pattern: String,
        problem: String,
    },
    /// `delete` of an open terminal.
    #[error("{0} is open: close it first")]
    StillOpen(String),
    /// `answer` of a question that a secret does not answer.
    #[error("{0} asks whether something may run: `termctl approvals {0}` shows it")]
    NoSecretAsked(String),
    /// `wait --attention` of a terminal that is closed, or whose end was seen.
    #[error("{0} has ended: it waits for no answer")]
    EndedNeverWaits(String),
    /// `rename` of a closed terminal.
    #[error("{0} is closed, and keeps its label")]
    ClosedKeepsLabel(String),
    /// `tag` of a closed terminal.
    #[error("{0} is closed, and keeps its tags")]
    ClosedKeepsTags(String),
    /// `read --stdout` or `--stderr` of a terminal that has one output.
    #[error("{option} is only for commands on pipes: {terminal} has one output")]
    OneOutput {
        terminal: String,
        option: &'static str,
    },
    /// `history` with options of a search that it does not make.
    #[error("--regex, --fixed and --ignore-case say how the text of --search is meant")]
    NothingToSearch,
    /// `search --label`: no terminal can be called so.
    #[error("no label is {0:?}")]
    NoLabel(String),
    /// `resize` of a terminal whose command has ended.
    #[error("{0} has exited: it keeps its size")]
    NotRunning(String),
    /// `screen --join` with another format than text.
    #[error("--join is for text")]
    JoinWithoutText,
    /// `screenshot` into a file whose name says no known format.
    #[error("the file's name has to end with .png, .svg or .html")]
    PictureExtension,
    /// `screenshot --animate` into a file whose name says another format.
    #[error("an animation is a .png or .apng file")]
    AnimationExtension,
    /// `screenshot --animate`: the range shows too much.
    #[error(
        "more than {0} pictures: a shorter range (--from, --to) or a greater --speed has fewer"
    )]
    TooManyFrames(usize),
    /// `attach` or `new` from a pipe or a file.
    #[error(
        "this needs a tty on both ends; `termctl read --follow` and `termctl create` do without"
    )]
    NoTty,
    /// `replay` from a pipe or a file.
    #[error(
        "a replay needs a tty on both ends; `termctl screen --at` and `termctl export` do without"
    )]
    ReplayNeedsTty,
    /// `top` from a pipe or a file.
    #[error("top needs a tty on both ends; `termctl list` does without")]
    TopNeedsTty,
    /// `replay` or `screenshot --animate`: `--from` is behind `--to`.
    #[error("nothing was printed from --from to --to")]
    EmptyRange,
    /// `--from` is after `--to`.
    #[error("--from is after --to")]
    SwappedRange,
    /// `export --json`, which would be the recording's format.
    #[error("an export has --format and no --json; `--format json` has the commands")]
    ExportAsJson,
    /// `read --context` where all lines are read.
    #[error("--context is for --grep and --errors")]
    ContextOfNothing,
    /// The same without a `--from`.
    #[error("nothing was printed before --to")]
    NothingBefore,
    /// `screenshot --animate` without a `--to`.
    #[error("nothing was printed after --from")]
    NothingAfter,
    /// `replay --at` of a time at which there was no terminal.
    #[error("--at is before the terminal's start")]
    BeforeStart,
    /// An offset that the output, or the part that is played, does not have.
    #[error("{option} is past the end of the output, which is {end}")]
    PastEnd { option: &'static str, end: Offset },
    /// An offset whose output is gone.
    #[error("{option} is before the output that is kept, which begins at {start}")]
    BeforeKept { option: &'static str, start: Offset },
    /// `attach` to the terminal in which termctl runs.
    #[error("this is {0} itself: it cannot show itself")]
    OwnTerminal(TerminalId),
    /// A named file cannot be read.
    #[error("cannot read {}: {source}", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    /// `policy test`: a table of expectations is wrong.
    #[error("{}:{line}: {}", escaped(.file), escaped(.problem))]
    Expectations {
        file: String,
        line: usize,
        problem: String,
    },
    /// `import`: a file that is no recording, or a broken one.
    #[error("{}:{line}: {}; nothing is imported", escaped(.file), escaped(.problem))]
    Recording {
        file: String,
        line: usize,
        problem: String,
    },
    #[error(transparent)]
    McpSettings(#[from] SettingsError),
    /// `mcp`: a variable names an unknown set of tools.
    #[error(
        "{variable}: no set of tools is called {name:?}: session, terminal, or both with a comma \
         between"
    )]
    UnknownToolset {
        variable: &'static str,
        name: String,
    },
    /// `setup` without `--client`, where no client is installed.
    #[error("no MCP client was found; --client sets up one of {known}")]
    NoMcpClient { known: String },
    /// `setup --shell` without `--client`, where no client that takes a shell is installed.
    #[error("no client was found whose shell could be set; --client sets up one of {known}")]
    NoClientWithShell { known: String },
    /// `setup --hooks` without `--client`, where no client that has hooks is installed.
    #[error("no client was found whose hooks can ask; --client sets up one of {known}")]
    NoClientWithHooks { known: String },
    /// `setup`: the path of this program cannot stand in a client's settings.
    #[error("{}: settings hold UTF-8 only", escaped(&.0.to_string_lossy()))]
    ProgramNotUtf8(PathBuf),
}

impl UsageError {
    /// Of a pattern that the regex crate refuses with this message, whose last line names the fault.
    pub(crate) fn of_pattern(option: &'static str, pattern: &str, message: &str) -> Self {
        let problem = message.lines().last().unwrap_or_default();
        Self::Pattern {
            option,
            pattern: pattern.to_owned(),
            problem: problem.trim_start_matches("error: ").to_owned(),
        }
    }
}
