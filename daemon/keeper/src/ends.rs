//! What a command is read and written by: both sides of a PTY, or of two pipes.
//!
//! **Invariant:** every descriptor is close-on-exec before anything can fork, for the keeper has
//! one thread; the keeper's sides never block, the child's do as it expects.

use std::os::fd::OwnedFd;

use nix::pty::Winsize;
use rustix::fs::{MemfdFlags, Mode, OFlags};
use rustix::io::FdFlags;
use rustix::pipe::PipeFlags;
use rustix::termios::{InputModes, OptionalActions};
use termd_proto::terminal::Stdio;

use super::process_tree::encode_device;
use crate::protocol::message::{SpawnFailure, SpawnRequest, SpawnStep, TerminalFds};

/// The pipe between PTY and spool. A PTY holds 17 KB at the most, and a thousand default pipes
/// would exceed a user's soft limit of pipe pages (/proc/sys/fs/pipe-user-pages-soft).
const PIPE_BYTES: usize = 16 * 1024;

/// Both sides of what a command is read and written by.
pub(super) struct Ends {
    /// The keeper's.
    pub(super) fds: TerminalFds,
    /// The child's.
    pub(super) childs: ChildEnds,
    /// Its tty's device number, where it has one.
    pub(super) tty: Option<u32>,
}

/// What becomes 0, 1 and 2 of the child.
pub(super) enum ChildEnds {
    /// The PTY's slave side, for all three; it becomes the controlling terminal.
    Pty { slave: OwnedFd },
    /// One each; there is no terminal.
    Pipes {
        stdin: OwnedFd,
        stdout: OwnedFd,
        stderr: OwnedFd,
    },
}

impl Ends {
    /// What this request asks for.
    pub(super) fn of(request: &SpawnRequest) -> Result<Self, SpawnFailure> {
        match request.stdio {
            Stdio::Pty => pty_ends(request),
            Stdio::Pipes => pipe_ends(),
        }
    }
}

fn pty_ends(request: &SpawnRequest) -> Result<Ends, SpawnFailure> {
    let failed = |step| move |errno: i32| SpawnFailure { step, errno };
    let (master, slave) = open_pty(request).map_err(failed(SpawnStep::OpenPty))?;
    let tty = device(&slave).map_err(failed(SpawnStep::OpenPty))?;
    let (pipe_reader, pipe_writer) = pipe(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    // Past the user's soft limit the kernel hands out smaller pipes by itself.
    let _ = rustix::pipe::fcntl_setpipe_size(&pipe_writer, PIPE_BYTES);
    Ok(Ends {
        fds: TerminalFds::Pty {
            master,
            spool: memfd("termd-spool")?,
            pipe_reader,
            pipe_writer,
        },
        childs: ChildEnds::Pty { slave },
        tty: Some(tty),
    })
}

/// The pipes stay as large as the kernel makes them: programs know that size.
fn pipe_ends() -> Result<Ends, SpawnFailure> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let stdin = rustix::fs::open("/dev/null", flags, Mode::empty()).map_err(pipe_failed)?;
    let (stdout, childs_stdout) = outward_pipe()?;
    let (stderr, childs_stderr) = outward_pipe()?;
    Ok(Ends {
        fds: TerminalFds::Pipes {
            stdout,
            spool: memfd("termd-spool")?,
            stderr,
            origins: memfd("termd-origins")?,
        },
        childs: ChildEnds::Pipes {
            stdin,
            stdout: childs_stdout,
            stderr: childs_stderr,
        },
        tty: None,
    })
}

fn memfd(name: &str) -> Result<OwnedFd, SpawnFailure> {
    rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC).map_err(|errno| SpawnFailure {
        step: SpawnStep::Spool,
        errno: errno.raw_os_error(),
    })
}

fn pipe(flags: PipeFlags) -> Result<(OwnedFd, OwnedFd), SpawnFailure> {
    rustix::pipe::pipe_with(flags).map_err(pipe_failed)
}

/// A pipe from a child: our end never blocks, the child's does as it expects.
pub(super) fn outward_pipe() -> Result<(OwnedFd, OwnedFd), SpawnFailure> {
    let (reader, writer) = pipe(PipeFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&reader, true).map_err(pipe_failed)?;
    Ok((reader, writer))
}

fn pipe_failed(errno: rustix::io::Errno) -> SpawnFailure {
    SpawnFailure {
        step: SpawnStep::Pipe,
        errno: errno.raw_os_error(),
    }
}

/// openpty(3) sets no CLOEXEC; nothing can fork between it and the two calls that do, for the
/// process has one thread.
fn open_pty(request: &SpawnRequest) -> Result<(OwnedFd, OwnedFd), i32> {
    let size = Winsize {
        ws_row: request.rows,
        ws_col: request.cols,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let pty = nix::pty::openpty(&size, None).map_err(|errno| errno as i32)?;
    let prepare = || -> rustix::io::Result<()> {
        rustix::io::fcntl_setfd(&pty.master, FdFlags::CLOEXEC)?;
        rustix::io::fcntl_setfd(&pty.slave, FdFlags::CLOEXEC)?;
        rustix::fs::fcntl_setfl(&pty.master, OFlags::RDWR | OFlags::NONBLOCK)?;
        // The kernel's other defaults are what a login has; without this one an erased character
        // leaves the first bytes of its UTF-8 behind.
        let mut modes = rustix::termios::tcgetattr(&pty.slave)?;
        modes.input_modes |= InputModes::IUTF8;
        rustix::termios::tcsetattr(&pty.slave, OptionalActions::Now, &modes)
    };
    prepare().map_err(rustix::io::Errno::raw_os_error)?;
    Ok((pty.master, pty.slave))
}

fn device(slave: &OwnedFd) -> Result<u32, i32> {
    let entry = rustix::fs::fstat(slave).map_err(rustix::io::Errno::raw_os_error)?;
    let (major, minor) = (
        rustix::fs::major(entry.st_rdev),
        rustix::fs::minor(entry.st_rdev),
    );
    Ok(encode_device(major, minor))
}
