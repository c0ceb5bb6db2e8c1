//! The lines that bytes typed in pieces make.
//!
//! Keys that edit a line are followed, so that `rm -r`, a correction and `f x` are judged as the line
//! that runs. Memory is bounded, and any bytes can be fed.

mod keys;
mod line_editor;

use std::sync::Arc;

use sha2::{Digest, Sha256};
use termd_proto::policy::MAX_JUDGED_BYTES;

use crate::danger::sql;
use crate::inspect::state_behind;
use crate::program::kind::{ProgramKind, base_name, is_foreign_shell, program_kind};
use crate::request::Completeness;
use crate::shell::state::ShellState;
use crate::shell::syntax::continuation::{Continuation, continuation, open_heredoc};
use crate::shell::text::history::expands_history;
use keys::{Key, KeyReader};
use line_editor::LineEditor;

/// Bytes of a construct's earlier lines, and of what `^D` hands over, that one call may have read
/// again. Beyond that a line counts as too long.
const MAX_READ_AGAIN: usize = 2 << 20;

/// Programs of which it is remembered that they may read what is typed ahead.
const MAX_STARTED: usize = 4;

/// A line that a program would now read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedLine {
    /// The text of the line, with the earlier lines of its construct. Empty if it is too long.
    pub text: String,
    /// How much of the line is known.
    pub completeness: Completeness,
    /// What earlier lines of the terminal have set.
    pub(crate) state: Arc<ShellState>,
    /// SHA-256, in hexadecimal, of the lines before, each with the hash before it.
    earlier: Option<String>,
    /// The program that may read it in place of the one that reads now.
    reader: Option<String>,
}

impl TypedLine {
    /// The program that an earlier line starts, which may read this one: it was typed ahead. `None`: the
    /// program that reads now.
    pub fn reader(&self) -> Option<&str> {
        self.reader.as_deref()
    }

    /// SHA-256, in hexadecimal, of the lines before. The same text is another command behind others:
    /// they set variables, aliases and functions. `None`: there were none.
    pub fn earlier_sha256(&self) -> Option<&str> {
        self.earlier.as_deref()
    }
}

/// What was typed into a terminal since the last line.
///
/// Feed a clone to learn the lines of bytes that may yet be refused; drop the clone if they are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TypedLines {
    keys: KeyReader,
    editor: LineEditor,
    /// The lines before that belong to the same construct.
    before: String,
    /// The end marker of the here-document that `before` ends in. Until then lines are only kept.
    heredoc: Option<String>,
    /// The first bytes of a character of UTF-8.
    partial: Vec<u8>,
    /// Whether the program that was typed into takes keys and not lines.
    takes_keys: bool,
    /// Programs that lines have started since the shell was last known to be at its prompt. Each may read
    /// what follows.
    started: Vec<String>,
    /// Whether this call has typed Ctrl-C before the line. bash drops the character that the tty has
    /// behind it.
    is_behind_interrupt: bool,
    /// Bytes that the lines of this call have read again.
    read_again: usize,
    /// What the lines so far have set in their shell.
    state: Arc<ShellState>,
    /// The same hash of the lines before the last one.
    earlier: Option<String>,
    /// The same hash, of the last line too.
    ended: Option<String>,
}

impl TypedLines {
    /// Takes what is typed into `program`, and returns the lines that it makes. `None`: a shell.
    pub fn feed(&mut self, bytes: &[u8], program: Option<&str>) -> Vec<TypedLine> {
        self.feed_by(bytes, program, KeyReader::read)
    }

    /// The same of what `program` reads from a pipe, where no character edits the line.
    pub fn feed_piped(&mut self, bytes: &[u8], program: Option<&str>) -> Vec<TypedLine> {
        self.feed_by(bytes, program, |_, c| match c {
            '\n' => Some(Key::Enter),
            // Shells skip it.
            '\0' => None,
            c => Some(Key::Insert(c)),
        })
    }

