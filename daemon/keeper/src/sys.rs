//! The few system calls that rustix and nix have no safe function for.
#![allow(unsafe_code)] // fork, raw pids and descriptors by number are the keeper's trade.

use std::ffi::{CStr, CString, c_char};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::OnceLock;
use std::time::Duration;

use nix::libc;
use nix::sys::signal::{SigSet, SigmaskHow, sigprocmask};
use nix::time::ClockId;
use rustix::io::Errno;

/// The first descriptor that a service manager, or the keeper, passes by number;
/// `SD_LISTEN_FDS_START`.
pub(crate) const FIRST_PASSED_FD: RawFd = 3;

/// All signals, real-time ones included.
pub(crate) const SIGNALS: std::ops::RangeInclusive<i32> = 1..=64;

/// The length of the kernel's signal set (`rt_sigaction(2)`).
const SIGNAL_MASK_BYTES: libc::size_t = 8;

/// Takes ownership of a descriptor that was passed by number, and makes it close-on-exec.
/// Fails with EBADF where nothing is open. Call it once for each number.
pub(crate) fn adopt_fd(number: RawFd) -> Result<OwnedFd, Errno> {
    // SAFETY: F_SETFD takes no pointer and fails with EBADF on a closed descriptor.
    let set = unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
    if set == -1 {
        return Err(errno());
    }
    // SAFETY: it is open, and by the protocol that passed it nothing else in this process owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Which side of fork(2) this is.
pub(crate) enum Forked {
    /// The child. It must not return into the caller's world.
    Child,
    /// The parent, with the child's pid.
    Parent(i32),
}

/// fork(2), in a process that has one thread, so that the child may allocate.
pub(crate) fn fork() -> Result<Forked, Errno> {
    // SAFETY: the keeper is single-threaded (its documented invariant): no lock can be held by a
    // thread that the child does not have.
    match unsafe { libc::fork() } {
        -1 => Err(errno()),
        0 => Ok(Forked::Child),
        pid => Ok(Forked::Parent(pid)),
    }
}

/// [`fork`] with flags of clone(2), as by a libc that does not notice. It does not matter to a child
/// that ends or executes something without asking libc for its thread id.
pub(crate) fn fork_with(flags: i32) -> Result<Forked, Errno> {
    let flags = libc::c_long::from(flags | libc::SIGCHLD);
    // SAFETY: as of `fork`. Without CLONE_VM and with a null stack the child goes on with a copy of
    // this one's; the other arguments are ignored without their flags.
    match unsafe { libc::syscall(libc::SYS_clone, flags, 0_usize, 0_usize, 0_usize, 0_usize) } {
        -1 => Err(errno()),
        0 => Ok(Forked::Child),
        pid => i32::try_from(pid)
            .map(Forked::Parent)
            .map_err(|_| Errno::RANGE),
    }
}

/// [`fork_with`] a child that is born in a cgroup: `CLONE_INTO_CGROUP` of clone3(2), Linux 5.7.
pub(crate) fn fork_into_cgroup(cgroup: BorrowedFd<'_>) -> Result<Forked, Errno> {
    const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;
    // SAFETY: an all-zero clone_args is valid: it holds integers.
    let mut args = unsafe { std::mem::zeroed::<libc::clone_args>() };
    args.flags = CLONE_INTO_CGROUP;
    args.exit_signal = libc::SIGCHLD.unsigned_abs().into();
    args.cgroup = cgroup.as_raw_fd().unsigned_abs().into();
    let size = std::mem::size_of_val(&args);
    // SAFETY: as of `fork_with`. `args` is readable and has this size.
    match unsafe { libc::syscall(libc::SYS_clone3, &raw const args, size) } {
        -1 => Err(errno()),
        0 => Ok(Forked::Child),
        pid => i32::try_from(pid)
            .map(Forked::Parent)
            .map_err(|_| Errno::RANGE),
    }
}

/// The processor time of a process, also of a zombie, by the clock that the kernel compares with
/// `RLIMIT_CPU`: it counts ticks. Those of `/proc/PID/stat` are scaled to what was measured, and under
/// load differ by a tenth. Its children's time is not in it.
pub(crate) fn limited_cpu_time(pid: i32) -> Option<Duration> {
    // MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_PROF) of linux/posix-timers.h.
    let clock = ClockId::from_raw(!pid << 3);
    nix::time::clock_gettime(clock).ok().map(Duration::from)
}

/// The error of the last system call.
pub(crate) fn errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// Leaves a forked child without running what the parent would run at its exit.
pub(crate) fn exit_child(code: i32) -> ! {
    // SAFETY: _exit never returns and touches nothing of ours.
    unsafe { libc::_exit(code) }
}

/// Gives a child default dispositions for what Rust's runtime ignores (SIGPIPE) and for what termd's
/// own parent ignored.
pub(crate) fn default_dispositions() {
    for signal in remember_dispositions() {
        default_disposition(*signal);
    }
}

/// The signals that had another disposition than the default at the first call. The keeper calls it
/// when it has set its own and changes none after that, so its children save 64 system calls each.
pub(crate) fn remember_dispositions() -> &'static [i32] {
    static NOT_DEFAULT: OnceLock<Vec<i32>> = OnceLock::new();
    NOT_DEFAULT.get_or_init(|| SIGNALS.filter(|signal| !has_default(*signal)).collect())
}

