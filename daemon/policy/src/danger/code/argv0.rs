//! Commands of calls that give a program its name (`argv[0]`) beside its file:
//! `os.execlp('git', 'git', 'push')` is `git push`.

use std::collections::HashMap;

use super::call_effect::CallEffect;
use super::calls::{aliases, arguments_end, texts_of};
use super::tokens::Token;
use crate::word_list::is_listed;

/// The commands of such calls in code of a program: the file, and the arguments behind `argv[0]`.
pub(super) fn commands(program: &str, tokens: &[Token]) -> Vec<Vec<String>> {
    let names = aliases(tokens);
    let mut commands = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Token::Word(word) = token else {
            continue;
        };
        let name = names.get(word).unwrap_or(word);
        let arguments = || arguments(tokens, at + 1, &names);
        if CallEffect::TakesArgv0.is_of(name) {
            // Python's `os.spawnlp` has a mode first.
            let mode = usize::from(name.starts_with("spawn"));
            commands.extend(without_argv0(arguments().get(mode..).unwrap_or_default()));
        } else if program == "perl" && is_listed(name, "exec system") {
            commands.extend(of_block(tokens, at + 1, &names));
        } else if is_listed(program, "ruby irb pry") && CallEffect::RunsLine.is_of(name) {
            commands.extend(of_pair(tokens, at + 1, &names));
        } else if CallEffect::RunsLine.is_of(name) {
            commands.extend(of_executable(tokens, at + 1, &names));
        }
    }
    commands.retain(|command| !command.is_empty());
    commands
}

/// The texts of each argument of a call, and of each element of a list among them.
fn arguments(tokens: &[Token], from: usize, names: &HashMap<String, String>) -> Vec<Vec<String>> {
    let end = arguments_end(tokens, from);
    let arguments = tokens.get(from..end).unwrap_or_default();
    let arguments = arguments.split(|token| *token == Token::Sign(','));
    arguments.map(|tokens| texts_of(tokens, names)).collect()
}

fn without_argv0(arguments: &[Vec<String>]) -> Option<Vec<String>> {
    let (file, rest) = arguments.split_first()?;
    let behind = rest.iter().skip(1).flatten();
    Some(file.iter().chain(behind).cloned().collect())
}

/// Perl's `exec {'git'} 'x', 'push'`: the file stands in a block.
fn of_block(tokens: &[Token], from: usize, names: &HashMap<String, String>) -> Option<Vec<String>> {
    let from = from + usize::from(tokens.get(from) == Some(&Token::Sign('(')));
    if tokens.get(from) != Some(&Token::Sign('{')) {
        return None;
    }
    let end = arguments_end(tokens, from);
    let file = texts_of(tokens.get(from..end)?, names).pop();
    let mut all = vec![file.into_iter().collect()];
    all.extend(arguments(tokens, end + 1, names));
    without_argv0(&all)
}

/// Ruby's `exec ['git', 'x'], 'push'`: a list of two is a file and its name. To other calls such a list is the whole
/// command, which is read as well.
fn of_pair(tokens: &[Token], from: usize, names: &HashMap<String, String>) -> Option<Vec<String>> {
    let end = arguments_end(tokens, from);
    // Without brackets around all of them, the arguments seem to end with the list.
    let (at, behind) = (from..=end).find_map(|at| Some((at, pair_end(tokens, at)?)))?;
    let end = if at == from {
        arguments_end(tokens, behind)
    } else {
        end
    };
    let mut command = texts_of(tokens.get(at..at + 2)?, names);
    command.extend(texts_of(tokens.get(behind..end)?, names));
    Some(command)
}

/// Where a list of two ends that begins at a token. Behind each element of `%w[git x]` stands a comma.
fn pair_end(tokens: &[Token], at: usize) -> Option<usize> {
    let is_value = |token: &Token| matches!(token, Token::Text(_) | Token::Word(_));
    match tokens.get(at..)? {
        [Token::Sign('['), file, Token::Sign(','), name, rest @ ..]
            if is_value(file) && is_value(name) =>
        {
            match rest {
                [Token::Sign(']'), ..] => Some(at + 5),
                [Token::Sign(','), Token::Sign(']'), ..] => Some(at + 6),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Python's `subprocess.run(['x', 'push'], executable='git')`.
fn of_executable(
    tokens: &[Token],
    from: usize,
    names: &HashMap<String, String>,
) -> Option<Vec<String>> {
    let end = arguments_end(tokens, from);
    let is_executable = |token: &Token| matches!(token, Token::Word(word) if word == "executable");
    let at = from + tokens.get(from..end)?.iter().position(is_executable)?;
    let mut command = texts_of(tokens.get(at + 1..end.min(at + 3))?, names);
    let behind = arguments(tokens, from, names);
    let behind = behind.into_iter().skip(1).flatten();
    // The file is no argument.
    let file = command.first().cloned();
    command.extend(behind.filter(|text| Some(text) != file.as_ref()));
    Some(command)
}
