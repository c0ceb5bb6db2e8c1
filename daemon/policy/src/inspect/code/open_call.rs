//! What Perl's and Ruby's `open` starts: `open(F, "cmd|")`, `open(F, "-|", "cmd")`, `open("|cmd")`. Lines such as
//! `cmd|` are found wherever they stand.

use super::arguments::{Arguments, is_interpolated};
use super::code_tokens::CodeTokens;
use super::input_runner::runs_input;
use super::standard_input::StandardInput;
use super::started::Started;
use crate::danger::code::tokens::Token;
use crate::danger::code::values::{Value, Values};
use crate::shell::word::UNKNOWN;

/// What a call of `open` at a token starts.
pub(super) fn started(
    code: CodeTokens<'_>,
    at: usize,
    values: &Values,
    input: &StandardInput<'_>,
) -> Started {
    let arguments = Arguments::new(code, at + 1);
    let before = |back: usize| at.checked_sub(back);
    // `CORE::open` is the function itself.
    let is_own = before(3).is_some_and(|at| code.is_word(at, &["CORE", "GLOBAL", "Kernel"]));
    let is_member = before(1).is_some_and(|at| matches!(code.sign(at), Some('.' | '>' | ':')));
    let is_member = is_member && !is_own;
    let mut started = if code.is_of("perl") {
        let places = arguments.places();
        match places.as_slice() {
            _ if is_member => Started::default(),
            // The handle, the mode, and what is opened.
            [_, mode, command, ..] => by_mode(code, *mode, *command, values, input),
            [_, line] => by_line(code, *line),
            _ => Started::default(),
        }
    } else {
        Started {
            may_start: !is_member && opens_value_of_ruby(code, at),
            ..Started::default()
        }
    };
    // A line that is put together: `open(F, "cmd $x|")`.
    let given = || arguments.tokens().iter();
    let pipes = given().filter_map(|token| match token {
        Token::Text(text) => Some(text.trim()).filter(|text| is_pipe(text)),
        _ => None,
    });
    let pipes: Vec<&str> = pipes.collect();
    let joins = given().any(|token| matches!(token, Token::Sign('.' | '+')));
    let is_read = !joins && !pipes.iter().any(|text| is_interpolated(text));
    started.runs_unread |= !pipes.is_empty() && !is_read;
    let feeds = |text: &&str| runs_input(text.trim_matches(['|', ' ']));
    started.may_start |= pipes.iter().any(feeds);
    started
}

fn is_pipe(text: &str) -> bool {
    text.len() > 1 && (text.starts_with('|') || text.ends_with('|'))
}

/// Perl's `open(F, MODE, COMMAND, ARGUMENTS)`: of the modes, `-|` and `|-` start a command.
fn by_mode(
    code: CodeTokens<'_>,
    mode: usize,
    command: usize,
    values: &Values,
    input: &StandardInput<'_>,
) -> Started {
    let mode = match values.expression(code.all(), mode).0 {
        Value::Text(text) if !text.contains(UNKNOWN) => text,
        _ => {
            return Started {
                may_start: true,
                ..Started::default()
            };
        }
    };
    // A layer may stand behind the mode: `-|:utf8`.
    let mode = mode.trim_start();
    if mode.starts_with("-|") || mode.starts_with("|-") {
        Arguments::new(code, command).command(values, input)
    } else {
        Started::default()
    }
}

/// Perl's `open(F, LINE)`: a value alone says what is opened, and how.
fn by_line(code: CodeTokens<'_>, line: usize) -> Started {
    let line = Arguments::new(code, line);
    let is_known = |token: &Token| match token {
        Token::Text(text) => text.starts_with(['<', '>']) || !is_interpolated(text),
        _ => false,
    };
    Started {
        may_start: !line.tokens().iter().any(is_known),
        ..Started::default()
    }
}

/// Whether a value alone says what Ruby opens: `open(x)`.
fn opens_value_of_ruby(code: CodeTokens<'_>, at: usize) -> bool {
    let ends = |token: &&Token| match token {
        Token::Sign(sign) => matches!(sign, ')' | ';' | '\n' | '|'),
        Token::Word(word) => matches!(word.as_str(), "or" | "and" | "if" | "unless" | "do"),
        Token::Text(_) | Token::Shell(_) => false,
    };
    let rest = code.all().iter().skip(at + 1);
    let mut args = rest.take_while(|token| !ends(token)).peekable();
    let is_empty = args.peek().is_none();
    let is_value = |token: &Token| !matches!(token, Token::Text(_) | Token::Sign(','));
    !is_empty && args.all(is_value)
}
