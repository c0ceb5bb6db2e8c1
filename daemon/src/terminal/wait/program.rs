//! The program in a terminal's foreground, as `/proc` shows it (proc(5)). What cannot be read is absent,
//! never guessed.

use std::fs;
use std::path::{Path, PathBuf};

use nix::libc;

use super::completion::{ProcessState, ProgramKind};

/// How deep the children are searched for the program that runs.
const MAX_DEPTH: usize = 16;
/// Shells that edit lines themselves.
const EDITING_SHELLS: [&str; 9] = [
    "bash", "zsh", "fish", "ksh", "ksh93", "mksh", "tcsh", "nu", "xonsh",
];
/// Shells that leave editing to the tty.
const PLAIN_SHELLS: [&str; 4] = ["sh", "dash", "ash", "busybox"];
/// Most characters of a name; the kernel's `comm` has 15 bytes.
const MAX_NAME_CHARS: usize = 64;
/// Where a process sleeps that waits for anything but its tty (`/proc/PID/wchan`).
const ELSEWHERE: [&str; 4] = ["nanosleep", "do_wait", "futex", "pipe"];
/// Where a process sleeps in a read of a tty. `wait_woken` is that of a TCP socket, too.
const READS: [&str; 2] = ["tty_read", "wait_woken"];
/// Where a process sleeps in select(2), poll(2) or `epoll_wait(2)`.
const POLLS: [&str; 6] = [
    "poll_schedule_timeout",
    "do_select",
    "do_sys_poll",
    "do_poll",
    "do_epoll_wait",
    "ep_poll",
];
/// Most threads that are looked at.
const MAX_THREADS: usize = 64;
/// Highest descriptors of a select(2) that count as the tty alone: standard input, output and error.
const STANDARD_DESCRIPTORS: u64 = 3;

/// A program in the foreground.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub pid: i32,
    /// Its process group, which is in the foreground.
    pub group: i32,
    /// Without control characters.
    pub name: String,
    pub doing: ProcessState,
}

impl Program {
    /// Whether it does not wait for what it has started: it sleeps until its tty has input, or is a shell
    /// that runs jobs in its own group, as fish does at its start.
    fn reads_beside(&self) -> bool {
        let edits = self.kind() == ProgramKind::EditingShell && self.doing == ProcessState::Polls;
        self.doing.waits_for_tty() || edits
    }

    pub fn kind(&self) -> ProgramKind {
        let name = self.name.strip_prefix('-').unwrap_or(&self.name);
        if EDITING_SHELLS.contains(&name) && takes_commands(&arguments(self.pid)) {
            ProgramKind::EditingShell
        } else if PLAIN_SHELLS.contains(&name) {
            ProgramKind::PlainShell
        } else {
            ProgramKind::Program
        }
    }

    pub fn cwd(&self) -> Option<String> {
        let path = fs::read_link(format!("/proc/{}/cwd", self.pid)).ok()?;
        path.into_os_string().into_string().ok()
    }
}

impl Program {
    /// A process of the foreground group of the terminal whose root process is `root`.
    fn read(pid: i32, root: &Stat) -> Option<Self> {
        let stat = Stat::read(pid)?;
        (stat.group == root.foreground).then(|| Self {
            pid,
            group: stat.group,
            name: stat.name,
            doing: doing(pid, stat.state),
        })
    }
}

/// The foreground program of the terminal whose root process is `root`: the leader of the foreground
/// process group, or the newest process that it waits for. Where one of those between them reads the
/// tty, that is the program.
pub fn foreground(root: i32) -> Option<Program> {
    let root = Stat::read(root)?;
    let mut chain = vec![root.foreground];
    while let Some(child) = chain
        .last()
        .and_then(|pid| newest_child(*pid, root.foreground))
        && chain.len() <= MAX_DEPTH
    {
        chain.push(child);
    }
    let newest = Program::read(chain.pop()?, &root)?;
    if newest.doing.waits_for_tty() {
        return Some(newest);
    }
    let others = chain.into_iter().rev();
    let mut others = others.filter_map(|pid| Program::read(pid, &root));
    Some(others.find(Program::reads_beside).unwrap_or(newest))
}

/// The leader of the foreground process group, whatever runs beside it in its group.
pub fn foreground_leader(root: i32) -> Option<Program> {
    let root = Stat::read(root)?;
    Program::read(root.foreground, &root)
}

/// The arguments of a process behind its name.
fn arguments(pid: i32) -> Vec<String> {
    let all = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = all.split(|byte| *byte == 0).skip(1);
    let words = words.map(|word| String::from_utf8_lossy(word).into_owned());
    words.filter(|word| !word.is_empty()).collect()
}

/// Whether a shell with these arguments reads commands from its tty, and has neither a script nor a line to
/// run (`-c`).
fn takes_commands(arguments: &[String]) -> bool {
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "-s" | "--interactive" => return true,
            "--" | "-" => return words.next().is_none(),
            // With values of their own; fish runs that of -C, and then takes commands.
            "--rcfile" | "--init-file" | "-o" | "+o" | "-O" | "+O" | "-C" => drop(words.next()),
            _ if word.starts_with("--command") => return false,
            _ if word.starts_with("--") || word.starts_with('+') => {}
            _ => match word.strip_prefix('-') {
                Some(letters) if letters.contains('i') => return true,
                Some(letters) if !letters.contains('c') => {}
                _ => return false,
            },
        }
    }
    true
}

