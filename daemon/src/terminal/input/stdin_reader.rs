//! The program that would run what is sent into a command's pipe.
//!
//! A shell runs each line that it reads; to other programs a pipe brings data, which is not judged. The
//! answer holds for a moment, as that of [`foreground`](super::foreground).

use std::fs;
use std::os::unix::process::parent_id;

use super::foreground::{cwd_of, name_of, read_bounded};
use crate::terminal::handle::Terminal;
use crate::terminal::lifecycle::request::Request;
use termd_policy::program::code_reader;

/// Processes that are looked at. Beyond that the rest counts as a shell.
const MAX_PROCESSES: usize = 4_096;
/// Bytes read of `/proc/PID/cmdline`.
const MAX_COMMAND_LINE: u64 = 256 << 10;

/// A program that runs what it reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StdinReader {
    pub program: String,
    /// Its directory, where that can be read and exists.
    pub cwd: Option<String>,
}

/// The first process that reads the pipe of this terminal and may run what it reads.
pub(crate) async fn stdin_reader(terminal: &Terminal) -> Option<StdinReader> {
    let inode = terminal.ask(Request::StdinInode).await?;
    let pipe = format!("pipe:[{inode}]");
    let root = terminal.record.pid;
    // What has left the command's tree is the keeper's child.
    let keeper = i32::try_from(parent_id()).unwrap_or_default();
    let mut pids: Vec<i32> = children(keeper).filter(|pid| *pid != root).collect();
    pids.push(root);
    let mut looked_at = 0;
    while let Some(pid) = pids.pop() {
        looked_at += 1;
        if looked_at > MAX_PROCESSES {
            let program = "sh".to_owned();
            return Some(StdinReader { program, cwd: None });
        }
        let reads = reads(pid, &pipe);
        if reads && let Some(program) = program_of(pid) {
            let cwd = cwd_of(pid);
            return Some(StdinReader { program, cwd });
        }
        if reads || pid == root {
            pids.extend(children(pid));
        }
    }
    None
}

/// Whether a process has this pipe for its standard input. One that does not show it, as another
/// user's, may have.
fn reads(pid: i32, pipe: &str) -> bool {
    match fs::read_link(format!("/proc/{pid}/fd/0")) {
        Ok(link) => link.as_os_str() == pipe,
        Err(error) => error.kind() == std::io::ErrorKind::PermissionDenied,
    }
}

/// The program that would run what this process reads.
fn program_of(pid: i32) -> Option<String> {
    let line = read_bounded(&format!("/proc/{pid}/cmdline"), MAX_COMMAND_LINE)?;
    let words = line.split(|byte| *byte == 0);
    let mut argv: Vec<String> = words
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    argv.pop_if(|last| last.is_empty());
    let by_argv = code_reader(&argv).map(str::to_owned);
    // A process is free to call itself otherwise.
    by_argv.or_else(|| {
        *argv.first_mut()? = name_of(pid)?;
        code_reader(&argv).map(str::to_owned)
    })
}

fn children(pid: i32) -> impl Iterator<Item = i32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"));
    let tasks = tasks.into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| {
        let pids = list.split_ascii_whitespace();
        pids.filter_map(|pid| pid.parse().ok())
            .collect::<Vec<i32>>()
    })
}
