//! The server's command line and environment, and what it inherits.

use std::ffi::{CString, OsString};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::process::Signal;

use crate::sys::{self, ExecStrings, Forked};

/// The control socket in the server.
const CONTROL_FD: RawFd = 3;
/// The listening socket in the server.
const LISTENER_FD: RawFd = 4;
/// The least number of the copies that the child places: placing one must not close another.
const LIFTED_FDS: RawFd = 10;

/// The fallback where the file on disk cannot be executed: this very program, even if deleted.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// What a server inherits.
#[derive(Debug)]
pub struct InheritedFds {
    /// The control socket to the keeper.
    pub control: OwnedFd,
    /// The listening socket, non-blocking. Shared with the keeper, which binds and unlinks it.
    pub listener: OwnedFd,
}

/// Takes the descriptors that a keeper passed to this server, and makes them close-on-exec.
///
/// Call it once, first thing in a process started with `--server`. It fails where no keeper started
/// this process.
pub fn inherited_fds() -> io::Result<InheritedFds> {
    Ok(InheritedFds {
        control: sys::adopt_fd(CONTROL_FD)?,
        listener: sys::adopt_fd(LISTENER_FD)?,
    })
}

/// How to start a server, prepared once.
pub(crate) struct ServerCommand {
    program: CString,
    this_program: CString,
    argv: ExecStrings,
    env: ExecStrings,
}

impl ServerCommand {
    /// `PROGRAM --server ARGS…` with this environment, without the variables that systemd addresses to
    /// the main process.
    pub(crate) fn new(
        program: OsString,
        args: Vec<OsString>,
        environment: Vec<(OsString, OsString)>,
    ) -> io::Result<Self> {
        let text = |text: OsString| CString::new(text.into_vec()).map_err(io::Error::from);
        let program = text(program)?;
        let mut argv = vec![program.clone(), text("--server".into())?];
        for arg in args {
            argv.push(text(arg)?);
        }
        let env = environment
            .into_iter()
            .filter(|(name, _)| !is_for_the_keeper(name.as_bytes()))
            .map(|(mut variable, value)| {
                variable.push("=");
                variable.push(value);
                text(variable)
            })
            .collect::<io::Result<Vec<_>>>()?;
        Ok(Self {
            program,
            this_program: text(THIS_PROGRAM.into())?,
            argv: ExecStrings::new(argv),
            env: ExecStrings::new(env),
        })
    }

    /// Starts a server. Returns its pid and the keeper's end of its control socket.
    pub(crate) fn start(&self, listener: BorrowedFd<'_>) -> io::Result<(i32, OwnedFd)> {
        let flags = SocketFlags::CLOEXEC;
        let (ours, theirs) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        let keeper = rustix::process::getpid();
        match sys::fork()? {
            Forked::Parent(pid) => Ok((pid, ours)),
            Forked::Child => {
                let errno = self.run(theirs.as_fd(), listener, keeper);
                let error = io::Error::from(errno);
                let program = self.program.to_string_lossy();
                let _ = writeln!(
                    io::stderr(),
                    "termd: cannot start the server {program}: {error}"
                );
                sys::exit_child(127);
            }
        }
    }

    fn run(
        &self,
        control: BorrowedFd<'_>,
        listener: BorrowedFd<'_>,
        keeper: rustix::process::Pid,
    ) -> Errno {
        let placed = sys::lift_fd(control, LIFTED_FDS)
            .and_then(|control| Ok((control, sys::lift_fd(listener, LIFTED_FDS)?)))
            .and_then(|(control, listener)| {
                sys::place_fd(control, CONTROL_FD)?;
                sys::place_fd(listener, LISTENER_FD)
            });
        if let Err(errno) = placed {
            return errno;
        }
        sys::close_from(LISTENER_FD + 1);
        // A server without its keeper would hold PTYs that no other process knows.
        if let Err(errno) = rustix::process::set_parent_process_death_signal(Some(Signal::KILL)) {
            return errno;
        }
        // The keeper may have died before that.
        if rustix::process::getppid() != Some(keeper) {
            return Errno::SRCH;
        }
        sys::default_dispositions();
        sys::unblock_signals();
        let errno = sys::execute(&self.program, &self.argv, &self.env);
        sys::execute(&self.this_program, &self.argv, &self.env);
        errno
    }
}

fn is_for_the_keeper(name: &[u8]) -> bool {
    name == b"NOTIFY_SOCKET" || name.starts_with(b"LISTEN_") || name.starts_with(b"WATCHDOG_")
}
