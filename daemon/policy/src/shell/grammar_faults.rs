//! Texts that tree-sitter's grammar of bash parses without an error, but otherwise than a shell does.

use std::ops::ControlFlow;

use tree_sitter::{Node, Tree};

use super::grammar::{Step, walk};

/// Whether a line ends with a lone `$`. The grammar then joins the next line to it. A `$` in quotes or
/// in a here-document is text.
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

/// The words of a command that stand behind the redirections of a node, as in `rm >log -rf x`. The
/// grammar takes them for further files of the redirection.
pub(crate) fn words_behind_redirects<'t>(node: Node<'t>) -> Vec<Node<'t>> {
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

/// A redirection whose word stands in the next line: a file's name, the word of `<<<`, the end marker
/// of a here-document. The grammar takes the word from there. A shell reports an error and then runs
/// that line as a command.
pub(crate) fn redirect_over_lines<'t>(tree: &'t Tree, text: &str) -> Option<Node<'t>> {
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

/// Whether all words of a redirection stand on the redirection's line. The body of a here-document and
/// the commands behind its marker are not among its words.
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

/// Where a backslash at a line's end joins two parts of a word. The grammar takes them for two words:
/// `r\` and `m`. A backslash within single quotes counts too, which errs on the careful side.
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

/// Whether the grammar takes a pattern of file names for a subshell: `./+(f|g)`, `./!(x)`
/// (bash(1), Pattern Matching).
pub(crate) fn has_pattern_as_subshell(tree: &Tree, text: &str) -> bool {
    let found = walk(tree.root_node(), |node| {
        let before = text.get(..node.start_byte()).unwrap_or_default();
        if node.kind() == "subshell" && before.ends_with(['@', '+', '!', '?', '*']) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(Step::Into)
        }
    });
    found.is_some()
}
