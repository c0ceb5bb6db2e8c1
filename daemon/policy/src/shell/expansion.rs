//! The words that a written word becomes: quotes removed, escapes read, braces expanded, variables and
//! the output of commands put in where the text tells them (POSIX 2.2 and 2.6; bash(1), EXPANSION).
//!
//! **Invariant:** a part that cannot be known stands as [`UNKNOWN`] in the result. It is never left
//! out, and nothing is put in its place.

use termd_proto::policy::Span;

use super::braces::expand_braces;
use super::choices::Choices;
use super::parameter::{CUSTOMARY_DIRECTORIES, ParameterOperator, Reference, reference};
use super::printed::printed;
use super::state::{Content, ShellState};
use super::word::{UNKNOWN, Word};

/// Substitutions in substitutions that are evaluated.
pub(super) const MAX_EVALUATION_DEPTH: usize = 6;

/// Where a word is evaluated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) state: &'a ShellState,
    /// How many substitutions the word stands in.
    pub(crate) depth: usize,
}

impl<'a> Scope<'a> {
    /// The outermost scope of a shell.
    pub(crate) fn of(state: &'a ShellState) -> Self {
        Self { state, depth: 0 }
    }
}

/// The words that one written word becomes, for one choice of the values that are possible.
pub(crate) fn expand(raw: &str, span: Span, scope: Scope<'_>, choices: &mut Choices) -> Vec<Word> {
    let mut written = Vec::new();
    expand_braces(raw, 0, &mut written);
    let mut words = Vec::new();
    for one in written {
        let mut expander = Expander::new(&one, scope, choices);
        expander.read();
        words.extend(expander.words.into_iter().map(|made| Word {
            matched: made.has_pattern.then_some(made.matched),
            text: made.text,
            splits: made.splits,
            raw: raw.to_owned(),
            span,
        }));
    }
    words
}

/// The text that a here-document or an assignment becomes: nothing is split, and no name is matched.
pub(crate) fn expand_text(raw: &str, scope: Scope<'_>, choices: &mut Choices) -> String {
    let mut expander = Expander::new(raw, scope, choices);
    expander.here_document();
    expander.current.text
}

/// The value that an assignment gives: its word without splitting and matching.
pub(crate) fn expand_value(raw: &str, scope: Scope<'_>, choices: &mut Choices) -> String {
    let mut expander = Expander::new(raw, scope, choices);
    expander.is_value = true;
    expander.read();
    let texts: Vec<String> = expander.words.into_iter().map(|made| made.text).collect();
    texts.join(" ")
}

/// A word that is being made.
#[derive(Debug, Default)]
struct Made {
    text: String,
    /// The text with each pattern as unknown.
    matched: String,
    has_pattern: bool,
    splits: bool,
}

/// Reads one word after its braces are expanded.
struct Expander<'a, 'c> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    scope: Scope<'a>,
    choices: &'c mut Choices,
    words: Vec<Made>,
    current: Made,
    /// Whether there is a current word. It may be empty, as `''` is.
    begun: bool,
    /// The word is the value of an assignment.
    is_value: bool,
}

/// Where an expansion stands. The value of a bare one is split and matched with file names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quoting {
    Bare,
    Double,
}

impl<'a, 'c> Expander<'a, 'c> {
    fn new(raw: &'a str, scope: Scope<'a>, choices: &'c mut Choices) -> Self {
        Self {
            rest: raw.chars().peekable(),
            scope,
            choices,
            words: Vec::new(),
            current: Made::default(),
            begun: false,
            is_value: false,
        }
    }