fn doing(pid: i32, state: char) -> ProcessState {
    if state != 'S' {
        return ProcessState::Runs;
    }
    // `0` where it is not readable.
    let waits_in = fs::read_to_string(format!("/proc/{pid}/wchan")).unwrap_or_default();
    let is_any = |names: &[&str]| names.iter().any(|name| waits_in.contains(name));
    if is_any(&ELSEWHERE) {
        ProcessState::SleepsElsewhere
    } else if is_any(&READS) {
        if reads_tty(pid) {
            ProcessState::ReadsTty
        } else {
            ProcessState::SleepsElsewhere
        }
    } else if is_any(&POLLS) {
        if selects_tty(pid) {
            ProcessState::SelectsTty
        } else {
            ProcessState::Polls
        }
    } else {
        ProcessState::Sleeps
    }
}

/// Whether a process that sleeps in a read reads a tty. Where Yama keeps its system call from others
/// (`ptrace_scope`), it does unless it has a socket.
fn reads_tty(pid: i32) -> bool {
    match SystemCall::of(pid) {
        Some(call) => call.number == libc::SYS_read && is_tty(pid, call.arguments[0]),
        None => !has_socket(pid),
    }
}

/// Whether a process sleeps in a select(2) for input of nothing but its tty.
fn selects_tty(pid: i32) -> bool {
    let Some(call) = SystemCall::of(pid) else {
        return false;
    };
    let [count, readable, ..] = call.arguments;
    let mut watched = 0..count;
    is_select(call.number)
        && (1..=STANDARD_DESCRIPTORS).contains(&count)
        && readable != 0
        && watched.all(|descriptor| is_tty(pid, descriptor))
}

/// Whether a process sleeps in a read of a tty, or in a wait for descriptors that no timeout ends. Where its
/// first thread waits for the others, whether one of them reads a tty: a program in Go reads in any.
pub fn waits_without_end(pid: i32) -> bool {
    let reads_tty =
        |call: SystemCall| call.number == libc::SYS_read && is_tty(pid, call.arguments[0]);
    SystemCall::of(pid).is_some_and(|call| match call.number {
        libc::SYS_futex => threads(pid).filter_map(SystemCall::read).any(reads_tty),
        _ => reads_tty(call) || call.has_no_timeout(),
    })
}

/// The directories of a process's threads in `/proc`.
fn threads(pid: i32) -> impl Iterator<Item = PathBuf> {
    let threads = fs::read_dir(format!("/proc/{pid}/task"));
    let threads = threads.into_iter().flatten().take(MAX_THREADS);
    threads.filter_map(|thread| Some(thread.ok()?.path()))
}

fn is_select(number: libc::c_long) -> bool {
    #[cfg(target_arch = "x86_64")]
    if number == libc::SYS_select {
        return true;
    }
    number == libc::SYS_pselect6
}

fn is_tty(pid: i32, descriptor: u64) -> bool {
    let name = fs::read_link(format!("/proc/{pid}/fd/{descriptor}"));
    name.is_ok_and(|name| name.starts_with("/dev/pts") || name.as_os_str() == "/dev/tty")
}

fn has_socket(pid: i32) -> bool {
    let Ok(descriptors) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return true;
    };
    let names = descriptors.filter_map(|it| fs::read_link(it.ok()?.path()).ok());
    let mut names = names.map(|name| name.to_string_lossy().starts_with("socket:"));
    names.any(|is_socket| is_socket)
}

/// The system call that a process sleeps in (`/proc/PID/syscall`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SystemCall {
    number: libc::c_long,
    /// The first five.
    arguments: [u64; 5],
}

impl SystemCall {
    fn of(pid: i32) -> Option<Self> {
        Self::read(format!("/proc/{pid}"))
    }

    /// That of the process or thread which has this directory.
    fn read(directory: impl AsRef<Path>) -> Option<Self> {
        Self::parse(&fs::read_to_string(directory.as_ref().join("syscall")).ok()?)
    }

    /// Whether it is a wait for descriptors without a timeout. A timeout is a number of milliseconds,
    /// negative for none, or the address of one.
    fn has_no_timeout(self) -> bool {
        let [_, _, third, fourth, fifth] = self.arguments;
        // The kernel looks at the lower half of an int.
        let is_negative = |milliseconds: u64| milliseconds & (1 << 31) != 0;
        match self.number {
            #[cfg(target_arch = "x86_64")]
            libc::SYS_select => fifth == 0,
            libc::SYS_pselect6 => fifth == 0,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_poll => is_negative(third),
            libc::SYS_ppoll => third == 0,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_epoll_wait => is_negative(fourth),
            libc::SYS_epoll_pwait => is_negative(fourth),
            libc::SYS_epoll_pwait2 => fourth == 0,
            _ => false,
        }
    }

