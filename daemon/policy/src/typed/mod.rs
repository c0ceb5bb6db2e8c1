//! What is typed in pieces, as the lines that it makes.
//!
//! The keys that edit a line (readline(3), stty(1)) are followed, so that `rm -r`, a correction and
//! `f x` are judged as the line that runs. It promises bounded memory, and that feeding cannot
//! fail; whoever refuses a line drops the copy that was fed, and nothing was typed.
//!
//! It must not know terminals, or what is dangerous.

use termd_proto::policy::MAX_JUDGED_BYTES;

use crate::danger::sql;
use crate::program::kind::{self, Reader};
use crate::shell::lexer::{self, Ending};
use crate::shell::word::UNKNOWN;

/// Longest escape sequence that is followed; longer ones end there.
const MAX_SEQUENCE: usize = 32;

/// Most characters that the keys of one call may move within lines, and most bytes of a construct's
/// earlier lines that its later ones have read again: a few keys can ask for much, and who types
/// waits for it. Beyond that lines are taken for too long.
const MAX_MOVED: usize = 16 << 20;
const MAX_READ_AGAIN: usize = 2 << 20;

/// How much is known of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Known {
    /// It is this.
    #[default]
    Whole,
    /// It goes on: a block is open.
    Begun,
    /// It was typed into a line that the program recalled: more may run than this.
    Recalled,
    /// It is longer than is judged.
    TooLong,
}

/// A line that the program would now read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedLine {
    /// Its text; of a construct of several lines all of them.
    pub text: String,
    /// How much of it is known.
    pub known: Known,
}

/// A sequence of keys that has not come whole.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum Keys {
    #[default]
    Plain,
    /// ESC was typed.
    Escape,
    /// CSI or SS3, and its parameters so far.
    Sequence(String),
    /// `^V`, readline's quoted-insert: the next key stands for itself.
    Quoted,
    /// `^X`: the next key is part of the command.
    Prefixed,
}

/// What was typed into a terminal since the last line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TypedLines {
    line: Vec<char>,
    cursor: usize,
    /// The lines before it that belong to the same construct.
    before: String,
    /// What ends the here-document that `before` ends in: until then its lines are only kept.
    heredoc: Option<String>,
    killed: Vec<char>,
    /// The beginning of a character of UTF-8.
    partial: Vec<u8>,
    keys: Keys,
    /// How much is known of the line.
    known: Known,
    /// Within a bracketed paste (xterm, mode 2004).
    pasting: bool,
    /// The program that was typed into takes keys, not lines.
    text_reader: bool,
    /// What this call has cost so far.
    work: Work,
}

/// What one call has cost.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Work {
    moved: usize,
    read_again: usize,
}

