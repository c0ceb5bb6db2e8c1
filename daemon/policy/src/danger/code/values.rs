//! What the variables of a code hold, statement by statement: `c = 'rm'; c += ' -rf '`. A text that is put
//! together out of pieces that are not known is [`Value::Assembled`].

use std::collections::HashMap;

use super::lines::with_unknown;
use super::tokens::Token;
use crate::shell::word::UNKNOWN;
use crate::word_list::is_listed;
use crate::work;

/// Functions and methods that make a text of others, or change one.
const MAKES_TEXT: &str = "
    join implode concat replace replaceAll replace_all replacen gsub sub tr translate chr fromCharCode fromCodePoint
    char reverse reversed pack unpack lc uc lcfirst ucfirst lower upper toLowerCase toUpperCase downcase upcase swapcase
    strtolower strtoupper strrev str_replace strtr str_rot13 rot13 decode b64decode atob decode64 base64_decode fromhex
    unhexlify hex2bin rawToChar intToUtf8 chartr rev paste paste0 substr substring slice charAt maketrans";
/// What has a `join` that makes a path: its name is that of a program, and not put together to hide it.
const JOINS_PATHS: &str = "path Path posixpath File file filepath";
/// Methods that add to the end of a text or of a list.
const APPENDS: &str = "append extend push concat add";
/// Methods that change a list or a text otherwise.
const CHANGES: &str = "insert prepend unshift splice";
/// Perl's operators that change a text.
const OPERATORS: &str = "tr y s";
/// Tokens of an expression that are looked at. A longer one is data.
const MAX_EXPRESSION: usize = 64;
/// Bytes of a text that are followed.
const MAX_TEXT: usize = 4_096;
/// Assignments within each other's expressions that are followed.
const MAX_OPEN: usize = 16;
/// Variables that are followed.
const MAX_NAMES: usize = 256;

/// What a variable or an expression holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// A text, or the words of a list, as far as it is known.
    Text(String),
    /// A list without elements yet.
    EmptyList,
    /// A text that was put together, or changed, and does not begin with a word that is known.
    Assembled,
    /// Anything else.
    Other,
}

/// What variables hold where the reading of a code has come to.
#[derive(Debug, Default)]
pub(crate) struct Values {
    held: HashMap<String, Value>,
    /// What statements assign whose expressions are still being read, and the token behind each.
    assigned: Vec<(String, Value, usize)>,
    /// How often variables were assigned or changed.
    counts: HashMap<String, usize>,
    /// Whether texts side by side are one, as in awk.
    joins_neighbours: bool,
}

impl Values {
    pub(crate) fn of(program: &str) -> Self {
        Self {
            joins_neighbours: program.ends_with("awk"),
            ..Self::default()
        }
    }

    /// The text that a variable holds, where at least its first word is known.
    pub(super) fn text(&self, name: &str) -> Option<&String> {
        match self.held.get(name) {
            Some(Value::Text(text)) if begins_with_word(text) => Some(text),
            _ => None,
        }
    }

    /// Whether a variable is known to hold something else than this text, or more than one.
    pub(super) fn is_other(&self, name: &str, text: &str) -> bool {
        let is_text =
            |value: &Value| matches!(value, Value::Text(held) if *held == self.put_in(text));
        self.is_changed(name) || self.held.get(name).is_some_and(|value| !is_text(value))
    }

    /// Whether a variable was put together out of what is not known.
    pub(crate) fn is_assembled(&self, name: &str) -> bool {
        self.held.get(name) == Some(&Value::Assembled)
    }

    /// The variables that hold different values in the course of what was read.
    pub(super) fn changed(&self) -> impl Iterator<Item = &str> {
        let counts = self.counts.iter().filter(|(_, count)| **count > 1);
        counts.map(|(name, _)| name.as_str())
    }

    /// Whether there are such variables.
    pub(super) fn are_any(&self) -> bool {
        self.changed().next().is_some()
    }

