//! From what a person would type to bytes: text, exact bytes or keys, Enter, and bracketed pastes. Pure.
//!
//! [`Lines`] says what the bytes do to a tty that reads lines; the terminal's task acts on it.
//!
//! **What arrives, and what a kernel cuts** (Linux, `n_tty.c`; termios(3), "canonical mode"). A tty in
//! raw mode drops nothing: what it does not hold yet is taken when the program has read. A tty that
//! reads lines drops what a line has beyond 4,095 bytes, but only while no whole line waits before
//! it. A shell's line editor has the tty raw while it edits and gives it back to the command that it
//! runs; what was typed ahead then stays whole, line by line, and is raw again at the next prompt.
//! So lines of up to 4,095 bytes need no pacing at all, however many are typed ahead. A longer one
//! needs a raw tty at the moment when it is written: the terminal's task looks right before it, and
//! waits a little for a shell that is between two prompts.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use termd_proto::interact::{MAX_KEYS, TypedInput};
use termd_proto::terminal::MAX_SEND_BYTES;

use super::keys::{Key, KeyModes, KeyPress};
use super::tty::LineDiscipline;
use crate::terminal::error::TerminalError;
use termd_vt::Model;

/// The longest line that a tty in canonical mode holds, in bytes, without what ends it: Linux's
/// `N_TTY_BUF_SIZE` less one (termios(3)).
pub const CANONICAL_LINE_BYTES: usize = 4_095;
/// A single line that is longer than this is pasted and not typed, in bytes: line editors show a
/// paste once and not a character at a time.
const PASTED_ABOVE_BYTES: usize = 1_024;

/// Mode 2004: a paste stands between these.
const PASTE_BEGIN: &str = "\u{1b}[200~";
const PASTE_END: &str = "\u{1b}[201~";
/// The same with CSI as one character (C1).
const PASTE_END_C1: &str = "\u{9b}201~";

/// The modes that decide how input is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypingModes {
    pub keys: KeyModes,
    pub paste: Paste,
}

/// Mode 2004.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Paste {
    /// A paste is typed.
    #[default]
    Typed,
    /// A paste stands between `CSI 200 ~` and `CSI 201 ~`.
    Bracketed,
}

impl TypingModes {
    /// The modes of a model and its tty. A program that reads cooked lines knows no brackets, whatever
    /// an earlier program has left switched on.
    pub fn of(model: &Model, tty: LineDiscipline) -> Self {
        let bracketed = model.modes().bracketed_paste && !tty.canonical;
        Self {
            keys: KeyModes::of(model),
            paste: if bracketed {
                Paste::Bracketed
            } else {
                Paste::Typed
            },
        }
    }
}

/// Checked input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typing<'a> {
    what: What<'a>,
    enter: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum What<'a> {
    /// As a person types or pastes it.
    Text(&'a str),
    /// Exactly these bytes.
    Data(Vec<u8>),
    Keys(Vec<KeyPress>),
}

impl<'a> Typing<'a> {
    /// Checks the bounds, the keys' names, and that there is one thing to type.
    pub fn of(input: &'a TypedInput) -> Result<Self, TerminalError> {
        let what = match (&input.text, &input.data, input.keys.as_slice()) {
            (Some(text), None, []) => What::Text(text),
            (None, Some(data), []) => What::Data(decoded(data)?),
            (None, None, []) if input.enter => What::Text(""),
            (None, None, keys @ [_, ..]) => What::Keys(parsed(keys)?),
            _ => {
                let problem = "needs exactly one of `text`, `data` and `keys`, or only `enter`";
                return Err(invalid("input", problem.to_owned()));
            }
        };
        let length = match &what {
            What::Text(text) => text.len(),
            What::Data(data) => data.len(),
            What::Keys(_) => 0,
        };
        if length > MAX_SEND_BYTES {
            let field = if input.text.is_some() {
                "input.text"
            } else {
                "input.data"
            };
            return Err(too_long(field));
        }
        Ok(Self {
            what,
            enter: input.enter,
        })
    }

    /// Whether it is text of several lines.
    pub fn has_lines(&self) -> bool {
        matches!(self.what, What::Text(text) if text.trim_end().contains(['\r', '\n']))
    }

    /// The bytes of each line, with Enter, where a paste is typed.
    pub fn lines(&self, modes: &TypingModes) -> Result<Vec<Vec<u8>>, TerminalError> {
        let bytes = self.bytes(modes)?;
        let enter = enter(*modes);
        let mut rest = bytes.as_slice();
        let mut lines = Vec::new();
        while let Some(at) = memchr::memmem::find(rest, &enter) {
            let (line, after) = rest.split_at(at + enter.len());
            lines.push(line.to_vec());
            rest = after;
        }
        if !rest.is_empty() {
            lines.push(rest.to_vec());
        }
        Ok(lines)
    }

    /// The bytes for a terminal in these modes.
    pub fn bytes(&self, modes: &TypingModes) -> Result<Vec<u8>, TerminalError> {
        let mut bytes = match &self.what {
            What::Text(text) => text_bytes(text, *modes),
            What::Data(data) => data.clone(),
            What::Keys(keys) => keys.iter().flat_map(|key| key.bytes(modes.keys)).collect(),
        };
        if self.enter {
            bytes.extend(enter(*modes));
        }
        // Line ends and brackets may have made it longer than it was.
        if bytes.len() > MAX_SEND_BYTES {
            return Err(too_long("input.text"));
        }
        Ok(bytes)
    }
}