fn has_default(signal: i32) -> bool {
    let mut now = [0_u64; 4];
    let nothing = ptr::null::<u64>();
    // SAFETY: the array is as large as the kernel's structure on every architecture or larger.
    let result = unsafe {
        libc::syscall(
            libc::SYS_rt_sigaction,
            signal,
            nothing,
            now.as_mut_ptr(),
            SIGNAL_MASK_BYTES,
        )
    };
    // SIG_DFL, no flags, an empty mask.
    result == 0 && now == [0; 4]
}

/// The hard limit of this number (`RLIMIT_*`, getrlimit(2)); `None`: it is infinite, or there is no such
/// limit.
pub(crate) fn hard_limit(resource: u32) -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: `limit` is writable; a number that is no limit's fails with EINVAL.
    let _ = unsafe { libc::getrlimit(resource, &raw mut limit) };
    (limit.rlim_max != libc::RLIM_INFINITY).then_some(limit.rlim_max)
}

/// Sets a limit of this process; `None`: infinite. No effect where the kernel refuses.
pub(crate) fn set_limit(resource: u32, soft: Option<u64>, hard: Option<u64>) {
    let limit = libc::rlimit {
        rlim_cur: soft.unwrap_or(libc::RLIM_INFINITY),
        rlim_max: hard.unwrap_or(libc::RLIM_INFINITY),
    };
    // SAFETY: `limit` is readable.
    let _ = unsafe { libc::setrlimit(resource, &raw const limit) };
}

/// Unblocks what the keeper blocks.
pub(crate) fn unblock_signals() {
    // It cannot fail: the arguments are valid.
    let _ = sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None);
}

/// Gives a signal its default disposition. No effect where the kernel refuses (SIGKILL, SIGSTOP).
pub(crate) fn default_disposition(signal: i32) {
    set_disposition(signal, libc::SIG_DFL);
}

/// Ignores a signal.
pub(crate) fn ignore_signal(signal: i32) {
    set_disposition(signal, libc::SIG_IGN);
}

fn set_disposition(signal: i32, handler: libc::sighandler_t) {
    // The kernel's struct sigaction, all but the handler zero: no flags, an empty mask. By the system
    // call, because libc refuses its own two real-time signals, which an ancestor may have ignored.
    let action = [handler as u64, 0, 0, 0];
    let nowhere = ptr::null_mut::<u64>();
    // SAFETY: the array is as large as the kernel's structure on every architecture or larger, and
    // neither SIG_DFL nor SIG_IGN is a function.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigaction,
            signal,
            action.as_ptr(),
            nowhere,
            SIGNAL_MASK_BYTES,
        )
    };
}

/// Makes `fd` this very number, open across exec. Only in a forked child.
pub(crate) fn place_fd(fd: RawFd, number: RawFd) -> Result<(), Errno> {
    let placed = if fd == number {
        // SAFETY: no pointer is passed.
        unsafe { libc::fcntl(fd, libc::F_SETFD, 0) }
    } else {
        // SAFETY: the child is about to exec; nothing in it uses the descriptor that is replaced.
        unsafe { libc::dup2(fd, number) }
    };
    if placed == -1 { Err(errno()) } else { Ok(()) }
}

