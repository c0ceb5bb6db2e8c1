//! The line that keys edit.

use termd_proto::policy::MAX_JUDGED_BYTES;

use super::keys::Key;
use crate::request::Completeness;
use crate::shell::word::UNKNOWN;

/// Characters that the keys of one call may move within lines. A few keys can ask for much, and whoever
/// types waits for it. Beyond that a line counts as too long.
const MAX_MOVED: usize = 16 << 20;
/// Bytes that a line and the lines before it may have. Those of a character are counted as four.
const MAX_LINE_BYTES: usize = 4 * MAX_JUDGED_BYTES;

/// Where a line comes from. The greater one is the one of which less is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Origin {
    #[default]
    Typed,
    /// The history, by a search for what is typed.
    Search,
    /// The history.
    History,
    /// The history, with changes.
    Changed,
}

/// One line with a cursor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct LineEditor {
    line: Vec<char>,
    cursor: usize,
    /// What was cut last.
    cut: Vec<char>,
    origin: Origin,
    is_too_long: bool,
    pasting: bool,
    /// Characters that the keys of this call have moved.
    moved: usize,
}

impl LineEditor {
    /// Begins a call, which has its own bound of work.
    pub(super) fn begin_call(&mut self) {
        self.moved = 0;
    }

    /// Whether the line is known to be empty.
    pub(super) fn is_empty(&self) -> bool {
        self.line.is_empty() && self.origin == Origin::Typed && !self.is_too_long
    }

    /// How long the line is, in characters.
    pub(super) fn chars(&self) -> usize {
        self.line.len()
    }

    /// Takes the line, and leaves an empty one.
    pub(super) fn take(&mut self) -> (String, Completeness) {
        let line = self.line.iter().collect();
        let completeness = match self.origin {
            _ if self.is_too_long => Completeness::TooLong,
            Origin::Typed => Completeness::Whole,
            Origin::Search | Origin::History => Completeness::Recalled,
            Origin::Changed => Completeness::Edited,
        };
        self.clear();
        (line, completeness)
    }

    pub(super) fn clear(&mut self) {
        self.line.clear();
        self.cursor = 0;
        self.origin = Origin::Typed;
        self.is_too_long = false;
    }

    /// Edits the line. `before` is the length of the lines before it, in bytes.
    pub(super) fn edit(&mut self, key: Key, before: usize) {
        self.note_origin(key);
        match key {
            Key::Insert(c) => self.insert(c, before),
            Key::Tab if self.pasting || self.is_behind_space() => self.insert('\t', before),
            // A completion inserts something too.
            Key::Tab | Key::InsertUnknown => self.insert(UNKNOWN, before),
            Key::Delete | Key::DeleteOrEnd => self.remove(self.cursor),
            Key::Backspace => {
                if let Some(at) = self.cursor.checked_sub(1) {
                    self.cursor = at;
                    self.remove(at);
                }
            }
            Key::CutToStart => self.cut(0, self.cursor),
            Key::CutToEnd => self.cut(self.cursor, self.line.len()),
            Key::CutWordLeft => {
                let start = self.word_start();
                self.cut(start, self.cursor);
            }
            Key::CutWordRight => {
                let end = self.word_end();
                self.cut(self.cursor, end);
            }
            Key::Paste => self.paste(before),
            Key::Left => self.cursor = self.cursor.saturating_sub(1),
            Key::Right => self.cursor = (self.cursor + 1).min(self.line.len()),
            Key::WordLeft => self.cursor = self.word_start(),
            Key::WordRight => self.cursor = self.word_end(),
            Key::Start => self.cursor = 0,
            Key::End => self.cursor = self.line.len(),
            Key::PasteBegins => self.pasting = true,
            Key::PasteEnds => self.pasting = false,
            // The last three say where the line comes from. The others are the caller's.
            Key::Enter
            | Key::EditAndRun
            | Key::CommentAndRun
            | Key::RunAndHold
            | Key::Interrupt
            | Key::Suspend
            | Key::Recall
            | Key::Search
            | Key::Rewrite => {}
        }
    }

