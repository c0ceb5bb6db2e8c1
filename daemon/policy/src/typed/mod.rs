//! The lines that bytes typed in pieces make.
//!
//! Keys that edit a line are followed, so that `rm -r`, a correction and `f x` are judged as the line
//! that runs. Memory is bounded, and any bytes can be fed.
//!
//! **What was typed and not ended** is a part of the shell's next line only where the shell, or the tty,
//! holds it. A program may have read it as a key. So what follows is read both ways, unless the shell is
//! known to be at the same prompt still.

mod keys;
mod line_editor;
mod reading;

use std::iter;
use std::sync::Arc;

use crate::program::kind::{ProgramKind, program_kind};
use crate::request::Completeness;
use crate::shell::state::ShellState;
use keys::{Key, KeyReader};
use reading::Reading;

/// Ways in which a line is read beside the first. Of a line that is typed in more pieces it is not known
/// what runs. Some type key by key.
const MAX_OTHERS: usize = 512;
/// The same of places within one call. Each key of the call is read once more for each.
const MAX_PLACES: usize = 16;
/// Characters that these may judge for one line, beyond which it is not known either. Each costs as
/// much as the line itself.
const MAX_OTHERS_CHARS: usize = 256 << 10;

/// How much of the earlier lines is kept for a person, in bytes.
const MAX_EARLIER_BYTES: usize = 1_024;

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
    /// The last of the lines before, for a person.
    earlier_text: Arc<str>,
    /// The program that may read it in place of the one that reads now.
    reader: Option<String>,
    /// Where the call's key is that ends it, in bytes.
    at: usize,
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

    /// The last of the lines before, 1,024 bytes at most, for a person to whom this one says nothing alone
    /// (`rm -rf $x`).
    pub fn earlier_text(&self) -> &str {
        &self.earlier_text
    }

    /// Whether it is another reading of the same line.
    pub fn is_same(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

/// What was typed into a terminal since the last line.
///
/// Feed a clone to learn the lines of bytes that may yet be refused; drop the clone if they are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TypedLines {
    /// As if the program that reads the line had all of it.
    first: Reading,
    /// As if what came before a call, or before a key that hands it over, was read by another program.
    others: Vec<Reading>,
    /// Whether there are more ways than are kept.
    is_lost: bool,
    /// Places within this call from which another reading goes on.
    places: usize,
    /// The first bytes of a character of UTF-8.
    partial: Vec<u8>,
    /// The prompt at which the shell is known to be in this call.
    prompt: Option<u64>,
    /// The prompt at which the shell was in each call that has typed a part of the line.
    held_at: Option<u64>,
}

impl TypedLines {
    /// Takes what is typed into `program`, and returns the lines that it makes. `None`: a shell. Other
    /// readings of a line stand beside it.
    pub fn feed(&mut self, bytes: &[u8], program: Option<&str>) -> Vec<TypedLine> {
        self.begin_call(program);
        let prompt = self.prompt.take();
        let is_at_prompt = prompt.is_some() && (!self.holds_text() || self.held_at == prompt);
        if !is_at_prompt && (self.first.holds_line() || !self.partial.is_empty()) {
            self.add(self.first.without_line());
        }
        self.held_at = prompt.filter(|_| is_at_prompt);
        self.feed_by(bytes, program, KeyReader::read)
    }

    /// The same of what `program` reads from a pipe, where no character edits the line. Its pieces are
    /// those of a buffer and no keys.
    pub fn feed_piped(&mut self, bytes: &[u8], program: Option<&str>) -> Vec<TypedLine> {
        self.begin_call(program);
        self.feed_by(bytes, program, |_, c| match c {
            '\n' => Some(Key::Enter),
            // Shells skip it.
            '\0' => None,
            c => Some(Key::Insert(c)),
        })
    }

    fn begin_call(&mut self, program: Option<&str>) {
        let kind = program.map_or(ProgramKind::Shell, program_kind);
        self.places = 0;
        for reading in self.readings() {
            reading.begin_call(kind);
        }
    }

