//! What the commands of a script read and print, as far as its text tells.

use tree_sitter::Node;

use super::stdin::{Piece, Stdin};
use crate::program::kind::base_name;
use crate::program::output::fetches;
use crate::shell::expansion::choices::{Choices, readings};
use crate::shell::expansion::printed::{
    here_document, here_string, is_descriptor, is_stdin, printed_by_stage,
};
use crate::shell::expansion::source::Source;
use crate::shell::expansion::{Scope, expand};
use crate::shell::state::ShellState;
use crate::shell::word::Word;

/// What a stage of a pipeline prints.
pub(super) fn output_of(
    stage: Node<'_>,
    source: Source<'_>,
    state: &ShellState,
    stdin: &Stdin,
) -> Stdin {
    if *stdin == Stdin::Fetched {
        return Stdin::Fetched;
    }
    let fetches = fetches(source.of(stage));
    let scope = Scope::of(state);
    let input = stdin.text();
    let mut printed: Vec<Option<String>> =
        readings(|choices| printed_by_stage(stage, source, scope, choices, input))
            .into_iter()
            .map(|(printed, _)| printed)
            .collect();
    printed.dedup();
    let printed = match printed.as_mut_slice() {
        [only] => only.take(),
        _ => printed_by_stage(stage, source, scope, &mut Choices::none(), input),
    };
    match printed {
        Some(text) => Stdin::of_text(text, fetches),
        None if fetches => Stdin::Fetched,
        None => concatenated(stage, source, state, stdin).unwrap_or(Stdin::Computed),
    }
}

/// What a statement prints: a stage, a pipeline, or a block of statements that print what is known.
pub(super) fn output_of_statement(
    statement: Node<'_>,
    source: Source<'_>,
    state: &ShellState,
    stdin: &Stdin,
) -> Stdin {
    let mut cursor = statement.walk();
    let parts: Vec<Node<'_>> = statement.named_children(&mut cursor).collect();
    match statement.kind() {
        "pipeline" => parts.into_iter().fold(stdin.clone(), |reads, stage| {
            output_of(stage, source, state, &reads)
        }),
        "compound_statement" | "subshell" => {
            let mut printed = String::new();
            for part in parts {
                // Another statement may set what later ones print.
                match output_of_statement(part, source, state, &Stdin::Given) {
                    Stdin::Literal(text) => printed.push_str(&text),
                    Stdin::Fetched => return Stdin::Fetched,
                    Stdin::Given | Stdin::File(_) | Stdin::Joined(_) | Stdin::Computed => {
                        return Stdin::Computed;
                    }
                }
            }
            Stdin::Literal(printed)
        }
        _ => output_of(statement, source, state, stdin),
    }
}

/// What cat(1) prints of the files that it is given, and of what it reads. What files hold is not read here.
fn concatenated(
    stage: Node<'_>,
    source: Source<'_>,
    state: &ShellState,
    stdin: &Stdin,
) -> Option<Stdin> {
    let own = input_of(stage, source, state);
    let command = match stage.kind() {
        "redirected_statement" => stage.child_by_field_name("body"),
        _ => Some(stage),
    };
    let command = command.filter(|node| node.kind() == "command")?;
    let reads = input_of(command, source, state).or(own);
    let reads = reads.as_ref().unwrap_or(stdin);
    let words = source.words(command, Scope::of(state), &mut Choices::none());
    let (name, args) = words.split_first()?;
    // Other options change the text.
    let (options, files): (Vec<&Word>, Vec<&Word>) = args
        .iter()
        .partition(|word| word.text.starts_with('-') && word.text != "-");
    let is_plain = options
        .iter()
        .all(|word| matches!(&*word.text, "-u" | "--"));
    if base_name(&name.text) != "cat" || !is_plain {
        return None;
    }
    let mut pieces = Vec::new();
    for file in files {
        let path = file.path();
        match reads {
            _ if !is_stdin(&path) && is_descriptor(&path) => return None,
            _ if !is_stdin(&path) => pieces.push(Piece::File(path)),
            Stdin::Literal(text) => pieces.push(Piece::Text(text.clone())),
            Stdin::File(path) => pieces.push(Piece::File(path.clone())),
            Stdin::Joined(read) => pieces.extend_from_slice(read),
            Stdin::Given | Stdin::Fetched | Stdin::Computed => return None,
        }
    }
    match pieces.as_slice() {
        [] => None,
        [Piece::File(path)] => Some(Stdin::File(path.clone())),
        _ => Some(Stdin::Joined(pieces)),
    }
}

/// What a statement reads by its own redirections. The last one counts.
pub(super) fn input_of(
    statement: Node<'_>,
    source: Source<'_>,
    state: &ShellState,
) -> Option<Stdin> {
    let mut cursor = statement.walk();
    let redirects: Vec<Node<'_>> = statement.named_children(&mut cursor).collect();
    let mut last_first = redirects.into_iter().rev();
    last_first.find_map(|redirect| given_by(redirect, source, state))
}

fn given_by(redirect: Node<'_>, source: Source<'_>, state: &ShellState) -> Option<Stdin> {
    let scope = Scope::of(state);
    if redirect.kind() == "heredoc_redirect" {
        let mut texts = readings(|choices| here_document(redirect, source, scope, choices));
        let text = match texts.as_mut_slice() {
            [(only, _)] => std::mem::take(only),
            _ => here_document(redirect, source, scope, &mut Choices::none()),
        };
        return Some(Stdin::of_text(text, fetches(source.of(redirect))));
    }
    let operator = source.operator(redirect);
    if redirect.kind() == "herestring_redirect" || operator == "<<<" {
        let mut texts = readings(|choices| here_string(redirect, source, scope, choices));
        let text = match texts.as_mut_slice() {
            [(only, _)] => only.take(),
            _ => here_string(redirect, source, scope, &mut Choices::none()),
        };
        return Some(Stdin::of_text(text?, fetches(source.of(redirect))));
    }
    let is_of_stdin = redirect
        .child_by_field_name("descriptor")
        .is_none_or(|descriptor| source.of(descriptor) == "0");
    if redirect.kind() != "file_redirect" || !operator.starts_with('<') || !is_of_stdin {
        return None;
    }
    let place = redirect.child_by_field_name("destination")?;
    let raw = source.of(place);
    if raw.starts_with("<(") {
        return Some(output_of_substitution(place, source, state));
    }
    let words = expand(raw, source.span(place), scope, &mut Choices::none());
    let parts: Vec<String> = words.iter().map(Word::path).collect();
    let path = parts.join(" ");
    match operator {
        "<&" if path == "0" || path.starts_with('-') => None,
        "<&" => Some(Stdin::Computed),
        _ if is_stdin(&path) => None,
        _ if is_descriptor(&path) => Some(Stdin::Computed),
        _ if path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/") => Some(Stdin::Fetched),
        "<" | "<>" => Some(Stdin::File(path)),
        _ => Some(Stdin::Given),
    }
}

/// What `<(…)` holds.
pub(super) fn output_of_substitution(
    node: Node<'_>,
    source: Source<'_>,
    state: &ShellState,
) -> Stdin {
    let mut cursor = node.walk();
    let inner: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
    match inner.as_slice() {
        [only] if matches!(only.kind(), "command" | "redirected_statement") => {
            match output_of(*only, source, state, &Stdin::Given) {
                Stdin::Given | Stdin::File(_) | Stdin::Joined(_) => Stdin::Computed,
                output => output,
            }
        }
        _ if fetches(source.of(node)) => Stdin::Fetched,
        _ => Stdin::Computed,
    }
}
