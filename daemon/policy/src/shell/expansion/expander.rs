//! Reads one written word, of which the braces are expanded, into the words that it becomes.

use super::choices::Choices;
use super::content::{is_missing, sliced};
use super::parameter::{CUSTOMARY_DIRECTORIES, ParameterOperator, Reference, reference};
use super::printed::printed;
use super::word_builder::{Quoting, WordBuilder};
use super::{MAX_EVALUATION_DEPTH, Scope, expand_value};
use crate::shell::state::{Content, PARAMETERS};
use crate::shell::text::backticks::unescaped;
use crate::shell::text::char_reader::CharReader;
use crate::work;

/// What it takes to put one value into a word, beside its bytes.
const UNITS_OF_VALUE: usize = 16;

/// Reads one word after its braces are expanded.
pub(super) struct Expander<'a, 'c> {
    rest: CharReader<'a>,
    pub(super) words: WordBuilder,
    scope: Scope<'a>,
    choices: &'c mut Choices,
    /// Whether what was read last is a list without elements.
    is_empty_list: bool,
}

impl<'a, 'c> Expander<'a, 'c> {
    pub(super) fn new(
        raw: &'a str,
        words: WordBuilder,
        scope: Scope<'a>,
        choices: &'c mut Choices,
    ) -> Self {
        Self {
            rest: CharReader::new(raw),
            words,
            scope,
            choices,
            is_empty_list: false,
        }
    }

    pub(super) fn read(&mut self) {
        if self.rest.peek() == Some('~') {
            self.tilde();
        }
        while let Some(c) = self.rest.next() {
            if work::is_spent() {
                self.words.push_unknown(Quoting::Bare);
                return;
            }
            match c {
                '\'' => {
                    let text = self.rest.single_quoted();
                    self.words.push_str(&text);
                }
                '"' => self.double_quoted(),
                '\\' => match self.rest.next() {
                    Some('\n') | None => {}
                    Some(c) => self.words.push(c),
                },
                '$' => self.dollar(Quoting::Bare),
                '`' => {
                    let inner = unescaped(&self.rest.until('`'), false);
                    self.substitution(&inner, Quoting::Bare);
                }
                '<' | '>' if self.rest.peek() == Some('(') => {
                    self.rest.next();
                    self.rest.parenthesised();
                    self.words.push_str("/dev/fd/");
                    self.words.push_unknown(Quoting::Double);
                }
                '@' | '?' | '*' | '+' | '!' if self.rest.peek() == Some('(') => {
                    self.rest.next();
                    let inner = self.rest.parenthesised();
                    self.words.push_pattern(&format!("{c}({inner})"));
                }
                '*' | '?' if !self.words.is_value() => {
                    self.words.push_pattern(c.encode_utf8(&mut [0; 4]));
                }
                '[' if !self.words.is_value() => {
                    let pattern = self.rest.bracket();
                    self.pattern_or(pattern, c);
                }
                '{' if !self.words.is_value() => {
                    let pattern = self.rest.sequence();
                    self.pattern_or(pattern, c);
                }
                c => self.words.push(c),
            }
        }
    }

    /// Adds a pattern, or the character that would have begun one.
    fn pattern_or(&mut self, pattern: Option<String>, first: char) {
        match pattern {
            Some(pattern) => self.words.push_pattern(&pattern),
            None => self.words.push(first),
        }
    }

    pub(super) fn here_document(&mut self) {
        while let Some(c) = self.rest.next() {
            match c {
                '\\' => self.escape_in_double_quotes(&['$', '`', '\\']),
                '$' => self.dollar(Quoting::Double),
                '`' => {
                    let inner = unescaped(&self.rest.until('`'), false);
                    self.substitution(&inner, Quoting::Double);
                }
                c => self.words.push(c),
            }
        }
    }

    /// `~`, `~user`, or a directory that zsh knows by a name.
    fn tilde(&mut self) {
        let ends = |c| matches!(c, '/' | '\'' | '"' | '\\' | '$' | '`');
        let name = self.rest.take_while(|c| !ends(c));
        self.words.push_pattern(&name);
    }

    fn escape_in_double_quotes(&mut self, special: &[char]) {
        match self.rest.next() {
            Some('\n') | None => {}
            Some(c) if special.contains(&c) => self.words.push(c),
            Some(c) => {
                self.words.push('\\');
                self.words.push(c);
            }
        }
    }

    /// A list without elements makes no word where nothing else stands in the quotes.
    fn double_quoted(&mut self) {
        if self.rest.peek() == Some('"') {
            self.words.begin_word();
        }
        while let Some(c) = self.rest.next() {
            if c == '$' {
                self.is_empty_list = false;
                self.dollar(Quoting::Double);
                if !self.is_empty_list {
                    self.words.begin_word();
                }
                continue;
            }
            if c != '"' {
                self.words.begin_word();
            }
            match c {
                '"' => return,
                '\\' => self.escape_in_double_quotes(&['$', '`', '"', '\\']),
                '`' => {
                    let inner = unescaped(&self.rest.until('`'), true);
                    self.substitution(&inner, Quoting::Double);
                }
                c => self.words.push(c),
            }
        }
    }

