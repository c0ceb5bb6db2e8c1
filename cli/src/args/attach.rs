//! The arguments of `attach`.

use clap::Args;

use crate::attach::detach_keys::DetachKeys;

/// `termctl attach`.
#[derive(Debug, Args)]
pub(crate) struct AttachArgs {
    /// Which terminal; `-`: that of a person's which was looked at last [default: the only one, or a choice]
    pub(crate) terminal: Option<String>,
    /// Only watch: nothing typed is sent, and its size stays
    #[arg(short = 'r', long)]
    pub(crate) read_only: bool,
    /// How its size and the tty's come together.
    #[command(flatten)]
    pub(crate) size: AttachSizeArgs,
    /// The keys that are not the program's.
    #[command(flatten)]
    pub(crate) keys: DetachKeysArgs,
}

/// The keys that a person leaves by.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct DetachKeysArgs {
    /// The key that shows the line of keys, and the one on it that detaches; one alone detaches at once;
    /// or none
    #[arg(
        long,
        value_name = "KEY,KEY",
        alias = "detach-key",
        env = "TERMD_DETACH_KEYS",
        default_value = "ctrl-],d"
    )]
    pub(crate) detach_keys: DetachKeys,
}

/// Whose size counts, where the terminal's is another one than the tty's. By default the tty's, unless it is
/// smaller and a full-screen program runs.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct AttachSizeArgs {
    /// Give the terminal this tty's size, also where a full-screen program gets a smaller one
    #[arg(long, conflicts_with = "follow_size")]
    pub(crate) own_size: bool,
    /// Leave its size as it is
    #[arg(long, alias = "no-resize")]
    pub(crate) follow_size: bool,
}
