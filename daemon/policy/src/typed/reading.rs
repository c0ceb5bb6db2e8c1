//! One way in which what was typed is read: as the keys of a line, of its construct and of the lines
//! before.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use termd_proto::policy::MAX_JUDGED_BYTES;

use super::keys::{Key, KeyReader};
use super::line_editor::LineEditor;
use super::{MAX_EARLIER_BYTES, TypedLine};
use crate::danger::sql;
use crate::inspect::{KeyTaker, state_behind};
use crate::program::kind::{
    ProgramKind, base_name, is_foreign_shell, program_kind, takes_commands,
};
use crate::program::table::ProgramTable;
use crate::request::Completeness;
use crate::shell::state::ShellState;
use crate::shell::syntax::continuation::{Continuation, continuation, open_heredoc};
use crate::shell::text::history::expands_history;

/// Bytes of a construct's earlier lines, of what `^D` hands over and of lines without their beginning,
/// that one call may have read again. Beyond that a line counts as too long.
const MAX_READ_AGAIN: usize = 2 << 20;

/// Programs of which it is remembered that they may read what is typed ahead.
const MAX_STARTED: usize = 4;

/// Lines behind a program that may read keys, in a shell that does not tell of its prompts. A shell with
/// marks tells when the program has ended.
const MAX_LINES_BEHIND_KEYS: usize = 8;

/// Whether the shell tells of its prompts, by marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Prompts {
    #[default]
    Untold,
    Told,
}

/// A program that was started and may read the first characters of a line as keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct KeysAhead {
    taker: KeyTaker,
    /// Whether an earlier call has started it.
    is_earlier: bool,
    /// The lines of later calls that it may have read from.
    lines: usize,
}

/// One way in which what was typed is read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Reading {
    pub(super) keys: KeyReader,
    editor: LineEditor,
    /// The lines before that belong to the same construct.
    before: String,
    /// What has read them.
    begun_in: Option<ProgramKind>,
    /// The end marker of the here-document that `before` ends in. Until then lines are only kept.
    heredoc: Option<String>,
    /// Whether the program that was typed into takes keys and not lines.
    takes_keys: bool,
    /// Programs that lines have started since the shell was last known to be at its prompt. Each may read
    /// what follows.
    started: Vec<String>,
    /// Which of them may read a few characters, and leave the rest of a line.
    keys_ahead: Option<KeysAhead>,
    prompts: Prompts,
    /// Whether this call has typed Ctrl-C before the line. bash drops the character that the tty has
    /// behind it.
    is_behind_interrupt: bool,
    /// Whether an earlier call has begun the construct.
    is_carried: bool,
    /// Where the key is that is fed, in bytes of its call.
    at: usize,
    /// Bytes that the lines of this call have read again.
    read_again: usize,
    /// What the lines so far have set in their shell.
    state: Arc<ShellState>,
    /// SHA-256, in hexadecimal, of the lines before the last one, each with the hash before it.
    earlier: Option<String>,
    /// The same hash, of the last line too.
    ended: Option<String>,
    /// The text of both.
    earlier_text: Arc<str>,
    ended_text: Arc<str>,
}

impl Reading {
    /// Begins a call that types into a program of this kind.
    pub(super) fn begin_call(&mut self, kind: ProgramKind) {
        if self.takes_keys && kind != ProgramKind::Text {
            // Keys for an editor are no part of a line for the shell behind it.
            self.editor.clear();
        }
        self.takes_keys = kind == ProgramKind::Text;
        // An interpreter in front reads no construct that a shell has begun (fish ends one by `end`).
        if kind == ProgramKind::Code && self.begun_in == Some(ProgramKind::Shell) {
            self.abandon();
        }
        if let Some(keys) = &mut self.keys_ahead {
            keys.is_earlier = true;
        }
        // Where nothing tells of prompts, a program that has started is taken for the last one.
        if self.prompts == Prompts::Untold && !is_before_shell(kind) {
            self.end_started();
        }
        self.is_carried = !self.before.is_empty();
        self.editor.begin_call();
        self.is_behind_interrupt = false;
        self.read_again = 0;
    }

    /// The shell is at its prompt: what was started has ended.
    pub(super) fn at_prompt(&mut self) {
        self.prompts = Prompts::Told;
        self.end_started();
    }

    fn end_started(&mut self) {
        self.started.clear();
        self.keys_ahead = None;
    }

    /// Whether a part of a line, or of a key, was typed that is not ended.
    pub(super) fn holds_line(&self) -> bool {
        !self.editor.is_empty() || self.keys != KeyReader::Ground
    }

