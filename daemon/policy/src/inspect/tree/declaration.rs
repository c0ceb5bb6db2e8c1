//! Builtins that declare variables by words and assignments: `declare`, `export`, `unset`.

use tree_sitter::Node;

use super::{TreeWalk, named_children};
use crate::inspect::assignment::run_builtin;
use crate::inspect::script::{inspect_script, inspect_subscript};
use crate::inspect::stdin::Stdin;
use crate::shell::expansion::Scope;
use crate::shell::expansion::choices::Choices;
use crate::shell::expansion::source::Nesting;
use crate::shell::word::Word;

/// Inspects `declare`, `export` and their kin, and `unset`.
pub(super) fn inspect_declaration(walk: &mut TreeWalk<'_>, node: Node<'_>, depth: usize) {
    let source = walk.source;
    let program = node.child(0).map_or("", |first| source.of(first));
    walk.substitutions_of_command(node, depth);
    let (mut assigned, mut words) = (Vec::new(), Vec::new());
    for child in named_children(node) {
        if child.kind() == "variable_assignment" {
            let name = child.child_by_field_name("name");
            assigned.extend(name.map(|name| source.of(name).to_owned()));
        } else {
            let state = &walk.sink.inspection().state;
            words.extend(source.expand(child, Scope::of(state), &mut Choices::none()));
        }
    }
    walk.sink.inspection().unordered.matters = true;
    // The attributes hold for the values, so they come first.
    let span = source.span(node);
    let names = assigned.iter().map(|name| Word::literal(name, span));
    let operands: Vec<Word> = words.iter().cloned().chain(names).collect();
    walk.sink.inspection().learn_flow(program, &operands, span);
    run_builtin(program, &operands, walk.state());
    for child in named_children(node) {
        if child.kind() == "variable_assignment" {
            walk.assign(child, depth);
        }
    }
    if program == "export" || words.iter().any(|word| word.text.starts_with("-x")) {
        for name in &assigned {
            walk.state().export(name);
        }
    }
    for word in words {
        inspect_subscript(walk.sink, &word.text, word.span, depth);
        inspect_declared(walk, program, &word, depth);
    }
}

/// Takes a word of `declare` and its kin, which may be an assignment or make a name stand for another.
fn inspect_declared(walk: &mut TreeWalk<'_>, program: &str, word: &Word, depth: usize) {
    let refers = word.text.starts_with('-') && word.text.contains('n');
    if refers && matches!(program, "declare" | "typeset" | "local") {
        walk.sink.inspection().note_possible(word.span);
    }
    if let Some((name, value)) = word.text.split_once('=') {
        let name = name.split('[').next().unwrap_or(name);
        let name = name.trim_end_matches('+');
        walk.sink.assignment(name, value, word.span, depth);
        if value.starts_with('(') {
            // The elements of an array are expanded once more.
            let nesting = Nesting::Within(word.span);
            let before = walk.state().clone();
            inspect_script(
                walk.sink,
                &format!("_={value}"),
                nesting,
                &Stdin::Given,
                depth + 1,
            );
            *walk.state() = before;
        }
    }
}
