//! Which terminal a process works in, by its environment and its parents.
//!
//! A process that wants to can hide from both: docs/security.md.

use std::fs;

use termd_proto::TerminalId;

use termd_keeper::protocol::message::TERMINAL_VARIABLE;

/// Most parents that are looked at. No shell nests deeper, and a loop must end.
const MAX_ANCESTORS: usize = 64;

/// Which of these terminals, each with its root process, a process works in.
pub(super) fn terminal_of(pid: i32, terminals: &[(Option<i32>, TerminalId)]) -> Option<TerminalId> {
    if terminals.is_empty() {
        return None;
    }
    let named = marked_terminal(pid);
    let named = named.filter(|named| terminals.iter().any(|(_, id)| id == named));
    named.or_else(|| {
        std::iter::successors(Some(pid), |&pid| parent_of(pid))
            .take(MAX_ANCESTORS)
            .find_map(|pid| terminals.iter().find(|(root, _)| *root == Some(pid)))
            .map(|(_, id)| id.clone())
    })
}

/// The terminal that a process's environment names.
fn marked_terminal(pid: i32) -> Option<TerminalId> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let mark = format!("{TERMINAL_VARIABLE}=");
    let mut variables = environment.split(|&byte| byte == 0);
    let named = variables.find_map(|variable| variable.strip_prefix(mark.as_bytes()))?;
    std::str::from_utf8(named).ok()?.parse().ok()
}

/// A process's parent (`proc_pid_stat(5)`, field 4).
fn parent_of(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it may hold anything, a parenthesis too.
    let (_, fields) = stat.rsplit_once(')')?;
    let parent = fields.split_whitespace().nth(1)?.parse().ok()?;
    (parent > 1).then_some(parent)
}
