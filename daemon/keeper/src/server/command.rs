//! The server's command line and environment, and what it inherits.

use std::ffi::{CString, OsString};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::pipe::PipeFlags;
use rustix::process::Signal;

use crate::sys::{self, ExecStrings, Forked};

/// The control socket in the server.
const CONTROL_FD: RawFd = 3;
/// The listening socket in the server.
const LISTENER_FD: RawFd = 4;
/// The program of an earlier server, until it is executed.
const PROGRAM_FD: RawFd = 5;
/// Its path then.
const OPEN_PROGRAM: &str = "/proc/self/fd/5";
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
    open_program: CString,
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
            open_program: text(OPEN_PROGRAM.into())?,
            argv: ExecStrings::new(argv),
            env: ExecStrings::new(env),
        })
    }

    /// Starts a server: of this program that is open, else of the one on disk. Returns its pid and the
    /// keeper's end of its control socket.
    pub(super) fn start(
        &self,
        listener: BorrowedFd<'_>,
        program: Option<BorrowedFd<'_>>,
    ) -> io::Result<(i32, OwnedFd)> {
        let (ours, theirs) = control_pair()?;
        let keeper = rustix::process::getpid();
        match sys::fork()? {
            Forked::Parent(pid) => Ok((pid, ours)),
            Forked::Child => {
                let first = program.map_or(&self.program, |_| &self.open_program);
                let programs = [first, &self.program, &self.this_program];
                let prepared = prepare(theirs.as_fd(), listener, program, keeper);
                self.run(prepared, &programs)
            }
        }
    }

    /// Starts the program on disk as a server that gets no socket to listen on and no inventory, in a
    /// process group of its own.
    pub(super) fn start_trial(&self) -> io::Result<TrialProcess> {
        let (control, theirs) = control_pair()?;
        let flags = PipeFlags::CLOEXEC | PipeFlags::NONBLOCK;
        let (stderr, said) = rustix::pipe::pipe_with(flags)?;
        // The program's own end blocks, as it would anywhere else.
        rustix::io::ioctl_fionbio(&said, false)?;
        let keeper = rustix::process::getpid();
        match sys::fork()? {
            Forked::Parent(pid) => Ok(TrialProcess {
                pid,
                control,
                stderr,
            }),
            Forked::Child => {
                let grouped = rustix::process::setpgid(None, None);
                let placed = grouped.and_then(|()| rustix::stdio::dup2_stderr(&said));
                if placed.is_err() {
                    sys::exit_child(127);
                }
                let nothing = theirs.as_fd();
                let prepared = prepare(theirs.as_fd(), nothing, None, keeper);
                self.run(prepared, &[&self.program])
            }
        }
    }

    /// Becomes the first of these programs that can be executed. Only in a forked child.
    fn run(&self, prepared: Result<(), Errno>, programs: &[&CString]) -> ! {
        let errno = prepared.err().unwrap_or_else(|| {
            let execute = |program: &&CString| sys::execute(program, &self.argv, &self.env);
            let errnos: Vec<Errno> = programs.iter().map(execute).collect();
            // The first one's error is the one to mend.
            errnos.first().copied().unwrap_or(Errno::NOENT)
        });
        let error = io::Error::from(errno);
        let program = self.program.to_string_lossy();
        let _ = writeln!(
            io::stderr(),
            "termd: cannot start the server {program}: {error}"
        );
        sys::exit_child(127);
    }
}

/// A program that is being tried.
#[derive(Debug)]
pub(super) struct TrialProcess {
    pub(super) pid: i32,
    /// The keeper's end of its control socket.
    pub(super) control: OwnedFd,
    /// The read end of its standard error, non-blocking.
    pub(super) stderr: OwnedFd,
}

/// A control socket: the keeper's end, and the server's.
fn control_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = SocketFlags::CLOEXEC;
    let pair = rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    Ok(pair)
}

/// Puts a forked child's descriptors and signals in order for its program.
fn prepare(
    control: BorrowedFd<'_>,
    listener: BorrowedFd<'_>,
    program: Option<BorrowedFd<'_>>,
    keeper: rustix::process::Pid,
) -> Result<(), Errno> {
    let control = sys::lift_fd(control, LIFTED_FDS)?;
    let listener = sys::lift_fd(listener, LIFTED_FDS)?;
    let program = program.map(|program| sys::lift_fd(program, LIFTED_FDS));
    sys::place_fd(control, CONTROL_FD)?;
    sys::place_fd(listener, LISTENER_FD)?;
    match program.transpose()? {
        None => sys::close_from(PROGRAM_FD),
        Some(program) => {
            sys::place_fd(program, PROGRAM_FD)?;
            sys::close_from(PROGRAM_FD + 1);
            let flags = rustix::io::FdFlags::CLOEXEC;
            rustix::io::fcntl_setfd(sys::borrow_fd(PROGRAM_FD), flags)?;
        }
    }
    // A server without its keeper would hold PTYs that no other process knows.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // The keeper may have died before that.
    if rustix::process::getppid() != Some(keeper) {
        return Err(Errno::SRCH);
    }
    sys::default_dispositions();
    sys::unblock_signals();
    Ok(())
}

fn is_for_the_keeper(name: &[u8]) -> bool {
    name == b"NOTIFY_SOCKET" || name.starts_with(b"LISTEN_") || name.starts_with(b"WATCHDOG_")
}