    /// Whether a variable holds different values in the course of what was read.
    pub(crate) fn is_changed(&self, name: &str) -> bool {
        self.counts.get(name).is_some_and(|count| *count > 1)
    }

    /// Reads the token at a place. Places are read in order. Returns whether it is a variable that is assigned or
    /// changed there.
    pub(crate) fn read(&mut self, tokens: &[Token], at: usize) -> bool {
        while let Some(done) = self.assigned.iter().position(|(_, _, end)| *end <= at) {
            let (name, value, _) = self.assigned.remove(done);
            if self.held.len() < MAX_NAMES || self.held.contains_key(&name) {
                self.held.insert(name, value);
            }
        }
        let before = self.assigned.len();
        if let Some(Token::Word(name)) = tokens.get(at) {
            self.word(name, tokens, at);
        }
        self.assigned.len() > before
    }

    fn word(&mut self, name: &str, tokens: &[Token], at: usize) {
        let sign = |at: usize| match tokens.get(at) {
            Some(Token::Sign(sign)) => Some(*sign),
            _ => None,
        };
        let is_member = at
            .checked_sub(1)
            .is_some_and(|at| matches!(sign(at), Some('.' | '>' | ':')));
        if is_member {
            return;
        }
        // Perl's `$c =~ tr/a/b/`, and `tr/a/b/` for `$_`.
        let changes = |at: usize| {
            matches!(tokens.get(at), Some(Token::Word(word)) if is_listed(word, OPERATORS))
                && sign(at + 1) == Some('/')
        };
        if sign(at + 1) == Some('=') && sign(at + 2) == Some('~') {
            if changes(at + 3) {
                self.assign(name, Value::Assembled, at);
            }
            return;
        }
        let is_bound = at
            .checked_sub(1)
            .is_some_and(|at| matches!(sign(at), Some('~')));
        if changes(at) && !is_bound {
            self.assign("_", Value::Assembled, at);
            return;
        }
        match (sign(at + 1), sign(at + 2)) {
            (Some('='), Some('=' | '>')) => {}
            (Some('='), _) => self.assignment(name, tokens, at + 2),
            (Some('+' | '.'), Some('=')) => self.append(name, tokens, at + 3),
            (Some('.'), Some('.')) if sign(at + 3) == Some('=') => {
                self.append(name, tokens, at + 4);
            }
            (Some('<'), Some('<')) if sign(at + 3) != Some('=') => {
                self.append(name, tokens, at + 3);
            }
            (Some('.'), None) => self.method(name, tokens, at + 2),
            // Lua's `t[#t + 1] = x`.
            (Some('['), Some('#')) => self.assign(name, Value::Assembled, at),
            _ => {}
        }
    }

    fn assign(&mut self, name: &str, value: Value, end: usize) {
        *self.counts.entry(name.to_owned()).or_default() += 1;
        if self.assigned.len() < MAX_OPEN {
            self.assigned.push((name.to_owned(), value, end));
        }
    }

    fn assignment(&mut self, name: &str, tokens: &[Token], from: usize) {
        let is_own = matches!(tokens.get(from), Some(Token::Word(word)) if word == name);
        if is_own && let Some(length) = joint(tokens, from + 1) {
            return self.append(name, tokens, from + 1 + length);
        }
        if is_own
            && self.joins_neighbours
            && matches!(tokens.get(from + 1), Some(Token::Text(_) | Token::Word(_)))
        {
            return self.append(name, tokens, from + 1);
        }
        let (value, end) = self.expression(tokens, from);
        self.assign(name, value, end);
    }

    fn append(&mut self, name: &str, tokens: &[Token], from: usize) {
        let (more, end) = self.expression(tokens, from);
        let value = self.appended(name, &more);
        self.assign(name, value, end);
    }