    fn read(&mut self) {
        if self.rest.peek() == Some(&'~') {
            self.tilde();
        }
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
                    self.push_unknown(Quoting::Double);
                }
                '@' | '?' | '*' | '+' | '!' if self.rest.peek() == Some(&'(') => {
                    self.rest.next();
                    let inner = self.parenthesised();
                    self.push_pattern(&format!("{c}({inner})"));
                }
                '*' | '?' if !self.is_value => self.push_pattern(c.encode_utf8(&mut [0; 4])),
                '[' if !self.is_value => self.bracket(),
                '{' if !self.is_value => self.sequence(),
                c => self.push(c),
            }
        }
        self.end_word();
    }

    fn here_document(&mut self) {
        while let Some(c) = self.rest.next() {
            match c {
                '\\' => self.escape_in_double_quotes(&['$', '`', '\\']),
                '$' => self.dollar(Quoting::Double),
                '`' => {
                    let inner = self.until('`');
                    self.substitution(&inner, Quoting::Double);
                }
                c => self.push(c),
            }
        }
    }

    fn push(&mut self, c: char) {
        self.begun = true;
        self.current.text.push(c);
        self.current.matched.push(c);
    }

    fn push_str(&mut self, text: &str) {
        self.begun = true;
        self.current.text.push_str(text);
        self.current.matched.push_str(text);
    }

    /// A part of a pattern of file names.
    fn push_pattern(&mut self, written: &str) {
        self.begun = true;
        self.current.text.push_str(written);
        self.current.matched.push(UNKNOWN);
        self.current.has_pattern = true;
    }

    /// A part that is not known. Outside quotes it may be several words.
    fn push_unknown(&mut self, quoting: Quoting) {
        self.push(UNKNOWN);
        self.current.splits |= quoting == Quoting::Bare && !self.is_value;
    }

    fn end_word(&mut self) {
        if std::mem::take(&mut self.begun) {
            self.words.push(std::mem::take(&mut self.current));
        }
    }

    /// `~`, `~user`, or a directory that zsh knows by a name.
    fn tilde(&mut self) {
        let mut written = String::new();
        while let Some(c) = self
            .rest
            .next_if(|c| !matches!(c, '/' | '\'' | '"' | '\\' | '$' | '`'))
        {
            written.push(c);
        }
        self.push_pattern(&written);
    }

    /// `[…]`, if it is closed.
    fn bracket(&mut self) {
        let ahead: String = self.rest.clone().collect();
        // The first character behind `[` or `[!` closes nothing.
        let skipped = ahead.len() - ahead.trim_start_matches(['!', '^']).len() + 1;
        let end = ahead.char_indices().skip(skipped).find(|(_, c)| *c == ']');
        let Some((end, _)) = end else {
            self.push('[');
            return;
        };
        let mut written = String::from("[");
        let count = ahead.get(..=end).map_or(0, |inner| inner.chars().count());
        written.extend(self.rest.by_ref().take(count));
        self.push_pattern(&written);
    }

    /// `{a..z}`, the words of which are not made.
    fn sequence(&mut self) {
        let ahead: String = self.rest.clone().take(64).collect();
        let inner = ahead.split_once('}').map(|(inner, _)| inner);
        match inner.filter(|inner| inner.contains("..") && !inner.contains(['$', '{', ' '])) {
            Some(inner) => {
                self.rest
                    .by_ref()
                    .take(inner.chars().count() + 1)
                    .for_each(drop);
                self.push_pattern(&format!("{{{inner}}}"));
            }
            None => self.push('{'),
        }
    }

    fn single_quoted(&mut self) {
        self.begun = true;
        while let Some(c) = self.rest.next() {
            if c == '\'' {
                return;
            }
            self.push(c);
        }
    }

    fn escape_in_double_quotes(&mut self, special: &[char]) {
        match self.rest.next() {
            Some('\n') | None => {}
            Some(c) if special.contains(&c) => self.push(c),
            Some(c) => {
                self.push('\\');
                self.push(c);
            }
        }
    }

    fn double_quoted(&mut self) {
        self.begun = true;
        while let Some(c) = self.rest.next() {
            match c {
                '"' => return,
                '\\' => self.escape_in_double_quotes(&['$', '`', '"', '\\']),
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
                if inner.starts_with('(') && inner.ends_with(')') {
                    // A number.
                    self.push_unknown(Quoting::Double);
                } else {
                    self.substitution(&inner, quoting);
                }
            }
            Some('[') => {
                self.rest.next();
                self.nested('[', ']');
                self.push_unknown(Quoting::Double);
            }
            Some('{') => {
                self.rest.next();
                let inner = self.nested('{', '}');
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
                self.parameter(c.encode_utf8(&mut [0; 4]), quoting);
            }
            _ => self.push('$'),
        }
    }

    /// `${…}` without its braces, or a bare name.
    fn parameter(&mut self, inner: &str, quoting: Quoting) {
        let reference = reference(inner);
        if reference.name == "IFS" && self.scope.state.contents("IFS").is_none() {
            self.value(" ", quoting);
            return;
        }
        let content = self.content(&reference);
        let is_environment = content.is_none();
        let content = content.unwrap_or(Content::Unknown);
        let is_empty = match &content {
            Content::Unknown => None,
            Content::Text(text) => (!text.contains(UNKNOWN)).then_some(text.is_empty()),
            Content::List(elements) => Some(elements.is_empty()),
        };
        match (reference.operator, is_empty) {
            (ParameterOperator::None, _)
            | (ParameterOperator::Required | ParameterOperator::Default(_), Some(false)) => {
                self.contents_of(&content, &reference, is_environment, quoting);
            }
            (ParameterOperator::Default(default), is_empty) => {
                let possible = if is_empty.is_none() { 2 } else { 1 };
                match self.choices.take(possible) {
                    Some(0) => self.nested_word(default, quoting),
                    taken => {
                        self.choices.overrides_default |= taken.is_some() && is_environment;
                        self.push_unknown(quoting);
                    }
                }
            }
            (ParameterOperator::Alternative(_), Some(true)) => {}
            (ParameterOperator::Alternative(word), Some(false)) => self.nested_word(word, quoting),
            (ParameterOperator::Alternative(word), None) => match self.choices.take(2) {
                Some(0) => self.nested_word(word, quoting),
                Some(_) => {}
                None => self.push_unknown(quoting),
            },
            (ParameterOperator::Required | ParameterOperator::Other, _) => {
                self.push_unknown(quoting);
            }
            (ParameterOperator::Number, _) => self.push_unknown(Quoting::Double),
        }
    }

    /// The word behind an operator, as in `${x:-word}`.
    fn nested_word(&mut self, word: &str, quoting: Quoting) {
        if self.scope.depth >= MAX_EVALUATION_DEPTH {
            self.push_unknown(quoting);
            return;
        }
        let scope = Scope {
            depth: self.scope.depth + 1,
            ..self.scope
        };
        let text = expand_value(word, scope, self.choices);
        self.value(&text, quoting);
    }

    /// One possible content of a variable. `None`: what the environment gives it.
    fn content(&mut self, reference: &Reference<'_>) -> Option<Content> {
        let state = self.scope.state;
        let name = reference.name;
        if reference.is_positional() {
            if name == "0" {
                let zero = state.zero.as_deref()?;
                return Some(Content::Text(zero.to_owned()));
            }
            let parameters = state.parameters.as_ref()?;
            return Some(match name.parse::<usize>() {
                Ok(0) => Content::Unknown,
                Ok(number) => {
                    let parameter = parameters.get(number - 1);
                    Content::Text(parameter.cloned().unwrap_or_default())
                }
                Err(_) if matches!(name, "@" | "*") => Content::List(parameters.to_vec()),
                Err(_) => Content::Unknown,
            });
        }
        let contents = state.contents(name)?;
        let taken = self.choices.take_of_variable(name, contents.len());
        let content = taken.and_then(|taken| contents.get(taken));
        Some(content.cloned().unwrap_or(Content::Unknown))
    }

    fn contents_of(
        &mut self,
        content: &Content,
        reference: &Reference<'_>,
        is_environment: bool,
        quoting: Quoting,
    ) {
        let subscript = reference.subscript;
        let is_all = matches!(subscript, Some("@" | "*")) || matches!(reference.name, "@" | "*");
        match (content, subscript) {
            (Content::List(elements), _) if is_all => {
                let is_joined = matches!(subscript, Some("*")) || reference.name == "*";
                self.elements(elements, is_joined, quoting);
            }
            (Content::List(elements), Some(subscript)) => {
                match subscript
                    .parse::<usize>()
                    .ok()
                    .and_then(|at| elements.get(at))
                {
                    Some(element) => self.value(element, quoting),
                    None => self.push_unknown(quoting),
                }
            }
            (Content::List(elements), None) => {
                let first = elements.first().map_or("", String::as_str);
                self.value(first, quoting);
            }
            (Content::Text(text), None | Some("@" | "*" | "0")) => self.value(text, quoting),
            (Content::Text(_), Some(_)) => self.push_unknown(quoting),
            (Content::Unknown, _) => {
                // A directory's name does not split by custom. `"$@"` may be several words in quotes.
                let is_directory =
                    is_environment && CUSTOMARY_DIRECTORIES.contains(&reference.name);
                let quoting = match (is_directory, is_all && reference.name != "*") {
                    (true, _) => Quoting::Double,
                    (false, true) => Quoting::Bare,
                    (false, false) => quoting,
                };
                self.push_unknown(quoting);
            }
        }
    }

    fn elements(&mut self, elements: &[String], is_joined: bool, quoting: Quoting) {
        if is_joined && quoting == Quoting::Double {
            match self.scope.state.separators() {
                Some(separators) => {
                    let first: String = separators.chars().take(1).collect();
                    self.value(&elements.join(&first), quoting);
                }
                None => self.push_unknown(quoting),
            }
            return;
        }
        for (at, element) in elements.iter().enumerate() {
            if at > 0 {
                if self.is_value {
                    self.push(' ');
                } else {
                    self.end_word();
                }
            }
            self.begun |= quoting == Quoting::Double;
            self.value(element, quoting);
        }
    }

    fn value(&mut self, value: &str, quoting: Quoting) {
        if quoting == Quoting::Double || self.is_value {
            self.push_str(value);
            return;
        }
        let Some(separators) = self.scope.state.separators() else {
            self.push_unknown(quoting);
            return;
        };
        let closes = value.contains(']');
        for c in value.chars() {
            match c {
                c if separators.contains(c) => self.end_word(),
                UNKNOWN => self.push_unknown(quoting),
                '*' | '?' => self.push_pattern(c.encode_utf8(&mut [0; 4])),
                '[' if closes => {
                    self.push_pattern("[");
                    self.current.splits = true;
                }
                c => self.push(c),
            }
        }
    }

    /// A command substitution. Its output is known of few commands.
    fn substitution(&mut self, inner: &str, quoting: Quoting) {
        let known = (self.scope.depth < MAX_EVALUATION_DEPTH)
            .then(|| {
                let scope = Scope {
                    depth: self.scope.depth + 1,
                    ..self.scope
                };
                printed(inner, scope, self.choices)
            })
            .flatten();
        match known {
            Some(text) => self.value(text.trim_end_matches('\n'), quoting),
            None => self.push_unknown(quoting),
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
