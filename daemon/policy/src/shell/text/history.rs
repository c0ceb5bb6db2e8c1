//! History expansion of an interactive shell (bash(1), HISTORY EXPANSION; zshexpn(1)).

/// Whether a shell puts something of earlier lines into a line. `before` are the lines of the same
/// construct.
pub(crate) fn expands_history(before: &str, line: &str) -> bool {
    if !line.contains(['!', '^']) {
        return false;
    }
    let (mut single, mut double) = (false, false);
    let mut previous = ['\n'; 2];
    let text = [before, line].concat();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        match c {
            '\'' if !double => single = !single,
            _ if single => {}
            '\\' => {
                chars.next();
            }
            '"' => double = !double,
            '^' if at == before.len() && !double => return true,
            '!' if at >= before.len() && is_event(previous, next, double) => return true,
            _ => {}
        }
        previous = [previous[1], c];
    }
    false
}

/// Whether an interactive shell puts something of earlier lines into one of a text.
pub(crate) fn any_line_expands_history(text: &str) -> bool {
    let mut at = 0;
    text.split_inclusive('\n').any(|line| {
        let before = text.get(..at).unwrap_or_default();
        at += line.len();
        line.contains(['!', '^']) && expands_history(before, line)
    })
}

/// Whether a `!` names an event, and is not left alone.
fn is_event(previous: [char; 2], next: Option<char>, is_quoted: bool) -> bool {
    let is_left_alone = match next {
        None | Some(' ' | '\t' | '\n' | '\r' | '=' | '(') => true,
        Some('"') => is_quoted,
        Some(_) => false,
    };
    // `[!a]`, `$!` and `${!x}` are something else.
    let is_other = matches!(previous, [_, '[' | '$'] | ['$', '{']);
    !is_left_alone && !is_other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_an_earlier_line_is_found() {
        for line in [
            "!!",
            "!$",
            "sudo !!",
            "!rm",
            "!-2",
            "!?x?",
            "echo !*",
            "!:1 !:2",
            "!!:s/a/b/",
            "^a^b^",
            "echo \"!!\"",
            "echo a!b",
            "!#:1",
        ] {
            assert!(expands_history("", line), "{line}");
        }
        for line in [
            "ls",
            "! ls",
            "if ! ls; then x; fi",
            "[ ! -f x ]",
            "[ a != b ]",
            "echo hi!",
            "echo \"hi!\"",
            "echo 'a!b'",
            "echo \\!x",
            "echo $! ${!x}",
            "ls [!a]*",
            "ls !(a)",
            "a^b",
        ] {
            assert!(!expands_history("", line), "{line}");
        }
        assert!(!expands_history("git commit -m 'a\n", "b!c'"));
        assert!(expands_history("if a; then\n", "!!"));
    }
}
