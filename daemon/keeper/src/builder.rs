//! A sandbox that bubblewrap builds: becoming it, and going on behind it.
//!
//! The child of the keeper executes bubblewrap, which builds the mounts in a child of its own and
//! executes this very program there ([`launch_where_asked`]), with its orders in a memfd. That process
//! leads the command's session, says its pid on the error pipe, waits until bubblewrap is gone, looks
//! whether what was asked for is there, builds the other walls and becomes the command. So nobody
//! stands between keeper and command: bubblewrap turns a death by a signal into a number.
//!
//! It must not know the keeper's side, `handover`.

use std::ffi::{CStr, CString, OsString};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use nix::libc;
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use rustix::fs::{MemfdFlags, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::Rlimit;

use super::child::{
    Command, FIRST_FREE_FD, HANDED_OVER, HANDOVER_FD, SAID_FD, fail, mark, missed, pass_error_pipe,
    report, take_error_pipe,
};
use super::confine::bubblewrap;
use super::confine::survey::Survey;
use super::confine::{Built, Failure, OwnPlaces, Plan};
use super::exec_gate;
use super::reaping::reap_pid;
use super::sys::{self, ExecStrings, Forked, Unreaped};
use crate::protocol::confinement::Wall;
use crate::protocol::exec_gate::LONGEST_HOLD;
use crate::protocol::message::{SpawnRequest, SpawnStep, ToKeeper};

/// The first argument of this program where it is to go on behind bubblewrap.
const LAUNCH: &CStr = c"--launch";
/// The same where bubblewrap is only tried.
const TRY: &CStr = c"--launch-nothing";

/// What is passed through bubblewrap: the orders, its own arguments, this program, the command's
/// standard error, and from there on empty files.
const ORDERS_FD: RawFd = FIRST_FREE_FD;
const ARGUMENTS_FD: RawFd = ORDERS_FD + 1;
const PROGRAM_FD: RawFd = ARGUMENTS_FD + 1;
const STDERR_FD: RawFd = PROGRAM_FD + 1;
const FIRST_EMPTY_FD: RawFd = STDERR_FD + 1;

/// This program as bubblewrap's child finds it, whatever is at its path or hidden from the sandbox.
const PROGRAM: &CStr = c"/proc/self/fd/9";
const ARGUMENTS: &CStr = c"8";

/// bubblewrap ended without a word from behind it.
pub(super) const GAVE_UP: i32 = libc::ECANCELED;

/// What whoever goes on behind bubblewrap has to know.
pub(super) struct Orders<'a> {
    pub(super) request: &'a SpawnRequest,
    pub(super) own: &'a OwnPlaces,
    pub(super) open_files: Rlimit,
}

/// Executes bubblewrap. Why it cannot be had, where it returns; the descriptors are then as before.
pub(super) fn become_bubblewrap(plan: &Plan, orders: &Orders<'_>) -> Result<i32, Failure> {
    let program = match bubblewrap::find() {
        Ok(program) => program,
        Err(errno) => return Ok(errno),
    };
    let Some((survey, arguments)) = plan.survey(FIRST_EMPTY_FD, &missed)? else {
        return Ok(libc::EINVAL);
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
    // Nothing of the request's: a LD_PRELOAD in it is for the command, in its walls.
    let env = CString::new(mark(orders.request)).into_iter().collect();
    let env = ExecStrings::new(env);
    let executed = pass_on(&orders.to_bytes(&survey), &arguments).and_then(|()| {
        if plan.is_best_effort() {
            try_out(&program, &argv(TRY), &env)?;
        }
        pass_error_pipe()?;
        Err::<(), _>(sys::execute(&program, &argv(LAUNCH), &env))
    });
    take_back().map_err(|errno| (SpawnStep::Confine(Wall::Bubblewrap), errno))?;
    Ok(executed.err().unwrap_or(libc::EINVAL))
}

/// Places everything that is passed through bubblewrap, and makes what it says go to the keeper.
fn pass_on(orders: &[u8], arguments: &bubblewrap::Arguments) -> Result<(), i32> {
    place(memfd(orders)?, ORDERS_FD)?;
    place(memfd(&arguments.text)?, ARGUMENTS_FD)?;
    let open = |path: &CStr, flags| {
        let opened = rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty());
        opened.map_err(Errno::raw_os_error)
    };
    place(open(c"/proc/self/exe", OFlags::PATH)?, PROGRAM_FD)?;
    let stderr = rustix::io::dup(rustix::stdio::stderr()).map_err(Errno::raw_os_error)?;
    place(stderr, STDERR_FD)?;
    for number in (FIRST_EMPTY_FD..).take(arguments.empty_files as usize) {
        place(open(c"/dev/null", OFlags::RDONLY)?, number)?;
    }
    sys::place_fd(SAID_FD, libc::STDERR_FILENO)
}

