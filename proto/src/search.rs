//! `output.search`: lines of what terminals have printed, and commands, by what is in them.

use serde::{Deserialize, Serialize};

use crate::command::CommandInfo;
use crate::id::{Label, Offset, TerminalId, TerminalRef};
use crate::tag::Tags;

/// Longest pattern, in bytes: one that a person or a model writes.
pub const MAX_PATTERN_BYTES: usize = 1024;
/// Most hits a page: more than a person reads, and 4 MiB of lines at their longest.
pub const MAX_HITS: u32 = 1_000;
/// Most lines around a hit on either side: a screen.
pub const MAX_CONTEXT_LINES: u32 = 50;
/// Longest line in an answer, in bytes. Of a longer one a part with the match is given.
pub const MAX_LINE_BYTES: usize = 4 << 10;
/// Longest time that a call may search, in milliseconds: ten minutes.
pub const MAX_SEARCH_MS: u64 = 600_000;

/// How a pattern is meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PatternKind {
    /// Words apart by white space, each of which is in the line; the case of letters does not matter.
    #[default]
    Words,
    /// A regular expression.
    Regex,
    /// This text.
    Fixed,
}

/// What is searched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchIn {
    /// What terminals have printed.
    Output,
    /// The commands that were run.
    Commands,
    /// Commands, then output.
    #[default]
    Both,
}

/// Where is searched; an absent field does not restrict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchFilter {
    /// In this terminal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal: Option<TerminalRef>,
    /// In terminals with this label, closed ones too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<Label>,
    /// In terminals that have one of these tags, closed ones too; none: in all.
    #[serde(skip_serializing_if = "Tags::is_empty")]
    pub tags: Tags,
    /// Of commands that were started in this directory or below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Not before this time, in milliseconds since the epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<i64>,
    /// Before this time, in milliseconds since the epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until_ms: Option<i64>,
    /// `true`: of commands that a signal or an exit code other than 0 ended; `false`: that exited with 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<bool>,
}

/// Params of `output.search`: a page of hits, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchOutput {
    /// What is searched for; at most [`MAX_PATTERN_BYTES`] long.
    pub pattern: String,
    /// How it is meant; absent: as words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<PatternKind>,
    /// Whether capital letters and small ones are the same; of words they always are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignore_case: Option<bool>,
    /// What is searched; absent: both.
    #[serde(default, rename = "in", skip_serializing_if = "Option::is_none")]
    pub within: Option<SearchIn>,
    /// Whether the exact bytes of output are searched, escape sequences and all, and not its plain text.
    /// No index helps there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<bool>,
    /// Where; absent: everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<SearchFilter>,
    /// Lines given before and behind each, at most [`MAX_CONTEXT_LINES`]; absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<u32>,
    /// From an earlier page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Hits a page, 1 to [`MAX_HITS`]; absent: 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// How long to search, at most [`MAX_SEARCH_MS`]; absent: 10,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// A line of output that matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputHit {
    /// The terminal that printed it.
    pub terminal: TerminalId,
    /// Its label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Label>,
    /// Where the line begins in the terminal's output.
    pub offset: Offset,
    /// When it was printed; absent: no time was noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<i64>,
    /// The line, or of a long one the part with the match.
    pub line: String,
    /// Where the first match begins in `line`, in bytes.
    pub match_start: usize,
    /// Where it ends.
    pub match_end: usize,
    /// Lines before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// Lines behind it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// The command that printed it; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandInfo>,
}

/// A command that matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandHit {
    /// The label of its terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Label>,
    /// The command.
    #[serde(flatten)]
    pub command: CommandInfo,
}

/// What matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SearchHit {
    /// A line of output.
    Output(Box<OutputHit>),
    /// A command.
    Command(Box<CommandHit>),
}

/// One page of `output.search`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchPage {
    /// Newest first: commands, then terminals by their start, and in each its last line first.
    pub hits: Vec<SearchHit>,
    /// Give it back to go on; absent where everything was searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Whether the time ran out before there were enough hits.
    pub timed_out: bool,
}
