//! The arguments of `top`.

use clap::Args;

use super::DetachKeysArgs;

/// `termctl top`.
#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    /// The keys that come back from an attached terminal.
    #[command(flatten)]
    pub(crate) keys: DetachKeysArgs,
}