/// Takes the command's standard error back, and closes what bubblewrap was passed.
fn take_back() -> Result<(), i32> {
    // Not there where nothing was placed yet.
    if let Err(errno) = sys::place_fd(STDERR_FD, libc::STDERR_FILENO)
        && errno != libc::EBADF
    {
        return Err(errno);
    }
    sys::close_from(HANDOVER_FD);
    take_error_pipe()
}

/// Whether bubblewrap can build this: by best effort the command runs without, where it cannot, and
/// after the exec it would be too late for that.
fn try_out(program: &CStr, argv: &ExecStrings, env: &ExecStrings) -> Result<(), i32> {
    let pid = match sys::fork()? {
        Forked::Child => {
            // A group of its own: what it leaves behind is found.
            if rustix::process::setpgid(None, None).is_ok() {
                sys::execute(program, argv, env);
            }
            sys::exit_child(127);
        }
        Forked::Parent(pid) => pid,
    };
    let ended = loop {
        let kinds = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
        match waitid(Id::Pid(Pid::from_raw(pid)), kinds) {
            Err(nix::errno::Errno::EINTR) => {}
            ended => break ended.map_err(|errno| errno as i32)?,
        }
    };
    sys::kill_unreaped(Unreaped::GroupOf(pid), libc::SIGKILL);
    reap_pid(pid);
    match ended {
        WaitStatus::Exited(_, 0) => {}
        _ => return Err(GAVE_UP),
    }
    // It was read through the same offset.
    let arguments = sys::childs_own(ARGUMENTS_FD);
    let rewound = rustix::fs::seek(arguments, rustix::fs::SeekFrom::Start(0));
    rewound.map(drop).map_err(Errno::raw_os_error)
}

fn memfd(bytes: &[u8]) -> Result<OwnedFd, i32> {
    let file = rustix::fs::memfd_create("termd-orders", MemfdFlags::CLOEXEC);
    let mut file = File::from(file.map_err(Errno::raw_os_error)?);
    let written = file.write_all(bytes).and_then(|()| file.rewind());
    written.map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))?;
    Ok(file.into())
}

/// Gives a descriptor its number, open across exec. Those below are taken, so none that is made later
/// can have it.
fn place(fd: OwnedFd, number: RawFd) -> Result<(), i32> {
    sys::place_fd(fd.as_fd().as_raw_fd(), number)?;
    if fd.as_raw_fd() == number {
        std::mem::forget(fd);
    }
    Ok(())
}

/// Goes on behind bubblewrap and never returns, where this program was executed for that. To be
/// called before anything else, in every program that is a keeper.
pub fn launch_where_asked() {
    let Some(mode) = std::env::args_os().nth(1) else {
        return;
    };
    if mode.as_bytes() == TRY.to_bytes() {
        std::process::exit(0);
    }
    if mode.as_bytes() == LAUNCH.to_bytes() {
        fail(launch());
    }
}

fn launch() -> Failure {
    let failed = |errno| (SpawnStep::Confine(Wall::Bubblewrap), errno);
    let prepared = take_error_pipe()
        .and_then(|()| read_orders())
        .map_err(failed);
    let (survey, request, own, open_files) = match prepared {
        Ok(orders) => orders,
        Err(failure) => return failure,
    };
    let command = Command::new(&request);
    let plan = command.and_then(|command| {
        // The tty's own device is bubblewrap's to make.
        Ok((command, Plan::new(&request.confinement, &own, None)?))
    });
    let (command, mut plan) = match plan {
        Ok(both) => both,
        Err(failure) => return (failure.step, failure.errno),
    };
    let left = leave_bubblewrap(&command);
    if let Err(failure) = left {
        return failure;
    }
    command.go_on(Built::Elsewhere(&survey), &mut plan, open_files)
}

