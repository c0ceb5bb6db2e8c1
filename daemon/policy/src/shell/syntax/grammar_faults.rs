//! Texts that tree-sitter's grammar of bash parses without an error, but otherwise than a shell does.

use std::ops::{ControlFlow, Range};

use tree_sitter::{Node, Tree};

use super::grammar::{Step, walk};
use super::reserved_words::is_reserved;
use crate::shell::word::{is_assignment, is_name};

/// Bytes of an offset in which variables are looked for: each `${` of a text may begin one.
const MAX_OFFSET_BYTES: usize = 256;

/// Whether the grammar goes on over the end of a line where a shell does not: behind a lone `$`, `==` or `=~`
/// it takes the first word of the next line for a part of this command.
pub(crate) fn joins_lines(tree: &Tree, text: &str) -> bool {
    let found = walk(tree.root_node(), |node| {
        let is_of_one_line = matches!(
            node.kind(),
            "command" | "simple_expansion" | "concatenation" | "variable_assignment"
        );
        let mut cursor = node.walk();
        let mut end = node.start_byte();
        let has_gap = is_of_one_line
            && node.children(&mut cursor).any(|child| {
                let gap = text.get(end..child.start_byte()).unwrap_or_default();
                end = child.end_byte();
                ends_line(gap)
            });
        if has_gap {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(Step::Into)
        }
    });
    found.is_some()
}

/// Whether a line ends in what stands between two words: a line end behind a backslash joins.
fn ends_line(gap: &str) -> bool {
    gap.match_indices('\n').any(|(at, _)| {
        let before = gap.get(..at).unwrap_or_default();
        let backslashes = before.len() - before.trim_end_matches('\\').len();
        backslashes % 2 == 0
    })
}

/// The words of a command that stand behind the redirections of a node, as in `rm >log -rf x` and
/// `env <<EOF rm x`. The grammar takes them for further files of the redirection, or for parts of the
/// here-document. Words of the body's first line are none of them, which it takes from a body that begins with
/// a backslash.
pub(crate) fn words_behind_redirects<'t>(node: Node<'t>, text: &str) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    let mut words = Vec::new();
    for child in node.children(&mut cursor) {
        match child.kind() {
            "file_redirect" => words.extend(words_behind_file(child)),
            "heredoc_redirect" => {
                let mut cursor = child.walk();
                let is_in_body = |part: &Node<'_>| {
                    let rest = text.get(part.start_byte()..).unwrap_or_default();
                    rest.starts_with('\n')
                };
                let parts = child.named_children(&mut cursor);
                for part in parts.take_while(|part| !is_in_body(part)) {
                    match part.kind() {
                        "file_redirect" => words.extend(words_behind_file(part)),
                        "herestring_redirect"
                        | "heredoc_redirect"
                        | "heredoc_start"
                        | "heredoc_body"
                        | "heredoc_end"
                        | "file_descriptor"
                        | "pipeline"
                        | "command"
                        | "list"
                        | "comment" => {}
                        kind if kind.ends_with("statement") || kind == "subshell" => {}
                        _ => words.push(part),
                    }
                }
            }
            _ => {}
        }
    }
    words
}

fn words_behind_file(redirect: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = redirect.walk();
    let places = redirect.children_by_field_name("destination", &mut cursor);
    places.skip(1).collect()
}

/// Where a line begins with a backslash before a letter. The grammar takes the line's first word for one
/// of the line before.
fn escaped_beginning(word: Node<'_>, text: &str) -> Option<Range<usize>> {
    let written = text.get(word.byte_range())?;
    let trimmed = written.trim_start_matches(['\n', ' ', '\t']);
    let behind = trimmed.strip_prefix('\\')?;
    let is_plain =
        behind.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/'));
    let at = word.end_byte() - trimmed.len();
    (is_plain && written.starts_with('\n')).then(|| at..at + 1)
}

