//! The two sides of a command's standard input, output and error: a PTY, or pipes.
//!
//! **Invariant:** every descriptor is close-on-exec before anything can fork; the keeper has one
//! thread. The keeper's sides never block, the child's block as programs expect.

use std::os::fd::OwnedFd;

use nix::pty::Winsize;
use rustix::fs::{MemfdFlags, Mode, OFlags};
use rustix::io::{Errno, FdFlags};
use rustix::pipe::PipeFlags;
use rustix::termios::{InputModes, OptionalActions};
use termd_proto::terminal::{Stderr, Stdin, Stdio};

use crate::process_tree::encode_device;
use crate::protocol::message::{SpawnFailure, SpawnRequest, SpawnStep, StdinFds, TerminalFds};

/// The size of the pipe between PTY and spool. A PTY holds 17 KB at most, and a thousand pipes of
/// the default size would exceed a user's soft limit (/proc/sys/fs/pipe-user-pages-soft).
const PIPE_BYTES: usize = 16 * 1024;

/// Both sides.
pub(super) struct StdioPair {
    pub(super) fds: TerminalFds,
    pub(super) child: ChildStdio,
    /// The device number of the PTY, where there is one.
    pub(super) tty: Option<u32>,
}

/// The child's side.
pub(super) enum ChildStdio {
    /// The PTY's slave side for all three; it becomes the controlling terminal.
    Pty { slave: OwnedFd },
    /// There is no terminal.
    Pipes {
        stdin: OwnedFd,
        stdout: OwnedFd,
        stderr: OwnedFd,
    },
}

impl ChildStdio {
    /// What becomes 0, 1 and 2.
    pub(super) fn standard_three(&self) -> [&OwnedFd; 3] {
        match self {
            Self::Pty { slave } => [slave; 3],
            Self::Pipes {
                stdin,
                stdout,
                stderr,
            } => [stdin, stdout, stderr],
        }
    }
}

impl StdioPair {
    /// `inherited_stdin` is what the command reads where it inherits that.
    pub(super) fn open(
        request: &SpawnRequest,
        inherited_stdin: Option<OwnedFd>,
    ) -> Result<Self, SpawnFailure> {
        match request.stdio {
            Stdio::Pty => open_pty(request),
            Stdio::Pipes => open_pipes(request, inherited_stdin),
        }
    }
}

fn open_pty(request: &SpawnRequest) -> Result<StdioPair, SpawnFailure> {
    let (master, slave) =
        new_pty(request.rows, request.cols).map_err(|errno| SpawnStep::OpenPty.failed(errno))?;
    let tty = device(&slave).map_err(|errno| SpawnStep::OpenPty.failed(errno))?;
    let (pipe_reader, pipe_writer) = pipe(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    // Beyond the user's soft limit the kernel makes smaller pipes by itself.
    let _ = rustix::pipe::fcntl_setpipe_size(&pipe_writer, PIPE_BYTES);
    Ok(StdioPair {
        fds: TerminalFds::Pty {
            master,
            spool: memfd("termd-spool", MemfdFlags::empty())?,
            pipe_reader,
            pipe_writer,
        },
        child: ChildStdio::Pty { slave },
        tty: Some(tty),
    })
}

/// The pipes keep the kernel's default size, which programs know.
fn open_pipes(
    request: &SpawnRequest,
    inherited_stdin: Option<OwnedFd>,
) -> Result<StdioPair, SpawnFailure> {
    let (child_stdin, stdin) = match request.stdin {
        Stdin::Inherited => {
            let inherited = inherited_stdin.ok_or(SpawnStep::Pipe.failed(Errno::INVAL));
            (inherited?, None)
        }
        Stdin::Null => (open_null()?, None),
        Stdin::Pipe => {
            let (child_stdin, pipe) = pipe(PipeFlags::CLOEXEC)?;
            never_block(&pipe)?;
            let queue = memfd("termd-stdin", MemfdFlags::ALLOW_SEALING)?;
            (child_stdin, Some(StdinFds { pipe, queue }))
        }
    };
    let (stdout, child_stdout) = outward_pipe()?;
    let (stderr, mut child_stderr) = outward_pipe()?;
    if request.stderr == Stderr::Stdout {
        // The other pipe has no writer from here on, which is its end of file.
        child_stderr = rustix::io::fcntl_dupfd_cloexec(&child_stdout, 0)
            .map_err(|errno| SpawnStep::Pipe.failed(errno))?;
    }
    Ok(StdioPair {
        fds: TerminalFds::Pipes {
            stdout,
            spool: memfd("termd-spool", MemfdFlags::empty())?,
            stderr,
            origins: memfd("termd-origins", MemfdFlags::empty())?,
            stdin,
        },
        child: ChildStdio::Pipes {
            stdin: child_stdin,
            stdout: child_stdout,
            stderr: child_stderr,
        },
        tty: None,
    })
}

/// `/dev/null`, to read.
pub(super) fn open_null() -> Result<OwnedFd, SpawnFailure> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let null = rustix::fs::open("/dev/null", flags, Mode::empty());
    null.map_err(|errno| SpawnStep::Pipe.failed(errno))
}

fn memfd(name: &str, flags: MemfdFlags) -> Result<OwnedFd, SpawnFailure> {
    rustix::fs::memfd_create(name, flags | MemfdFlags::CLOEXEC)
        .map_err(|errno| SpawnStep::Spool.failed(errno))
}

fn pipe(flags: PipeFlags) -> Result<(OwnedFd, OwnedFd), SpawnFailure> {
    rustix::pipe::pipe_with(flags).map_err(|errno| SpawnStep::Pipe.failed(errno))
}

/// A pipe from a child to the keeper, whose end never blocks.
pub(super) fn outward_pipe() -> Result<(OwnedFd, OwnedFd), SpawnFailure> {
    let (reader, writer) = pipe(PipeFlags::CLOEXEC)?;
    never_block(&reader)?;
    Ok((reader, writer))
}

fn never_block(end: &OwnedFd) -> Result<(), SpawnFailure> {
    rustix::io::ioctl_fionbio(end, true).map_err(|errno| SpawnStep::Pipe.failed(errno))
}

/// openpty(3) sets no CLOEXEC. Nothing can fork before it is set here: the process has one thread.
fn new_pty(rows: u16, cols: u16) -> Result<(OwnedFd, OwnedFd), Errno> {
    let size = Winsize {
        ws_row: rows,
        ws_col: cols,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    let pty =
        nix::pty::openpty(&size, None).map_err(|errno| Errno::from_raw_os_error(errno as i32))?;
    rustix::io::fcntl_setfd(&pty.master, FdFlags::CLOEXEC)?;
    rustix::io::fcntl_setfd(&pty.slave, FdFlags::CLOEXEC)?;
    rustix::fs::fcntl_setfl(&pty.master, OFlags::RDWR | OFlags::NONBLOCK)?;
    // The kernel's other defaults are those of a login. Without IUTF8 an erased character leaves
    // the first bytes of its UTF-8 behind.
    let mut modes = rustix::termios::tcgetattr(&pty.slave)?;
    modes.input_modes |= InputModes::IUTF8;
    rustix::termios::tcsetattr(&pty.slave, OptionalActions::Now, &modes)?;
    Ok((pty.master, pty.slave))
}

fn device(slave: &OwnedFd) -> Result<u32, Errno> {
    let device = rustix::fs::fstat(slave)?.st_rdev;
    Ok(encode_device(
        rustix::fs::major(device),
        rustix::fs::minor(device),
    ))
}
