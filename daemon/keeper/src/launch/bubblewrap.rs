//! Starting a command through bubblewrap: executing it, and the launcher behind it.
//!
//! The keeper's child executes bubblewrap, which builds the mounts in a child of its own and
//! executes this very program there as the launcher ([`run_launcher_if_requested`]), with its input
//! in a memfd. The launcher leads the command's session, reports its pid on the error pipe, waits
//! until bubblewrap is gone, verifies the mounts, applies the other restrictions and becomes the
//! command. So no process stands between keeper and command: bubblewrap would turn a death by a
//! signal into a number.
//!
//! The keeper's side is [`CommandProcess`](super::command_process::CommandProcess).

use std::ffi::{CStr, CString, OsString};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use nix::libc;
use rustix::fs::{MemfdFlags, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, Rlimit, WaitId, WaitIdOptions};

use super::child_fds::{BUILDER_STDERR, FIRST_FREE, HANDOVER_GATE};
use super::command::{Command, mark};
use super::error_pipe::{self, exit_with, report_command_pid, report_missing};
use super::exec_gate;
use crate::confine::{
    BubblewrapArguments, DaemonDirs, MountBuilder, Plan, Snapshot, find_bubblewrap,
};
use crate::protocol::confinement::Restriction;
use crate::protocol::exec_gate::MAX_EXEC_PAUSE;
use crate::protocol::message::{SpawnFailure, SpawnRequest, SpawnStep, ToKeeper};
use crate::reap::reap;
use crate::sys::{self, ExecStrings, Forked, Unreaped};

/// The first argument of this program as the launcher.
const LAUNCH: &CStr = c"--launch";
/// The same where bubblewrap is only tried out.
const TRY: &CStr = c"--launch-nothing";

/// The descriptors that pass through bubblewrap: the launcher's input, bubblewrap's own arguments,
/// this program, the command's standard error, and from there on empty files.
const INPUT_FD: RawFd = FIRST_FREE;
const ARGUMENTS_FD: RawFd = INPUT_FD + 1;
const PROGRAM_FD: RawFd = ARGUMENTS_FD + 1;
const STDERR_FD: RawFd = PROGRAM_FD + 1;
const FIRST_EMPTY_FD: RawFd = STDERR_FD + 1;

/// This program as bubblewrap's child finds it, whatever is at its path or hidden from the sandbox.
const PROGRAM: &CStr = c"/proc/self/fd/207";
const ARGUMENTS: &CStr = c"206";

const STEP: SpawnStep = SpawnStep::Confine(Restriction::Bubblewrap);

/// What the launcher has to know.
pub(super) struct LauncherInput<'a> {
    pub(super) request: &'a SpawnRequest,
    pub(super) dirs: &'a DaemonDirs,
    pub(super) open_files: Rlimit,
}

/// Executes bubblewrap. Where it returns Ok, bubblewrap cannot be used, for the reason returned; the
/// descriptors are then as before.
pub(super) fn execute(plan: &Plan, input: &LauncherInput<'_>) -> Result<Errno, SpawnFailure> {
    let program = match find_bubblewrap() {
        Ok(program) => program,
        Err(errno) => return Ok(errno),
    };
    let Some((snapshot, arguments)) = plan.bubblewrap_arguments(FIRST_EMPTY_FD, &report_missing)?
    else {
        return Ok(Errno::INVAL);
    };
    let argv = |mode: &CStr| {
        let words = [
            program.as_c_str(),
            c"--args",
            ARGUMENTS,
            c"--",
            PROGRAM,
            mode,
        ];
        ExecStrings::new(words.map(CStr::to_owned).to_vec())
    };
    // Without the request's variables: its LD_PRELOAD is for the command in its sandbox.
    let env = CString::new(mark(input.request)).into_iter().collect();
    let env = ExecStrings::new(env);
    let attempt = || -> Result<Errno, Errno> {
        place_fds(&input.to_bytes(&snapshot), &arguments)?;
        if plan.is_best_effort() {
            try_out(&program, &argv(TRY), &env)?;
        }
        error_pipe::keep_on_exec()?;
        Ok(sys::execute(&program, &argv(LAUNCH), &env))
    };
    let errno = attempt().unwrap_or_else(|errno| errno);
    restore_fds().map_err(|errno| STEP.failed(errno))?;
    Ok(errno)
}