    fn method(&mut self, name: &str, tokens: &[Token], at: usize) {
        let Some(Token::Word(method)) = tokens.get(at) else {
            return;
        };
        let is_changed = matches!(tokens.get(at + 1), Some(Token::Sign('!')))
            && !matches!(tokens.get(at + 2), Some(Token::Sign('=')));
        if is_changed || is_listed(method, CHANGES) {
            self.assign(name, Value::Assembled, at);
        } else if is_listed(method, APPENDS) && self.held.contains_key(name) {
            let (more, end) = self.expression(tokens, at + 2);
            // An element of a list is a word of its own.
            let value = match self.appended(name, &Value::Text(" ".to_owned())) {
                Value::Text(_) => self.appended(name, &more),
                Value::EmptyList => more,
                other => other,
            };
            self.assign(name, value, end);
        }
    }

    /// What a variable holds once this is added at its end.
    fn appended(&self, name: &str, more: &Value) -> Value {
        let text = match self.held.get(name) {
            Some(Value::Text(text)) => text.as_str(),
            Some(Value::EmptyList) => "",
            Some(Value::Assembled) => return Value::Assembled,
            Some(Value::Other) | None => return Value::Other,
        };
        let more = match more {
            Value::Text(more) => more.clone(),
            Value::EmptyList => String::new(),
            Value::Assembled | Value::Other => UNKNOWN.to_string(),
        };
        let text = text.to_owned() + &more;
        if begins_with_word(&text) && text.len() <= MAX_TEXT {
            Value::Text(text)
        } else {
            Value::Assembled
        }
    }

    /// What an expression holds, and the token behind it, or within it where it is long.
    pub(crate) fn expression(&self, tokens: &[Token], from: usize) -> (Value, usize) {
        let mut text = String::new();
        let mut at = from;
        while let Some(Token::Sign('(' | '[' | '{')) = tokens.get(at) {
            at += 1;
        }
        let is_list = at > from;
        if is_list && matches!(tokens.get(at), Some(Token::Sign(']' | ')' | '}'))) {
            return (Value::EmptyList, at + 1);
        }
        let mut is_whole = true;
        let mut is_one = !matches!(tokens.get(from), Some(Token::Sign('[' | '{')));
        loop {
            match tokens.get(at) {
                Some(Token::Text(piece)) => {
                    if text.trim_start().is_empty() && self.begins_with_assembled(piece) {
                        return (Value::Assembled, at + 1);
                    }
                    text.push_str(&self.put_in(piece));
                }
                Some(Token::Word(word)) if is_plain(tokens, at) => match self.held.get(word) {
                    Some(Value::Text(held)) => text.push_str(held),
                    Some(Value::Assembled) if !begins_with_known_word(&text) => {
                        return (Value::Assembled, at + 1);
                    }
                    _ => text.push(UNKNOWN),
                },
                _ => {
                    is_whole = false;
                    break;
                }
            }
            at += 1;
            if let Some(length) = joint(tokens, at) {
                is_one = false;
                at += length;
            } else if !(self.joins_neighbours
                && matches!(tokens.get(at), Some(Token::Text(_) | Token::Word(_))))
            {
                break;
            }
            if text.len() > MAX_TEXT {
                is_whole = false;
                break;
            }
        }
        if is_list && matches!(tokens.get(at), Some(Token::Sign(','))) {
            // The first word of a list is a whole one.
            text.push(' ');
            text.push(UNKNOWN);
        }
        let (makes_text, end) = rest_of(tokens, from, at);
        if is_one && is_changed(tokens, at) {
            let value = match joined(tokens, at, &text) {
                Some(words) => self.expression(tokens, words).0,
                None => Value::Assembled,
            };
            return (value, end);
        }
        if is_changed_list(tokens, from) {
            return (Value::Assembled, end);
        }
        if !begins_with_known_word(&text) && makes_text {
            return (Value::Assembled, end);
        }
        if text.is_empty() && !is_whole {
            return (Value::Other, end);
        }
        let is_ended = is_whole
            && matches!(
                tokens.get(at),
                None | Some(Token::Word(_) | Token::Sign(';' | '\n' | ')' | ']' | '}' | ',' | '|'))
            );
        if !is_ended {
            text.push(UNKNOWN);
        }
        (Value::Text(text), end)
    }

