//! The directory in which tmux listens, made before a command in a sandbox can make it.
//!
//! A client of tmux executes what its server tells it (`detach-client -E`). So a server in a sandbox, at the
//! usual place, would act outside of it once a person types `tmux`. What exists is hidden, and cannot be
//! replaced.

use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt as _;

/// Where tmux has it (tmux(1), `TMUX_TMPDIR`), whatever `TMPDIR` says.
const ABOVE: &str = "/tmp";
/// The mode that it has to have: tmux refuses others.
const MODE: u32 = 0o700;

/// Makes the directory, as tmux would. It stays, as tmux's does.
pub(super) fn make_tmux_directory() {
    let user = rustix::process::getuid().as_raw();
    let path = format!("{ABOVE}/tmux-{user}");
    let made = DirBuilder::new().mode(MODE).create(&path);
    if let Err(error) = made
        && error.kind() != ErrorKind::AlreadyExists
    {
        tracing::warn!(path, %error, "a command in a sandbox could make it");
    }
}
