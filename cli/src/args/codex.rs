//! What may stand after `termctl codex-exec-server`.

use std::path::PathBuf;

use clap::Args;

/// `termctl codex-exec-server`.
#[derive(Debug, Args)]
pub(crate) struct CodexExecServerArgs {
    /// The codex to run [default: that on PATH]
    #[arg(long, value_name = "PATH")]
    pub(crate) codex: Option<PathBuf>,
}
