//! The pipes of awk(1p) to and from commands: `cmd | getline`, `print | cmd`.

use super::arguments::Arguments;
use super::code_tokens::CodeTokens;
use super::input_runner::runs_input;
use super::standard_input::StandardInput;
use super::started::Started;
use crate::danger::code::tokens::Token;
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
    // gawk(1): `|&` leads both ways.
    let from = at + 1 + usize::from(code.sign(at + 1) == Some('&'));
    if code.is_word(from, &["getline"]) {
        let is_text = |back: usize| {
            at.checked_sub(back)
                .is_some_and(|at| code.text(at).is_some())
        };
        started.runs_unread |= !is_text(1) || is_text(2);
        let text = at.checked_sub(1).and_then(|at| code.text(at));
        started.shell_lines.extend(text.map(str::to_owned));
        let name = at.checked_sub(1).and_then(|at| code.word(at));
        let is_joined = at.checked_sub(2).is_some_and(|at| {
            code.text(at).is_some() || code.word(at).is_some() || code.sign(at) == Some(')')
        });
        if let Some(text) = name.and_then(|name| only_text(code, name))
            && !is_joined
        {
            return line(text);
        }
        started.input.is_started |= input.ends_at(at);
        started.assembled_calls += usize::from(name.is_some_and(|name| values.is_assembled(name)));
        return started;
    }
    let arguments = Arguments::new(code, from);
    let ends = matches!(
        code.get(from + 1),
        None | Some(Token::Sign(';' | '\n' | '}'))
    );
    if let Some(text) = code.word(from).and_then(|name| only_text(code, name))
        && ends
    {
        return line(text);
    }
    if let Some(text) = code.text(from) {
        started.add(line(text));
    } else {
        started.runs_unread = true;
        started.input.is_started |= input.begins_at(from);
        started.assembled_calls += usize::from(arguments.are_assembled(values));
    }
    started.runs_unread |= !arguments.are_literal();
    started
}

fn line(text: &str) -> Started {
    Started {
        shell_lines: vec![text.to_owned()],
        may_start: runs_input(text),
        ..Started::default()
    }
}

/// The text that a variable holds wherever it is used: it is given this text alone, and stands in nothing else but
/// pipes and `close(…)`.
fn only_text<'a>(code: CodeTokens<'a>, name: &str) -> Option<&'a str> {
    // gawk(1) has all variables in this one.
    if code
        .all()
        .iter()
        .any(|token| matches!(token, Token::Word(word) if word == "SYMTAB"))
    {
        return None;
    }
    let mut text = None;
    for at in (0..code.all().len()).filter(|at| code.word(*at) == Some(name)) {
        let before = at.checked_sub(1).and_then(|at| code.sign(at));
        let is_assigned = code.sign(at + 1) == Some('=') && code.text(at + 2).is_some();
        let is_end = matches!(code.get(at + 3), Some(Token::Sign(';' | '\n' | '}')));
        let is_begin = matches!(before, None | Some(';' | '\n' | '{' | '}'));
        if is_assigned && is_end && is_begin && text.is_none() {
            text = code.text(at + 2);
            continue;
        }
        let is_closed = before == Some('(')
            && at >= 2
            && code.is_word(at - 2, &["close"])
            && code.sign(at + 1) == Some(')');
        let is_piped = code.sign(at + 1) == Some('|') || matches!(before, Some('|' | '&'));
        if !is_closed && !is_piped {
            return None;
        }
    }
    text
}