    fn note_origin(&mut self, key: Key) {
        let is_behind_history = self.origin >= Origin::History;
        self.origin = match key {
            Key::Recall => self.origin.max(Origin::History),
            Key::Search => self.origin.max(Origin::Search),
            Key::Rewrite | Key::InsertUnknown | Key::EditAndRun => Origin::Changed,
            Key::Insert(_) | Key::Backspace if self.origin == Origin::Search => Origin::Search,
            Key::Insert(_)
            | Key::Tab
            | Key::Delete
            | Key::DeleteOrEnd
            | Key::Backspace
            | Key::CutToStart
            | Key::CutToEnd
            | Key::CutWordLeft
            | Key::CutWordRight
            | Key::Paste
                if is_behind_history || self.origin == Origin::Search =>
            {
                Origin::Changed
            }
            Key::Left
            | Key::Right
            | Key::WordLeft
            | Key::WordRight
            | Key::Start
            | Key::End
            | Key::PasteBegins
                if self.origin == Origin::Search =>
            {
                Origin::History
            }
            _ => self.origin,
        };
    }

    fn is_behind_space(&self) -> bool {
        let before = self.cursor.checked_sub(1).and_then(|at| self.line.get(at));
        before.is_none_or(|c| c.is_whitespace())
    }

    fn insert(&mut self, c: char, before: usize) {
        if self.fits(1, before) && self.may_move(self.line.len() - self.cursor) {
            self.line.insert(self.cursor, c);
            self.cursor += 1;
        }
    }

    fn paste(&mut self, before: usize) {
        let count = self.cut.len();
        if self.fits(count, before) && self.may_move(count + self.line.len() - self.cursor) {
            let cut = self.cut.iter().copied();
            self.line.splice(self.cursor..self.cursor, cut);
            self.cursor += count;
        }
    }

    fn remove(&mut self, at: usize) {
        if at < self.line.len() && self.may_move(self.line.len() - at) {
            self.line.remove(at);
        }
    }

    fn cut(&mut self, from: usize, to: usize) {
        if from < to && self.may_move(self.line.len() - from) {
            self.cut = self.line.drain(from..to).collect();
            self.cursor = from;
        }
    }

    /// Whether this many characters more fit. Otherwise the line is too long.
    fn fits(&mut self, count: usize, before: usize) -> bool {
        let fits = before + 4 * (self.line.len() + count) <= MAX_LINE_BYTES;
        if !fits {
            self.is_too_long = true;
        }
        fits
    }

    /// Whether this many characters more may be moved. Otherwise the line is not followed any more.
    fn may_move(&mut self, count: usize) -> bool {
        self.moved = self.moved.saturating_add(count);
        let fits = self.moved <= MAX_MOVED;
        if !fits {
            self.is_too_long = true;
        }
        fits
    }

    fn word_start(&mut self) -> usize {
        if !self.may_move(self.cursor) {
            return self.cursor;
        }
        let before = self.line.get(..self.cursor).unwrap_or_default();
        let word = before.iter().rposition(|c| !c.is_whitespace());
        let within = word.and_then(|at| before.get(..at));
        within
            .and_then(|before| before.iter().rposition(|c| c.is_whitespace()))
            .map_or(0, |space| space + 1)
    }

    fn word_end(&mut self) -> usize {
        if !self.may_move(self.line.len() - self.cursor) {
            return self.cursor;
        }
        let after = self.line.get(self.cursor..).unwrap_or_default();
        let blanks = after.iter().take_while(|c| c.is_whitespace()).count();
        let word = after.get(blanks..).unwrap_or_default();
        let length = word.iter().take_while(|c| !c.is_whitespace()).count();
        self.cursor + blanks + length
    }
}