/// Whether the grammar may take the beginning of a line for words of the line before.
pub(crate) fn has_line_as_word(tree: &Tree, text: &str) -> bool {
    let is_lone = |line: &str| line.trim_matches([' ', '\t']) == "\\";
    let found = walk(tree.root_node(), |node| {
        let word = text.get(node.byte_range()).unwrap_or_default();
        if node.kind() == "word" && word.starts_with('\n') {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(Step::Into)
        }
    });
    found.is_some() || text.split('\n').any(is_lone)
}

/// A text with separators where a shell needs none and the grammar does, in the places of blanks:
/// `[[ x ]] then`, `for x do`. `None`: there is no such place.
pub(crate) fn with_separators(text: &str) -> Option<String> {
    let mut separated = text.to_owned();
    for word in [" then", " do"] {
        for (at, _) in text.match_indices(word) {
            let mut before = text.get(..at).unwrap_or_default().split_whitespace().rev();
            let last = before.next().unwrap_or_default();
            let is_loop = is_name(last) && matches!(before.next(), Some("for" | "select"));
            if is_loop || ["]]", ")", "}"].iter().any(|end| last.ends_with(end)) {
                separated.replace_range(at..=at, ";");
            }
        }
    }
    (separated != text).then_some(separated)
}

/// A text in which the offsets of `${x:$y}` and `${x:1:$# - 1}` have no `$`, which the grammar takes in few of
/// them: a blank stands in its place, and a number in that of `$#` and `$?`. `None`: there is no such place.
pub(crate) fn with_bare_offsets(text: &str) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    for (opening, _) in text.match_indices("${") {
        let behind = |at: usize| text.get(at..).unwrap_or_default();
        let is_of_name = |c: char| c.is_alphanumeric() || "_@*[]".contains(c);
        let colon = text.len() - behind(opening + 2).trim_start_matches(is_of_name).len();
        let Some(offset) = behind(colon).strip_prefix(':') else {
            continue;
        };
        // bash(1), Parameter Expansion: `${x:-y}` has none.
        if offset.starts_with(['-', '=', '?', '+']) {
            continue;
        }
        let mut offset = offset.bytes().take(MAX_OFFSET_BYTES);
        let length = offset.position(|byte| byte == b'}').unwrap_or_default();
        for at in colon..colon + length {
            match bytes.get_mut(at..at + 2) {
                Some(number @ [b'$', b'#' | b'?']) => number.copy_from_slice(b" 0"),
                Some([dollar @ b'$', b'_' | b'a'..=b'z' | b'A'..=b'Z']) => *dollar = b' ',
                _ => {}
            }
        }
    }
    String::from_utf8(bytes).ok().filter(|bare| bare != text)
}

/// Where the grammar begins a word without a blank before it. To a shell that is a part of the word
/// before: `$1$2$3`, `$a,$b,$c`, `` f`x`ob ``, `x=$a,$b,$c`. The substitutions of such a part are found by
/// [`unread_substitutions`](super::unread_substitutions::unread_substitutions).
pub(crate) fn parts_cut_off(tree: &Tree, _text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    walk(tree.root_node(), |node| {
        if !holds_words(node) {
            return ControlFlow::<(), _>::Continue(Step::Into);
        }
        let mut cursor = node.walk();
        let mut end_before = None;
        for child in node.children(&mut cursor) {
            let part = match child.kind() {
                "command" | "redirected_statement" => first_word(child),
                _ => Some(child).filter(|child| is_word(*child)),
            };
            // What is not read stays an error.
            let joins =
                |part: &Node<'_>| end_before == Some(part.start_byte()) && !part.has_error();
            if let Some(part) = part.filter(joins) {
                found.push(part.byte_range());
            }
            let may_go_on = child.is_named() || child.kind() == "$";
            end_before = may_go_on.then(|| child.end_byte());
        }
        ControlFlow::Continue(Step::Into)
    });
    found
}