/// A copy of a descriptor at `least` or above, close-on-exec. It is never closed by us: only in a
/// forked child, before [`close_from`].
pub(crate) fn lift_fd(fd: BorrowedFd<'_>, least: RawFd) -> Result<RawFd, Errno> {
    // SAFETY: no pointer is passed.
    match unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, least) } {
        -1 => Err(errno()),
        lifted => Ok(lifted),
    }
}

/// A descriptor that a forked child has open until its exec or its end, or that nobody has adopted yet.
pub(crate) fn borrow_fd(number: RawFd) -> BorrowedFd<'static> {
    // SAFETY: by this function's contract nothing closes it while it is borrowed.
    unsafe { BorrowedFd::borrow_raw(number) }
}

/// Closes every descriptor from this number on. Only in a forked child, which owns none of them.
pub(crate) fn close_from(first: RawFd) {
    close_between(first, RawFd::MAX);
}

/// Closes one descriptor, if it is open. Only in a forked child, which uses it no more.
pub(crate) fn close_one(number: RawFd) {
    close_between(number, number);
}

/// Closes every descriptor from one number to another. Only in a forked child, which owns none of them.
pub(crate) fn close_between(first: RawFd, last: RawFd) {
    // SAFETY: by this function's contract the child uses none of these again. close_range(2) is called
    // by number because an old libc has no function for it.
    unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
}

/// Closes every descriptor from [`FIRST_PASSED_FD`] on but this one. Only in a forked child that
/// owns no other: one that is owned would be closed a second time when it is dropped.
pub(crate) fn close_all_but(kept: BorrowedFd<'_>) {
    let kept = kept.as_raw_fd();
    if kept > FIRST_PASSED_FD {
        close_between(FIRST_PASSED_FD, kept - 1);
    }
    close_from(FIRST_PASSED_FD.max(kept + 1));
}

/// A NULL-terminated array of strings, as execve(2) takes it.
pub(crate) struct ExecStrings {
    pointers: Vec<*const c_char>,
    /// What the pointers point into.
    _strings: Vec<CString>,
}

impl ExecStrings {
    /// Of these strings, in this order.
    pub(crate) fn new(strings: Vec<CString>) -> Self {
        let mut pointers: Vec<_> = strings.iter().map(|string| string.as_ptr()).collect();
        pointers.push(ptr::null());
        Self {
            pointers,
            _strings: strings,
        }
    }
}

/// execve(2). Returns only if it failed.
pub(crate) fn execute(program: &CStr, argv: &ExecStrings, env: &ExecStrings) -> Errno {
    // SAFETY: both arrays end with NULL and point to NUL-terminated strings that live in `argv`
    // and `env`.
    unsafe {
        libc::execve(
            program.as_ptr(),
            argv.pointers.as_ptr(),
            env.pointers.as_ptr(),
        )
    };
    errno()
}

/// A process that a pid names for certain.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unreaped {
    /// A child of ours, or a process whose start time was just read: no other has its pid.
    Child(i32),
    /// The process group of such a child.
    GroupOf(i32),
}

/// kill(2), where the pid cannot be another process's. Whether it reached a process.
pub(crate) fn kill_unreaped(target: Unreaped, signal: i32) -> bool {
    let number = match target {
        // 0, 1 and -1 would be this group, init and everybody: no pid of a child of ours.
        Unreaped::Child(pid) if pid > 1 => pid,
        Unreaped::GroupOf(pid) if pid > 1 => -pid,
        _ => return false,
    };
    // SAFETY: no pointer is passed.
    unsafe { libc::kill(number, signal) == 0 }
}

/// `pidfd_send_signal(2)` with any signal number.
pub(crate) fn signal_pidfd(pidfd: BorrowedFd<'_>, signal: i32) -> Result<(), Errno> {
    let no_info = ptr::null::<libc::siginfo_t>();
    // SAFETY: a null siginfo is allowed: the kernel then makes one as kill(2) would.
    let sent = unsafe {
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            pidfd.as_raw_fd(),
            signal,
            no_info,
            0,
        )
    };
    if sent == 0 { Ok(()) } else { Err(errno()) }
}
