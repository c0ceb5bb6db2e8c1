//! Code of languages without a reader: PHP, R and Julia. It is read as words, texts and signs, which fits
//! up to the first comment or text of a form that only the language has.

use termd_proto::policy::MAX_JUDGED_BYTES;

use super::super::tokens::{Token, tokens};

/// Whether what stands behind a comment, or in a text of the language's own, may be read as a text and is
/// code, or the other way round. Of longer code than is judged the rest may be anything.
pub(super) fn hides_text(program: &str, code: &str) -> bool {
    let language = match program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "php" => Language::Php,
        "R" | "Rscript" => Language::R,
        "julia" => Language::Julia,
        _ => return false,
    };
    if code.len() > MAX_JUDGED_BYTES {
        return true;
    }
    let tokens = tokens(code);
    (0..tokens.len()).any(|at| language.begins(tokens.get(at..).unwrap_or_default()))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Php,
    R,
    Julia,
}

impl Language {
    /// Whether tokens begin with a comment that holds a quote, or with a text that has other ends. Behind a
    /// bracket Julia's `'` is no quote.
    fn begins(self, tokens: &[Token]) -> bool {
        use Token::{Sign, Text, Word};
        match (self, tokens) {
            // `<<<A` and `?>`.
            (Self::Php, [Sign('<'), Sign('<'), Sign('<'), ..] | [Sign('?'), Sign('>'), ..])
            | (Self::Julia, [Sign(')' | ']'), Text(_), ..]) => true,
            // An attribute: `#[A]`.
            (Self::Php, [Sign('#'), Sign('['), ..]) => false,
            // A comment of one line, and of several.
            (Self::Php, [Sign('/'), Sign('*'), rest @ ..]) => {
                is_quoted(rest, &[Sign('*'), Sign('/')])
            }
            (Self::Julia, [Sign('#'), Sign('='), rest @ ..]) => {
                is_quoted(rest, &[Sign('='), Sign('#')])
            }
            (Self::Php, [Sign('/'), Sign('/'), rest @ ..])
            | (Self::Php | Self::R | Self::Julia, [Sign('#'), rest @ ..]) => {
                is_quoted(rest, &[Sign('\n')])
            }
            // `r"(a)"`.
            (Self::R, [Word(raw), Text(text), ..]) => {
                matches!(&**raw, "r" | "R") && text.starts_with(['(', '[', '{', '-'])
            }
            // `raw"a\"`, `a'`.
            (Self::Julia, [Word(prefix), Text(_), ..]) => {
                prefix.starts_with(|c: char| c.is_alphabetic())
            }
            _ => false,
        }
    }
}

/// Whether a text begins before these tokens, which end a comment.
fn is_quoted(rest: &[Token], end: &[Token]) -> bool {
    let end = rest.windows(end.len()).position(|tokens| tokens == end);
    let comment = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
    let mut tokens = comment.iter();
    tokens.any(|token| matches!(token, Token::Text(_) | Token::Shell(_)))
}