/// Whether the children of a node are words or statements, between which a shell needs a separator.
fn holds_words(node: Node<'_>) -> bool {
    let kind = node.kind();
    let is_statement = kind.ends_with("_statement") || kind.ends_with("_command");
    is_statement && kind != "test_command"
        || kind.ends_with("_redirect")
        || matches!(
            kind,
            "program"
                | "command"
                | "array"
                | "list"
                | "pipeline"
                | "do_group"
                | "subshell"
                | "case_item"
                | "command_substitution"
                | "process_substitution"
        )
}

fn first_word(node: Node<'_>) -> Option<Node<'_>> {
    let mut first = node;
    while !is_word(first) {
        first = first.child(0)?;
    }
    Some(first)
}

fn is_word(node: Node<'_>) -> bool {
    let kind = node.kind();
    kind.ends_with("string")
        || kind.ends_with("expansion")
        || kind.ends_with("_substitution")
        || matches!(
            kind,
            "word" | "number" | "concatenation" | "brace_expression" | "command_name"
        )
}

/// Where the grammar takes `!` or `time` for a program: `! ! cmd`, `time -p { cmd; }`. What stands behind
/// runs as it does without.
pub(crate) fn prefixes_as_programs(tree: &Tree, text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    walk(tree.root_node(), |node| {
        if node.kind() == "command"
            && let Some(name) = node.child_by_field_name("name")
            && name.start_byte() == node.start_byte()
            && let Some(prefix) = prefix(node, name, text)
        {
            found.push(prefix);
        }
        if node.kind() == "word" {
            found.extend(escaped_beginning(node, text));
        }
        ControlFlow::<(), _>::Continue(Step::Into)
    });
    found
}

fn prefix(command: Node<'_>, name: Node<'_>, text: &str) -> Option<Range<usize>> {
    let of = |node: Node<'_>| text.get(node.byte_range()).unwrap_or_default();
    let is_time = match of(name) {
        "!" => false,
        "time" => true,
        // The parent is looked for from the root: not for each command of a long text.
        name if is_reserved(name) => {
            let outer = command.parent()?;
            let is_negated = outer.kind() == "negated_command";
            return is_negated.then(|| outer.start_byte()..command.start_byte());
        }
        _ => return None,
    };
    let mut cursor = command.walk();
    let mut rest = command.named_children(&mut cursor).skip(1);
    let next = rest.find(|part| !(is_time && matches!(of(*part), "-p" | "--")))?;
    let begins =
        !is_time || next.kind() == "subshell" || is_reserved(of(next)) || is_assignment(of(next));
    begins.then(|| command.start_byte()..next.start_byte())
}

/// The ends of lines behind the file of a redirection, where the grammar takes words of the next line for further
/// files of it: behind a pipeline of some length, in an `if`. The body of a here-document would begin there, and
/// a comment would go on over a `;`: such line ends stay.
pub(crate) fn line_ends_in_redirects(tree: &Tree, text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    walk(tree.root_node(), |node| {
        if node.kind() == "file_redirect" {
            let mut cursor = node.walk();
            let files = node.children_by_field_name("destination", &mut cursor);
            let files: Vec<Node<'_>> = files.collect();
            // What stands behind the first such end is read anew.
            let end = files.windows(2).find_map(|pair| match pair {
                [file, next] => line_end(text, file.end_byte()..next.start_byte()),
                _ => None,
            });
            found.extend(end.map(|at| at..at + 1));
        }
        ControlFlow::<(), _>::Continue(Step::Into)
    });
    found
}

/// Where the line ends that a gap between two words begins in, if nothing but blanks stands before its end, and no
/// here-document in it.
fn line_end(text: &str, gap: Range<usize>) -> Option<usize> {
    let (start, gap) = (gap.start, text.get(gap)?);
    let (blanks, _) = gap.split_once('\n')?;
    let line = text.get(..start)?.rsplit('\n').next()?;
    let ends = blanks.trim_matches([' ', '\t']).is_empty() && !line.contains("<<");
    ends.then(|| start + blanks.len())
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
