//! Output as a reader sees it: without escape sequences, and without the characters that show nothing.

use std::borrow::Cow;
use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use crate::unseen::is_unseen;

const ESC: char = '\u{1b}';
/// The bytes that begin a control string: ESC and a letter or sign.
const INTRODUCER_BYTES: usize = 2;
/// What begins a control string behind ESC: OSC, DCS, SOS, PM and APC.
const INTRODUCERS: [char; 5] = [']', 'P', 'X', '^', '_'];
/// What ends a control string: BEL, ESC (of ST, or of another sequence), and CAN and SUB, which abort it.
const STRING_ENDS: [char; 4] = ['\x07', ESC, '\x18', '\x1a'];

/// What control characters do in a text, but for ESC and ends of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Controls {
    /// They end a word, as the CR of a progress bar does.
    EndWords,
    /// A backspace takes a character back, a control string goes on over line breaks, and the others do
    /// nothing.
    AreObeyed,
}

/// A part of a text without a gap.
#[derive(Debug)]
struct Part {
    /// Where it is in the printed text.
    at: usize,
    /// Its length there. What a backspace took back has none.
    length: usize,
    source: Range<usize>,
}

/// A text without what a reader does not see of it, and where its parts came from.
#[derive(Debug)]
pub(super) struct PrintedText<'a> {
    text: Cow<'a, str>,
    parts: Vec<Part>,
}

impl<'a> PrintedText<'a> {
    /// The one or two ways to read a text: where there are control characters, a secret ends at one in the
    /// first, and goes on behind it in the second.
    pub(super) fn readings(text: &'a str) -> impl Iterator<Item = Self> {
        let is_obeyed = has_controls(text) || has_strings_of_lines(text);
        let second = is_obeyed.then_some(Controls::AreObeyed);
        let readings = [Some(Controls::EndWords), second];
        (readings.into_iter().flatten()).map(move |controls| Self::read(text, controls))
    }

