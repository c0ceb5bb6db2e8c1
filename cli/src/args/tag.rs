//! The arguments of `termctl tag`, and `--tag` of verbs that are about several terminals.

use clap::Args;
use termd_proto::Tag;

/// `termctl tag`.
#[derive(Debug, Args)]
pub(crate) struct TagArgs {
    /// Which terminal
    pub(crate) terminal: String,
    /// The tags that it gets
    #[arg(value_name = "TAG", required_unless_present = "removed")]
    pub(crate) tags: Vec<Tag>,
    /// Take this tag away; may be given again
    #[arg(short = 'r', long = "remove", value_name = "TAG")]
    pub(crate) removed: Vec<Tag>,
}

/// Terminals by their tags.
#[derive(Debug, Default, Args)]
pub(crate) struct TaggedArgs {
    /// Those that have this tag; given again: those that have one of these tags
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<Tag>,
}
