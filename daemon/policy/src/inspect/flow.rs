//! The data flow of a script, as far as its text tells: what its commands read and print, and what its
//! variables hold.

use std::ops::ControlFlow;

use termd_proto::policy::Span;
use tree_sitter::Node;

use super::stdin::Stdin;
use crate::program::kind::base_name;
use crate::program::output::fetches;
use crate::shell::expansion::expand;
use crate::shell::grammar::{Step, walk};
use crate::shell::source::Source;
use crate::shell::variables::Variables;
use crate::shell::word::{Word, joined};

/// Adds the values that a script gives its variables.
pub(super) fn read_assignments(root: Node<'_>, source: Source<'_>, variables: &mut Variables) {
    walk(root, |node| {
        match node.kind() {
            "variable_assignment" => read_assignment(node, source, variables),
            "for_statement" => read_for_variable(node, source, variables),
            _ => {}
        }
        ControlFlow::<(), _>::Continue(Step::Into)
    });
}

fn read_assignment(node: Node<'_>, source: Source<'_>, variables: &mut Variables) {
    let Some(name) = node.child_by_field_name("name") else {
        return;
    };
    let value = node.child_by_field_name("value");
    let array = value.filter(|value| value.kind() == "array");
    let parts: Vec<Node<'_>> = match array {
        Some(array) => {
            let mut cursor = array.walk();
            array.named_children(&mut cursor).collect()
        }
        None => value.into_iter().collect(),
    };
    let mut known = Vec::new();
    for part in parts {
        let words = expanded(source.of(part), variables);
        known.extend(words.iter().all(Word::is_known).then(|| joined(&words)));
    }
    let value = known.join(" ");
    variables.set(source.of(name), (!value.is_empty()).then_some(value));
}

fn read_for_variable(node: Node<'_>, source: Source<'_>, variables: &mut Variables) {
    let Some(variable) = node.child_by_field_name("variable") else {
        return;
    };
    let mut cursor = node.walk();
    for value in node.children_by_field_name("value", &mut cursor) {
        for word in expanded(source.of(value), variables) {
            let known = word.is_known().then_some(word.text);
            variables.set(source.of(variable), known);
        }
    }
}

/// The words that a value becomes. Where they stand does not matter.
fn expanded(raw: &str, variables: &Variables) -> Vec<Word> {
    expand(raw, Span { start: 0, end: 0 }, variables, 0)
}

/// What a stage of a pipeline prints.
pub(super) fn output_of(
    stage: Node<'_>,
    source: Source<'_>,
    variables: &Variables,
    stdin: &Stdin,
) -> Stdin {
    if *stdin == Stdin::Fetched {
        return Stdin::Fetched;
    }
    let fetches = fetches(source.of(stage));
    let command = match stage.kind() {
        "redirected_statement" => stage.child_by_field_name("body"),
        _ => Some(stage),
    };
    let Some(command) = command.filter(|node| node.kind() == "command") else {
        return computed(fetches);
    };
    let words = source.words(command, variables, 0);
    let name = words.first().map_or("", |word| base_name(&word.text));
    let args = words.get(1..).unwrap_or_default();
    if fetches && !matches!(name, "echo" | "printf") {
        return Stdin::Fetched;
    }
    match name {
        "echo" | "printf" if args.iter().all(Word::is_known) => {
            let is_flag = |word: &&Word| matches!(&*word.text, "-e" | "-n" | "-en" | "-ne" | "-E");
            let printed: Vec<&str> = args
                .iter()
                .filter(|word| !is_flag(word))
                .map(|word| word.text.as_str())
                .collect();
            Stdin::Literal(printed.join(" ").replace("\\n", "\n").replace("%s\n", ""))
        }
        "cat" | "tac" if !args.is_empty() => Stdin::Given,
        "cat" | "tee" => input_of(stage, source, variables).unwrap_or_else(|| stdin.clone()),
        _ => Stdin::Computed,
    }
}

/// What a statement reads by its own redirections. The last one counts.
pub(super) fn input_of(
    statement: Node<'_>,
    source: Source<'_>,
    variables: &Variables,
) -> Option<Stdin> {
    let mut cursor = statement.walk();
    let redirects: Vec<Node<'_>> = statement.named_children(&mut cursor).collect();
    let mut last_first = redirects.into_iter().rev();
    last_first.find_map(|redirect| given_by(redirect, source, variables))
}

fn given_by(redirect: Node<'_>, source: Source<'_>, variables: &Variables) -> Option<Stdin> {
    match redirect.kind() {
        "heredoc_redirect" => {
            let mut cursor = redirect.walk();
            let body = redirect
                .named_children(&mut cursor)
                .find(|child| child.kind() == "heredoc_body");
            Some(Stdin::Literal(
                body.map_or_else(String::new, |body| source.of(body).to_owned()),
            ))
        }
        "herestring_redirect" => {
            let word = redirect.named_child(0)?;
            let words = source.expand(word, variables, 0);
            if words.iter().all(Word::is_known) {
                Some(Stdin::Literal(joined(&words)))
            } else {
                Some(computed(fetches(source.of(word))))
            }
        }
        "file_redirect" if source.operator(redirect) == "<" => {
            let file = source.of(redirect.child_by_field_name("destination")?);
            Some(match file.starts_with("<(") {
                true => computed(fetches(file)),
                false if file.starts_with("/dev/tcp/") => Stdin::Fetched,
                false => Stdin::Given,
            })
        }
        _ => None,
    }
}

fn computed(fetches: bool) -> Stdin {
    if fetches {
        Stdin::Fetched
    } else {
        Stdin::Computed
    }
}
