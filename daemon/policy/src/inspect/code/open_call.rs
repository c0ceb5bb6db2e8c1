//! What Perl's and Ruby's `open` starts: `open(F, "cmd|")`, `open(F, "-|", "cmd")`, `open("|cmd")`.

use super::arguments::is_interpolated;
use super::code_tokens::CodeTokens;
use super::input_runner::runs_input;
use super::started::Started;
use crate::danger::code::tokens::Token;

/// Whether a value alone says what is opened, and how: `open(F, $x)`, and Ruby's `open(x)`.
fn opens_value(code: CodeTokens<'_>, at: usize) -> bool {
    let ends = |token: &&Token| match token {
        Token::Sign(sign) => matches!(sign, ')' | ';' | '\n' | '|'),
        Token::Word(word) => matches!(word.as_str(), "or" | "and" | "if" | "unless" | "do"),
        Token::Text(_) | Token::Shell(_) => false,
    };
    let is_member = at
        .checked_sub(1)
        .is_some_and(|at| matches!(code.sign(at), Some('.' | ':' | '>')));
    let rest = code.all().iter().skip(at + 1);
    let args: Vec<&Token> = rest.take_while(|token| !ends(token)).collect();
    let is_comma = |token: &&&Token| ***token == Token::Sign(',');
    let commas = args.iter().filter(is_comma).count();
    let is_perl = code.is_of("perl");
    let has_mode = args.iter().any(|token| match token {
        Token::Text(text) => !is_perl || text.starts_with(['<', '>']) || !is_interpolated(text),
        _ => false,
    });
    !is_member && !has_mode && !args.is_empty() && commas == usize::from(is_perl)
}

/// What a call of `open` at a token starts.
pub(super) fn started(code: CodeTokens<'_>, at: usize) -> Started {
    let mut started = Started::default();
    started.may_start |= opens_value(code, at);
    let rest = code.all().iter().skip(at + 1);
    let args: Vec<&Token> = rest
        .take_while(|token| !matches!(token, Token::Sign(';' | '\n')))
        .collect();
    let texts = args.iter().filter_map(|token| match token {
        Token::Text(text) => Some(text.trim()),
        _ => None,
    });
    let texts: Vec<&str> = texts.collect();
    if !texts
        .iter()
        .any(|text| text.starts_with('|') || text.ends_with('|'))
    {
        return started;
    }
    let lines = texts
        .iter()
        .map(|text| text.trim_matches(['|', '-']).trim());
    started
        .lines
        .extend(lines.filter(|line| !line.is_empty()).map(str::to_owned));
    let joins = args
        .iter()
        .any(|token| matches!(token, Token::Sign('.' | '+')));
    let feeds = texts
        .iter()
        .any(|text| runs_input(text.trim_matches(['|', ' '])));
    started.may_start |= feeds;
    started.runs_unread |= joins || texts.iter().any(|text| is_interpolated(text));
    started
}
