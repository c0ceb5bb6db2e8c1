//! Reads `/proc`. A process that vanishes while it is read counts as absent.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::str::FromStr;

use termd_proto::TerminalId;

use super::membership::{Excluded, Process, descendants};
use crate::cgroup;
use crate::protocol::message::{ProcessId, TERMINAL_VARIABLE};

/// A stat line has 52 numbers and a name of at most 64 bytes.
const MAX_STAT: u64 = 2048;
/// The number of the first field after the name, which is the state.
const FIRST_FIELD: usize = 3;
/// How much of an environment is read. The mark is the first variable of what the keeper executes.
const ENVIRON_BYTES: usize = 256 * 1024;
/// How often an empty environment is read again. In the middle of execve(2), which takes below a
/// millisecond, the kernel shows none; one read takes about 10 us.
const EXECVE_READS: usize = 200;
/// The most descriptors of one process that are looked at.
const MAX_DESCRIPTORS: usize = 4096;
/// How often processes are read again for their parents. Parents may end in between, too.
const MAX_PARENT_READS: usize = 3;
/// What follows a name in a link when the name is gone.
const DELETED: &[u8] = b" (deleted)";
/// All processes.
pub(crate) fn all_pids() -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter_map(|name| name.parse().ok()).collect()
}

/// Those of these processes that are below the keeper, with their marks, without the excluded ones;
/// with their cgroups, where a terminal has one.
pub(crate) fn snapshot(
    pids: Vec<i32>,
    keeper: i32,
    excluded: Excluded<'_>,
    has_cgroups: bool,
) -> Vec<Process> {
    let mut all: BTreeMap<i32, Process> = pids
        .into_iter()
        .filter_map(|pid| Some((pid, read_process(pid)?)))
        .collect();
    read_new_parents(&mut all, keeper);
    let mut below = descendants(all, keeper, excluded);
    let mut buffer = vec![0; ENVIRON_BYTES];
    for process in below.iter_mut().filter(|process| !process.ended) {
        process.mark = read_mark(process.id.pid, &mut buffer);
        process.cgroup = (has_cgroups.then(|| cgroup(process.id.pid))).flatten();
    }
    below
}

/// Reads processes again whose parents ended while all were read: another process has adopted them.
fn read_new_parents(all: &mut BTreeMap<i32, Process>, keeper: i32) {
    for _ in 0..MAX_PARENT_READS {
        let is_missing = |parent: &i32| ![0, keeper].contains(parent) && !all.contains_key(parent);
        let parents = all.iter().map(|(pid, process)| (*pid, process.parent));
        let torn: Vec<_> = parents.filter(|(_, parent)| is_missing(parent)).collect();
        for (pid, _) in torn {
            let Some(process) = read_process(pid) else {
                all.remove(&pid);
                continue;
            };
            let parent = process.parent;
            all.insert(pid, process);
            if !all.contains_key(&parent)
                && let Some(parent) = read_process(parent)
            {
                all.insert(parent.id.pid, parent);
            }
        }
    }
}

/// The children of this process, which has one thread; none where the kernel does not list them
/// (`CONFIG_PROC_CHILDREN`).
pub(crate) fn child_pids() -> Vec<i32> {
    let listed = std::fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
    let pids = listed.split_ascii_whitespace();
    pids.filter_map(|pid| pid.parse().ok()).collect()
}

/// The same, each with its start time.
pub(crate) fn own_children() -> Vec<ProcessId> {
    let pids = child_pids().into_iter();
    pids.filter_map(|pid| Some(read_process(pid)?.id)).collect()
}

/// A process's name (`proc_pid_comm(5)`).
pub(crate) fn name(pid: i32) -> Option<Vec<u8>> {
    let mut name = std::fs::read(format!("/proc/{pid}/comm")).ok()?;
    name.pop_if(|last| *last == b'\n');
    Some(name)
}

/// What a process has open, as the links of `proc_pid_fd(5)` say it, without the note that a name is
/// gone: a tty has none once its master is closed. No file is touched: its server may not answer.
pub(crate) fn open_files(pid: i32) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd"));
    let entries = entries.into_iter().flatten().take(MAX_DESCRIPTORS);
    let links = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    links.map(|link| {
        let mut name = link.into_os_string().into_vec();
        if name.ends_with(DELETED) {
            name.truncate(name.len() - DELETED.len());
        }
        OsString::from_vec(name).into()
    })
}

fn cgroup(pid: i32) -> Option<PathBuf> {
    let listed = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    cgroup::path_in(&listed).map(PathBuf::from)
}

/// One process, without its mark and its cgroup.
pub(crate) fn read_process(pid: i32) -> Option<Process> {
    parse_stat(pid, &read_stat(pid)?)
}

/// Looks again at a process of which nothing more was found: it may have ended before its environment
/// was read. One that is gone counts as a child of the keeper.
pub(crate) fn renew(process: &mut Process, keeper: i32) {
    match read_process(process.id.pid) {
        Some(now) if now.id == process.id => {
            process.parent = now.parent;
            process.ended = now.ended;
        }
        _ => {
            process.parent = keeper;
            process.ended = true;
        }
    }
}

/// When a process started, in clock ticks since boot.
pub(crate) fn start_time(pid: i32) -> Option<u64> {
    read_process(pid).map(|process| process.id.start_time)
}

