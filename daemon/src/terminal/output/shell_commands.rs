//! From the marks that a shell prints to the commands that were run in it. Pure.
//!
//! Promises: each command is begun once and ended once, in order, whatever marks come in whatever
//! order; a text is only what the shell itself said (OSC 633;E) and, where the terminal has a
//! nonce, signed with it; texts and directories are bounded; marks at or before what is known
//! already, from a server that reads output a second time, change nothing. What is on the screen
//! is never taken for a command line, so what is typed while ECHO is off never becomes one.
//!
//! It must not know: bytes, escape sequences, the database.

use termd_proto::Offset;
use termd_proto::command::CommandInfo;

use crate::terminal::lifecycle::record::Record;

pub use crate::store::{CommandChange, CommandEnded, CommandStarted};

/// Longest command line that is kept, in bytes; the rest is cut off. Our scripts send no more.
const MAX_TEXT_BYTES: usize = 16 * 1024;
/// Longest directory that is kept: Linux's `PATH_MAX`. A longer one is as good as unknown.
const MAX_CWD_BYTES: usize = 4096;

/// A mark, as the terminal model read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellMark {
    /// OSC 133;A: a prompt begins here.
    PromptStart(Offset),
    /// OSC 633;E: the line that is about to be run.
    CommandLine {
        /// Unescaped.
        text: String,
        /// Whether it was signed with the terminal's nonce.
        trusted: bool,
    },
    /// OSC 133;C: the output of the line begins here.
    OutputStart(Offset),
    /// OSC 133;D: it ended.
    CommandFinished {
        /// The exit code, where the mark has one.
        exit: Option<i32>,
        /// Where.
        offset: Offset,
    },
    /// OSC 7 and its like: the shell's directory, decoded.
    Cwd(String),
}

/// Whose command lines are believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texts {
    /// The terminal has a nonce: only signed ones.
    Signed,
    /// It has none, its shell brought an integration of its own: all of them.
    Any,
}

/// Follows the marks of one terminal.
#[derive(Debug)]
pub struct ShellCommands {
    texts: Texts,
    /// The number of the newest command; 0 is the terminal's own.
    number: u64,
    phase: Phase,
    /// The line that was told and not begun.
    line: Option<String>,
    cwd: Option<String>,
    /// Begun and ended commands are known up to here.
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
    /// For a terminal in which nothing was run yet.
    pub fn new(texts: Texts) -> Self {
        Self {
            texts,
            number: 0,
            phase: Phase::Idle,
            line: None,
            cwd: None,
            known: None,
        }
    }

    /// For a terminal whose newest stored command this is.
    pub fn resume(texts: Texts, newest: &CommandInfo) -> Self {
        let mut commands = Self::new(texts);
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

    /// Takes the next mark; gives what it means, in order.
    pub fn on(&mut self, mark: ShellMark, now_ms: i64) -> Vec<CommandChange> {
        let mut changes = Vec::new();
        match mark {
            ShellMark::Cwd(cwd) => self.cwd = (cwd.len() <= MAX_CWD_BYTES).then_some(cwd),
            ShellMark::CommandLine { text, trusted } => {
                if trusted || self.texts == Texts::Any {
                    self.line = Some(bounded(text));
                }
            }
            ShellMark::PromptStart(offset) if self.is_new(offset) => {
                // A shell that says nothing of ends, or a program that took the shell's place.
                changes.extend(self.end(None, offset, now_ms));
                self.line = None;
            }
            ShellMark::OutputStart(offset) if self.is_new(offset) => {
                match (self.phase, &self.line) {
                    // Said twice: by the shell itself and by our script.
                    (Phase::Running, None) => {}
                    (Phase::Running, Some(_)) => {
                        changes.extend(self.end(None, offset, now_ms));
                        changes.push(self.start(offset, now_ms));
                    }
                    (Phase::Idle, _) => changes.push(self.start(offset, now_ms)),
                }
            }
            ShellMark::CommandFinished { exit, offset } if self.is_new(offset) => {
                changes.extend(self.end(exit, offset, now_ms));
                self.line = None;
            }
            // Read a second time, and the line before it with it.
            ShellMark::PromptStart(_)
            | ShellMark::OutputStart(_)
            | ShellMark::CommandFinished { .. } => self.line = None,
        }
        changes
    }

    /// The terminal has ended, and its output with it: so has what still runs, nobody knows how.
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

/// Whose command lines are believed in a terminal.
pub fn texts_of(record: &Record) -> Texts {
    match record.shell_nonce {
        Some(_) => Texts::Signed,
        None => Texts::Any,
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
