//! From the marks that a shell prints to the commands that were run in it. Pure.
//!
//! Each command is started once and ended once, in order, whatever marks come in whatever order. A
//! text is only what the shell itself said (OSC 633;E), signed where the terminal has a nonce. The
//! screen is never taken for a command line, so input without ECHO never becomes one. Texts and
//! directories are bounded. Marks at or before what is known change nothing: a new server reads some
//! output again.

use termd_proto::Offset;
use termd_proto::command::CommandInfo;

use crate::shell::ShellNonce;

pub use crate::store::{CommandChange, CommandEnded, CommandStarted};

/// Most bytes of a command line that are kept. The shell integration sends no more.
const MAX_TEXT_BYTES: usize = 16 * 1024;
/// Longest directory that is kept: Linux's `PATH_MAX`. A longer one counts as unknown.
const MAX_CWD_BYTES: usize = 4096;

/// A mark that the terminal model has read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellMark {
    /// OSC 133;A: a prompt begins here.
    PromptStart(Offset),
    /// OSC 633;E: the line that is about to be run, unescaped.
    CommandLine {
        text: String,
        /// Signed with the terminal's nonce.
        trusted: bool,
    },
    /// OSC 133;C: the line's output begins here.
    OutputStart(Offset),
    /// OSC 133;D: the command has ended.
    CommandFinished { exit: Option<i32>, offset: Offset },
    /// OSC 7 and the like: the shell's directory, decoded.
    Cwd(String),
}

/// Which command lines are believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Only those signed with the terminal's nonce.
    Signed,
    /// All: the shell has an integration of its own, and the terminal no nonce.
    Any,
}

impl Trust {
    pub fn new(nonce: Option<&ShellNonce>) -> Self {
        match nonce {
            Some(_) => Self::Signed,
            None => Self::Any,
        }
    }
}

/// Follows the marks of one terminal.
#[derive(Debug)]
pub struct ShellCommands {
    trust: Trust,
    /// The number of the newest command; 0 is the terminal's own.
    number: u64,
    phase: Phase,
    /// A line that was announced and has not begun.
    line: Option<String>,
    cwd: Option<String>,
    /// Commands are known up to here.
    known: Option<Offset>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Before, at or after a prompt.
    Idle,
    /// A command runs.
    Running,
}

impl ShellCommands {
    /// Of a terminal in which nothing was run yet.
    pub fn new(trust: Trust) -> Self {
        Self {
            trust,
            number: 0,
            phase: Phase::Idle,
            line: None,
            cwd: None,
            known: None,
        }
    }

    /// Of a terminal whose newest stored command is `newest`.
    pub fn resume(trust: Trust, newest: &CommandInfo) -> Self {
        let mut commands = Self::new(trust);
        if newest.number > 0 {
            commands.number = newest.number;
            commands.cwd.clone_from(&newest.cwd);
            commands.known = Some(newest.end.unwrap_or(newest.start));
            if newest.ended_at_ms.is_none() {
                commands.phase = Phase::Running;
            }
        }
        commands
    }

    /// Takes the next mark, and returns what it changes, in order.
    pub fn on(&mut self, mark: ShellMark, now_ms: i64) -> Vec<CommandChange> {
        let mut changes = Vec::new();
        match mark {
            ShellMark::Cwd(cwd) => self.cwd = (cwd.len() <= MAX_CWD_BYTES).then_some(cwd),
            ShellMark::CommandLine { text, trusted } => {
                if trusted || self.trust == Trust::Any {
                    self.line = Some(bounded(text));
                }
            }
            ShellMark::PromptStart(offset) if self.is_new(offset) => {
                // The shell prints no ends, or a program took its place.
                changes.extend(self.end(None, offset, now_ms));
                self.line = None;
            }
            ShellMark::OutputStart(offset) if self.is_new(offset) => {
                match (self.phase, &self.line) {
                    // Both the shell's own integration and termd's printed the mark.
                    (Phase::Running, None) => {}
                    (Phase::Running, Some(_)) => {
                        changes.extend(self.end(None, offset, now_ms));
                        changes.push(self.start(offset, now_ms));
                    }
                    (Phase::Idle, _) => changes.push(self.start(offset, now_ms)),
                }
            }
            ShellMark::CommandFinished { exit, offset } if self.is_new(offset) => {
                if self.phase == Phase::Idle && self.line.is_some() {
                    // The shell has read the line and not run it: it has an exit code, and no output.
                    changes.push(self.start(offset, now_ms));
                }
                changes.extend(self.end(exit, offset, now_ms));
                self.line = None;
            }
            // The mark is read again, and so was the line before it.
            ShellMark::PromptStart(_)
            | ShellMark::OutputStart(_)
            | ShellMark::CommandFinished { .. } => self.line = None,
        }
        changes
    }

    /// Ends a command that still runs at the end of the output; its exit code is unknown.
    pub fn terminal_ended(&mut self, end: Offset, now_ms: i64) -> Option<CommandChange> {
        self.end(None, end, now_ms)
    }

    fn is_new(&self, offset: Offset) -> bool {
        self.known.is_none_or(|known| offset > known)
    }

    fn start(&mut self, offset: Offset, now_ms: i64) -> CommandChange {
        self.number += 1;
        self.phase = Phase::Running;
        CommandChange::Started(CommandStarted {
            number: self.number,
            text: self.line.take().unwrap_or_default(),
            cwd: self.cwd.clone(),
            at_ms: now_ms,
            start_offset: offset,
        })
    }

    fn end(&mut self, exit: Option<i32>, offset: Offset, now_ms: i64) -> Option<CommandChange> {
        if self.phase == Phase::Idle {
            return None;
        }
        self.phase = Phase::Idle;
        Some(CommandChange::Ended(CommandEnded {
            number: self.number,
            exit_code: exit,
            at_ms: now_ms,
            end_offset: offset,
        }))
    }
}

fn bounded(mut text: String) -> String {
    let mut length = text.len().min(MAX_TEXT_BYTES);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    text.truncate(length);
    text
}

#[cfg(test)]
mod tests;