    /// Whether such a part, or a construct, was typed that is not ended.
    pub(super) fn holds_text(&self) -> bool {
        self.holds_line() || !self.before.is_empty()
    }

    /// How much is held, in characters.
    pub(super) fn chars(&self) -> usize {
        self.before.len() + self.editor.chars()
    }

    /// The same, if a program has read what was typed of the line.
    pub(super) fn without_line(&self) -> Self {
        let mut other = self.clone();
        other.editor.clear();
        other.keys = KeyReader::Ground;
        other
    }

    /// The same, if the tty has dropped what was typed.
    pub(super) fn without_text(&self) -> Self {
        let mut other = self.without_line();
        other.abandon();
        other.end_started();
        other
    }

    /// Forgets what was typed, and what was started.
    pub(super) fn forget(&mut self) {
        *self = Self {
            state: std::mem::take(&mut self.state),
            earlier: self.earlier.take(),
            ended: self.ended.take(),
            prompts: self.prompts,
            ..Self::default()
        };
    }

    /// Forgets the text of earlier lines.
    pub(super) fn hide_earlier(&mut self) {
        self.earlier_text = Arc::default();
        self.ended_text = Arc::default();
    }

    /// Takes in what another reading has left, both at the end of a line.
    pub(super) fn join(&mut self, other: &Self) {
        if other.state != self.state {
            let mut state = ShellState::clone(&self.state);
            state.join(&other.state);
            self.state = Arc::new(state);
        }
        let keys = other.keys_ahead.map(|keys| keys.taker);
        self.start(&other.started, keys);
    }

    fn start(&mut self, programs: &[String], keys: Option<KeyTaker>) {
        for program in programs {
            if self.started.len() < MAX_STARTED && !self.started.contains(program) {
                self.started.push(program.clone());
            }
        }
        if let Some(taker) = keys {
            let other = self.keys_ahead.map(|keys| keys.taker);
            self.keys_ahead = Some(KeysAhead {
                taker: other.map_or(taker, |other| taker.max(other)),
                is_earlier: false,
                lines: 0,
            });
        }
    }

    /// Takes bytes that are no character.
    pub(super) fn invalid(&mut self) {
        let key = Key::Insert(char::REPLACEMENT_CHARACTER);
        self.editor.edit(key, self.before.len());
    }

