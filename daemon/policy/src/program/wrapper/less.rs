//! What less(1) runs by its options: a `+` begins commands, which are keys as they are typed.

use super::inner_command::InnerCommand;
use crate::shell::word::Word;

/// Options with a text, up to a `$` or to the end. The numbers of others are read as letters that run nothing.
const WITH_TEXT: &str = "DkoOpPtT\"#";
/// Keys of which a text is the rest of the line: searches.
const SEARCHES: &str = "/?&";

const WRITES: &str = "it writes what it shows to a file, or opens another one";

/// What less(1) runs with these arguments.
pub(super) fn less(args: &[Word]) -> Vec<InnerCommand> {
    let mut options = args.iter().enumerate();
    let mut started = Vec::new();
    for (at, word) in options.by_ref() {
        if word.text == "--" {
            break;
        }
        if word.text.starts_with(['-', '+']) {
            started.extend(less_options(at, &word.text));
        }
    }
    started
}

/// What options of less(1) run, as `LESS` holds them. `at` is the number of the argument that they stand in.
pub(super) fn less_options(at: usize, text: &str) -> Vec<InnerCommand> {
    let mut started = Vec::new();
    let mut rest = text;
    loop {
        let mut chars = rest.chars();
        let Some(c) = chars.next() else {
            return started;
        };
        let behind = chars.as_str();
        rest = match c {
            '+' => {
                let (keys, rest) = text_of_option(behind);
                started.extend(run_by_keys(at, keys));
                rest
            }
            '-' => {
                // `-+N` puts an option back to what it is by itself.
                let name = behind.strip_prefix('-');
                let value =
                    name.map(|name| name.split_once(['=', ' ', '\t', '$']).unwrap_or((name, "")));
                match value {
                    Some((name, value)) if name.eq_ignore_ascii_case("cmd") => {
                        let (keys, rest) = text_of_option(value);
                        started.extend(run_by_keys(at, keys));
                        rest
                    }
                    Some((_, value)) => value,
                    None => behind.strip_prefix('+').unwrap_or(behind),
                }
            }
            c if WITH_TEXT.contains(c) => text_of_option(behind).1,
            _ => behind,
        };
    }
}

/// The text of an option, and what stands behind it.
fn text_of_option(text: &str) -> (&str, &str) {
    text.split_once('$').unwrap_or((text, ""))
}

/// What less(1) runs where these keys are typed.
fn run_by_keys(at: usize, keys: &str) -> Vec<InnerCommand> {
    let mut started = Vec::new();
    let mut rest = keys;
    loop {
        let mut chars = rest.chars();
        let Some(key) = chars.next() else {
            return started;
        };
        let behind = chars.as_str();
        let (line, next) = behind.split_once('\n').unwrap_or((behind, ""));
        rest = match key {
            '!' | '#' => {
                started.push(InnerCommand::line((at, line)));
                next
            }
            '|' => {
                // Behind the mark to which it pipes.
                let mut line = line.chars();
                line.next();
                started.push(InnerCommand::line((at, line.as_str())));
                next
            }
            's' | ':' | 'E' | '-' | '_' => {
                started.push(InnerCommand::Doubtful(WRITES));
                next
            }
            _ if SEARCHES.contains(key) => next,
            _ => behind,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plus_begins_keys_wherever_options_stand() {
        let line = |text: &str| vec![InnerCommand::line((0, text))];
        for (options, expected) in [
            ("+!a b", line("a b")),
            ("-N+!a", line("a")),
            ("-j5+!a", line("a")),
            ("N+!a", line("a")),
            ("$+!a", line("a")),
            ("-R +!a$-F", line("a")),
            ("-Ptext$+!a", line("a")),
            ("+|^a", line("a")),
            ("++!a", line("a")),
            ("+Gg!a", line("a")),
            ("+/x\n!a", line("a")),
            ("+#a", line("a")),
            ("--cmd=!a", line("a")),
            ("--use-color$+!a", line("a")),
            ("+/a!b", Vec::new()),
            ("-Pa!b+!c", Vec::new()),
            ("-+N", Vec::new()),
            ("--use-color -R", Vec::new()),
            ("-FRX", Vec::new()),
        ] {
            assert_eq!(less_options(0, options), expected, "{options}");
        }
    }
}
