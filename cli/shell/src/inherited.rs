//! What a child of this process would inherit: umask, nice value, limits, signals and descriptors.

use std::fs;
use std::os::fd::{BorrowedFd, RawFd};

use rustix::io::{FdFlags, fcntl_getfd};
use rustix::process::{Resource, getpriority_process, getrlimit};
use termd_proto::terminal::{Inherited, MAX_INHERITED_FD, MAX_INHERITED_FDS, ResourceLimit};

use crate::surroundings::Unfit;
use crate::sys::inherited_fd;

/// The limits that there are, by their numbers (`asm-generic/resource.h`).
const RESOURCES: [Resource; 16] = [
    Resource::Cpu,
    Resource::Fsize,
    Resource::Data,
    Resource::Stack,
    Resource::Core,
    Resource::Rss,
    Resource::Nproc,
    Resource::Nofile,
    Resource::Memlock,
    Resource::As,
    Resource::Locks,
    Resource::Sigpending,
    Resource::Msgqueue,
    Resource::Nice,
    Resource::Rtprio,
    Resource::Rttime,
];
/// The first descriptor above the standard three.
const FIRST_OTHER: RawFd = 3;
/// The number of signals (signal(7)).
const SIGNALS: i32 = 64;

/// All of it, with standard input where the command reads that.
pub(crate) fn of_this_process(has_stdin: bool) -> Result<Inherited, Unfit> {
    let status = fs::read_to_string("/proc/self/status").map_err(|_| Unfit::NoProc)?;
    let field = |name| field(&status, name).ok_or(Unfit::NoProc);
    let umask = u32::from_str_radix(field("Umask")?, 8).map_err(|_| Unfit::NoProc)?;
    let mut fds = other_fds()?;
    if has_stdin {
        fds.insert(0, 0);
    }
    if fds.len() > MAX_INHERITED_FDS {
        return Err(Unfit::ManyFds);
    }
    Ok(Inherited {
        umask: Some(umask),
        nice: getpriority_process(None).ok(),
        limits: limits(),
        ignored_signals: signals(field("SigIgn")?).ok_or(Unfit::NoProc)?,
        blocked_signals: signals(field("SigBlk")?).ok_or(Unfit::NoProc)?,
        fds,
    })
}

/// The descriptors of these numbers, which have been there since the start.
pub(crate) fn descriptors(numbers: &[RawFd]) -> Vec<BorrowedFd<'static>> {
    numbers.iter().map(|number| inherited_fd(*number)).collect()
}

/// Those above the standard three that an exec keeps, as far as they can be passed on.
fn other_fds() -> Result<Vec<RawFd>, Unfit> {
    let entries = fs::read_dir("/proc/self/fd").map_err(|_| Unfit::NoProc)?;
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_kept = |number: &RawFd| {
        (FIRST_OTHER..=MAX_INHERITED_FD).contains(number)
            && fcntl_getfd(inherited_fd(*number))
                .is_ok_and(|flags| !flags.contains(FdFlags::CLOEXEC))
    };
    let mut numbers: Vec<RawFd> = numbers.filter(is_kept).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

fn limits() -> Vec<ResourceLimit> {
    let limits = RESOURCES.into_iter().zip(0..);
    let limits = limits.map(|(resource, number)| {
        let limit = getrlimit(resource);
        ResourceLimit {
            resource: number,
            soft: limit.current,
            hard: limit.maximum,
        }
    });
    limits.collect()
}

/// The value of a field of `proc_pid_status(5)`.
fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = status.lines();
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    value.map(str::trim)
}

/// The numbers of a set of signals in hexadecimal.
fn signals(set: &str) -> Option<Vec<i32>> {
    let set = u64::from_str_radix(set, 16).ok()?;
    let is_in = |signal: &i32| set & (1 << (signal - 1)) != 0;
    Some((1..=SIGNALS).filter(is_in).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_the_numbers_of_its_bits() {
        assert_eq!(signals("0000000000001002"), Some(vec![2, 13]));
        assert_eq!(signals("8000000000000000"), Some(vec![64]));
        assert_eq!(signals("x"), None);
        let status = "Name:\tx\nUmask:\t0022\nSigIgn:\t0000000000001000\n";
        assert_eq!(field(status, "Umask"), Some("0022"));
        assert_eq!(field(status, "Sig"), None);
    }

    #[test]
    fn this_process_has_all_of_it() {
        let inherited = of_this_process(true).unwrap();
        assert_eq!(inherited.limits.len(), 16);
        assert_eq!(inherited.fds.first(), Some(&0));
        // Rust's start has ignored it.
        assert!(inherited.ignored_signals.contains(&13));
    }
}