    fn feed_by(
        &mut self,
        bytes: &[u8],
        program: Option<&str>,
        read_key: impl Fn(&mut KeyReader, char) -> Option<Key>,
    ) -> Vec<TypedLine> {
        let mut given = std::mem::take(&mut self.partial);
        // Only the first reading has a character that an earlier call has begun.
        let carried = given.len();
        given.extend_from_slice(bytes);
        let mut lines = Vec::new();
        let mut at = 0;
        let mut chunks = given.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            for c in chunk.valid().chars() {
                let key = read_key(&mut self.first.keys, c);
                self.part(key);
                let ended = lines.len();
                if let Some(key) = key {
                    self.first.key(key, at, program, &mut lines);
                }
                for other in self.others.iter_mut().filter(|_| at >= carried) {
                    if let Some(key) = read_key(&mut other.keys, c) {
                        other.key(key, at, program, &mut lines);
                    }
                }
                if self.is_lost && lines.len() > ended {
                    lines.push(self.first.line_is_lost(at));
                }
                let may_end = key.is_some_and(Key::may_end_line);
                if may_end && !self.first.holds_text() {
                    self.converge();
                }
                at += c.len_utf8();
            }
            let is_last = chunks.peek().is_none();
            self.invalid(chunk.invalid(), is_last, at < carried);
            at += chunk.invalid().len();
        }
        lines
    }

    fn readings(&mut self) -> impl Iterator<Item = &mut Reading> {
        iter::once(&mut self.first).chain(&mut self.others)
    }

    /// Notes where a key may take away what was typed before it, and that the prompt is left.
    fn part(&mut self, key: Option<Key>) {
        match key {
            // A tty that reads lines hands them over (VEOF). Line editors keep them.
            Some(Key::DeleteOrEnd) if self.held_at.is_none() && self.first.holds_line() => {
                self.add_place(Reading::without_line);
            }
            // Such a tty drops them (VSUSP, VQUIT).
            Some(Key::Suspend) if self.first.holds_text() => {
                self.add_place(Reading::without_text);
            }
            Some(key) if key.may_end_line() => {
                self.held_at = None;
                if self.others.len() * self.first.chars() > MAX_OTHERS_CHARS {
                    self.lose();
                }
            }
            _ => {}
        }
    }

    /// Adds a reading from a place within this call on.
    fn add_place(&mut self, reading: impl FnOnce(&Reading) -> Reading) {
        if self.is_lost {
            return;
        }
        if self.places < MAX_PLACES {
            self.places += 1;
            self.add(reading(&self.first));
        } else {
            self.lose();
        }
    }

    fn add(&mut self, other: Reading) {
        if self.is_lost || self.others.contains(&other) {
            return;
        }
        if self.others.len() < MAX_OTHERS {
            self.others.push(other);
        } else {
            self.lose();
        }
    }

    /// There are too many readings: what runs of the line is not known.
    fn lose(&mut self) {
        self.others.clear();
        self.is_lost = true;
    }

    /// The line has ended: what the other readings have set may be so.
    fn converge(&mut self) {
        for other in std::mem::take(&mut self.others) {
            if !other.holds_text() {
                self.first.join(&other);
            }
        }
        self.is_lost = false;
    }

    /// The shell is at the prompt of this number, and nothing waits there: what was started has ended. It
    /// is so for the next call.
    pub fn at_prompt(&mut self, prompt: u64) {
        self.prompt = Some(prompt);
        for reading in self.readings() {
            reading.at_prompt();
        }
    }

    /// Whether a part of a line, or of a key, was typed that no program has read yet, as far as is known.
    pub fn holds_text(&self) -> bool {
        self.first.holds_text() || !self.partial.is_empty()
    }

    /// Forgets what was typed. It was no line: the program asked for a secret.
    pub fn forget(&mut self) {
        let mut first = std::mem::take(&mut self.first);
        first.forget();
        *self = Self {
            first,
            ..Self::default()
        };
    }

    /// Forgets the text of earlier lines. What was typed last was not shown.
    pub fn hide_earlier(&mut self) {
        for reading in self.readings() {
            reading.hide_earlier();
        }
    }

    /// Takes bytes that are no character. If they are the last that came and may begin a character, they
    /// wait for the rest. `is_carried`: an earlier call has typed them.
    fn invalid(&mut self, bytes: &[u8], is_last: bool, is_carried: bool) {
        let is_cut = std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none());
        if is_last && is_cut {
            self.partial = bytes.to_vec();
        } else if is_carried {
            self.first.invalid();
        } else if !bytes.is_empty() {
            self.readings().for_each(Reading::invalid);
        }
    }
}