    /// `number 0xargument … 0xstack 0xcounter`, or `running`.
    fn parse(call: &str) -> Option<Self> {
        let mut words = call.split_whitespace();
        let number = words.next()?.parse().ok()?;
        let mut argument = || u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
        Some(Self {
            number,
            arguments: [
                argument()?,
                argument()?,
                argument()?,
                argument()?,
                argument()?,
            ],
        })
    }
}

/// The newest child in the same process group.
fn newest_child(pid: i32, group: i32) -> Option<i32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    let pids = children.split_whitespace().rev();
    let mut pids = pids.filter_map(|pid| pid.parse().ok());
    pids.find(|pid| Stat::read(*pid).is_some_and(|stat| stat.group == group))
}

/// The fields of `/proc/PID/stat` that are needed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stat {
    name: String,
    state: char,
    group: i32,
    foreground: i32,
}

impl Stat {
    fn read(pid: i32) -> Option<Self> {
        if pid <= 0 {
            return None;
        }
        Self::parse(&fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// `pid (comm) state ppid pgrp session tty_nr tpgid …`; the name may hold anything.
    fn parse(stat: &[u8]) -> Option<Self> {
        let stat = String::from_utf8_lossy(stat);
        let (head, tail) = stat.rsplit_once(')')?;
        let (_, name) = head.split_once('(')?;
        let mut fields = tail.split_whitespace();
        let state = fields.next()?.chars().next()?;
        let group = fields.nth(1)?.parse().ok()?;
        let foreground = fields.nth(2)?.parse().ok()?;
        let shown = name.chars().filter(|c| !c.is_control());
        Some(Self {
            name: shown.take(MAX_NAME_CHARS).collect(),
            state,
            group,
            foreground,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_call_is_its_number_and_its_arguments() {
        let call = "0 0x3 0x7ffc 0x1 0x0 0x0 0x0 0x7fff 0x7f00\n";
        let expected = SystemCall {
            number: 0,
            arguments: [3, 0x7ffc, 1, 0, 0],
        };
        assert_eq!(SystemCall::parse(call), Some(expected));
        for other in ["running\n", "", "-1 0x7ffe 0x7f", "0 3 4", "7"] {
            let parsed = SystemCall::parse(other).filter(|call| call.number >= 0);
            assert_eq!(parsed, None, "{other}");
        }
    }

    #[test]
    fn a_wait_without_a_timeout_is_known_by_its_arguments() {
        for (number, arguments, is_endless) in [
            (libc::SYS_read, [0, 0x7ffc, 1, 0, 0], false),
            (libc::SYS_pselect6, [1, 0x7ffc, 0, 0, 0], true),
            (libc::SYS_pselect6, [1, 0x7ffc, 0, 0, 0x7ffd], false),
            (libc::SYS_ppoll, [0x7ffc, 1, 0, 0, 0], true),
            (libc::SYS_ppoll, [0x7ffc, 1, 0x7ffd, 0, 0], false),
            (libc::SYS_epoll_pwait, [4, 0x7ffc, 64, 0xffff_ffff, 0], true),
            (libc::SYS_epoll_pwait, [4, 0x7ffc, 64, 1500, 0], false),
            (libc::SYS_nanosleep, [0, 0, 0, 0, 0], false),
        ] {
            let call = SystemCall { number, arguments };
            assert_eq!(call.has_no_timeout(), is_endless, "{call:?}");
        }
    }

    #[test]
    fn a_shell_with_a_script_takes_no_commands() {
        for (line, is_interactive) in [
            ("", true),
            ("-l", true),
            ("-f", true),
            ("--noprofile --rcfile /x/rc -i", true),
            ("--init-file /x/rc", true),
            ("-o vi", true),
            ("-O extglob -l", true),
            ("-N", true),
            ("-C x", true),
            ("--init-command=x", true),
            ("-ic x", true),
            ("-s a b", true),
            ("-", true),
            ("-c x", false),
            ("-lc x", false),
            ("-l -c x", false),
            ("--command x", false),
            ("script.sh", false),
            ("-e script.sh -i", false),
            ("-- script.sh", false),
            ("--command=x", false),
            ("+x script", false),
        ] {
            let arguments: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
            assert_eq!(takes_commands(&arguments), is_interactive, "{line}");
        }
    }

    #[test]
    fn a_name_may_hold_anything() {
        let stat = b"12 (a) b\n(c) S 1 34 34 34816 56 4194560 1";
        let expected = Stat {
            name: "a) b(c".to_owned(),
            state: 'S',
            group: 34,
            foreground: 56,
        };
        assert_eq!(Stat::parse(stat), Some(expected));
        for bad in [
            &b""[..],
            b"12",
            b"12 (x",
            b"12 (x) S 1",
            b"12 (x) S a b c d e",
        ] {
            assert_eq!(Stat::parse(bad), None);
        }
    }

    #[test]
    fn nobody_is_in_the_foreground_of_nothing() {
        assert_eq!(foreground(0), None);
        assert_eq!(foreground(i32::MAX), None);
    }
}