    /// Whether an expression, of which all is code, holds more than one text that is known.
    pub(crate) fn assembles_code(&self, tokens: &[Token], from: usize) -> bool {
        let from = from + usize::from(matches!(tokens.get(from), Some(Token::Sign('('))));
        let (makes_text, end) = rest_of(tokens, from, from);
        let mut expression = tokens.iter().take(end).skip(from);
        let is_sum = expression.any(|token| *token == Token::Sign('+'));
        let is_interpolated =
            matches!(tokens.get(from), Some(Token::Text(_))) && joint(tokens, from + 1).is_none();
        match self.expression(tokens, from).0 {
            Value::Assembled => true,
            Value::Text(text) => makes_text || text.contains(UNKNOWN) && !is_interpolated,
            Value::EmptyList | Value::Other => makes_text || is_sum,
        }
    }

    /// A text with what is held by the variables in it: `'#{c} x'`.
    fn put_in(&self, text: &str) -> String {
        let mut parts = text.split("#{");
        let mut whole = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (name, rest) = part.split_once('}').unwrap_or((part, ""));
            match self.held.get(name.trim_start_matches(['$', '@'])) {
                Some(Value::Text(held)) if whole.len() + held.len() <= MAX_TEXT => {
                    whole.push_str(held);
                }
                _ => whole.push(UNKNOWN),
            }
            whole.push_str(rest);
        }
        with_unknown(&whole)
    }

    /// Whether a text begins with what is held by a variable that was assembled.
    pub(crate) fn begins_with_assembled(&self, text: &str) -> bool {
        let Some(name) = text.trim_start().strip_prefix("#{") else {
            return false;
        };
        let name = name.split('}').next().unwrap_or_default();
        self.held.get(name.trim_start_matches(['$', '@'])) == Some(&Value::Assembled)
    }
}

/// Whether a function makes a text in an expression, and where the expression ends.
fn rest_of(tokens: &[Token], from: usize, behind: usize) -> (bool, usize) {
    let mut depth = 0_usize;
    let mut makes_text = false;
    let mut at = from;
    for token in tokens.iter().skip(from).take(MAX_EXPRESSION) {
        if !work::spend(1) {
            break;
        }
        match token {
            // The variable before it is one of a chain: `a = b = x`.
            Token::Sign('=') if depth == 0 && at == from + 1 => return (makes_text, at),
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}' | ';' | '\n' | ',') if depth == 0 => {
                return (makes_text, at);
            }
            Token::Sign(')' | ']' | '}') => depth -= 1,
            Token::Word(word) => {
                let before = at.checked_sub(1).and_then(|at| tokens.get(at));
                let is_operand = matches!(
                    before,
                    Some(Token::Word(_) | Token::Text(_) | Token::Sign(')' | ']'))
                );
                if depth == 0 && at > from && is_operand && at >= behind {
                    return (makes_text, at);
                }
                makes_text |= makes_text_here(tokens, at, word);
            }
            Token::Sign(':') => {
                // `x[::-1]`.
                let next = (tokens.get(at + 1), tokens.get(at + 2));
                makes_text |= next == (Some(&Token::Sign(':')), Some(&Token::Sign('-')));
            }
            Token::Text(_) | Token::Shell(_) | Token::Sign(_) => {}
        }
        at += 1;
    }
    (makes_text, at)
}

/// Whether a word is a variable by itself: not called, and no part of a longer name.
fn is_plain(tokens: &[Token], at: usize) -> bool {
    let next = tokens.get(at + 1);
    let continues = match next {
        Some(Token::Sign('(' | '[')) => true,
        Some(Token::Sign('.' | ':')) => joint(tokens, at + 1).is_none(),
        _ => false,
    };
    !continues
}

