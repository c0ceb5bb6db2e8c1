//! The expansion of a word: quotes removed, escapes read, braces expanded, variables replaced where
//! the text itself sets them (POSIX 2.2 and 2.6; bash(1), EXPANSION).
//!
//! **Invariant:** a part that cannot be known stands as [`UNKNOWN`] in the result. It is never left
//! out.

use termd_proto::policy::Span;

use super::braces::expand_braces;
use super::variables::Variables;
use super::word::{UNKNOWN, Word, joined};

/// The words that one written word becomes. `choice` is the number of the value that is taken of a
/// variable with several.
pub(crate) fn expand(raw: &str, span: Span, variables: &Variables, choice: usize) -> Vec<Word> {
    let mut written = Vec::new();
    expand_braces(raw, 0, &mut written);
    let mut words = Vec::new();
    for one in written {
        let mut expander = Expander {
            rest: one.chars().peekable(),
            variables,
            choice,
            words: Vec::new(),
            current: String::new(),
            begun: false,
        };
        expander.read();
        words.extend(expander.words.into_iter().map(|text| Word {
            text,
            raw: raw.to_owned(),
            span,
        }));
    }
    words
}

/// Reads one word after its braces are expanded.
struct Expander<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    variables: &'a Variables,
    choice: usize,
    words: Vec<String>,
    current: String,
    /// Whether there is a current word. It may be empty, as `''` is.
    begun: bool,
}

/// Where an expansion stands. The value of a bare one is split at white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quoting {
    Bare,
    Double,
}

