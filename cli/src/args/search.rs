//! `termctl search`.

use clap::{Args, ValueEnum};

use super::TaggedArgs;
use crate::arg_types::parse_ms;
use crate::moment::Moment;

/// How a pattern is meant.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct PatternArgs {
    /// The pattern is a regular expression
    #[arg(short = 'e', long, conflicts_with = "fixed")]
    pub(crate) regex: bool,
    /// The pattern is a text as it stands
    #[arg(short = 'F', long)]
    pub(crate) fixed: bool,
    /// Capital letters and small ones are the same, as they always are for words
    #[arg(short = 'i', long)]
    pub(crate) ignore_case: bool,
}

/// What is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchInArg {
    /// What terminals have printed
    Output,
    /// What was run in them
    Commands,
    /// Commands, then output
    Both,
}

/// `termctl search`.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Words that are all in the line, in any order and any case
    #[arg(required = true)]
    pub(crate) pattern: Vec<String>,
    /// How the pattern is meant.
    #[command(flatten)]
    pub(crate) kind: PatternArgs,
    /// What to search
    #[arg(long, value_enum, value_name = "WHAT", default_value = "both")]
    pub(crate) r#in: SearchInArg,
    /// Only in this terminal
    #[arg(short = 't', long)]
    pub(crate) terminal: Option<String>,
    /// Only in terminals with this label, closed ones too
    #[arg(short = 'l', long)]
    pub(crate) label: Option<String>,
    /// In terminals by their tags.
    #[command(flatten)]
    pub(crate) tagged: TaggedArgs,
    /// Only of commands that were started in this directory or below it
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<String>,
    /// Only what was printed or run at this time or later, such as yesterday, 14:03 or 1h (an hour ago)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) since: Option<Moment>,
    /// Only what was printed or run before this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) until: Option<Moment>,
    /// Only of commands that a signal or an exit code other than 0 ended
    #[arg(long)]
    pub(crate) failed: bool,
    /// Search the exact bytes of output, escape sequences and all
    #[arg(long, conflicts_with = "in")]
    pub(crate) raw: bool,
    /// Print this number of lines before and behind each match, too
    #[arg(short = 'C', long, value_name = "LINES", default_value_t = 0,
          value_parser = clap::value_parser!(u32).range(..=i64::from(termd_proto::search::MAX_CONTEXT_LINES)))]
    pub(crate) context: u32,
    /// At most this many hits, the newest
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 100,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// Give up after this time, such as 30s; exit with 124
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_ms)]
    pub(crate) timeout: u64,
}
