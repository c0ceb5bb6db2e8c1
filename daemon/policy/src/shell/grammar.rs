//! tree-sitter's grammar of bash: a text's tree, for a bounded price, and what the grammar takes
//! otherwise than a shell does.
//!
//! It must not know what is dangerous.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Point, Tree};

/// What the grammar's scanner is given at a time. It looks ahead, of some tokens to the text's end,
/// and what it looks at twice it asks for twice: so what it has asked for is what it has done.
const CHUNK_BYTES: usize = 256;
/// How often it may ask for a text in all. Ten times is usual; `x=(x=(x=(…` would be as often as it
/// has words.
const MAX_PASSES: usize = 256;
/// Pipes in a text that it is given. Where a text ends in the midst of a pipeline, it weighs each
/// stage as the place of the mistake, with all that stands before it: 30,000 took a minute and
/// gigabytes. Twice the commands that are looked at, so what has more is not safe.
const MAX_PIPES: usize = 2_000;

thread_local! {
    /// To make a parser costs more than to parse a line.
    static PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
}

/// The tree of a text; `None` where it would take too long to make.
pub(crate) fn parse(text: &str) -> Option<Tree> {
    if pipes_too_much(text) {
        return None;
    }
    tree_of(text)
}

fn tree_of(text: &str) -> Option<Tree> {
    PARSER.with_borrow_mut(|parser| {
        if parser.is_none() {
            let mut new = Parser::new();
            new.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
            *parser = Some(new);
        }
        let parser = parser.as_mut()?;
        parser.reset();
        let most = MAX_PASSES * text.len().max(CHUNK_BYTES);
        let taken = Cell::new(0_usize);
        let mut read = |from: usize, _: Point| {
            let end = from.saturating_add(CHUNK_BYTES).min(text.len());
            let chunk = text.as_bytes().get(from..end).unwrap_or_default();
            taken.set(taken.get() + chunk.len());
            chunk
        };
        let mut go_on = |_: &ParseState| {
            if taken.get() > most {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let options = ParseOptions::new().progress_callback(&mut go_on);
        parser.parse_with_options(&mut read, None, Some(options))
    })
}

/// Where a walk goes on behind a node.
pub(crate) enum Step {
    /// To what is in it, if anything is.
    Into,
    /// To what stands behind it.
    Over,
}

/// Goes through a node and what is in it, in the order of the text, until one is found.
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

/// Whether a text has more pipes than the grammar is given.
///
/// All its `|` are counted, for what is quoted is only known to the grammar, and a bound that reads
/// quotes in another way is none. Where many may be text (a table in a here-document), the grammar
/// is asked about the same with its commands in a row.
fn pipes_too_much(text: &str) -> bool {
    let pipes = text.matches('|').count();
    pipes > MAX_PIPES
        && quoted_pipes(text).is_none_or(|quoted| pipes.saturating_sub(quoted) > MAX_PIPES)
}

/// How many `|` of a text are no operators; `None` where it cannot be read in a row.
fn quoted_pipes(text: &str) -> Option<usize> {
    let row = text.replace(">|", "> ").replace("||", "&&");
    let row = row.replace("|&", "; ").replace('|', ";");
    let tree = tree_of(&row)?;
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

/// Whether a line ends with a `$` alone, behind which the grammar goes on in the next line as if it
/// were the same. Quoted and in here-documents it is text.
pub(crate) fn ends_with_dollar(tree: &Tree, text: &str) -> bool {
    let mut dollars = text.match_indices('$').filter(|(at, _)| {
        let rest = text.get(at + 1..).unwrap_or_default();
        rest.trim_start_matches([' ', '\t']).starts_with('\n')
    });
    dollars.any(|(at, _)| {
        let mut node = tree.root_node().descendant_for_byte_range(at, at + 1);
        while let Some(within) = node {
            match within.kind() {
                "string" | "raw_string" | "ansi_c_string" | "comment" | "heredoc_body" => {
                    return false;
                }
                "command_substitution" | "process_substitution" => return true,
                _ => node = within.parent(),
            }
        }
        true
    })
}

/// The words of a command that stand behind the redirections of a node, its own or its statement's:
/// the grammar takes them for more places to write to, as in `rm >log -rf x`.
pub(crate) fn behind_redirections<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    let redirects: Vec<Node<'t>> = node
        .children(&mut cursor)
        .filter(|child| child.kind() == "file_redirect")
        .collect();
    let mut words = Vec::new();
    for redirect in redirects {
        let mut cursor = redirect.walk();
        let places = redirect.children_by_field_name("destination", &mut cursor);
        words.extend(places.skip(1));
    }
    words
}

/// Where a redirection's word stands in the next line, from which the grammar takes it: a file's
/// name, the word of `<<<`, the end of a here-document. To a shell that is an error, after which that
/// line is a command.
pub(crate) fn redirection_over_lines<'t>(tree: &'t Tree, text: &str) -> Option<Node<'t>> {
    walk(tree.root_node(), |node| {
        let redirects = matches!(
            node.kind(),
            "file_redirect" | "herestring_redirect" | "heredoc_redirect"
        );
        if redirects && !words_on_its_line(node, text) {
            ControlFlow::Break(node)
        } else {
            ControlFlow::Continue(Step::Into)
        }
    })
}

/// Whether all words of a redirection stand on the line of what is before them. What a here-document
/// says, and what is piped from it, does not.
fn words_on_its_line(redirect: Node<'_>, text: &str) -> bool {
    let mut cursor = redirect.walk();
    redirect.children(&mut cursor).all(|child| {
        let is_word = match redirect.kind() {
            "heredoc_redirect" => child.kind() == "heredoc_start",
            _ => child.is_named() && child.kind() != "file_descriptor",
        };
        !is_word || is_on_its_line(text.get(..child.start_byte()).unwrap_or_default())
    })
}

fn is_on_its_line(mut before: &str) -> bool {
    loop {
        let blanks = before.trim_end_matches([' ', '\t']);
        match blanks.strip_suffix("\\\n") {
            Some(joined) => before = joined,
            None => return !blanks.ends_with('\n'),
        }
    }
}

/// Where a backslash before a line's end joins two parts of a word, which the grammar takes for two
/// words: `r\` and `m`. Within quotes that hide it this is more careful than need be.
pub(crate) fn word_over_lines(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let joins = |byte: Option<&u8>| {
        byte.is_some_and(|byte| !byte.is_ascii_whitespace() && !b";|&()<>".contains(byte))
    };
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if *byte != b'\\' {
            at += 1;
            continue;
        }
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        if bytes.get(at + 1) == Some(&b'\n') && joins(before) && joins(bytes.get(at + 2)) {
            return Some(at);
        }
        at += 2;
    }
    None
}