impl Expander<'_> {
    fn read(&mut self) {
        while let Some(c) = self.rest.next() {
            match c {
                '\'' => self.single_quoted(),
                '"' => self.double_quoted(),
                '\\' => match self.rest.next() {
                    Some('\n') | None => {}
                    Some(c) => self.push(c),
                },
                '$' => self.dollar(Quoting::Bare),
                '`' => {
                    let inner = self.until('`');
                    self.substitution(&inner, Quoting::Bare);
                }
                '<' | '>' if self.rest.peek() == Some(&'(') => {
                    self.rest.next();
                    self.parenthesised();
                    self.push_str("/dev/fd/");
                    self.push(UNKNOWN);
                }
                c => self.push(c),
            }
        }
        self.end_word();
    }

    fn push(&mut self, c: char) {
        self.begun = true;
        self.current.push(c);
    }

    fn push_str(&mut self, text: &str) {
        self.begun = true;
        self.current.push_str(text);
    }

    fn end_word(&mut self) {
        if std::mem::take(&mut self.begun) {
            self.words.push(std::mem::take(&mut self.current));
        }
    }

    fn single_quoted(&mut self) {
        self.begun = true;
        for c in self.rest.by_ref().take_while(|c| *c != '\'') {
            self.current.push(c);
        }
    }

    fn double_quoted(&mut self) {
        self.begun = true;
        while let Some(c) = self.rest.next() {
            match c {
                '"' => return,
                '\\' => match self.rest.next() {
                    Some('\n') | None => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => self.push(c),
                    Some(c) => {
                        self.push('\\');
                        self.push(c);
                    }
                },
                '$' => self.dollar(Quoting::Double),
                '`' => {
                    let inner = self.until('`');
                    self.substitution(&inner, Quoting::Double);
                }
                c => self.push(c),
            }
        }
    }

    fn dollar(&mut self, quoting: Quoting) {
        match self.rest.peek().copied() {
            Some('\'') if quoting == Quoting::Bare => {
                self.rest.next();
                self.ansi_c();
            }
            Some('"') if quoting == Quoting::Bare => {
                self.rest.next();
                self.double_quoted();
            }
            Some('(') => {
                self.rest.next();
                let inner = self.parenthesised();
                self.substitution(&inner, quoting);
            }
            Some('{') => {
                self.rest.next();
                let inner = self.braced();
                self.parameter(&inner, quoting);
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let mut name = String::new();
                while let Some(c) = self
                    .rest
                    .next_if(|c| c.is_ascii_alphanumeric() || *c == '_')
                {
                    name.push(c);
                }
                self.parameter(&name, quoting);
            }
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
                self.rest.next();
                self.push(UNKNOWN);
            }
            _ => self.push('$'),
        }
    }

    /// `${…}` without its braces, or a bare name.
    fn parameter(&mut self, inner: &str, quoting: Quoting) {
        let end = inner
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(inner.len());
        let (name, operator) = inner.split_at(end);
        if name == "IFS" && operator.is_empty() {
            // IFS splits at a space unless the text sets it, which is not followed.
            return self.value(" ", quoting);
        }
        let known = self.variables.get(name, self.choice).map(str::to_owned);
        let default = operator
            .strip_prefix(":-")
            .or_else(|| operator.strip_prefix(":="))
            .or_else(|| operator.strip_prefix('-'));
        match (known, operator, default) {
            (Some(value), "" | "[@]" | "[*]", _) | (Some(value), _, Some(_)) => {
                self.value(&value, quoting);
            }
            (None, _, Some(default)) if !default.contains(['$', '`']) => {
                self.value(default, quoting);
            }
            _ => self.push(UNKNOWN),
        }
    }

    fn value(&mut self, value: &str, quoting: Quoting) {
        if quoting == Quoting::Double {
            self.push_str(value);
            return;
        }
        for c in value.chars() {
            if c.is_whitespace() {
                self.end_word();
            } else {
                self.push(c);
            }
        }
    }

    /// A command substitution. Its output is known of `echo` with known words, and of `which`, which
    /// prints where a program is.
    fn substitution(&mut self, inner: &str, quoting: Quoting) {
        let simple = !inner.contains(['|', ';', '&', '<', '>', '$', '`', '(', '\n']);
        let mut words = inner.split_whitespace();
        let known = simple
            .then(|| match (words.next()?, words.next()?) {
                ("which", name) => Some(name.to_owned()),
                ("command", "-v") => words.next().map(str::to_owned),
                ("echo" | "printf", first) if !first.starts_with('-') => {
                    let rest = inner.trim_start();
                    let rest = rest.split_once(char::is_whitespace)?.1;
                    let nothing = Variables::default();
                    let zero = Span { start: 0, end: 0 };
                    let words = rest
                        .split_whitespace()
                        .flat_map(|raw| expand(raw, zero, &nothing, 0));
                    Some(joined(&words.collect::<Vec<_>>()))
                }
                _ => None,
            })
            .flatten();
        match known {
            Some(text) => self.value(&text, quoting),
            None => self.push(UNKNOWN),
        }
    }

    /// bash(1), QUOTING: `$'…'`.
    fn ansi_c(&mut self) {
        self.begun = true;
        while let Some(c) = self.rest.next() {
            if c == '\'' {
                return;
            }
            if c != '\\' {
                self.push(c);
                continue;
            }
            match self.rest.next() {
                Some('a') => self.push('\u{7}'),
                Some('b') => self.push('\u{8}'),
                Some('e' | 'E') => self.push('\u{1b}'),
                Some('f') => self.push('\u{c}'),
                Some('n') => self.push('\n'),
                Some('r') => self.push('\r'),
                Some('t') => self.push('\t'),
                Some('v') => self.push('\u{b}'),
                Some('x') => self.numbered(16, 2, 0),
                Some('u') => self.numbered(16, 4, 0),
                Some('U') => self.numbered(16, 8, 0),
                Some(c @ '0'..='7') => self.numbered(8, 2, c.to_digit(8).unwrap_or(0)),
                Some('c') => {
                    if let Some(c) = self.rest.next() {
                        self.push(char::from_u32(u32::from(c) & 0x1f).unwrap_or(UNKNOWN));
                    }
                }
                Some(c) => self.push(c),
                None => {}
            }
        }
    }

    fn numbered(&mut self, radix: u32, digits: usize, first: u32) {
        let mut number = first;
        for _ in 0..digits {
            let Some(digit) = self.rest.peek().and_then(|c| c.to_digit(radix)) else {
                break;
            };
            self.rest.next();
            number = number.wrapping_mul(radix).wrapping_add(digit);
        }
        self.push(char::from_u32(number).unwrap_or(UNKNOWN));
    }

    fn until(&mut self, end: char) -> String {
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

    /// The text up to the closing `)`; the `(` is read already.
    fn parenthesised(&mut self) -> String {
        self.nested('(', ')')
    }

    fn braced(&mut self) -> String {
        self.nested('{', '}')
    }

    fn nested(&mut self, open: char, close: char) -> String {
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
}
