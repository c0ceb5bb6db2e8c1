//! Command substitutions that a shell makes and the grammar has no node for: backticks in a
//! here-document, `` "${x:-`cmd`}" ``, `${x:-<(cmd)}`.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use crate::shell::text::backticks;

/// The texts of these substitutions, and where they stand.
pub(crate) fn unread_substitutions(tree: &Tree, text: &str) -> Vec<(String, Range<usize>)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = opening(text, from) {
        from = at + 1;
        if is_escaped(text, at) || !is_unread(tree, text, at) {
            continue;
        }
        let (inner, end) = inner(text, at);
        let inner = match text.get(at..) {
            Some(rest) if rest.starts_with('`') => backticks::unescaped(inner, false),
            _ => inner.to_owned(),
        };
        found.push((inner, at..end));
        from = end;
    }
    found
}

/// Where the next substitution may begin.
fn opening(text: &str, from: usize) -> Option<usize> {
    let rest = text.as_bytes().get(from..)?;
    let opens = |pair: &[u8]| matches!(pair, [b'`', ..] | [b'$' | b'<' | b'>', b'(']);
    let last = rest.last().is_some_and(|last| opens(&[*last]));
    let first = rest.windows(2).position(opens);
    let first = first.or_else(|| last.then(|| rest.len() - 1))?;
    Some(from + first)
}

/// The text of a substitution that begins here, and where it ends. Quotes are not looked at: a text that
/// is cut short by one cannot be read as shell.
fn inner(text: &str, at: usize) -> (&str, usize) {
    let rest = text.get(at..).unwrap_or_default();
    let length = match rest.strip_prefix('`') {
        Some(behind) => {
            let length = backticks::written(behind).len();
            (length < behind.len()).then_some(length)
        }
        None => closing_parenthesis(rest),
    };
    let begin = at + if rest.starts_with('`') { 1 } else { 2 };
    match length {
        Some(length) => (
            text.get(begin..begin + length).unwrap_or_default(),
            begin + length + 1,
        ),
        None => (text.get(begin..).unwrap_or_default(), text.len()),
    }
}

/// The bytes between `$(` and its parenthesis.
fn closing_parenthesis(rest: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in rest.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth <= 1 => return at.checked_sub(2),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn is_escaped(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let backslashes = before.len() - before.trim_end_matches('\\').len();
    backslashes % 2 == 1
}

/// Whether a shell substitutes here and the grammar does not.
fn is_unread(tree: &Tree, text: &str, at: usize) -> bool {
    let token = tree.root_node().descendant_for_byte_range(at, at + 1);
    // A token of the grammar's own begins or ends a substitution, with blanks before it in a string.
    let mut node = token.filter(Node::is_named);
    if node.is_none() {
        node = token.and_then(|token| token.parent());
        if node.is_some_and(|node| is_substitution(node)) {
            return false;
        }
    }
    let is_process = text
        .get(at..)
        .is_some_and(|rest| rest.starts_with(['<', '>']));
    if is_process {
        return node.is_some_and(is_word_of_expansion);
    }
    while let Some(within) = node {
        if is_substitution(within) {
            return true;
        }
        match within.kind() {
            "raw_string" => return is_quote_in_expansion(within),
            "ansi_c_string" | "comment" | "heredoc_start" | "heredoc_end" => return false,
            "heredoc_body" => return !has_quoted_marker(within, text),
            _ => node = within.parent(),
        }
    }
    true
}

fn is_substitution(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "command_substitution" | "process_substitution" | "arithmetic_expansion"
    )
}

/// Whether a node is a word of `${…}` outside quotes, in which the grammar sees no `<(cmd)`.
fn is_word_of_expansion(word: Node<'_>) -> bool {
    let mut node = Some(word).filter(|word| word.kind() == "word");
    while let Some(parent) = node.and_then(|node| node.parent()) {
        match parent.kind() {
            "expansion" => return true,
            "concatenation" => node = Some(parent),
            _ => return false,
        }
    }
    false
}

/// Single quotes within `"${…}"` quote nothing.
fn is_quote_in_expansion(raw: Node<'_>) -> bool {
    let mut is_in_expansion = false;
    let mut node = raw.parent();
    while let Some(within) = node {
        match within.kind() {
            "expansion" => is_in_expansion = true,
            "string" | "heredoc_body" => return is_in_expansion,
            _ if is_substitution(within) => return false,
            _ => {}
        }
        node = within.parent();
    }
    false
}

fn has_quoted_marker(body: Node<'_>, text: &str) -> bool {
    let Some(redirect) = body.parent() else {
        return false;
    };
    let mut cursor = redirect.walk();
    let marker = redirect
        .children(&mut cursor)
        .find(|child| child.kind() == "heredoc_start");
    let marker = marker.and_then(|marker| text.get(marker.byte_range()));
    marker.is_some_and(|marker| marker.contains(['\'', '"', '\\']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::syntax::grammar::parse;

    fn found(text: &str) -> Vec<String> {
        let tree = parse(text).unwrap();
        assert!(!tree.root_node().has_error(), "{text}");
        let found = unread_substitutions(&tree, text).into_iter();
        found.map(|(inner, _)| inner).collect()
    }

    #[test]
    fn what_a_shell_substitutes_is_found() {
        for text in [
            "cat <<EOF\na `X y` b\nEOF\n",
            "git commit -m \"$(cat <<EOF\na `X y` b\nEOF\n)\"",
            "cat <<E\n\t$(X y)\nE\n",
            "python3 - <<E\n# `X y`\nE\n",
            "echo \"${msg:-`X y`}\"",
            "echo ${PATH##$(X y)}",
            "echo \"${PATH,,$(X y)}\"",
            "echo \"${x:-'$(X y)'}\"",
        ] {
            assert_eq!(found(text), ["X y"], "{text}");
        }
    }

    #[test]
    fn what_is_read_or_quoted_is_not_found() {
        for text in [
            "echo `X y` $(X y) \"`X y` $(X y)\" $((1 + 2)) <(X y)",
            "echo '`X y`' $'$(X y)' # `X y`",
            "cat <<'EOF'\na `X y` $(X y)\nEOF\n",
            "cat <<\\EOF\na `X y`\nEOF\n",
            "cat <<EOF\na \\`X y\\` \\$(X y) $(X y)\nEOF\n",
            "echo \"\\`X y\\` \\$(X y)\"",
            "x=`X y`; y=${x:-$(X y)}; echo ${x:-'$(X y)'}",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