/// Places everything that passes through bubblewrap, and sends its standard error to the keeper.
fn place_fds(input: &[u8], arguments: &BubblewrapArguments) -> Result<(), Errno> {
    place(memfd(input)?, INPUT_FD)?;
    place(memfd(&arguments.text)?, ARGUMENTS_FD)?;
    let open = |path: &CStr, flags| rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty());
    place(open(c"/proc/self/exe", OFlags::PATH)?, PROGRAM_FD)?;
    place(rustix::io::dup(rustix::stdio::stderr())?, STDERR_FD)?;
    for number in (FIRST_EMPTY_FD..).take(arguments.empty_files as usize) {
        place(open(c"/dev/null", OFlags::RDONLY)?, number)?;
    }
    sys::place_fd(BUILDER_STDERR, libc::STDERR_FILENO)
}

/// Restores the command's standard error, and closes what passed through bubblewrap.
fn restore_fds() -> Result<(), Errno> {
    match sys::place_fd(STDERR_FD, libc::STDERR_FILENO) {
        // EBADF: nothing was placed yet.
        Ok(()) | Err(Errno::BADF) => {}
        Err(errno) => return Err(errno),
    }
    sys::close_from(HANDOVER_GATE);
    error_pipe::close_on_exec()
}

/// Whether bubblewrap can build this sandbox; ECANCELED: it cannot. By best effort the command then
/// runs without bubblewrap, and after the exec it would be too late for that.
fn try_out(program: &CStr, argv: &ExecStrings, env: &ExecStrings) -> Result<(), Errno> {
    let pid = match sys::fork()? {
        Forked::Child => {
            // In a group of its own, so that whatever it leaves behind can be killed.
            if rustix::process::setpgid(None, None).is_ok() {
                sys::execute(program, argv, env);
            }
            sys::exit_child(127);
        }
        Forked::Parent(pid) => pid,
    };
    let child = Pid::from_raw(pid).ok_or(Errno::SRCH)?;
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let ended = rustix::io::retry_on_intr(|| rustix::process::waitid(WaitId::Pid(child), options))?;
    sys::kill_unreaped(Unreaped::GroupOf(pid), libc::SIGKILL);
    reap(pid);
    if ended.and_then(|status| status.exit_status()) != Some(0) {
        return Err(Errno::CANCELED);
    }
    // bubblewrap read its arguments through the same file offset.
    let arguments = sys::borrow_fd(ARGUMENTS_FD);
    rustix::fs::seek(arguments, rustix::fs::SeekFrom::Start(0)).map(drop)
}

fn memfd(bytes: &[u8]) -> Result<OwnedFd, Errno> {
    let mut file = File::from(rustix::fs::memfd_create(
        "termd-orders",
        MemfdFlags::CLOEXEC,
    )?);
    let written = file.write_all(bytes).and_then(|()| file.rewind());
    written.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    Ok(file.into())
}

/// Gives a descriptor its number, open across exec. The numbers below are taken, so a later
/// descriptor cannot have it.
fn place(fd: OwnedFd, number: RawFd) -> Result<(), Errno> {
    sys::place_fd(fd.as_raw_fd(), number)?;
    if fd.as_raw_fd() == number {
        std::mem::forget(fd);
    }
    Ok(())
}

/// Becomes a command behind bubblewrap and never returns, where this program was executed for that.
/// Every program that runs a keeper calls it first thing.
pub fn run_launcher_if_requested() {
    let Some(mode) = std::env::args_os().nth(1) else {
        return;
    };
    if mode.as_bytes() == TRY.to_bytes() {
        std::process::exit(0);
    }
    if mode.as_bytes() == LAUNCH.to_bytes() {
        exit_with(run_launcher().unwrap_or_else(|failure| failure));
    }
}

/// Returns the step that failed, in either variant.
fn run_launcher() -> Result<SpawnFailure, SpawnFailure> {
    error_pipe::close_on_exec().map_err(|errno| STEP.failed(errno))?;
    let input = OwnedInput::read().map_err(|errno| STEP.failed(errno))?;
    let command = Command::new(&input.request)?;
    // bubblewrap makes the PTY's own device.
    let mut plan = Plan::new(&input.request.confinement, &input.dirs, None)?;
    leave_bubblewrap(&command)?;
    let mounts = MountBuilder::Bubblewrap(&input.snapshot);
    Ok(command.confine_and_exec(mounts, &mut plan, input.open_files))
}

/// Turns bubblewrap's child into the keeper's.
fn leave_bubblewrap(command: &Command) -> Result<(), SpawnFailure> {
    // Until now this process ended with bubblewrap. From now on the keeper knows it and ends it.
    rustix::process::set_parent_process_death_signal(None).map_err(|errno| STEP.failed(errno))?;
    command.lead_session()?;
    report_command_pid(rustix::process::getpid().as_raw_pid());
    exec_gate::wait_at(HANDOVER_GATE, MAX_EXEC_PAUSE).map_err(|errno| STEP.failed(errno))?;
    restore_fds().map_err(|errno| STEP.failed(errno))
}