    /// Takes a key, which is at this byte of the call. Adds the lines that it makes.
    pub(super) fn key(
        &mut self,
        key: Key,
        at: usize,
        program: Option<&str>,
        lines: &mut Vec<TypedLine>,
    ) {
        self.at = at;
        match key {
            Key::Enter => self.end_line(program, lines),
            Key::EditAndRun => {
                self.editor.edit(key, self.before.len());
                self.end_line(program, lines);
            }
            Key::CommentAndRun => {
                self.editor.edit(Key::Start, self.before.len());
                self.editor.edit(Key::Insert('#'), self.before.len());
                self.end_line(program, lines);
            }
            Key::RunAndHold => self.hand_over(program, lines),
            Key::Interrupt => {
                self.abandon();
                self.editor.clear();
                self.started.clear();
                // A text may go on behind it (`trap`).
                self.keys_ahead = self.keys_ahead.filter(|_| self.prompts == Prompts::Told);
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

    /// Ends a line.
    fn end_line(&mut self, program: Option<&str>, lines: &mut Vec<TypedLine>) {
        let kind = program.map_or(ProgramKind::Shell, program_kind);
        let (line, mut completeness) = self.editor.take();
        if kind == ProgramKind::Text {
            self.abandon();
            return;
        }
        self.chain(&line, completeness);
        if is_before_shell(kind) {
            if std::mem::take(&mut self.is_behind_interrupt) {
                lines.extend(self.without_first(&line));
            }
            self.read_ahead(&line, completeness, lines);
            self.behind_keys(&line, lines);
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
            self.end_construct(&line, program, lines);
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

    /// Adds a line once more without each of its first characters, where a program may read these as
    /// keys.
    fn behind_keys(&mut self, line: &str, lines: &mut Vec<TypedLine>) {
        let Some(keys) = &mut self.keys_ahead else {
            return;
        };
        if line.trim().is_empty() {
            return;
        }
        let reader = keys.taker;
        let is_late = keys.lines > 0 && self.prompts == Prompts::Untold;
        keys.lines += usize::from(keys.is_earlier);
        if keys.lines >= MAX_LINES_BEHIND_KEYS && self.prompts == Prompts::Untold {
            self.keys_ahead = None;
        }
        // Without its first letter `git rm -r x` is what an unknown program may start.
        if (reader == KeyTaker::Script || is_late) && names_known_program(line) {
            return;
        }
        let again = reader.count() * line.len();
        self.read_again += again;
        if again > MAX_JUDGED_BYTES || self.read_again > MAX_READ_AGAIN {
            lines.push(self.line(String::new(), Completeness::TooLong));
            return;
        }
        let starts = line.char_indices().skip(1).take(reader.count());
        let rests = starts.filter_map(|(at, _)| line.get(at..));
        let rests = rests.filter(|rest| !rest.trim().is_empty());
        lines.extend(rests.map(|rest| self.line(rest.to_owned(), Completeness::Begun)));
    }

    /// Adds that what has run is not known.
    pub(super) fn line_is_lost(&self, at: usize) -> TypedLine {
        TypedLine {
            at,
            ..self.line(String::new(), Completeness::Edited)
        }
    }

    /// Counts a line to those before the next one. Enter alone is none.
    fn chain(&mut self, line: &str, completeness: Completeness) {
        self.earlier.clone_from(&self.ended);
        self.earlier_text = Arc::clone(&self.ended_text);
        if completeness != Completeness::Whole || !line.trim().is_empty() {
            let before = self.earlier.as_deref().unwrap_or_default();
            let digest = Sha256::new()
                .chain_update(before)
                .chain_update([u8::from(completeness == Completeness::Whole)])
                .chain_update(line)
                .finalize();
            self.ended = Some(format!("{digest:x}"));
            self.ended_text = last_lines(&self.earlier_text, line);
        }
    }

    fn line(&self, text: String, completeness: Completeness) -> TypedLine {
        TypedLine {
            text,
            completeness,
            state: Arc::clone(&self.state),
            earlier: self.earlier.clone(),
            earlier_text: Arc::clone(&self.earlier_text),
            reader: None,
            at: self.at,
        }
    }

    /// Ends a line that may end its construct.
    fn end_construct(&mut self, line: &str, program: Option<&str>, lines: &mut Vec<TypedLine>) {
        let kind = program.map_or(ProgramKind::Shell, program_kind);
        let text = format!("{}{line}", self.before);
        self.heredoc = None;
        // ed(1), gdb(1): the next line goes on where this one ends.
        if kind == ProgramKind::Code
            && program.is_some_and(takes_commands)
            && let Some(begun) = text.strip_suffix('\\')
        {
            self.before = begun.to_owned();
            return;
        }
        let continuation = match kind {
            ProgramKind::Shell => continuation(&text),
            ProgramKind::Sql(client) if !sql::is_complete(client, &text) => Continuation::Heredoc,
            _ => Continuation::Complete,
        };
        // A quote that an earlier call has left open may be none to the program that has read it.
        if self.is_carried && continuation == Continuation::Quoted && !line.trim().is_empty() {
            lines.push(self.line(line.to_owned(), Completeness::Begun));
        }
        match continuation {
            Continuation::Complete => {
                self.before.clear();
                if !text.trim().is_empty() {
                    let line = self.line(text, Completeness::Whole);
                    if kind == ProgramKind::Shell {
                        let (mut state, readers) = state_behind(&line.text, program, &self.state);
                        state.keep_earlier(&self.state);
                        if state != *self.state {
                            self.state = Arc::new(state);
                        }
                        self.start(&readers.lines, readers.keys);
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
        self.begun_in = Some(kind);
    }
}

/// The end of these lines and one more.
fn last_lines(lines: &str, next: &str) -> Arc<str> {
    let separator = if lines.is_empty() { "" } else { "\n" };
    let all = format!("{lines}{separator}{next}");
    let from = all.len().saturating_sub(MAX_EARLIER_BYTES);
    let from = all.ceil_char_boundary(from);
    Arc::from(all.get(from..).unwrap_or_default())
}

/// Whether what such a program leaves unread is for the shell behind it.
fn is_before_shell(kind: ProgramKind) -> bool {
    matches!(kind, ProgramKind::Shell | ProgramKind::Other)
}

/// Whether a line begins with a program of the table: it is meant as a whole.
fn names_known_program(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    ProgramTable::built_in().row(base_name(first)).is_some()
}

/// Whether a shell's lines name no earlier ones (`!!`).
fn is_without_history(program: &str) -> bool {
    let name = base_name(program);
    matches!(name, "dash" | "ash" | "busybox" | "yash")
        || (is_foreign_shell(program) && !name.ends_with("csh"))
}
