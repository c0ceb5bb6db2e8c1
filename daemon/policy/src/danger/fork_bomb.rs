//! A function that starts itself twice: in a tree, and in a text without one.

use std::ops::ControlFlow;

use tree_sitter::Node;

use crate::shell::expansion::source::Source;
use crate::shell::syntax::grammar::{Step, walk};

/// Why a fork bomb is dangerous.
pub(crate) const FORK_BOMB: &str = "a function that starts itself twice: a fork bomb";

/// Whether a function calls itself in a pipeline or in the background.
pub(crate) fn is_fork_bomb(definition: Node<'_>, source: Source<'_>) -> bool {
    let Some(name) = definition.child_by_field_name("name") else {
        return false;
    };
    let name = source.of(name);
    let found = walk(definition, |node| {
        let calls = node.kind() == "command"
            && node
                .child_by_field_name("name")
                .is_some_and(|called| source.of(called) == name);
        if calls && is_multiplied(node) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(Step::Into)
        }
    });
    found.is_some()
}

fn is_multiplied(call: Node<'_>) -> bool {
    let in_pipeline = call
        .parent()
        .is_some_and(|parent| parent.kind() == "pipeline");
    let in_background = |node: Node<'_>| node.next_sibling().is_some_and(|next| next.kind() == "&");
    in_pipeline || in_background(call) || call.parent().is_some_and(in_background)
}

/// Why a loop is dangerous that starts jobs faster than they end.
pub(crate) const JOBS_WITHOUT_END: &str = "it starts jobs without end: a fork bomb";
/// Turns of a loop that a machine has no processes for.
const MAX_JOBS: u64 = 5_000;

/// Whether a loop without end, or of thousands of turns, only starts jobs in the background.
pub(crate) fn starts_without_end(node: Node<'_>, source: Source<'_>) -> bool {
    let Some(body) = node.child_by_field_name("body") else {
        return false;
    };
    let head = source
        .text
        .get(node.start_byte()..body.start_byte())
        .unwrap_or_default();
    let mut cursor = body.walk();
    let mut statements = body.named_children(&mut cursor).peekable();
    let is_job = |node: Node<'_>| node.next_sibling().is_some_and(|next| next.kind() == "&");
    is_endless(head) && statements.peek().is_some() && statements.all(is_job)
}

/// Whether the head of a loop has no end, or one that is far: `while true;`, `for i in {1..100000};`.
fn is_endless(head: &str) -> bool {
    let tight: String = head.chars().filter(|c| !c.is_whitespace()).collect();
    let heads = [
        "whiletrue;",
        "while:;",
        "while1;",
        "while[1];",
        "while((1));",
        "while[[1]];",
        "untilfalse;",
        "for((;;));",
        "for((;;))",
    ];
    let mut numbers = head.split(|c: char| !c.is_ascii_digit());
    let is_far = |number: &str| number.parse::<u64>().is_ok_and(|number| number >= MAX_JOBS);
    let counts = head.contains("seq ") || head.contains("..") || head.contains('<');
    heads.contains(&tight.as_str())
        || heads.contains(&format!("{tight};").as_str())
        || (counts && numbers.any(is_far))
}

/// Whether a text holds `name() { … name | name & … }`, however it is spaced.
pub(crate) fn looks_like_a_fork_bomb(text: &str) -> bool {
    let tight: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let Some((before, after)) = tight.split_once("(){") else {
        return false;
    };
    let name = before
        .rsplit([';', '&', '|', '"', '\''])
        .next()
        .unwrap_or(before);
    let name = name.strip_prefix("function").unwrap_or(name);
    let body = after.split('}').next().unwrap_or(after);
    !name.is_empty() && body.contains(&format!("{name}|{name}"))
}
