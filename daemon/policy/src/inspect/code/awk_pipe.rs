//! The pipes of awk(1p) to and from commands: `cmd | getline`, `print | cmd`.

use super::arguments::Arguments;
use super::code_tokens::CodeTokens;
use super::input_runner::runs_input;
use super::standard_input::StandardInput;
use super::started::Started;
use crate::danger::code::values::Values;

/// What the pipe at a token starts.
pub(super) fn started(
    code: CodeTokens<'_>,
    at: usize,
    values: &Values,
    input: &StandardInput<'_>,
) -> Started {
    let mut started = Started::default();
    let is_or = code.sign(at + 1) == Some('|')
        || at
            .checked_sub(1)
            .is_some_and(|at| code.sign(at) == Some('|'));
    if is_or {
        return started;
    }
    if code.is_word(at + 1, &["getline"]) {
        let is_text = |back: usize| {
            at.checked_sub(back)
                .is_some_and(|at| code.text(at).is_some())
        };
        started.runs_unread |= !is_text(1) || is_text(2);
        let name = at.checked_sub(1).and_then(|at| code.word(at));
        started.input.is_started |= input.ends_at(at);
        started.assembled_calls += usize::from(name.is_some_and(|name| values.is_assembled(name)));
        return started;
    }
    // gawk(1): `|&` leads both ways.
    let from = at + 1 + usize::from(code.sign(at + 1) == Some('&'));
    let arguments = Arguments::new(code, from);
    match code.text(from) {
        Some(text) => {
            started.lines.push(text.to_owned());
            started.may_start |= runs_input(text);
        }
        None if code.is_word(from, &["getline"]) => {}
        None => {
            started.runs_unread = true;
            started.input.is_started |= input.begins_at(from);
            started.assembled_calls += usize::from(arguments.are_assembled(values));
        }
    }
    started.runs_unread |= !arguments.are_literal();
    started
}
