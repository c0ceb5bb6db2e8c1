//! The command that a call starts, word by word. What is no text, or holds a value, is unknown.

use super::arguments::{Arguments, has_value, is_interpolated};
use super::code_tokens::CodeTokens;
use super::{RUBY, SCRIPTS};
use crate::danger::code::call_effect::CallEffect;
use crate::danger::code::plain;
use crate::danger::code::tokens::Token;

/// A word; `None`: any number of words that nobody knows.
type CodeWord = Option<String>;

/// The words of one call.
#[derive(Debug)]
pub(super) struct CommandWords {
    words: Vec<CodeWord>,
    /// They are one list, and nothing beside it says what is started.
    is_list: bool,
}

impl CommandWords {
    /// The command of a call of `name`.
    pub(super) fn of(name: &str, arguments: Arguments<'_>, code: CodeTokens<'_>) -> Self {
        let takes_argv0 = CallEffect::TakesArgv0.is_of(name);
        let mut places = arguments.places().into_iter().peekable();
        if takes_argv0 && name.starts_with("spawn") {
            // Python's `os.spawnlp` has a mode first.
            places.next();
        }
        let mut words = Vec::new();
        if let Some(list) = places.peek().and_then(|at| list(code, *at)) {
            let is_file_and_name = code.is_of(RUBY) && list.len() == 2 && places.len() > 1;
            if !is_file_and_name {
                let mut tokens = arguments.tokens().iter();
                let is_known = list.first().is_some_and(Option::is_some);
                return Self {
                    words: list,
                    is_list: is_known && !tokens.any(names_other_program),
                };
            }
            // Ruby's `exec ["git", "x"], "push"`.
            words.extend(list.into_iter().take(1));
            places.next();
        }
        // What follows the list of arguments, to JavaScript, are options.
        let last = if code.is_of(SCRIPTS) { 2 } else { usize::MAX };
        for at in places.take(last).take_while(|at| !is_option(code, *at)) {
            match list(code, at) {
                Some(list) => words.extend(list),
                None => words.push(text(code, at)),
            }
        }
        if takes_argv0 && words.get(1).is_some_and(Option::is_some) {
            words.remove(1);
        }
        Self {
            words,
            is_list: false,
        }
    }

    pub(super) fn is_list(&self) -> bool {
        self.is_list
    }

    /// The words of a command that is known in part.
    pub(super) fn partly_known(self) -> Option<Vec<CodeWord>> {
        (self.words.len() > 1 && self.words.contains(&None)).then_some(self.words)
    }
}

/// The words of a list that begins at a place. What makes a longer one of it is unknown: `["git"] + x`.
fn list(code: CodeTokens<'_>, at: usize) -> Option<Vec<CodeWord>> {
    if !matches!(code.sign(at), Some('[' | '(')) {
        return None;
    }
    let mut places = vec![at + 1];
    let mut depth = 0_usize;
    let mut end = at + 1;
    loop {
        match code.get(end)? {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') if depth == 0 => break,
            Token::Sign(')' | ']' | '}') => depth -= 1,
            Token::Sign(',') if depth == 0 => places.push(end + 1),
            _ => {}
        }
        end += 1;
    }
    let places = places.into_iter().map(|at| behind_line_ends(code, at));
    let mut words: Vec<CodeWord> = places
        .filter(|at| *at < end)
        .map(|at| text(code, at))
        .collect();
    match code.get(end + 1) {
        None
        | Some(Token::Word(_) | Token::Sign(',' | ')' | ']' | '}' | ';' | '\n' | '|' | '=')) => {}
        Some(Token::Sign('+')) => words.push(None),
        Some(_) if code.is_word(end + 2, &["concat"]) => words.push(None),
        // A part of it, or another order.
        Some(_) => words = vec![None],
    }
    Some(words)
}

fn behind_line_ends(code: CodeTokens<'_>, mut at: usize) -> usize {
    while code.sign(at) == Some('\n') {
        at += 1;
    }
    at
}

/// The text that is an argument, or an element of a list.
fn text(code: CodeTokens<'_>, at: usize) -> CodeWord {
    let has_prefix = code.is_word(at, &["r", "b", "u", "rb", "br"]);
    let at = at + usize::from(has_prefix);
    let text = code.text(at)?;
    // Where the quotes were read, a value stands in `#{…}`.
    let is_raw = code.interpolates() && !plain::reads(code.program());
    let has_value = has_value(text) || is_raw && is_interpolated(text);
    let ends = matches!(
        code.get(at + 1),
        None | Some(
            Token::Word(_) | Token::Sign(',' | ')' | ']' | ';' | '\n' | '|' | '=' | '?' | '{')
        )
    );
    (!has_value && ends).then(|| text.to_owned())
}

/// Whether an argument is an option of the call: `cwd=x`, Ruby's `out: "x"` and `:out => "x"`.
fn is_option(code: CodeTokens<'_>, at: usize) -> bool {
    matches!(
        (code.sign(at), code.sign(at + 1), code.sign(at + 2)),
        (None, Some('=' | ':'), None) | (Some(':'), None, Some('='))
    )
}

/// Whether an argument beside a list says that something else is started, or by a shell.
fn names_other_program(token: &Token) -> bool {
    matches!(token, Token::Word(word) if word == "executable" || word == "shell")
}
