//! The init of a PID namespace (`pid_namespaces(7)`): its first process.
//!
//! When an init ends, the kernel kills every process of its namespace. The init adopts and reaps the
//! namespace's orphans. No signal from inside ends it, not even SIGKILL. It exits by itself when the
//! namespace has no other process, so a command without background processes leaves nothing behind.
//!
//! It also restores the mounts of the sandbox that somebody outside takes away. Where it cannot, it
//! exits, and everything inside ends.

use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill, sigprocmask};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use rustix::event::{PollFd, PollFlags};

use crate::confine::MountWatch;
use crate::sys;

/// The init's name in `ps`.
const NAME: &std::ffi::CStr = c"termd-init";

/// Every process in the namespace but this one; all that kill(2) reaches by this number.
const ALL_OTHERS: Pid = Pid::from_raw(-1);

/// Its exit codes. The second: a restriction could not be restored.
const EMPTY: i32 = 0;
const UNRESTRICTED: i32 = 1;

/// Runs the init. Only in the first process of a namespace, which has to be undumpable. `started` ends
/// when the command is executed.
pub(super) fn run(started: &OwnedFd, watch: Option<MountWatch<'_>>) -> ! {
    // The namespace ends with the keeper. Its parent is the keeper from the beginning.
    let _ = nix::sys::prctl::set_pdeathsig(Signal::SIGKILL);
    let _ = nix::sys::prctl::set_name(NAME);
    let _ = nix::unistd::chdir("/");
    let _ = sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::all()), None);
    // The command's PTY or pipes are among the others: their readers wait for the last writer.
    let is_placed = sys::place_fd(started.as_raw_fd(), 0).is_ok();
    sys::close_from(i32::from(is_placed));
    // Nothing is written to it. EOF is the end of the sandbox's building.
    let _ = rustix::io::read(rustix::stdio::stdin(), &mut [0]);
    let watch = watch.map(|mut watch| {
        watch.begin();
        watch
    });
    let mut awaited = SigSet::empty();
    awaited.add(Signal::SIGCHLD);
    let Ok(signals) =
        SignalFd::with_flags(&awaited, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
    else {
        sys::exit_child(UNRESTRICTED);
    };
    loop {
        reap_orphans();
        // The keeper sends SIGCHLD, too, when it has reaped the command, which is no child of the init.
        if kill(ALL_OTHERS, None) == Err(Errno::ESRCH) {
            sys::exit_child(EMPTY);
        }
        let mut fds = vec![PollFd::new(&signals, PollFlags::IN)];
        fds.extend(watch.iter().flat_map(MountWatch::poll_fds));
        if rustix::event::poll(&mut fds, None).is_err() {
            continue;
        }
        while signals.read_signal().is_ok_and(|signal| signal.is_some()) {}
        let is_mount_change = fds.iter().any(|fd| fd.revents().contains(PollFlags::PRI));
        let restored = watch.as_ref().map(|watch| watch.restore(is_mount_change));
        if restored.is_some_and(|restored| restored.is_err()) {
            sys::exit_child(UNRESTRICTED);
        }
    }
}

fn reap_orphans() {
    while waitpid(None, Some(WaitPidFlag::WNOHANG))
        .is_ok_and(|status| status != WaitStatus::StillAlive)
    {}
}
