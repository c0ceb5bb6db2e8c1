//! The arguments of a call, with or without brackets around them.

use super::code_tokens::CodeTokens;
use super::input_runner::runs_input;
use super::standard_input::StandardInput;
use super::started::{Started, UseOfInput};
use crate::danger::code::call_effect::CallEffect;
use crate::danger::code::tokens::Token;
use crate::danger::code::values::{Value, Values};
use crate::shell::text::quote::command_text;
use crate::shell::word::UNKNOWN;
use crate::word_list::is_listed;

/// What code is given: its arguments, its variables, and what it reads.
const INPUTS: &str = "
    argv ARGV arg args ARGS input stdin STDIN environ env ENV _SERVER _GET _ENV gets readline readlines recv
    commandArgs getenv";

/// The arguments that begin at a token.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arguments<'a> {
    code: CodeTokens<'a>,
    from: usize,
}

impl<'a> Arguments<'a> {
    pub(super) fn new(code: CodeTokens<'a>, from: usize) -> Self {
        Self { code, from }
    }

    /// The tokens between the brackets, or up to the end of the statement.
    pub(super) fn tokens(self) -> &'a [Token] {
        let from = self.code.behind_bracket(self.from);
        let mut depth = 0_usize;
        let mut end = from;
        while let Some(token) = self.code.get(end) {
            match token {
                Token::Sign('(' | '[' | '{') => depth += 1,
                Token::Sign(')' | ']' | '}' | ';') if depth == 0 => break,
                Token::Sign(')' | ']' | '}') => depth -= 1,
                // To Perl, a line ends nothing.
                Token::Sign('\n') if depth == 0 && !self.code.is_of("perl") => break,
                Token::Word(word)
                    if depth == 0 && is_listed(word, "or and if unless for foreach") =>
                {
                    break;
                }
                _ => {}
            }
            end += 1;
        }
        self.code.all().get(from..end).unwrap_or_default()
    }

    /// Where each of them begins. Perl's `=>` is a comma.
    pub(super) fn places(self) -> Vec<usize> {
        let from = self.code.behind_bracket(self.from);
        let tokens = self.tokens();
        let mut depth = 0_usize;
        let mut places: Vec<usize> = (!tokens.is_empty()).then_some(from).into_iter().collect();
        for (at, token) in (from..).zip(tokens) {
            match token {
                Token::Sign('(' | '[' | '{') => depth += 1,
                Token::Sign(')' | ']' | '}') => depth = depth.saturating_sub(1),
                Token::Sign(',') if depth == 0 => places.push(at + 1),
                Token::Sign('>')
                    if depth == 0 && at > from && self.code.sign(at - 1) == Some('=') =>
                {
                    places.push(at + 1);
                }
                _ => {}
            }
        }
        places.retain(|at| *at < from + tokens.len());
        places
    }

    /// What they start, where they are a command: a line, or a program and its arguments.
    pub(super) fn command(self, values: &Values, input: &StandardInput<'_>) -> Started {
        let texts = self.tokens().iter().map(|token| match token {
            Token::Text(text) => Some(Some(text.as_str())),
            Token::Sign('(' | ')' | '[' | ']' | ',' | '\n') => Some(None),
            _ => None,
        });
        let texts: Option<Vec<Option<&str>>> = texts.collect();
        let Some(texts) = texts else {
            return Started {
                runs_unread: true,
                input: UseOfInput {
                    is_started: self.are_input() || input.begins_at(self.from),
                    is_evaluated: false,
                },
                assembled_calls: usize::from(self.are_assembled(values)),
                ..Started::default()
            };
        };
        let line = texts.into_iter().flatten().collect::<Vec<_>>().join(" ");
        Started {
            may_start: runs_input(&line),
            runs_unread: has_value(&line) || self.code.interpolates() && is_interpolated(&line),
            lines: vec![line],
            ..Started::default()
        }
    }

    /// The line that they are to a shell, as far as they are texts from the first one on. A list is a program and its
    /// arguments: `["sh", "-c", "x"]`.
    pub(super) fn shell_line(self, name: &str) -> Option<String> {
        // Python's `os.spawnlp` has a mode first.
        let takes_argv0 = CallEffect::TakesArgv0.is_of(name);
        let from = match self.places().get(1) {
            Some(second) if takes_argv0 && name.starts_with("spawn") => *second,
            _ => self.from,
        };
        let mut words = self.words(from);
        if takes_argv0 && words.len() > 1 {
            words.remove(1);
        }
        let of_shell = |token: &Token| matches!(token, Token::Word(word) if word == "shell");
        if words.iter().any(|word| has_value(word)) {
            return None;
        }
        match words.as_slice() {
            [] => None,
            [line] => Some(line.clone()),
            // The second one is a mode.
            [line, ..] if name == "popen" && !self.are_list() => Some(line.clone()),
            // Python's `Popen([…], shell=True)`.
            _ if self.tokens().iter().any(of_shell) => {
                let shell = ["sh", "-c"].map(str::to_owned);
                Some(command_text(&[shell.as_slice(), &words].concat()))
            }
            _ => Some(command_text(&words)),
        }
    }

    /// The texts that begin at a token, up to something else. Lists among them are no bounds.
    fn words(self, from: usize) -> Vec<String> {
        let is_between = |token: &Token| matches!(token, Token::Sign('(' | '[' | ',' | '\n'));
        let is_prefix = |token: &Token| matches!(token, Token::Word(word) if is_listed(word, "r b u rb br args argv"));
        let mut words = Vec::new();
        let mut at = from;
        while let Some(token) = self.code.get(at) {
            match token {
                Token::Text(text) => {
                    words.push(text.clone());
                    if !self.code.get(at + 1).is_some_and(is_between) {
                        break;
                    }
                }
                Token::Sign('=') if words.is_empty() => {}
                token if is_between(token) || is_prefix(token) => {}
                _ => break,
            }
            at += 1;
        }
        words
    }

    /// Whether Python's `executable=` among them names what is started by something else than a text.
    pub(super) fn name_unknown_file(self) -> bool {
        let names = |tokens: &[Token]| match tokens {
            [Token::Word(name), Token::Sign('='), value] => {
                name == "executable" && !matches!(value, Token::Text(text) if !has_value(text))
            }
            _ => false,
        };
        self.tokens().windows(3).any(names)
    }

    fn are_list(self) -> bool {
        self.code.sign(self.code.behind_bracket(self.from)) == Some('[')
    }

    /// Whether they begin with a text, or with a list of texts.
    pub(super) fn are_literal(self) -> bool {
        let mut at = self.from;
        let mut in_list = false;
        while let Some(open @ ('(' | '[' | '{')) = self.code.sign(at) {
            in_list |= open != '(' || at > self.from;
            at += 1;
        }
        loop {
            if self.code.is_word(at, &["r", "b", "u", "rb", "br"]) {
                at += 1;
            }
            let is_known = match self.code.get(at) {
                Some(Token::Text(text)) => {
                    !(has_value(text) || self.code.interpolates() && is_interpolated(text))
                }
                _ => false,
            };
            if !is_known {
                return false;
            }
            match self.code.get(at + 1) {
                None | Some(Token::Sign(')' | ']' | '}' | ';' | '\n' | '|')) => return true,
                Some(Token::Sign(',')) if in_list => at += 2,
                Some(token) => return *token == Token::Sign(','),
            }
            while self.code.sign(at) == Some('\n') {
                at += 1;
            }
            if matches!(self.code.sign(at), Some(']' | ')' | '}')) {
                return true;
            }
        }
    }

    /// Whether their texts start a program that runs what it reads: `["sh"]`, `"bash -s"`.
    pub(super) fn start_input_runner(self) -> bool {
        let behind = self.code.all().iter().skip(self.from);
        let opens = |token: &&Token| matches!(token, Token::Sign('(' | '[' | '{' | ','));
        let mut texts = Vec::new();
        for token in behind {
            match token {
                Token::Text(text) => texts.push(text.as_str()),
                token if opens(&token) => {}
                _ => break,
            }
        }
        runs_input(&texts.join(" "))
    }

    /// Whether they name what the code is given, and no text but a key.
    pub(super) fn are_input(self) -> bool {
        let mut depth = 0_usize;
        let mut is_input = false;
        for at in self.from..self.code.all().len() {
            match self.code.get(at) {
                Some(Token::Sign('(' | '[' | '{')) => depth += 1,
                Some(Token::Sign(')' | ']' | '}')) => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        break;
                    }
                }
                Some(Token::Sign(';' | '\n')) if depth == 0 => break,
                Some(Token::Word(word)) => {
                    let is_field = self.code.is_awk() && word.chars().all(|c| c.is_ascii_digit());
                    let is_topic = word == "_" && self.code.is_of("perl ruby");
                    if self.code.held_text(word).is_some() {
                        return false;
                    }
                    is_input |= is_field || is_topic || is_listed(word, INPUTS);
                }
                Some(Token::Text(text) | Token::Shell(text)) if !text.trim().is_empty() => {
                    let is_key = at >= 2
                        && self.code.sign(at - 1) == Some('[')
                        && matches!(self.code.get(at - 2), Some(Token::Word(_)));
                    if !is_key {
                        return false;
                    }
                }
                _ => {}
            }
        }
        is_input
    }

    /// Whether they begin with a text that is put together.
    pub(super) fn are_assembled(self, values: &Values) -> bool {
        let from = self.code.behind_bracket(self.from);
        values.expression(self.code.all(), from).0 == Value::Assembled
    }
}

/// Whether a text of code in the one spelling holds values.
pub(super) fn has_value(text: &str) -> bool {
    text.contains(UNKNOWN) || text.contains("#{")
}

/// Whether a text holds values of variables, to Perl, Ruby, PHP and Tcl.
pub(super) fn is_interpolated(text: &str) -> bool {
    text.contains(['$', '@', '[']) || text.contains("#{")
}