/// Whether a word makes a text here: as a function, a method or an operator.
fn makes_text_here(tokens: &[Token], at: usize, word: &str) -> bool {
    if is_listed(word, OPERATORS)
        && matches!(tokens.get(at + 1), Some(Token::Sign('/')))
        && matches!(tokens.get(at + 2), Some(Token::Sign('.')))
    {
        return true;
    }
    if !is_listed(word, MAKES_TEXT) || matches!(tokens.get(at + 1), Some(Token::Sign('='))) {
        return false;
    }
    let holder = at.checked_sub(2).and_then(|at| tokens.get(at));
    let is_member = matches!(
        at.checked_sub(1).and_then(|at| tokens.get(at)),
        Some(Token::Sign('.' | ':'))
    );
    let joins_path =
        is_member && matches!(holder, Some(Token::Word(holder)) if is_listed(holder, JOINS_PATHS));
    !(word == "join" && joins_path)
}

/// Whether a method changes the text that ends before a token: `'x'.replace(…)`, `('x'):reverse()`.
fn is_changed(tokens: &[Token], at: usize) -> bool {
    let mut behind = tokens.iter().skip(at).take(MAX_EXPRESSION);
    let next = behind.find(|token| !matches!(token, Token::Sign(')')));
    let method = behind.next();
    matches!((next, method), (Some(Token::Sign('.' | ':')), Some(Token::Word(method)))
        if is_listed(method, MAKES_TEXT) && method != "concat")
}

/// Where the words are that white space joins: Python's `' '.join(…)`.
fn joined(tokens: &[Token], at: usize, text: &str) -> Option<usize> {
    let is_join = matches!(tokens.get(at..at + 3), Some([Token::Sign('.'), Token::Word(name), Token::Sign('(')])
        if name == "join");
    (is_join && text.contains(char::is_whitespace)).then_some(at + 3)
}

/// Whether methods make a text of a list, and do not join its elements by white space: `['r', 'm'].join('')`.
fn is_changed_list(tokens: &[Token], from: usize) -> bool {
    if tokens.get(from) != Some(&Token::Sign('[')) {
        return false;
    }
    let mut depth = 0_usize;
    let signs = tokens.iter().enumerate().skip(from).take(MAX_EXPRESSION);
    let end = signs.clone().find(|(_, token)| {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    let Some((end, _)) = end else {
        return false;
    };
    let behind = tokens.get(end + 1..).unwrap_or_default();
    match behind {
        [
            Token::Sign('.'),
            Token::Word(name),
            Token::Sign('('),
            Token::Text(between),
            ..,
        ] if name == "join" => !between.contains(char::is_whitespace),
        [Token::Sign('.'), Token::Word(name), ..] => {
            let mut rest = behind.iter().skip(1).take(MAX_EXPRESSION);
            is_listed(name, MAKES_TEXT)
                || rest.any(
                    |token| matches!(token, Token::Word(name) if is_listed(name, "join reverse")),
                )
        }
        _ => false,
    }
}

/// The length of what joins two texts: `+`, `.`, `..`.
fn joint(tokens: &[Token], at: usize) -> Option<usize> {
    let sign = |at: usize| match tokens.get(at) {
        Some(Token::Sign(sign)) => Some(*sign),
        _ => None,
    };
    let is_operand = |at: usize| matches!(tokens.get(at), Some(Token::Text(_)));
    match (sign(at), sign(at + 1)) {
        (Some('+'), None) => Some(1),
        (Some('.'), Some('.')) => Some(2),
        // Perl and PHP. Elsewhere a name stands behind it.
        (Some('.'), None) if is_operand(at + 1) => Some(1),
        _ => None,
    }
}

/// Whether the first word of a text is known, or all of it.
fn begins_with_word(text: &str) -> bool {
    !text.contains(UNKNOWN) || begins_with_known_word(text)
}

/// Whether a text begins with a word that ends before what is not known.
fn begins_with_known_word(text: &str) -> bool {
    let known = text.split(UNKNOWN).next().unwrap_or_default();
    known.trim_start().contains(char::is_whitespace)
}
