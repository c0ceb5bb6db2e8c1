//! The calls in code, and what names stand for.

use std::collections::HashMap;

use super::call_effect::CallEffect;
use super::judged_part;
use super::tokens::{Token, tokens};
use crate::shell::word::UNKNOWN;

/// Tokens of arguments that are read of one code, for each word to the end of its statement or brackets.
/// Of a script as people write them these are some ten for each word.
const MAX_ARGUMENT_TOKENS: usize = 200_000;

/// One call: the last part of its name, and the texts among its arguments.
#[derive(Debug)]
pub(super) struct Call {
    /// The whole name, its parts joined by dots.
    pub(super) path: String,
    pub(super) name: String,
    pub(super) texts: Vec<String>,
    /// The words among its arguments.
    pub(super) words: Vec<String>,
}

impl Call {
    /// Whether calls of its name have this effect.
    pub(super) fn does(&self, effect: CallEffect) -> bool {
        effect.is_of(&self.name)
    }
}

/// The calls in a code. `system "x"`, `qx(x)`, `` `x` `` and `open(F, "| x")` are calls, too.
pub(super) fn calls(code: &str) -> Vec<Call> {
    let tokens = tokens(code);
    let names = aliases(&tokens);
    let mut calls = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match tokens.get(at) {
            Some(Token::Shell(text)) => calls.push(Call {
                path: "`".to_owned(),
                name: "sh".to_owned(),
                texts: vec![text.clone()],
                words: Vec::new(),
            }),
            Some(Token::Word(first)) => {
                let is_called = matches!(tokens.get(at + 1), Some(Token::Sign('(')));
                // PHP calls what a variable names: `$f = 'system'; $f('x')`.
                let named = names.get(&format!("={first}")).filter(|_| is_called);
                let stands_for = named.or_else(|| names.get(first));
                let mut parts = vec![stands_for.cloned().unwrap_or_else(|| first.clone())];
                let mut end = at + 1;
                loop {
                    let next = (tokens.get(end), tokens.get(end + 1));
                    // Ruby's `Process.kill :KILL, x`.
                    let is_kill = parts.last().is_some_and(|part| part == "kill");
                    match next {
                        (Some(Token::Sign(':')), Some(Token::Word(_))) if is_kill => break,
                        (
                            Some(Token::Sign('.' | ':' | '>' | '-' | '?')),
                            Some(Token::Word(part)),
                        ) => {
                            parts.push(part.clone());
                            end += 2;
                        }
                        // The last is Elixir's and Ruby's `query!(…)`.
                        (
                            Some(Token::Sign('.' | ':' | '-')),
                            Some(Token::Sign('.' | ':' | '>')),
                        )
                        | (Some(Token::Sign('!' | '?')), Some(Token::Sign('('))) => end += 1,
                        _ => break,
                    }
                }
                let path = parts.join(".");
                let name = path.rsplit('.').next().unwrap_or_default().to_owned();
                let (texts, words) = arguments(&tokens, end, &names);
                let is_call = matches!(
                    tokens.get(end),
                    Some(Token::Sign('(' | '[') | Token::Text(_))
                ) || (matches!(tokens.get(end), Some(Token::Word(_)))
                    && (!texts.is_empty() || name == "kill"))
                    || (name == "kill"
                        && matches!(
                            tokens.get(end..end + 2),
                            Some([Token::Sign(':'), Token::Word(_)])
                        ));
                if is_call || path.contains("environ") || path == "process.env" {
                    calls.push(Call {
                        path,
                        name,
                        texts,
                        words,
                    });
                }
                // The arguments are read for calls of their own.
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    calls
}

/// Whether the words of a code stand too often within each other's arguments for the code to be read:
/// `f(f(f(…`. The bound is [`MAX_ARGUMENT_TOKENS`].
pub(crate) fn are_too_many(code: &str) -> bool {
    let tokens = tokens(judged_part(code));
    let words = tokens.iter().enumerate();
    let mut words = words.filter(|(_, token)| matches!(token, Token::Word(_)));
    let mut left = MAX_ARGUMENT_TOKENS;
    !words.all(|(at, _)| {
        let length = arguments_end(&tokens, at + 1).saturating_sub(at);
        left.checked_sub(length).map(|rest| left = rest).is_some()
    })
}

/// Where the arguments end that begin at a token: at the bracket that closes them, or with the statement.
pub(crate) fn arguments_end(tokens: &[Token], from: usize) -> usize {
    let mut depth = 0_usize;
    let mut behind = tokens.iter().enumerate().skip(from);
    let end = behind.find(|(_, token)| match token {
        Token::Sign('(' | '[' | '{') => {
            depth += 1;
            false
        }
        Token::Sign(')' | ']' | '}') => {
            depth = depth.saturating_sub(1);
            depth == 0
        }
        Token::Sign(';' | '\n') => depth == 0,
        _ => false,
    });
    end.map_or(tokens.len(), |(at, _)| at)
}

/// The texts and words among the arguments that begin at a token, to the bracket that closes them or
/// the end of the statement.
fn arguments(
    tokens: &[Token],
    from: usize,
    names: &HashMap<String, String>,
) -> (Vec<String>, Vec<String>) {
    let end = arguments_end(tokens, from);
    let given = tokens.get(from..end).unwrap_or_default();
    let words = given.iter().filter_map(|token| match token {
        Token::Word(word) => Some(word.clone()),
        _ => None,
    });
    (texts_of(given, names), words.collect())
}

/// The texts among tokens, and those that variables among them hold.
pub(super) fn texts_of(tokens: &[Token], names: &HashMap<String, String>) -> Vec<String> {
    let texts = tokens.iter().enumerate();
    let texts = texts.filter_map(|(at, token)| match token {
        Token::Text(text) | Token::Shell(text) => {
            let ends = matches!(
                tokens.get(at + 1),
                None | Some(Token::Sign(')' | ']' | '}' | ',' | ';' | '\n'))
            );
            let mut text = text.clone();
            // What is put behind it: `system("rm " file)`.
            if text.ends_with(' ') && !ends {
                text.push(UNKNOWN);
            }
            Some(text)
        }
        Token::Word(word) => names.get(&format!("={word}")).cloned(),
        Token::Sign(_) => None,
    });
    texts.collect()
}

/// What names stand for: `from shutil import rmtree as x`, `x = shutil.rmtree`, `const {rmSync: x} = …`.
/// A name that holds a text stands behind `=`.
pub(crate) fn aliases(tokens: &[Token]) -> HashMap<String, String> {
    let mut names = HashMap::new();
    for window in tokens.windows(3) {
        match window {
            [Token::Word(name), Token::Word(word), Token::Word(alias)] if word == "as" => {
                names.insert(alias.clone(), name.clone());
            }
            [Token::Word(alias), Token::Sign('='), Token::Text(text)] => {
                names.insert(format!("={alias}"), text.clone());
            }
            [Token::Word(name), Token::Sign(':'), Token::Word(alias)]
                if [
                    CallEffect::RunsLine,
                    CallEffect::RemovesTree,
                    CallEffect::MayRemoveTree,
                ]
                .iter()
                .any(|effect| effect.is_of(name)) =>
            {
                names.insert(alias.clone(), name.clone());
            }
            _ => {}
        }
    }
    for (at, token) in tokens.iter().enumerate() {
        let (Token::Word(alias), Some(Token::Sign('='))) = (token, tokens.get(at + 1)) else {
            continue;
        };
        let value: Vec<&Token> = tokens
            .iter()
            .skip(at + 2)
            .take_while(|token| matches!(token, Token::Word(_) | Token::Sign('.')))
            .collect();
        let ends = matches!(
            tokens.get(at + 2 + value.len()),
            None | Some(Token::Sign(';' | '\n' | ','))
        );
        if let (Some(Token::Word(last)), true) = (value.last(), ends) {
            names.insert(alias.clone(), last.clone());
        }
    }
    names
}
