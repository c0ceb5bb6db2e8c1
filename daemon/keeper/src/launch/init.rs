//! The init of a PID namespace (`pid_namespaces(7)`): its first process.
//!
//! When an init ends, the kernel kills every process of its namespace. The init adopts and reaps the
//! namespace's orphans. No signal from inside ends it, not even SIGKILL. It exits by itself when the
//! namespace has no other process, so a command without background processes leaves nothing behind.

use nix::errno::Errno;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, sigprocmask};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::sys;

/// The init's name in `ps`.
const NAME: &std::ffi::CStr = c"termd-init";

/// Every process in the namespace but this one; all that kill(2) reaches by this number.
const ALL_OTHERS: Pid = Pid::from_raw(-1);

/// Runs the init. Only in the first process of a namespace, which has to be undumpable.
pub(super) fn run() -> ! {
    // The namespace ends with the keeper. Its parent is the keeper from the beginning.
    let _ = nix::sys::prctl::set_pdeathsig(Signal::SIGKILL);
    let _ = nix::sys::prctl::set_name(NAME);
    let _ = nix::unistd::chdir("/");
    // The command's PTY or pipes are among them: their readers wait for the last writer.
    sys::close_from(0);
    let _ = sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::all()), None);
    let mut awaited = SigSet::empty();
    awaited.add(Signal::SIGCHLD);
    loop {
        // The keeper sends it, too, when it has reaped the command, which is no child of the init.
        let _ = awaited.wait();
        reap_orphans();
        if kill(ALL_OTHERS, None) == Err(Errno::ESRCH) {
            sys::exit_child(0);
        }
    }
}

fn reap_orphans() {
    while waitpid(None, Some(WaitPidFlag::WNOHANG))
        .is_ok_and(|status| status != WaitStatus::StillAlive)
    {}
}