impl TypedLines {
    /// Takes what is typed into `program` (`None`: a shell), and returns the lines that it makes.
    pub fn feed(&mut self, bytes: &[u8], program: Option<&str>) -> Vec<TypedLine> {
        let reader = program.map_or(Reader::Shell, kind::reader);
        if self.text_reader && reader != Reader::Text {
            // Keys for an editor are no beginning of a line for the shell behind it.
            self.forget_line();
        }
        self.text_reader = reader == Reader::Text;
        let carried = !self.before.is_empty();
        let mut lines = Vec::new();
        let mut given = std::mem::take(&mut self.partial);
        given.extend_from_slice(bytes);
        self.work = Work::default();
        let mut chunks = given.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            for c in chunk.valid().chars() {
                self.key(c, reader, carried, &mut lines);
            }
            let at_end = chunks.peek().is_none();
            self.invalid(chunk.invalid(), at_end);
        }
        lines
    }

    /// Bytes that are no character: the beginning of one, where they are the last that came, waits
    /// for the rest.
    fn invalid(&mut self, bytes: &[u8], at_end: bool) {
        let cut = std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none());
        if at_end && cut {
            self.partial = bytes.to_vec();
        } else if !bytes.is_empty() {
            self.insert(char::REPLACEMENT_CHARACTER);
        }
    }

    fn key(&mut self, c: char, reader: Reader, carried: bool, lines: &mut Vec<TypedLine>) {
        match std::mem::take(&mut self.keys) {
            Keys::Plain => self.plain_key(c, reader, carried, lines),
            Keys::Escape => self.after_escape(c, reader, carried, lines),
            Keys::Sequence(mut sequence) => {
                if ('\u{40}'..='\u{7e}').contains(&c) || sequence.len() >= MAX_SEQUENCE {
                    self.sequence(&sequence, c);
                } else {
                    sequence.push(c);
                    self.keys = Keys::Sequence(sequence);
                }
            }
            Keys::Quoted => self.insert(c),
            Keys::Prefixed => self.known = Known::Recalled,
        }
    }

    fn plain_key(&mut self, c: char, reader: Reader, carried: bool, lines: &mut Vec<TypedLine>) {
        match c {
            // Also `^O`, readline's operate-and-get-next.
            '\r' | '\n' | '\u{f}' => self.end_line(reader, carried, lines),
            '\u{1b}' => self.keys = Keys::Escape,
            '\u{3}' | '\u{1a}' | '\u{1c}' => {
                self.abandon();
                self.forget_line();
            }
            // End of file: at a line's beginning it ends what is open, else it passes the line on.
            '\u{4}' if self.line.is_empty() => self.abandon(),
            '\u{4}' => self.remove(self.cursor),
            '\0' | '\u{7}' | '\u{c}' | '\u{11}' | '\u{1d}' | '\u{1e}' => {}
            '\u{8}' | '\u{7f}' => {
                if let Some(at) = self.cursor.checked_sub(1) {
                    self.cursor = at;
                    self.remove(at);
                }
            }
            '\u{15}' => self.kill(0, self.cursor),
            '\u{b}' => self.kill(self.cursor, self.line.len()),
            '\u{17}' => {
                let start = self.word_start();
                self.kill(start, self.cursor);
            }
            '\u{19}' => self.yank(),
            '\u{1}' => self.cursor = 0,
            '\u{5}' => self.cursor = self.line.len(),
            '\u{2}' => self.cursor = self.cursor.saturating_sub(1),
            '\u{6}' => self.cursor = (self.cursor + 1).min(self.line.len()),
            '\u{16}' => self.keys = Keys::Quoted,
            '\u{18}' => self.keys = Keys::Prefixed,
            // History, searches of it, transposing, undoing.
            '\u{10}' | '\u{e}' | '\u{12}' | '\u{13}' | '\u{14}' | '\u{1f}' => {
                self.known = Known::Recalled;
            }
            '\t' if self.pasting || self.at_white_space() => self.insert('\t'),
            // Completion puts something there, or a tab does.
            '\t' => self.insert(UNKNOWN),
            c => self.insert(c),
        }
    }

    fn at_white_space(&self) -> bool {
        let before = self.cursor.checked_sub(1).and_then(|at| self.line.get(at));
        before.is_none_or(|c| c.is_whitespace())
    }

    fn after_escape(&mut self, c: char, reader: Reader, carried: bool, lines: &mut Vec<TypedLine>) {
        match c {
            '[' | 'O' => self.keys = Keys::Sequence(String::new()),
            '\u{1b}' => self.keys = Keys::Escape,
            'b' => self.cursor = self.word_start(),
            'f' => self.cursor = self.word_end(),
            'd' => {
                let end = self.word_end();
                self.kill(self.cursor, end);
            }
            '\u{8}' | '\u{7f}' => {
                let start = self.word_start();
                self.kill(start, self.cursor);
            }
            // An Enter behind an Escape of its own.
            '\r' | '\n' => self.end_line(reader, carried, lines),
            // The last argument, history, changes of case.
            '.' | '_' => self.insert(UNKNOWN),
            _ => self.known = Known::Recalled,
        }
    }

    /// CSI and SS3 sequences that keys send (xterm's ctlseqs, "PC-Style Function Keys").
    fn sequence(&mut self, parameters: &str, last: char) {
        match (parameters, last) {
            ("200", '~') => self.pasting = true,
            ("201", '~') => self.pasting = false,
            (_, 'A' | 'B') | ("5" | "6", '~') => self.known = Known::Recalled,
            ("", 'C') => self.cursor = (self.cursor + 1).min(self.line.len()),
            ("", 'D') => self.cursor = self.cursor.saturating_sub(1),
            (_, 'C') => self.cursor = self.word_end(),
            (_, 'D') => self.cursor = self.word_start(),
            (_, 'H') | ("1" | "7", '~') => self.cursor = 0,
            (_, 'F') | ("4" | "8", '~') => self.cursor = self.line.len(),
            ("3", '~') => self.remove(self.cursor),
            _ => {}
        }
    }

    fn insert(&mut self, c: char) {
        if self.takes(1) && self.moves(self.line.len() - self.cursor) {
            self.line.insert(self.cursor, c);
            self.cursor += 1;
        }
    }

    fn yank(&mut self) {
        let count = self.killed.len();
        if self.takes(count) && self.moves(count + self.line.len() - self.cursor) {
            let killed = self.killed.iter().copied();
            self.line.splice(self.cursor..self.cursor, killed);
            self.cursor += count;
        }
    }

    /// Takes the character at a place out, if there is one.
    fn remove(&mut self, at: usize) {
        if at < self.line.len() && self.moves(self.line.len() - at) {
            self.line.remove(at);
        }
    }

    fn kill(&mut self, from: usize, to: usize) {
        if from < to && self.moves(self.line.len() - from) {
            self.killed = self.line.drain(from..to).collect();
            self.cursor = from;
        }
    }

    /// Whether there is room for so many characters more; else the line is too long.
    fn takes(&mut self, count: usize) -> bool {
        let bytes = self.before.len() + 4 * (self.line.len() + count);
        let fits = bytes <= 4 * MAX_JUDGED_BYTES;
        if !fits {
            self.known = Known::TooLong;
        }
        fits
    }

    /// Whether so many characters may yet be moved; else what the line is is not followed any more.
    fn moves(&mut self, count: usize) -> bool {
        self.work.moved = self.work.moved.saturating_add(count);
        let fits = self.work.moved <= MAX_MOVED;
        if !fits {
            self.known = Known::TooLong;
        }
        fits
    }

    fn word_start(&mut self) -> usize {
        if !self.moves(self.cursor) {
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
        if !self.moves(self.line.len() - self.cursor) {
            return self.cursor;
        }
        let after = self.line.get(self.cursor..).unwrap_or_default();
        let word = after
            .iter()
            .position(|c| !c.is_whitespace())
            .unwrap_or(after.len());
        let rest = after.get(word..).unwrap_or_default();
        let length = rest
            .iter()
            .position(|c| c.is_whitespace())
            .unwrap_or(rest.len());
        self.cursor + word + length
    }

    /// What was begun in earlier lines is no more.
    fn abandon(&mut self) {
        self.before.clear();
        self.heredoc = None;
    }

    fn forget_line(&mut self) {
        self.line.clear();
        self.cursor = 0;
        self.known = Known::Whole;
    }

    fn end_line(&mut self, reader: Reader, carried: bool, lines: &mut Vec<TypedLine>) {
        let line: String = self.line.iter().collect();
        let known = self.known;
        self.forget_line();
        if reader == Reader::Text {
            self.abandon();
            return;
        }
        let length = self.before.len() + line.len();
        let is_data = reader == Reader::Shell && self.heredoc.is_some();
        if !is_data {
            self.work.read_again += self.before.len();
        }
        let too_much = self.work.read_again > MAX_READ_AGAIN && !self.before.is_empty();
        if known == Known::TooLong || length > MAX_JUDGED_BYTES || too_much {
            self.abandon();
            let text = String::new();
            let known = Known::TooLong;
            lines.push(TypedLine { text, known });
            return;
        }
        if known == Known::Recalled {
            let text = format!("{}{line}", self.before);
            self.abandon();
            let known = Known::Recalled;
            lines.push(TypedLine { text, known });
            return;
        }
        let ends_heredoc = |end: &String| line.trim_start_matches('\t') == end;
        if reader == Reader::Shell && self.heredoc.as_ref().is_some_and(|end| !ends_heredoc(end)) {
            self.before.push_str(&line);
            self.before.push('\n');
            return;
        }
        let text = format!("{}{line}", self.before);
        self.heredoc = None;
        let ending = match reader {
            Reader::Shell => lexer::ending(&text),
            Reader::Sql(client) if !sql::is_complete(client, &text) => Ending::Heredoc,
            _ => Ending::Complete,
        };
        // A quote that an earlier call left open may not be one for the program that read it.
        if carried && ending == Ending::Quoted && !line.trim().is_empty() {
            let (text, known) = (line, Known::Begun);
            lines.push(TypedLine { text, known });
        }
        match ending {
            Ending::Complete => {
                self.before.clear();
                if !text.trim().is_empty() {
                    let known = Known::Whole;
                    lines.push(TypedLine { text, known });
                }
                return;
            }
            Ending::Open => lines.push(TypedLine {
                text: text.clone(),
                known: Known::Begun,
            }),
            Ending::Heredoc if reader == Reader::Shell => {
                self.heredoc = lexer::open_heredoc(&text);
            }
            Ending::Quoted | Ending::Heredoc => {}
        }
        self.before = text;
        self.before.push('\n');
    }

    /// What was begun is no line of the program's: a secret was asked for and typed.
    pub fn forget(&mut self) {
        *self = Self::default();
    }
}