fn invalid(field: &'static str, problem: String) -> TerminalError {
    TerminalError::Invalid { field, problem }
}

fn too_long(field: &'static str) -> TerminalError {
    invalid(
        field,
        "may be 1,048,576 bytes long at the most; send the rest by another call".to_owned(),
    )
}

fn decoded(data: &str) -> Result<Vec<u8>, TerminalError> {
    BASE64
        .decode(data)
        .map_err(|_| invalid("input.data", "is not base64".to_owned()))
}

fn parsed(keys: &[String]) -> Result<Vec<KeyPress>, TerminalError> {
    if keys.len() > MAX_KEYS {
        return Err(invalid(
            "input.keys",
            format!("may be {MAX_KEYS} keys at the most"),
        ));
    }
    let parsed = keys.iter().map(|name| name.parse::<KeyPress>());
    parsed
        .collect::<Result<_, _>>()
        .map_err(|unknown| invalid("input.keys", unknown.to_string()))
}

fn enter(modes: TypingModes) -> Vec<u8> {
    KeyPress::plain(Key::Enter).bytes(modes.keys)
}

/// Turns line ends into Enter. A bracketed paste ends before the last line end, which is Enter pressed
/// after it: a text that ends with a newline is to be run.
fn text_bytes(text: &str, modes: TypingModes) -> Vec<u8> {
    let mut lines: Vec<&str> = split_lines(text).collect();
    let ended = lines.len() > 1 && lines.last() == Some(&"");
    if ended {
        lines.pop();
    }
    let is_paste = lines.len() > 1
        || lines
            .iter()
            .any(|line| line.len() > PASTED_ABOVE_BYTES || has_inner_tab(line));
    let mut bytes = if is_paste && modes.paste == Paste::Bracketed {
        let body = without_paste_end(&lines.join("\r"));
        format!("{PASTE_BEGIN}{body}{PASTE_END}").into_bytes()
    } else {
        let enter = enter(modes);
        let lines: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
        lines.join(enter.as_slice())
    };
    if ended {
        bytes.extend(enter(modes));
    }
    bytes
}

/// Whether a TAB stands before other text. Typed, it would complete what stands before it. One at the end
/// is to do so.
fn has_inner_tab(line: &str) -> bool {
    line.trim_end_matches('\t').contains('\t')
}

/// Splits at CR LF, LF or CR. After the last line end there is one more line, empty.
fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let all = rest?;
        let Some(at) = all.find(['\r', '\n']) else {
            return rest.take();
        };
        let (line, after) = all.split_at(at);
        let after = after.strip_prefix("\r\n").or_else(|| after.get(1..));
        rest = after;
        Some(line)
    })
}

/// Removes ends of a paste, after which the rest would be typed (paste injection). Removing one may
/// join the halves of another, so it goes on until there is none.
fn without_paste_end(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        out.push(c);
        for end in [PASTE_END, PASTE_END_C1] {
            if c == '~' && out.ends_with(end) {
                out.truncate(out.len() - end.len());
            }
        }
    }
    out
}

/// The lengths of lines, as a tty that reads lines counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    /// Bytes before the first line end; all of them where there is none.
    first: usize,
    /// The longest of the others, in bytes.
    longest_later: usize,
}

impl Lines {
    pub fn of(bytes: &[u8]) -> Self {
        let mut lengths = bytes.split(|byte| ends_line(*byte)).map(<[u8]>::len);
        Self {
            first: lengths.next().unwrap_or(0),
            longest_later: lengths.max().unwrap_or(0),
        }
    }

    /// Whether a tty that reads lines would cut one, after `pending` bytes of an unfinished line.
    pub fn are_cut(self, pending: usize) -> bool {
        self.first.saturating_add(pending) > CANONICAL_LINE_BYTES
            || self.longest_later > CANONICAL_LINE_BYTES
    }
}

/// How many bytes of an unfinished line the tty has after `bytes`, with `pending` before. The kernel
/// cannot be asked. Line editing is ignored, except for what discards the line.
pub fn pending_after(pending: usize, bytes: &[u8]) -> usize {
    match bytes.iter().rposition(|byte| ends_line(*byte)) {
        Some(at) => bytes.len() - at - 1,
        None => pending.saturating_add(bytes.len()),
    }
}

/// CR (ICRNL), LF and VEOF end a line; VINTR, VKILL, VQUIT and VSUSP discard it: the default
/// characters of ttys (stty(1), "sane").
fn ends_line(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n' | 0x04 | 0x03 | 0x15 | 0x1c | 0x1a)
}

/// What a tty or a line editor may show of the bytes: lines ended by LF, without escape sequences. The
/// reader of the echo knows how other control characters are shown.
pub fn echo_of(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut shown = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => {
                chars.next_if_eq(&'\n');
                shown.push('\n');
            }
            '\n' | '\t' => shown.push(c),
            '\u{1b}' => match chars.next() {
                Some('[') => {
                    while chars.next_if(|c| !('@'..='~').contains(c)).is_some() {}
                    chars.next();
                }
                Some('O') => {
                    chars.next();
                }
                _ => {}
            },
            c => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests;
