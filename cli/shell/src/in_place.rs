//! The real shell in this process's place.

use std::convert::Infallible;
use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use nix::errno::Errno;
use thiserror::Error;

use crate::real_shell::RealShell;

/// The real shell could not be executed either.
#[derive(Debug, Error)]
#[error("not run: {}: {}", program.display(), errno.desc())]
pub(crate) struct NotExecuted {
    program: PathBuf,
    errno: Errno,
}

/// Executes the real shell with these arguments, the first included. Nothing else of the process is
/// changed: `std` would reset its signals. Returns only on failure.
pub(crate) fn execute(shell: &RealShell, args: &[OsString]) -> NotExecuted {
    let Err(errno) = exec(shell, args);
    NotExecuted {
        program: shell.program.clone(),
        errno,
    }
}

fn exec(shell: &RealShell, args: &[OsString]) -> Result<Infallible, Errno> {
    // None of them holds a NUL: they came from the kernel.
    let text = |bytes: &[u8]| CString::new(bytes).map_err(|_| Errno::EINVAL);
    let program = text(shell.program.as_os_str().as_bytes())?;
    let args = args.iter().map(|arg| text(arg.as_bytes()));
    let args: Vec<CString> = args.collect::<Result<_, _>>()?;
    nix::unistd::execv(&program, &args)
}
