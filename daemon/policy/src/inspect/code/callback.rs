//! Functions that PHP calls by a value, or by a name which another function is given: `array_map('system', $lines)`.
//! <https://www.php.net/manual/en/language.types.callable.php>.

use crate::danger::code::call_effect::CallEffect;
use crate::danger::code::calls::arguments_end;
use crate::danger::code::tokens::Token;

/// What a function that starts programs is given by the call that names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GivenTo {
    /// There are texts, which may be what is started.
    Texts,
    /// What is started is not in the call.
    Unknown,
}

/// What is given to a function that starts programs, where an argument of the call whose arguments begin at a token
/// names one.
pub(super) fn started(tokens: &[Token], from: usize) -> Option<GivenTo> {
    let end = arguments_end(tokens, from);
    let given = tokens.get(from + 1..end)?;
    let mut depth = 0_usize;
    let arguments = given.split(|token| {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && *token == Token::Sign(',')
    });
    let (callbacks, others): (Vec<_>, Vec<_>) =
        arguments.partition(|argument| is_starter(argument));
    let mut others = others.into_iter().flatten();
    let has_text = others.any(|token| matches!(token, Token::Text(_)));
    (!callbacks.is_empty()).then_some(if has_text {
        GivenTo::Texts
    } else {
        GivenTo::Unknown
    })
}

/// Whether an argument is a function that starts programs: `'system'`, `system(...)`.
fn is_starter(argument: &[Token]) -> bool {
    let starts = |name: &str| {
        // Names of functions have no case, and a namespace before them.
        let name = name.trim_start_matches('\\').to_ascii_lowercase();
        CallEffect::Starts.is_of(&name) || name == "exec"
    };
    match argument {
        [Token::Text(name)]
        | [
            Token::Word(name),
            Token::Sign('('),
            Token::Sign('.'),
            Token::Sign('.'),
            Token::Sign('.'),
            Token::Sign(')'),
        ] => starts(name),
        _ => false,
    }
}

/// Whether the code calls what a variable or an expression gives.
pub(super) fn calls_value(code: &str, tokens: &[Token]) -> bool {
    calls_variable(code) || calls_expression(tokens)
}

/// Whether PHP calls what a variable names: `$f(…)`.
fn calls_variable(code: &str) -> bool {
    code.split('$').skip(1).any(|rest| {
        let behind = rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
        behind.len() < rest.len() && behind.trim_start().starts_with('(')
    })
}

/// Whether PHP calls what an expression gives: `("sys" . "tem")(…)`, `$x[0](…)`.
fn calls_expression(tokens: &[Token]) -> bool {
    let mut pairs = tokens.windows(2);
    pairs.any(|pair| matches!(pair, [Token::Sign(')' | ']' | '}'), Token::Sign('(')]))
}