    fn dollar(&mut self, quoting: Quoting) {
        match self.rest.peek() {
            Some('\'') if quoting == Quoting::Bare => {
                self.rest.next();
                let text = self.rest.ansi_c();
                self.words.push_str(&text);
            }
            Some('"') if quoting == Quoting::Bare => {
                self.rest.next();
                self.double_quoted();
            }
            Some('(') => {
                self.rest.next();
                let inner = self.rest.parenthesised();
                if inner.starts_with('(') && inner.ends_with(')') {
                    // A number.
                    self.words.push_unknown(Quoting::Double);
                } else {
                    self.substitution(&inner, quoting);
                }
            }
            Some('[') => {
                self.rest.next();
                self.rest.nested('[', ']');
                self.words.push_unknown(Quoting::Double);
            }
            Some('{') => {
                self.rest.next();
                let inner = self.rest.nested('{', '}');
                self.parameter(&inner, quoting);
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let name = self.rest.take_while(is_part);
                self.parameter(&name, quoting);
            }
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
                self.rest.next();
                self.parameter(c.encode_utf8(&mut [0; 4]), quoting);
            }
            _ => self.words.push('$'),
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
        let is_empty = is_missing(&content, &reference);
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
                        self.words.push_unknown(quoting);
                    }
                }
            }
            (ParameterOperator::Alternative(_), Some(true)) => {
                self.is_empty_list = reference.is_list();
            }
            (ParameterOperator::Alternative(word), Some(false)) => self.nested_word(word, quoting),
            (ParameterOperator::Alternative(word), None) => match self.choices.take(2) {
                Some(0) => self.nested_word(word, quoting),
                Some(_) => self.is_empty_list = reference.is_list(),
                None => self.words.push_unknown(quoting),
            },
            (ParameterOperator::Slice(offset, length), _) => {
                let zero = self.scope.state.zero.as_deref();
                match sliced(&content, &reference, zero, offset, length) {
                    Some(part) => self.contents_of(&part, &reference, false, quoting),
                    None => self.unknown_form(&reference, quoting),
                }
            }
            (ParameterOperator::Required | ParameterOperator::Other, _) => {
                self.unknown_form(&reference, quoting);
            }
            (ParameterOperator::Number, _) => self.words.push_unknown(Quoting::Double),
        }
    }

    /// A form of a value that is not known. `"${@#x}"` may be several words in quotes.
    fn unknown_form(&mut self, reference: &Reference<'_>, quoting: Quoting) {
        let is_joined = reference.subscript == Some("*") || reference.name == "*";
        let quoting = if reference.may_be_list() && !is_joined {
            Quoting::Bare
        } else {
            quoting
        };
        self.words.push_unknown(quoting);
    }

    /// The word behind an operator, as in `${x:-word}`.
    fn nested_word(&mut self, word: &str, quoting: Quoting) {
        if self.scope.depth >= MAX_EVALUATION_DEPTH {
            self.words.push_unknown(quoting);
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
            let Content::List(parameters) = self.content_of(PARAMETERS)? else {
                return Some(Content::Unknown);
            };
            return Some(match name.parse::<usize>() {
                Ok(0) => Content::Unknown,
                Ok(number) => {
                    let parameter = parameters.get(number - 1).cloned();
                    parameter.map_or(Content::List(Vec::new()), Content::Text)
                }
                Err(_) if matches!(name, "@" | "*") => Content::List(parameters),
                Err(_) => Content::Unknown,
            });
        }
        self.content_of(name)
    }

    fn content_of(&mut self, name: &str) -> Option<Content> {
        let contents = self.scope.state.contents(name)?;
        let taken = self.choices.take_of_variable(name, contents.len());
        let content = taken.and_then(|taken| contents.get(taken));
        let content = content.filter(|content| work::spend(content.units()));
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
        let is_all = reference.is_list();
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
                    None => self.words.push_unknown(quoting),
                }
            }
            (Content::List(elements), None) => {
                let first = elements.first().map_or("", String::as_str);
                self.value(first, quoting);
            }
            (Content::Text(text), None | Some("@" | "*" | "0")) => self.value(text, quoting),
            (Content::Text(_), Some(_)) => self.words.push_unknown(quoting),
            (Content::Unknown, _) => {
                // A directory's name does not split by custom. `"$@"` may be several words in quotes.
                let is_directory =
                    is_environment && CUSTOMARY_DIRECTORIES.contains(&reference.name);
                let quoting = match (is_directory, is_all && reference.name != "*") {
                    (true, _) => Quoting::Double,
                    (false, true) => Quoting::Bare,
                    (false, false) => quoting,
                };
                self.words.push_unknown(quoting);
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
                None => self.words.push_unknown(quoting),
            }
            return;
        }
        self.is_empty_list = elements.is_empty();
        for (at, element) in elements.iter().enumerate() {
            if work::is_spent() {
                self.words.push_unknown(Quoting::Bare);
                return;
            }
            if at > 0 {
                if self.words.is_value() {
                    self.words.push(' ');
                } else {
                    self.words.end_word();
                }
            }
            if quoting == Quoting::Double {
                self.words.begin_word();
            }
            self.value(element, quoting);
        }
    }

    fn value(&mut self, value: &str, quoting: Quoting) {
        if !work::spend(UNITS_OF_VALUE + value.len()) {
            self.words.push_unknown(quoting);
            return;
        }
        let separators = self.scope.state.separators();
        self.words.push_value(value, separators.as_deref(), quoting);
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
            None => self.words.push_unknown(quoting),
        }
    }
}