    fn read(text: &'a str, controls: Controls) -> Self {
        let is_plain = text.is_ascii() && !text.contains(ESC) && !text.contains("\r\n");
        if is_plain && controls == Controls::EndWords {
            let part = Part {
                at: 0,
                length: text.len(),
                source: 0..text.len(),
            };
            return Self {
                text: Cow::Borrowed(text),
                parts: vec![part],
            };
        }
        let ends_part = |c: char| {
            let is_obeyed = controls == Controls::AreObeyed && is_control(c);
            c == '\r' || is_obeyed || shows_nothing(c)
        };
        let mut printed = Printing::default();
        let mut from = 0;
        while let Some(rest) = text.get(from..).filter(|rest| !rest.is_empty()) {
            let end = from + rest.find(ends_part).unwrap_or(rest.len());
            printed.print(text, from..end);
            from = end;
            let Some(rest) = text.get(end..).filter(|rest| !rest.is_empty()) else {
                break;
            };
            from += match rest.chars().next() {
                Some(ESC) => {
                    let string = control_string_bytes(rest);
                    let string = string.filter(|_| controls == Controls::AreObeyed);
                    string
                        .or_else(|| escape_sequence_bytes(rest))
                        .unwrap_or(rest.len())
                }
                // One before LF is the tty's.
                Some('\r') if controls == Controls::EndWords && !is_line_end(rest) => {
                    printed.print(text, end..end + 1);
                    1
                }
                other => other.map_or(rest.len(), char::len_utf8),
            };
            if rest.starts_with('\u{8}') {
                printed.take_back(from);
            }
        }
        Self {
            text: Cow::Owned(printed.text),
            parts: printed.parts,
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Where a range of the printed text was, part by part, with what was taken back within it and at its
    /// end.
    pub(super) fn origins(&self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let first = (self.parts).partition_point(|part| part.at + part.length < range.start);
        let parts = self.parts.get(first..).unwrap_or_default().iter();
        let parts = parts.take_while(move |part| part.at <= range.end);
        let origins = parts.map(move |part| {
            if part.length == 0 {
                let is_within = range.start < part.at;
                return if is_within {
                    part.source.clone()
                } else {
                    Range::default()
                };
            }
            let from = range.start.max(part.at) - part.at;
            let to = range.end.min(part.at + part.length) - part.at;
            part.source.start + from..part.source.start + to
        });
        origins.filter(|origin| !origin.is_empty())
    }
}

#[derive(Default)]
struct Printing {
    text: String,
    parts: Vec<Part>,
}

impl Printing {
    fn print(&mut self, text: &str, source: Range<usize>) {
        if !source.is_empty() {
            self.parts.push(Part {
                at: self.text.len(),
                length: source.len(),
                source: source.clone(),
            });
            self.text.push_str(text.get(source).unwrap_or_default());
        }
    }

    /// Takes back the last character of the line: what comes next is printed over it. `end` is the end of
    /// the backspace.
    fn take_back(&mut self, end: usize) {
        let Some(last) = self.text.chars().next_back().filter(|c| *c != '\n') else {
            return;
        };
        // What was taken back right before becomes one part with it.
        while self.parts.pop_if(|part| part.length == 0).is_some() {}
        let Some(part) = self.parts.last_mut() else {
            return;
        };
        self.text.truncate(self.text.len() - last.len_utf8());
        part.length = part.length.saturating_sub(last.len_utf8());
        let start = part.source.start + part.length;
        part.source.end = start;
        if part.length == 0 {
            self.parts.pop();
        }
        self.parts.push(Part {
            at: self.text.len(),
            length: 0,
            source: start..end,
        });
    }
}

/// A text without the characters that show nothing.
pub(super) fn seen(text: &str) -> Cow<'_, str> {
    if text.contains(shows_nothing) {
        Cow::Owned(text.chars().filter(|c| !shows_nothing(*c)).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// Where the texts of control strings are: OSC, DCS, SOS, PM and APC. A line break within one ends it for
/// what is printed, so that one without an end hides no text, and its text goes on here.
pub(super) fn control_strings(text: &str) -> impl Iterator<Item = Range<usize>> {
    let introducers = text.match_indices(ESC).map(|(at, _)| at);
    introducers.filter_map(|at| {
        let (introducer, string) = text.get(at..)?.split_at_checked(INTRODUCER_BYTES)?;
        let length = string.find(STRING_ENDS).unwrap_or(string.len());
        let start = at + INTRODUCER_BYTES;
        (introducer.ends_with(INTRODUCERS)).then_some(start..start + length)
    })
}

/// The length of the control string that a text begins with, up to its end over line breaks, without the ESC
/// of one that ST ends. `None`: it begins with none, or with one that has no end.
fn control_string_bytes(text: &str) -> Option<usize> {
    let (introducer, string) = text.split_at_checked(INTRODUCER_BYTES)?;
    let (at, end) = string.match_indices(STRING_ENDS).next()?;
    let is_string = introducer.ends_with(INTRODUCERS);
    let length = if end.starts_with(ESC) {
        at
    } else {
        at + end.len()
    };
    is_string.then_some(INTRODUCER_BYTES + length)
}

/// Whether a text has a control string with a line break in it.
fn has_strings_of_lines(text: &str) -> bool {
    control_strings(text).any(|string| text.get(string).is_some_and(|text| text.contains('\n')))
}

/// Whether a character begins an escape sequence or leaves no mark of its own: marks that combine, what
/// cannot be seen, C1 controls, and what stands for a wrong byte. White space separates words.
fn shows_nothing(c: char) -> bool {
    if c.is_ascii() {
        return c == ESC;
    }
    !c.is_whitespace()
        && (c.is_control()
            || c == char::REPLACEMENT_CHARACTER
            || is_unseen(c)
            || is_combining_mark(c))
}

/// Whether a character is a C0 control or DEL that ends no line and is no tab.
fn is_control(c: char) -> bool {
    c.is_ascii_control() && !matches!(c, '\n' | '\t')
}

/// Whether a text begins with an end of line as a tty writes it, for LF and for CR LF.
fn is_line_end(text: &str) -> bool {
    text.starts_with("\r\n") || text.starts_with("\r\r\n")
}

/// Whether a text has control characters other than ESC, tabs and ends of lines.
fn has_controls(text: &str) -> bool {
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        let is_one = match byte {
            b'\r' => !matches!(bytes.peek(), Some(b'\n' | b'\r')),
            0x1b => false,
            byte => is_control(char::from(byte)),
        };
        if is_one {
            return true;
        }
    }
    false
}

/// Where the escape sequence begins that is not whole at the end of a text. The ESC of ST is a part of the
/// control string before it.
pub fn open_sequence(text: &str) -> Option<usize> {
    let mut from = 0;
    let mut string = None;
    while let Some(at) = text.get(from..)?.find(ESC) {
        let start = from + at;
        let first = if at == 0 { string } else { None }.unwrap_or(start);
        let sequence = text.get(start..)?;
        let Some(length) = escape_sequence_bytes(sequence) else {
            return Some(first);
        };
        let is_string = (sequence.chars().nth(1)).is_some_and(|c| INTRODUCERS.contains(&c));
        let is_ended = (sequence.get(..length)).is_some_and(|string| string.ends_with(STRING_ENDS));
        string = (is_string && !is_ended).then_some(start);
        from = start + length;
    }
    None
}

/// The length of the escape sequence that a text begins with (ECMA-48): CSI, a control string, or a
/// shorter one. `None`: it is not whole.
pub fn escape_sequence_bytes(text: &str) -> Option<usize> {
    let is_final = |c: char| ('@'..='~').contains(&c);
    let mut characters = text.char_indices().skip(1);
    let end = match characters.next() {
        Some((_, '[')) => characters.find(|(_, c)| is_final(*c) || c.is_control()),
        Some((_, c)) if INTRODUCERS.contains(&c) => {
            // One that is not ended hides nothing of the text after its line.
            characters.find(|(_, c)| *c == '\n' || STRING_ENDS.contains(c))
        }
        Some((at, c)) if (' '..='/').contains(&c) => characters
            .find(|(_, c)| !(' '..='/').contains(c))
            .or(Some((at, c))),
        other => other,
    };
    // What is not a sequence's end stays in the text.
    end.map(|(at, c)| match c {
        '\n' | '\r' | ESC => at.max(1),
        c => at + c.len_utf8(),
    })
}
