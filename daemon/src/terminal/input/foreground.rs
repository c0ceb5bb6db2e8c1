//! The program in the foreground of a terminal's tty, which input goes to.
//!
//! The answer holds for a moment: by the time anybody acts on it, another program may be there.

use std::fs::{self, File};
use std::io::Read;

use crate::terminal::handle::Terminal;
use crate::terminal::lifecycle::request::Request;

/// Bytes read of `/proc/PID/comm`: 15 and a newline, more for kernel threads (`proc_pid_comm(5)`).
const MAX_COMM: u64 = 64;
/// Bytes read of `/proc/PID/cmdline`: a resting shell has a short one.
const MAX_COMMAND_LINE: u64 = 4 << 10;
/// Shells that read lines when they are started without a script.
const SHELLS: &[&str] = &[
    "sh", "bash", "dash", "zsh", "fish", "ksh", "ksh93", "mksh", "ash", "busybox", "tcsh", "csh",
    "nu", "pwsh", "xonsh", "elvish",
];
/// Options of shells that take the next word as their value.
const OPTIONS_WITH_VALUE: &[&str] = &[
    "--rcfile",
    "--init-file",
    "-o",
    "+o",
    "-O",
    "+O",
    "-C",
    "--init-command",
];

/// Programs that have bracketed paste on, and take a paste of several lines as one command: sqlite3 does so
/// with its dot-commands.
const PASTES_ARE_ONE_COMMAND: [&str; 3] = ["gdb", "gdb-multiarch", "sqlite3"];

/// The leader of a tty's foreground process group (tcgetpgrp(3)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForegroundProcess {
    /// The group's id, which is its leader's.
    pub pid: i32,
    /// The leader's name (`/proc/PID/comm`) without control characters; empty where the leader has
    /// ended and left a group behind.
    pub program: String,
    /// Its directory (`/proc/PID/cwd`), where that can be read and exists. The kernel says so; the mark
    /// of a shell (OSC 7) could be printed by any program.
    pub cwd: Option<String>,
    /// Whether it is the terminal's own program, or another shell that reads lines and runs no script.
    pub is_root: bool,
}

/// The foreground process of a terminal's tty; `None` where there is none, or the command has exited.
pub async fn foreground_process(terminal: &Terminal) -> Option<ForegroundProcess> {
    let pid = terminal.ask(Request::Foreground).await?;
    let program = name_of(pid).unwrap_or_default();
    let is_root = terminal.record.pid == pid || is_resting_shell(&program, pid);
    Some(ForegroundProcess {
        pid,
        program,
        cwd: cwd_of(pid),
        is_root,
    })
}

/// Whether the foreground program runs a paste of several lines line by line.
pub async fn runs_pasted_lines(terminal: &Terminal) -> bool {
    let pid = terminal.ask(Request::Foreground).await;
    let name = pid.and_then(name_of).unwrap_or_default();
    !PASTES_ARE_ONE_COMMAND.contains(&name.as_str())
}

pub(super) fn name_of(pid: i32) -> Option<String> {
    let comm = read_bounded(&format!("/proc/{pid}/comm"), MAX_COMM)?;
    let name = String::from_utf8_lossy(&comm);
    Some(name.chars().filter(|c| !c.is_control()).collect())
}

pub(super) fn cwd_of(pid: i32) -> Option<String> {
    let cwd = fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
    // A directory that was removed has ` (deleted)` after its name.
    cwd.is_dir().then_some(())?;
    cwd.into_os_string().into_string().ok()
}

fn is_resting_shell(program: &str, pid: i32) -> bool {
    SHELLS.contains(&program)
        && read_bounded(&format!("/proc/{pid}/cmdline"), MAX_COMMAND_LINE)
            .is_some_and(|line| reads_lines(&line))
}

/// Whether a shell started like this reads lines from its tty: it has no script and no `-c`.
fn reads_lines(command_line: &[u8]) -> bool {
    let words = command_line.split(|byte| *byte == 0).skip(1);
    let mut words = words.filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        let word = String::from_utf8_lossy(word);
        if OPTIONS_WITH_VALUE.contains(&&*word) {
            words.next();
            continue;
        }
        let is_script = !word.starts_with(['-', '+']);
        let is_command = !word.starts_with("--") && word.contains('c') || word == "--command";
        if is_script || is_command {
            return false;
        }
    }
    true
}

pub(super) fn read_bounded(path: &str, most: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(path).ok()?;
    file.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_that_read_lines_and_those_that_run_something() {
        for (words, reads) in [
            (&["bash"][..], true),
            (&["-bash"], true),
            (&["zsh", "-i", "-l"], true),
            (&["bash", "--rcfile", "/some/where", "-i"], true),
            (&["bash", "-o", "vi"], true),
            (&["fish", "-C", "source it"], true),
            (&["bash", "script.sh"], false),
            (&["sh", "-c", "sleep 1"], false),
            (&["bash", "-lc", "make"], false),
            (&["fish", "--command", "make"], false),
        ] {
            let line: Vec<u8> = words
                .iter()
                .flat_map(|w| [w.as_bytes(), b"\0"].concat())
                .collect();
            assert_eq!(reads_lines(&line), reads, "{words:?}");
        }
    }
}