/// From bubblewrap's child to the keeper's.
fn leave_bubblewrap(command: &Command) -> Result<(), Failure> {
    let failed = |errno| (SpawnStep::Confine(Wall::Bubblewrap), errno);
    // Up to here its end is ours. From here on the keeper ends it, and knows us.
    nix::sys::prctl::set_pdeathsig(None).map_err(|errno| failed(errno as i32))?;
    command.lead_session()?;
    report(HANDED_OVER, rustix::process::getpid().as_raw_pid());
    exec_gate::wait_at(HANDOVER_FD, LONGEST_HOLD).map_err(failed)?;
    take_back().map_err(failed)
}

/// What orders say.
type Said = (Survey, SpawnRequest, OwnPlaces, Rlimit);

fn read_orders() -> Result<Said, i32> {
    let failed = |error: std::io::Error| error.raw_os_error().unwrap_or(libc::EIO);
    let mut bytes = Vec::new();
    let orders = sys::adopt_fd(ORDERS_FD).map_err(failed)?;
    File::from(orders).read_to_end(&mut bytes).map_err(failed)?;
    parse(&bytes).ok_or(libc::EINVAL)
}

impl Orders<'_> {
    fn to_bytes(&self, survey: &Survey) -> Vec<u8> {
        let mut bytes = Vec::new();
        for limit in [self.open_files.current, self.open_files.maximum] {
            bytes.extend_from_slice(&limit.unwrap_or(u64::MAX).to_le_bytes());
        }
        let (_, request) = ToKeeper::Spawn(Box::new(self.request.clone())).encode();
        let parts = [
            self.own.socket_dir.as_os_str().as_bytes(),
            self.own.state_dir.as_os_str().as_bytes(),
            &survey.to_bytes(),
            &request,
        ];
        for part in parts {
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part);
        }
        bytes
    }
}

fn parse(mut bytes: &[u8]) -> Option<Said> {
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
    let own = OwnPlaces {
        socket_dir: path(part()?),
        state_dir: path(part()?),
    };
    let survey = Survey::from_bytes(part()?)?;
    match ToKeeper::decode(ToKeeper::SPAWN, part()?) {
        Ok(Some(ToKeeper::Spawn(request))) => Some((survey, *request, own, open_files)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use termd_proto::TerminalId;
    use termd_proto::terminal::Stdio;

    use super::*;
    use crate::protocol::confinement::Confinement;
    use crate::protocol::message::Hold;

    #[test]
    fn what_is_passed_by_number_is_named_by_it() {
        assert_eq!(ARGUMENTS.to_str().unwrap(), ARGUMENTS_FD.to_string());
        assert_eq!(
            PROGRAM.to_str().unwrap(),
            format!("/proc/self/fd/{PROGRAM_FD}")
        );
    }

    #[test]
    fn orders_come_through_whole() {
        let request = SpawnRequest {
            id: TerminalId::from_random(7),
            program: b"/bin/true".to_vec(),
            argv: vec![b"true".to_vec(), vec![0xff]],
            env: vec![b"A=b".to_vec()],
            cwd: b"/w".to_vec(),
            cols: 80,
            rows: 24,
            notes: Vec::new(),
            stdio: Stdio::Pipes,
            confinement: Confinement::default(),
            hold: Hold::BeforeExec,
        };
        let own = OwnPlaces {
            socket_dir: PathBuf::from("/run/termd"),
            state_dir: PathBuf::from("/state"),
        };
        let open_files = Rlimit {
            current: Some(1024),
            maximum: None,
        };
        let survey = Survey::default();
        let orders = Orders {
            request: &request,
            own: &own,
            open_files,
        };
        let bytes = orders.to_bytes(&survey);
        let (read_survey, read_request, read_own, limit) = parse(&bytes).unwrap();
        assert_eq!((read_survey, read_request), (survey, request));
        assert_eq!(read_own.socket_dir, own.socket_dir);
        assert_eq!(read_own.state_dir, own.state_dir);
        assert_eq!((limit.current, limit.maximum), (Some(1024), None));
        for length in 0..bytes.len() {
            assert!(parse(&bytes[..length]).is_none(), "{length}");
        }
    }
}
