//! The arguments of `top`.

use clap::Args;

use crate::attach::detach_keys::DetachKeys;

/// `termctl top`.
#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    /// The keys that come back from an attached terminal, as of `attach`
    #[arg(
        long,
        value_name = "KEY,KEY",
        alias = "detach-key",
        env = "TERMD_DETACH_KEYS",
        default_value = "ctrl-],d"
    )]
    pub(crate) detach_keys: DetachKeys,
}
