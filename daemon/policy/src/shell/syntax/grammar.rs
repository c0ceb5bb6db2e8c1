//! The tree of a text by tree-sitter's grammar of bash, for a bounded price.

use std::cell::RefCell;
use std::ops::{ControlFlow, Range};

use tree_sitter::{Node, Parser, Tree};

use super::grammar_faults::{
    line_ends_in_redirects, parts_cut_off, prefixes_as_programs, with_bare_offsets, with_separators,
};
use crate::bounded_parse::{self, OnError};

/// Pipes in a text that is parsed. Where a text ends within a pipeline, the parser weighs each stage
/// as the place of the mistake, together with all stages before it: 30,000 took a minute and
/// gigabytes. The bound is twice `MAX_JUDGED_COMMANDS`, so a longer pipeline is not safe anyway.
const MAX_PIPES: usize = 2_000;
/// How often a text is parsed anew for each kind of place that the grammar misreads. Once does for most
/// texts; `! time ! { …; }` takes as many as it has prefixes.
const MAX_REREADS: usize = 4;
/// What the grammar misreads in a tree of a text, and the byte that is parsed in its place.
type Misread = (fn(&Tree, &str) -> Vec<Range<usize>>, u8);
const MISREAD: [Misread; 3] = [
    (prefixes_as_programs, b' '),
    (parts_cut_off, b'a'),
    (line_ends_in_redirects, b';'),
];

thread_local! {
    /// Creating a parser costs more than parsing a line.
    static PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
}

/// The tree of a text, or `None` if it would take too long to make.
///
/// The grammar takes no here-string behind another redirection (`cat > x <<< y`). Such a text is parsed
/// with each `<<<` as a redirection from a file, at the same place;
/// [`Source::operator`](crate::shell::expansion::source::Source::operator) tells the two apart. A `!` or `time`
/// that it takes for a program is parsed as blanks, a part that it cuts off a word as letters, and the end of a
/// line that it reads a redirection over as `;`.
pub(crate) fn parse(text: &str) -> Option<Tree> {
    if has_too_many_pipes(text) {
        return None;
    }
    let mut tree = tree_of(text)?;
    let mut read: Option<String> = None;
    if tree.root_node().has_error() && text.contains("<<<") {
        let without = text.replace("<<<", "  <");
        tree = tree_of(&without)?;
        read = Some(without);
    }
    for rewritten in [with_bare_offsets, with_separators] {
        if tree.root_node().has_error()
            && let Some(rewritten) = rewritten(read.as_deref().unwrap_or(text))
            && let Some(better) = tree_of(&rewritten).filter(|tree| !tree.root_node().has_error())
        {
            tree = better;
            read = Some(rewritten);
        }
    }
    for (misread, letter) in MISREAD {
        for _ in 0..MAX_REREADS {
            let places = misread(&tree, text);
            if places.is_empty() {
                break;
            }
            let mut bytes = read.unwrap_or_else(|| text.to_owned()).into_bytes();
            for place in places {
                if let Some(place) = bytes.get_mut(place) {
                    place.fill(letter);
                }
            }
            let rewritten = String::from_utf8(bytes).ok()?;
            tree = tree_of(&rewritten)?;
            read = Some(rewritten);
        }
    }
    Some(tree)
}

fn tree_of(text: &str) -> Option<Tree> {
    PARSER.with_borrow_mut(|parser| {
        if parser.is_none() {
            let mut new = Parser::new();
            new.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
            *parser = Some(new);
        }
        let parser = parser.as_mut()?;
        bounded_parse::tree(parser, text, OnError::Recover)
    })
}

/// Where a walk goes from a node.
pub(crate) enum Step {
    /// To the node's children, if it has any.
    Into,
    /// To the node's next sibling.
    Over,
}

/// Visits a node and all nodes in it, in the order of the text, until `visit` breaks.
pub(crate) fn walk<'t, Found>(
    root: Node<'t>,
    mut visit: impl FnMut(Node<'t>) -> ControlFlow<Found, Step>,
) -> Option<Found> {
    let mut cursor = root.walk();
    loop {
        match visit(cursor.node()) {
            ControlFlow::Break(found) => return Some(found),
            ControlFlow::Continue(Step::Into) if cursor.goto_first_child() => continue,
            ControlFlow::Continue(Step::Into | Step::Over) => {}
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return None;
            }
        }
    }
}

/// Whether a text has more than `MAX_PIPES` pipes.
///
/// Every `|` is counted first. Only the grammar knows which of them are quoted; a bound that reads
/// quotes in another way is none. Where many may be quoted (a table in a here-document), the grammar
/// parses the text with its pipes replaced by separators, which costs little.
fn has_too_many_pipes(text: &str) -> bool {
    let pipes = text.matches('|').count();
    pipes > MAX_PIPES
        && quoted_pipes(text).is_none_or(|quoted| pipes.saturating_sub(quoted) > MAX_PIPES)
}

/// How many `|` of a text are no operators. `None` if the text does not parse without its pipes.
fn quoted_pipes(text: &str) -> Option<usize> {
    let without_pipes = text.replace(">|", "> ").replace("||", "&&");
    let without_pipes = without_pipes.replace("|&", "; ").replace('|', ";");
    let tree = tree_of(&without_pipes)?;
    if tree.root_node().has_error() {
        return None;
    }
    let mut quoted = 0;
    walk(tree.root_node(), |node| {
        let is_text = match node.kind() {
            "raw_string" | "ansi_c_string" | "comment" | "string_content" | "heredoc_content" => {
                true
            }
            "heredoc_body" => node.named_child_count() == 0,
            _ => false,
        };
        if !is_text {
            return ControlFlow::<(), _>::Continue(Step::Into);
        }
        let within = text.get(node.byte_range()).unwrap_or_default();
        quoted += within.matches('|').count();
        ControlFlow::Continue(Step::Over)
    });
    Some(quoted)
}
