//! The tokens of a code, by their places.

use std::collections::HashMap;

use crate::danger::code::tokens::Token;
use crate::word_list::is_listed;

/// The tokens of a code, the program that runs it, and what its names stand for.
#[derive(Debug, Clone, Copy)]
pub(super) struct CodeTokens<'a> {
    program: &'a str,
    tokens: &'a [Token],
    /// What names stand for ([`aliases`](crate::danger::code::calls::aliases)).
    names: &'a HashMap<String, String>,
}

impl<'a> CodeTokens<'a> {
    pub(super) fn new(
        program: &'a str,
        tokens: &'a [Token],
        names: &'a HashMap<String, String>,
    ) -> Self {
        Self {
            program,
            tokens,
            names,
        }
    }

    pub(super) fn all(self) -> &'a [Token] {
        self.tokens
    }

    pub(super) fn program(self) -> &'a str {
        self.program
    }

    /// Whether one of these programs runs the code.
    pub(super) fn is_of(self, programs: &str) -> bool {
        is_listed(self.program, programs)
    }

    pub(super) fn is_awk(self) -> bool {
        self.program.ends_with("awk")
    }

    pub(super) fn is_lua(self) -> bool {
        self.program.starts_with("lua")
    }

    /// Whether a shell runs what stands in backticks.
    pub(super) fn runs_backticks(self) -> bool {
        self.is_of("perl ruby irb php julia")
    }

    /// Whether texts in double quotes hold values.
    pub(super) fn interpolates(self) -> bool {
        self.runs_backticks() || self.is_of("tclsh expect")
    }

    pub(super) fn get(self, at: usize) -> Option<&'a Token> {
        self.tokens.get(at)
    }

    pub(super) fn text(self, at: usize) -> Option<&'a str> {
        match self.tokens.get(at) {
            Some(Token::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub(super) fn sign(self, at: usize) -> Option<char> {
        match self.tokens.get(at) {
            Some(Token::Sign(sign)) => Some(*sign),
            _ => None,
        }
    }

    pub(super) fn word(self, at: usize) -> Option<&'a str> {
        match self.tokens.get(at) {
            Some(Token::Word(word)) => Some(word),
            _ => None,
        }
    }

    /// Whether one of these words stands at a place.
    pub(super) fn is_word(self, at: usize, words: &[&str]) -> bool {
        self.word(at).is_some_and(|word| words.contains(&word))
    }

    /// What a name stands for: another name, or itself.
    pub(super) fn meaning(self, name: &'a str) -> &'a str {
        self.names.get(name).map_or(name, String::as_str)
    }

    /// The text that a name holds.
    pub(super) fn held_text(self, name: &str) -> Option<&'a str> {
        self.names.get(&format!("={name}")).map(String::as_str)
    }

    /// The place behind a round bracket, where one stands there.
    pub(super) fn behind_bracket(self, at: usize) -> usize {
        at + usize::from(self.sign(at) == Some('('))
    }

    /// Whether a name is that of a method or a member: `x.f`, `X::f`, `$x->f`, Lua's `x:f`.
    pub(super) fn is_member(self, at: usize) -> bool {
        let sign = |back: usize| at.checked_sub(back).and_then(|at| self.sign(at));
        match (sign(2), sign(1)) {
            (_, Some('.')) | (Some(':'), Some(':')) | (Some('-'), Some('>')) => true,
            (_, Some(':')) => self.is_lua(),
            _ => false,
        }
    }
}