fn read_stat(pid: i32) -> Option<Vec<u8>> {
    let mut stat = Vec::new();
    let file = File::open(format!("/proc/{pid}/stat")).ok()?;
    file.take(MAX_STAT).read_to_end(&mut stat).ok()?;
    Some(stat)
}

/// The fields after the name. The name is in parentheses and may have parentheses in it.
fn fields(stat: &[u8]) -> Option<Vec<&str>> {
    let name_end = stat.iter().rposition(|&byte| byte == b')')?;
    let rest = std::str::from_utf8(stat.get(name_end + 1..)?).ok()?;
    Some(rest.split_ascii_whitespace().collect())
}

/// `proc_pid_stat(5)`.
fn parse_stat(pid: i32, stat: &[u8]) -> Option<Process> {
    let fields = fields(stat)?;
    let field = |number: usize| fields.get(number - FIRST_FIELD).copied();
    // tty_nr is printed signed.
    let tty = field(7)?.parse::<i32>().ok()?.cast_unsigned();
    let threads: u32 = field(20)?.parse().ok()?;
    Some(Process {
        id: ProcessId {
            pid,
            start_time: field(22)?.parse().ok()?,
        },
        parent: field(4)?.parse().ok()?,
        group: field(5)?.parse().ok()?,
        session: field(6)?.parse().ok()?,
        tty: (tty != 0).then_some(tty),
        // A process whose first thread has ended looks like a zombie while other threads run.
        ended: matches!(field(3)?, "Z" | "X" | "x") && threads <= 1,
        mark: None,
        cgroup: None,
        lesser_evidence: None,
    })
}

fn read_mark(pid: i32, buffer: &mut [u8]) -> Option<TerminalId> {
    for _ in 0..EXECVE_READS {
        // One read(2): a second one finds nothing where execve(2) has replaced the environment.
        let mut file = File::open(format!("/proc/{pid}/environ")).ok()?;
        let length = file.read(buffer).ok()?;
        let is_executing = length == 0 && has_executable(pid);
        if !is_executing {
            return find_mark(buffer.get(..length)?);
        }
    }
    None
}

/// Whether a process executes a program: a zombie and a kernel thread do not.
fn has_executable(pid: i32) -> bool {
    std::fs::read_link(format!("/proc/{pid}/exe")).is_ok()
}

fn find_mark(environ: &[u8]) -> Option<TerminalId> {
    let mut variables = environ.split(|byte| *byte == 0);
    let value = variables.find_map(|variable| {
        let rest = variable.strip_prefix(TERMINAL_VARIABLE.as_bytes())?;
        rest.strip_prefix(b"=")
    })?;
    TerminalId::from_str(std::str::from_utf8(value).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stat_line_is_read_whatever_the_name() {
        for name in ["cat", "a b", ") S 1 1 (", "(((", "\u{fffd}"] {
            let line = format!(
                "7 ({name}) S 3 5 6 34820 7 4194304 1 0 0 0 0 0 0 0 20 0 1 0 9919 0 0 0 0\n"
            );
            let process = parse_stat(7, line.as_bytes()).unwrap();
            let expected = Process {
                id: ProcessId {
                    pid: 7,
                    start_time: 9919,
                },
                parent: 3,
                group: 5,
                session: 6,
                tty: Some(34820),
                ended: false,
                mark: None,
                cgroup: None,
                lesser_evidence: None,
            };
            assert_eq!(process, expected, "{name}");
        }
    }

    #[test]
    fn zombies_have_ended_unless_a_thread_runs_on() {
        let ended = |state: &str, threads: u32| {
            let line = format!("7 (x) {state} 3 5 6 0 7 0 1 0 0 0 0 0 0 0 20 0 {threads} 0 1 0\n");
            parse_stat(7, line.as_bytes()).unwrap().ended
        };
        assert!(!ended("S", 1));
        assert!(ended("Z", 1));
        assert!(!ended("Z", 2));
    }

    #[test]
    fn noise_is_no_process() {
        for noise in ["", "7", "7 (x", "7 (x) S 1", "7 (x) S a b c d e f g"] {
            assert_eq!(parse_stat(7, noise.as_bytes()), None, "{noise}");
        }
    }

    #[test]
    fn a_mark_is_found_wherever_it_stands() {
        let id = TerminalId::from_random(5);
        let long = "L=".to_owned() + &"x".repeat(100_000);
        for environ in [
            format!("TERMD_TERMINAL={id}\0A=b\0"),
            format!("A=b\0{long}\0TERMD_TERMINAL={id}"),
        ] {
            assert_eq!(find_mark(environ.as_bytes()), Some(id.clone()));
        }
        for environ in [
            "",
            "A=b\0",
            "XTERMD_TERMINAL=term_aaaaaaaaaaaa\0",
            "TERMD_TERMINAL=x\0",
        ] {
            assert_eq!(find_mark(environ.as_bytes()), None, "{environ}");
        }
    }

    #[test]
    fn this_process_reads_itself() {
        let pid = rustix::process::getpid().as_raw_pid();
        let process = read_process(pid).unwrap();
        assert_eq!(process.id.pid, pid);
        assert!(!process.ended);
    }
}