    fn feed_by(
        &mut self,
        bytes: &[u8],
        program: Option<&str>,
        read_key: impl Fn(&mut KeyReader, char) -> Option<Key>,
    ) -> Vec<TypedLine> {
        let kind = program.map_or(ProgramKind::Shell, program_kind);
        if self.takes_keys && kind != ProgramKind::Text {
            // Keys for an editor are no part of a line for the shell behind it.
            self.editor.clear();
        }
        self.takes_keys = kind == ProgramKind::Text;
        if kind != ProgramKind::Shell {
            self.started.clear();
        }
        let is_carried = !self.before.is_empty();
        self.editor.begin_call();
        self.is_behind_interrupt = false;
        self.read_again = 0;
        let mut given = std::mem::take(&mut self.partial);
        given.extend_from_slice(bytes);
        let mut lines = Vec::new();
        let mut chunks = given.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            for c in chunk.valid().chars() {
                if let Some(key) = read_key(&mut self.keys, c) {
                    self.key(key, program, is_carried, &mut lines);
                }
            }
            let is_last = chunks.peek().is_none();
            self.invalid(chunk.invalid(), is_last);
        }
        lines
    }

    /// The shell is at its prompt, and nothing waits there: what was started has ended.
    pub fn at_prompt(&mut self) {
        self.started.clear();
    }

    /// Whether a part of a line, or of a key, was typed that no program has read yet, as far as is known.
    pub fn holds_text(&self) -> bool {
        let is_empty = self.editor.is_empty() && self.before.is_empty() && self.partial.is_empty();
        !is_empty || self.keys != KeyReader::Ground
    }

    /// Forgets what was typed. It was no line: the program asked for a secret.
    pub fn forget(&mut self) {
        *self = Self {
            state: std::mem::take(&mut self.state),
            earlier: self.earlier.take(),
            ended: self.ended.take(),
            ..Self::default()
        };
    }

    /// Takes bytes that are no character. If they are the last that came and may begin a character, they
    /// wait for the rest.
    fn invalid(&mut self, bytes: &[u8], is_last: bool) {
        let is_cut = std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none());
        if is_last && is_cut {
            self.partial = bytes.to_vec();
        } else if !bytes.is_empty() {
            let key = Key::Insert(char::REPLACEMENT_CHARACTER);
            self.editor.edit(key, self.before.len());
        }
    }

    fn key(
        &mut self,
        key: Key,
        program: Option<&str>,
        is_carried: bool,
        lines: &mut Vec<TypedLine>,
    ) {
        match key {
            Key::Enter => self.end_line(program, is_carried, lines),
            Key::EditAndRun => {
                self.editor.edit(key, self.before.len());
                self.end_line(program, is_carried, lines);
            }
            Key::Interrupt => {
                self.abandon();
                self.editor.clear();
                self.started.clear();
                self.is_behind_interrupt = true;
            }
            Key::DeleteOrEnd => {
                self.hand_over(program, lines);
                if self.editor.is_empty() {
                    self.abandon();
                } else {
                    self.editor.edit(key, self.before.len());
                }
            }
            key => self.editor.edit(key, self.before.len()),
        }
    }

    /// What is there when `^D` is typed may run as it is: a tty in canonical mode hands it over, and at
    /// the end of the input a shell runs an unfinished line (termios(3), VEOF).
    fn hand_over(&mut self, program: Option<&str>, lines: &mut Vec<TypedLine>) {
        let kind = program.map_or(ProgramKind::Shell, program_kind);
        if kind == ProgramKind::Text || !self.holds_text() {
            return;
        }
        self.read_again += self.before.len() + self.editor.chars();
        if self.read_again > MAX_READ_AGAIN {
            // One such line says it of all that follow.
            if lines.last().map(|line| line.completeness) != Some(Completeness::TooLong) {
                lines.push(self.line(String::new(), Completeness::TooLong));
            }
            return;
        }
        let (line, completeness) = self.editor.clone().take();
        let text = format!("{}{line}", self.before);
        lines.push(
            if completeness == Completeness::TooLong || text.len() > MAX_JUDGED_BYTES {
                self.line(String::new(), Completeness::TooLong)
            } else {
                self.line(text, completeness)
            },
        );
    }

    /// Drops the construct that earlier lines have begun.
    fn abandon(&mut self) {
        self.before.clear();
        self.heredoc = None;
    }

    /// Ends a line. `is_carried`: an earlier call has begun its construct.
    fn end_line(&mut self, program: Option<&str>, is_carried: bool, lines: &mut Vec<TypedLine>) {
        let kind = program.map_or(ProgramKind::Shell, program_kind);
        let (line, mut completeness) = self.editor.take();
        if kind == ProgramKind::Text {
            self.abandon();
            return;
        }
        self.chain(&line, completeness);
        if kind == ProgramKind::Shell {
            if std::mem::take(&mut self.is_behind_interrupt) {
                lines.extend(self.without_first(&line));
            }
            self.read_ahead(&line, completeness, lines);
        }
        let heredoc = self.heredoc.as_ref().filter(|_| kind == ProgramKind::Shell);
        let is_data = heredoc.is_some_and(|end| line.trim_start_matches('\t') != end);
        if heredoc.is_none() {
            self.read_again += self.before.len();
        }
        let length = self.before.len() + line.len();
        let is_read_too_often = self.read_again > MAX_READ_AGAIN && !self.before.is_empty();
        let has_history = kind == ProgramKind::Shell && !program.is_some_and(is_without_history);
        if completeness == Completeness::Whole
            && has_history
            && !is_data
            && expands_history(&self.before, &line)
        {
            completeness = Completeness::Edited;
        }
        if completeness == Completeness::TooLong || length > MAX_JUDGED_BYTES || is_read_too_often {
            self.abandon();
            lines.push(self.line(String::new(), Completeness::TooLong));
        } else if matches!(completeness, Completeness::Recalled | Completeness::Edited) {
            let text = format!("{}{line}", self.before);
            self.abandon();
            lines.push(self.line(text, completeness));
        } else if is_data {
            self.before.push_str(&line);
            self.before.push('\n');
        } else {
            self.end_construct(&line, program, is_carried, lines);
        }
    }

    /// What may run: the shell may have dropped the first character of a line.
    fn without_first(&self, line: &str) -> Option<TypedLine> {
        let mut rest = line.chars();
        rest.next()?;
        let rest = rest.as_str().to_owned();
        (!rest.trim().is_empty()).then(|| self.line(rest, Completeness::Begun))
    }

    /// Adds a line once more for each program that may read it.
    fn read_ahead(&self, line: &str, completeness: Completeness, lines: &mut Vec<TypedLine>) {
        let is_too_long = completeness == Completeness::TooLong || line.len() > MAX_JUDGED_BYTES;
        if is_too_long || line.trim().is_empty() {
            return;
        }
        lines.extend(self.started.iter().map(|program| TypedLine {
            reader: Some(program.clone()),
            ..self.line(line.to_owned(), Completeness::Whole)
        }));
    }

    /// Counts a line to those before the next one. Enter alone is none.
    fn chain(&mut self, line: &str, completeness: Completeness) {
        self.earlier.clone_from(&self.ended);
        if completeness != Completeness::Whole || !line.trim().is_empty() {
            let before = self.earlier.as_deref().unwrap_or_default();
            let digest = Sha256::new()
                .chain_update(before)
                .chain_update([u8::from(completeness == Completeness::Whole)])
                .chain_update(line)
                .finalize();
            self.ended = Some(format!("{digest:x}"));
        }
    }

    fn line(&self, text: String, completeness: Completeness) -> TypedLine {
        TypedLine {
            text,
            completeness,
            state: Arc::clone(&self.state),
            earlier: self.earlier.clone(),
            reader: None,
        }
    }

    /// Ends a line that may end its construct.
    fn end_construct(
        &mut self,
        line: &str,
        program: Option<&str>,
        is_carried: bool,
        lines: &mut Vec<TypedLine>,
    ) {
        let kind = program.map_or(ProgramKind::Shell, program_kind);
        let text = format!("{}{line}", self.before);
        self.heredoc = None;
        let continuation = match kind {
            ProgramKind::Shell => continuation(&text),
            ProgramKind::Sql(client) if !sql::is_complete(client, &text) => Continuation::Heredoc,
            _ => Continuation::Complete,
        };
        // A quote that an earlier call has left open may be none to the program that has read it.
        if is_carried && continuation == Continuation::Quoted && !line.trim().is_empty() {
            lines.push(self.line(line.to_owned(), Completeness::Begun));
        }
        match continuation {
            Continuation::Complete => {
                self.before.clear();
                if !text.trim().is_empty() {
                    let line = self.line(text, Completeness::Whole);
                    if kind == ProgramKind::Shell {
                        let (state, readers) = state_behind(&line.text, program, &self.state);
                        if state != *self.state {
                            self.state = Arc::new(state);
                        }
                        for reader in readers {
                            if self.started.len() < MAX_STARTED && !self.started.contains(&reader) {
                                self.started.push(reader);
                            }
                        }
                    }
                    lines.push(line);
                }
                return;
            }
            Continuation::Open => lines.push(self.line(text.clone(), Completeness::Begun)),
            Continuation::Heredoc if kind == ProgramKind::Shell => {
                self.heredoc = open_heredoc(&text);
            }
            Continuation::Quoted | Continuation::Heredoc => {}
        }
        self.before = text;
        self.before.push('\n');
    }
}

/// Whether a shell's lines name no earlier ones (`!!`).
fn is_without_history(program: &str) -> bool {
    let name = base_name(program);
    matches!(name, "dash" | "ash" | "busybox" | "yash")
        || (is_foreign_shell(program) && !name.ends_with("csh"))
}