/// A [`LauncherInput`] and the snapshot, as the launcher reads them.
struct OwnedInput {
    snapshot: Snapshot,
    request: SpawnRequest,
    dirs: DaemonDirs,
    open_files: Rlimit,
}

impl OwnedInput {
    fn read() -> Result<Self, Errno> {
        let mut bytes = Vec::new();
        File::from(sys::adopt_fd(INPUT_FD)?)
            .read_to_end(&mut bytes)
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        Self::parse(&bytes).ok_or(Errno::INVAL)
    }

    fn parse(mut bytes: &[u8]) -> Option<Self> {
        let mut number = || {
            let (number, rest) = bytes.split_first_chunk()?;
            bytes = rest;
            Some(u64::from_le_bytes(*number))
        };
        let limit = |number| (number != u64::MAX).then_some(number);
        let open_files = Rlimit {
            current: limit(number()?),
            maximum: limit(number()?),
        };
        let mut part = || {
            let (length, rest) = bytes.split_first_chunk()?;
            let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
            let (part, rest) = rest.split_at_checked(length)?;
            bytes = rest;
            Some(part)
        };
        let path = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
        let dirs = DaemonDirs {
            socket_dir: path(part()?),
            state_dir: path(part()?),
        };
        let snapshot = Snapshot::from_bytes(part()?)?;
        match ToKeeper::decode(ToKeeper::SPAWN, part()?) {
            Ok(Some(ToKeeper::Spawn(request))) => Some(Self {
                snapshot,
                request: *request,
                dirs,
                open_files,
            }),
            _ => None,
        }
    }
}

impl LauncherInput<'_> {
    fn to_bytes(&self, snapshot: &Snapshot) -> Vec<u8> {
        let mut bytes = Vec::new();
        for limit in [self.open_files.current, self.open_files.maximum] {
            bytes.extend_from_slice(&limit.unwrap_or(u64::MAX).to_le_bytes());
        }
        let (_, request) = ToKeeper::Spawn(Box::new(self.request.clone())).encode();
        let parts = [
            self.dirs.socket_dir.as_os_str().as_bytes(),
            self.dirs.state_dir.as_os_str().as_bytes(),
            &snapshot.to_bytes(),
            &request,
        ];
        for part in parts {
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use termd_proto::TerminalId;
    use termd_proto::terminal::{Inherited, Stdio};

    use super::*;
    use crate::protocol::message::PausePoint;

    #[test]
    fn what_is_passed_by_number_is_named_by_it() {
        assert_eq!(ARGUMENTS.to_str().unwrap(), ARGUMENTS_FD.to_string());
        assert_eq!(
            PROGRAM.to_str().unwrap(),
            format!("/proc/self/fd/{PROGRAM_FD}")
        );
    }

    #[test]
    fn the_input_comes_through_whole() {
        let request = SpawnRequest {
            argv: vec![b"true".to_vec(), vec![0xff]],
            env: vec![b"A=b".to_vec()],
            cwd: b"/w".to_vec(),
            pause: Some(PausePoint::BeforeExec),
            inherited: Inherited {
                umask: Some(0o27),
                ..Inherited::default()
            },
            ..SpawnRequest::bare(TerminalId::from_random(7), "/bin/true", Stdio::Pipes)
        };
        let dirs = DaemonDirs {
            socket_dir: PathBuf::from("/run/termd"),
            state_dir: PathBuf::from("/state"),
        };
        let open_files = Rlimit {
            current: Some(1024),
            maximum: None,
        };
        let snapshot = Snapshot::default();
        let input = LauncherInput {
            request: &request,
            dirs: &dirs,
            open_files,
        };
        let bytes = input.to_bytes(&snapshot);
        let read = OwnedInput::parse(&bytes).unwrap();
        assert_eq!((read.snapshot, read.request), (snapshot, request));
        assert_eq!(read.dirs.socket_dir, dirs.socket_dir);
        assert_eq!(read.dirs.state_dir, dirs.state_dir);
        assert_eq!(
            (read.open_files.current, read.open_files.maximum),
            (Some(1024), None)
        );
        for length in 0..bytes.len() {
            assert!(OwnedInput::parse(&bytes[..length]).is_none(), "{length}");
        }
    }
}
