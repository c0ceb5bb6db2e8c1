//! What a code was found to run.

use crate::danger::code::tokens::Token;

/// What code does with what it is given: its arguments, its variables, and what it reads.
#[derive(Debug, Default, Clone, Copy)]
pub(in crate::inspect) struct UseOfInput {
    pub(in crate::inspect) is_started: bool,
    pub(in crate::inspect) is_evaluated: bool,
}

impl UseOfInput {
    pub(in crate::inspect) fn runs(self) -> bool {
        self.is_started || self.is_evaluated
    }

    pub(in crate::inspect) fn add(&mut self, other: Self) {
        self.is_started |= other.is_started;
        self.is_evaluated |= other.is_evaluated;
    }
}

/// What code runs.
#[derive(Debug, Default)]
pub(in crate::inspect) struct Started {
    pub(in crate::inspect) lines: Vec<String>,
    /// Those of them that stand in a call as they are. Where what such a line runs is only known once it runs, the
    /// code is unknown too.
    pub(in crate::inspect) shell_lines: Vec<String>,
    /// The commands of which not all words are texts. `None`: any number of words.
    pub(in crate::inspect) partly_known: Vec<Vec<Option<String>>>,
    pub(in crate::inspect) code: Vec<String>,
    /// The texts of code that starts something by a name of its own: each may be what is started.
    pub(in crate::inspect) texts: Vec<String>,
    /// What the code puts into the environment of what it starts.
    pub(in crate::inspect) variables: Vec<(String, String)>,
    /// Whether the code starts something that it does not name by a literal.
    pub(in crate::inspect) runs_unread: bool,
    pub(in crate::inspect) input: UseOfInput,
    /// The calls that start what the code puts together at run time, out of what is not known.
    pub(in crate::inspect) assembled_calls: usize,
    /// Whether the code may start something by a way that is not followed. It matters to rules alone.
    pub(in crate::inspect) may_start: bool,
}

impl Started {
    pub(super) fn add(&mut self, other: Self) {
        self.lines.extend(other.lines);
        self.shell_lines.extend(other.shell_lines);
        self.partly_known.extend(other.partly_known);
        self.code.extend(other.code);
        self.texts.extend(other.texts);
        self.variables.extend(other.variables);
        self.runs_unread |= other.runs_unread;
        self.input.add(other.input);
        self.assembled_calls += other.assembled_calls;
        self.may_start |= other.may_start;
    }
}

/// The texts that may be shell lines: those of more than one word, and the elements of each list together.
pub(super) fn texts(tokens: &[Token]) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    // The texts between which only commas and brackets stand.
    let mut list: Vec<&str> = Vec::new();
    for token in tokens.iter().chain([&Token::Sign(';')]) {
        match token {
            Token::Text(text) => list.push(text),
            Token::Sign(',' | '(' | ')' | '[' | ']' | '{' | '}') => {}
            _ => {
                texts.extend(list.iter().map(|text| (*text).to_owned()));
                if list.len() > 1 {
                    texts.push(list.join(" "));
                }
                list.clear();
            }
        }
    }
    texts.retain(|text| text.trim().contains(char::is_whitespace));
    texts
}
