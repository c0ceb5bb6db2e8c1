//! Starting a server: fork and exec with the control socket as 3 and the listening socket as 4;
//! and, in that server, taking the two.

use std::ffi::{CString, OsString};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use nix::libc;
use nix::sys::signal::Signal;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use super::sys::{self, ExecStrings, Forked};

/// The control socket in the server.
const CONTROL_FD: RawFd = 3;
/// The listening socket in the server.
const LISTENER_FD: RawFd = 4;
/// Above what the child places, so that placing one does not close the other.
const LIFTED_FDS: RawFd = 10;

/// What runs where the file on disk does not: this very program, though it may be deleted.
const OURSELVES: &str = "/proc/self/exe";

/// What a server inherits.
#[derive(Debug)]
pub struct InheritedFds {
    /// The keeper, for [`crate::protocol::client::KeeperClient::connect`].
    pub control: OwnedFd,
    /// The listening socket, non-blocking. Shared with the keeper, which binds and unlinks it.
    pub listener: OwnedFd,
}

/// Takes the descriptors that a keeper passed to this server, and makes them close-on-exec.
///
/// To be called once, first thing in a process started with `--server`. Fails where this process
/// was not started by a keeper.
pub fn inherited_fds() -> io::Result<InheritedFds> {
    Ok(InheritedFds {
        control: sys::adopt_fd(CONTROL_FD)?,
        listener: sys::adopt_fd(LISTENER_FD)?,
    })
}

/// How to start a server; made once.
pub(super) struct ServerCommand {
    program: CString,
    ourselves: CString,
    argv: ExecStrings,
    env: ExecStrings,
}

impl ServerCommand {
    /// `PROGRAM --server ARGS…` with this environment, but for the words of systemd that are
    /// meant for the main process only.
    pub(super) fn new(
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
            .filter(|(name, _)| !is_keepers_own(name.as_bytes()))
            .map(|(mut variable, value)| {
                variable.push("=");
                variable.push(value);
                text(variable)
            })
            .collect::<io::Result<Vec<_>>>()?;
        Ok(Self {
            program,
            ourselves: text(OURSELVES.into())?,
            argv: ExecStrings::new(argv),
            env: ExecStrings::new(env),
        })
    }

    /// Starts one; its pid, and the keeper's end of its control socket.
    pub(super) fn start(&self, listener: BorrowedFd<'_>) -> io::Result<(i32, OwnedFd)> {
        let flags = SocketFlags::CLOEXEC;
        let (ours, theirs) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        let keeper = rustix::process::getpid();
        match sys::fork().map_err(io::Error::from_raw_os_error)? {
            Forked::Parent(pid) => Ok((pid, ours)),
            Forked::Child => {
                let errno = self.run(theirs.as_fd(), listener, keeper);
                let error = io::Error::from_raw_os_error(errno);
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
    ) -> i32 {
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
        // A server without its keeper would hold PTYs that nobody else knows.
        if let Err(errno) = nix::sys::prctl::set_pdeathsig(Signal::SIGKILL) {
            return errno as i32;
        }
        // The keeper may have died before that.
        if rustix::process::getppid() != Some(keeper) {
            return libc::ESRCH;
        }
        sys::default_dispositions();
        sys::unblock_signals();
        let errno = sys::execute(&self.program, &self.argv, &self.env);
        sys::execute(&self.ourselves, &self.argv, &self.env);
        errno
    }
}

fn is_keepers_own(name: &[u8]) -> bool {
    name == b"NOTIFY_SOCKET" || name.starts_with(b"LISTEN_") || name.starts_with(b"WATCHDOG_")
}
