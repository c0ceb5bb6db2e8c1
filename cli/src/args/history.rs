//! The arguments of `history`.

use clap::Args;

use super::{PatternArgs, TaggedArgs};
use crate::moment::Moment;

/// `termctl history`.
#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// Only what was run in this terminal
    pub(crate) terminal: Option<String>,
    /// In terminals by their tags.
    #[command(flatten)]
    pub(crate) tagged: TaggedArgs,
    /// Only commands that hold each of these words, or a part of one
    #[arg(short = 's', long, value_name = "TEXT")]
    pub(crate) search: Option<String>,
    /// How the text of --search is meant.
    #[command(flatten)]
    pub(crate) kind: PatternArgs,
    /// Only commands that a signal or an exit code other than 0 ended
    #[arg(long)]
    pub(crate) failed: bool,
    /// Only what was started at this time or later, such as yesterday, 14:03 or 1h (an hour ago)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) since: Option<Moment>,
    /// Only what was started before this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) until: Option<Moment>,
    /// At most this many commands
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 100)]
    pub(crate) limit: u32,
}
