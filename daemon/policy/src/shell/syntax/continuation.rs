//! Whether a text that is typed line by line is complete, or goes on in the next line.
//!
//! The grammar cannot tell: it parses an incomplete text as an error.

pub(crate) use super::lexer::Continuation;
use super::lexer::{Token, lex};
use super::reserved_words::{CLOSERS, LEADING, OPENERS};

/// How a text goes on.
pub(crate) fn continuation(text: &str) -> Continuation {
    let lexed = lex(text);
    if let Some(continuation) = lexed.continuation {
        return continuation;
    }
    let (mut open, mut parens, mut in_command) = (0_isize, 0_isize, false);
    let mut last: Option<&Token> = None;
    for token in &lexed.tokens {
        match token {
            Token::Word(word, _) => {
                let word = word.as_str();
                if !in_command && OPENERS.contains(&word) {
                    open += 1;
                } else if !in_command && CLOSERS.contains(&word) {
                    open -= 1;
                }
                in_command = !(LEADING.contains(&word) || CLOSERS.contains(&word))
                    || (in_command && !matches!(word, "do" | "then"));
            }
            Token::Operator("(") => {
                parens += 1;
                in_command = false;
            }
            Token::Operator(")") => {
                // The bracket of a pattern of `case` closes nothing.
                parens = (parens - 1).max(0);
                in_command = false;
            }
            Token::Operator(operator) => {
                let redirects = operator.contains(['<', '>']) || *operator == "&>";
                in_command = in_command && redirects;
            }
            Token::Newline => in_command = false,
        }
        if *token != Token::Newline {
            last = Some(token);
        }
    }
    let dangling = matches!(last, Some(Token::Operator("&&" | "||" | "|" | "|&")));
    if open > 0 || parens > 0 || dangling {
        Continuation::Open
    } else {
        Continuation::Complete
    }
}

/// The end marker of the here-document that a text ends in. The text is given without its last
/// newline.
pub(crate) fn open_heredoc(text: &str) -> Option<String> {
    lex(&format!("{text}\n")).open_heredoc
}
