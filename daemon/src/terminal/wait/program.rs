//! The program in a terminal's foreground, as `/proc` shows it (proc(5)). What cannot be read is absent,
//! never guessed.

use std::fs;

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

/// A program in the foreground.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The foreground process group.
    pub group: i32,
    /// The process that runs in the group: the leader, or the newest process that it waits for.
    pub pid: i32,
    /// Without control characters.
    pub name: String,
    /// Whether the group is that of the terminal's own program.
    pub is_roots_group: bool,
    /// Whether the process is the group's leader.
    pub is_leader: bool,
    pub doing: ProcessState,
}

impl Program {
    pub fn kind(&self) -> ProgramKind {
        let name = self.name.strip_prefix('-').unwrap_or(&self.name);
        if EDITING_SHELLS.contains(&name) {
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

/// The foreground program of the terminal whose root process is `root`.
pub fn foreground(root: i32) -> Option<Program> {
    let of_root = Stat::read(root)?;
    let group = of_root.foreground;
    let mut pid = group;
    for _ in 0..MAX_DEPTH {
        let Some(child) = newest_child(pid, group) else {
            break;
        };
        pid = child;
    }
    let stat = Stat::read(pid)?;
    Some(Program {
        group,
        pid,
        name: stat.name,
        is_roots_group: group == of_root.group,
        is_leader: pid == group,
        doing: doing(pid, stat.state),
    })
}

fn doing(pid: i32, state: char) -> ProcessState {
    if state != 'S' {
        return ProcessState::Runs;
    }
    // `0` where it is not readable.
    let waits_in = fs::read_to_string(format!("/proc/{pid}/wchan")).unwrap_or_default();
    let is_any = |names: &[&str]| names.iter().any(|name| waits_in.contains(name));
    if is_any(&["nanosleep", "do_wait", "futex", "pipe"]) {
        ProcessState::SleepsElsewhere
    } else if is_any(&["n_tty_read", "tty_read", "wait_woken"]) {
        ProcessState::ReadsTty
    } else {
        ProcessState::Sleeps
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
