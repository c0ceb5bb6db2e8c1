//! The parts of a word as it is written: quotes, brackets and names, each up to where it ends (bash(1),
//! QUOTING and EXPANSION).

use std::str::Chars;

use crate::shell::word::UNKNOWN;
use crate::work;

/// The characters of a `{a..z}` that are looked at.
const MAX_SEQUENCE: usize = 64;

/// Bytes behind a bracket that take a unit of work to look through.
const BYTES_OF_UNIT: usize = 16;

/// Reads a written word from its beginning. What is not closed ends with the word.
#[derive(Debug)]
pub(crate) struct CharReader<'a> {
    rest: Chars<'a>,
}

impl<'a> CharReader<'a> {
    pub(crate) fn new(raw: &'a str) -> Self {
        Self { rest: raw.chars() }
    }

    pub(crate) fn next(&mut self) -> Option<char> {
        self.rest.next()
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest.clone().next()
    }

    /// The characters that pass a test, up to the first that does not.
    pub(crate) fn take_while(&mut self, test: impl Fn(char) -> bool) -> String {
        let mut text = String::new();
        while let Some(c) = self.peek().filter(|c| test(*c)) {
            self.rest.next();
            text.push(c);
        }
        text
    }

    /// The text up to a character that no backslash escapes. That character is read.
    pub(crate) fn until(&mut self, end: char) -> String {
        let mut inner = String::new();
        while let Some(c) = self.rest.next() {
            if c == end {
                break;
            }
            inner.push(c);
            if c == '\\' {
                inner.extend(self.rest.next());
            }
        }
        inner
    }

    /// The text up to the `'` that ends it.
    pub(crate) fn single_quoted(&mut self) -> String {
        self.rest.by_ref().take_while(|c| *c != '\'').collect()
    }

    /// The text up to the closing `)`. The `(` is read already.
    pub(crate) fn parenthesised(&mut self) -> String {
        self.nested('(', ')')
    }

    /// The text up to the bracket that closes. The one that opens is read already.
    pub(crate) fn nested(&mut self, open: char, close: char) -> String {
        let (mut inner, mut depth, mut quote) = (String::new(), 1_usize, None);
        while let Some(c) = self.rest.next() {
            match quote {
                None if c == '\'' || c == '"' => quote = Some(c),
                None if c == open => depth += 1,
                None if c == close => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                Some(q) if q == c => quote = None,
                _ => {}
            }
            inner.push(c);
            if c == '\\' && quote != Some('\'') {
                inner.extend(self.rest.next());
            }
        }
        inner
    }

    /// `[…]` behind its `[`, if it is closed.
    pub(crate) fn bracket(&mut self) -> Option<String> {
        let ahead = self.rest.as_str();
        if !work::spend(ahead.len() / BYTES_OF_UNIT) {
            return None;
        }
        let end = closing_bracket(ahead)?;
        let inner = ahead.get(..=end).unwrap_or_default();
        let bracket = format!("[{inner}");
        self.skip(inner.chars().count());
        Some(bracket)
    }

    /// `{a..z}` behind its `{`.
    pub(crate) fn sequence(&mut self) -> Option<String> {
        let ahead: String = self.rest.clone().take(MAX_SEQUENCE).collect();
        let (inner, _) = ahead.split_once('}')?;
        if !inner.contains("..") || inner.contains(['$', '{', ' ']) {
            return None;
        }
        self.skip(inner.chars().count() + 1);
        Some(format!("{{{inner}}}"))
    }

    fn skip(&mut self, count: usize) {
        self.rest.by_ref().take(count).for_each(drop);
    }

    /// The text of `$'…'` (bash(1), QUOTING), behind its first quote.
    pub(crate) fn ansi_c(&mut self) -> String {
        let mut text = String::new();
        let mut is_over = false;
        while let Some(c) = self.rest.next() {
            match c {
                '\'' => break,
                '\\' => match self.ansi_c_escape() {
                    // A NUL ends the text.
                    Some('\0') => is_over = true,
                    c => text.extend(c.filter(|_| !is_over)),
                },
                _ if is_over => {}
                c => text.push(c),
            }
        }
        text
    }

    fn ansi_c_escape(&mut self) -> Option<char> {
        Some(match self.rest.next()? {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' | 'E' => '\u{1b}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            'x' => self.numbered(16, 2, 0),
            'u' => self.numbered(16, 4, 0),
            'U' => self.numbered(16, 8, 0),
            c @ '0'..='7' => self.numbered(8, 2, c.to_digit(8).unwrap_or(0)),
            'c' => char::from_u32(u32::from(self.rest.next()?) & 0x1f).unwrap_or(UNKNOWN),
            c => c,
        })
    }

    /// The character of a number of at most `digits` digits.
    fn numbered(&mut self, radix: u32, digits: usize, first: u32) -> char {
        let mut number = first;
        for _ in 0..digits {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else {
                break;
            };
            self.rest.next();
            number = number.wrapping_mul(radix).wrapping_add(digit);
        }
        char::from_u32(number).unwrap_or(UNKNOWN)
    }
}

/// Where the `]` stands that closes a bracket expression (POSIX, 2.13.1), behind its `[`. What an expansion
/// within makes may close it earlier or later: the last `]` counts then, as more of the word is unknown.
fn closing_bracket(behind: &str) -> Option<usize> {
    // The first character behind `[` or `[!` closes nothing.
    let first = behind.len() - behind.trim_start_matches(['!', '^']).len();
    let bytes = behind.as_bytes();
    let last = behind.rfind(']').filter(|end| *end > first)?;
    let mut at = first;
    while let Some(byte) = bytes.get(at) {
        let rest = behind.get(at + 1..).unwrap_or_default();
        let ends_behind = |end: &str| rest.find(end).map(|length| length + end.len());
        let skipped = match byte {
            b']' if at > first => return Some(at),
            b'$' | b'`' => return Some(last),
            b'\\' => Some(1),
            b'\'' => ends_behind("'"),
            b'"' => ends_behind("\""),
            b'[' if rest.starts_with(':') => ends_behind(":]"),
            b'[' if rest.starts_with('.') => ends_behind(".]"),
            b'[' if rest.starts_with('=') => ends_behind("=]"),
            _ => None,
        };
        at += 1 + skipped.unwrap_or(0);
    }
    Some(last)
}
