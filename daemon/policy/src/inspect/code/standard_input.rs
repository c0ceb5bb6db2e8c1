//! Where code uses what it reads from its standard input: `eval gets`, `c = sys.stdin.read(); exec(c)`. To awk
//! the fields of a line, and what it gets on its command line, are such values as well.

use std::collections::HashSet;

use super::code_tokens::CodeTokens;
use crate::danger::code::tokens::Token;
use crate::program::kind::{base_name, is_shell};
use crate::shell::expansion::printed::is_stdin;
use crate::word_list::is_listed;
use crate::work;

/// Names of standard input, and functions that read a line of it.
const READERS: &str = "stdin STDIN gets readline readlines ARGF fileinput argn";
/// Functions that read a descriptor by its number.
const OPENS: &str = "open fdopen for_fd read openSync readSync readFileSync createReadStream";
/// Functions whose first text is the name of a module.
const LOADS: &str = "require import __import__ import_module";
/// Tokens of an expression that are looked at. A longer one is data.
const MAX_EXPRESSION: usize = 64;

/// The places of a code at which it reads its standard input, and the variables that hold what it has read.
#[derive(Debug)]
pub(super) struct StandardInput<'a> {
    code: CodeTokens<'a>,
    variables: HashSet<&'a str>,
    /// Whether the code reads it anywhere.
    is_read: bool,
}

impl<'a> StandardInput<'a> {
    pub(super) fn of(code: CodeTokens<'a>) -> Self {
        let mut input = Self {
            code,
            variables: HashSet::new(),
            is_read: false,
        };
        // Whether the statement has read something before.
        let mut has_read = false;
        for at in 0..code.all().len() {
            if matches!(code.sign(at), Some(';' | '\n')) {
                has_read = false;
            }
            has_read |= input.is_read_at(at);
            input.is_read |= has_read;
            let name = input.assigned(at, has_read);
            input.variables.extend(name);
        }
        input
    }

    /// Whether the argument or the expression that begins at a token is what was read, with or without more behind it.
    pub(super) fn begins_at(&self, from: usize) -> bool {
        let mut depth = 0_usize;
        let from = self.code.behind_bracket(from);
        for at in (from..self.code.all().len()).take(MAX_EXPRESSION) {
            if !work::spend(1) {
                return false;
            }
            match self.code.get(at) {
                _ if self.is_read_at(at) => return true,
                Some(Token::Sign('(' | '[' | '{')) => depth += 1,
                Some(Token::Text(text)) if self.begins(text) => return true,
                Some(Token::Text(text)) if begins_shell(text) => {}
                Some(Token::Sign(','))
                    if at > 0 && self.code.text(at - 1).is_some_and(begins_shell) => {}
                Some(Token::Sign(')' | ']' | '}' | ',')) if depth == 0 => return false,
                Some(Token::Sign(')' | ']' | '}')) => depth -= 1,
                Some(Token::Sign(';' | '\n')) => return false,
                Some(Token::Text(text)) if !text.is_empty() && !self.names_module(at) => {
                    return false;
                }
                _ => {}
            }
        }
        false
    }

    /// Whether the value that ends before a token is what was read: awk's `$1 | getline`, `ENVIRON["x"] | getline`.
    pub(super) fn ends_at(&self, at: usize) -> bool {
        let is_element = self.code.sign(at.saturating_sub(1)) == Some(']');
        let begin = at.checked_sub(if is_element { 4 } else { 1 });
        begin.is_some_and(|at| self.is_read_at(at)) && !self.is_joined(begin)
    }

    /// Whether a text stands before a value, to which awk joins it: `"date -d " $1`.
    fn is_joined(&self, at: Option<usize>) -> bool {
        let before = at.and_then(|at| at.checked_sub(1));
        before.is_some_and(|at| matches!(self.code.get(at), Some(Token::Text(_))))
    }

    /// Whether the code reads its standard input anywhere.
    pub(super) fn is_read(&self) -> bool {
        self.is_read
    }

    /// Whether a text begins with a value that was read: `` `#{gets}` ``.
    pub(super) fn begins(&self, text: &str) -> bool {
        let Some((name, _)) = text
            .trim_start()
            .strip_prefix("#{")
            .and_then(|rest| rest.split_once('}'))
        else {
            return false;
        };
        let is_topic = name == "_" && self.code.is_of("perl ruby");
        is_topic || is_listed(name, READERS) || self.variables.contains(name)
    }

    /// Whether a text names standard input as a file.
    pub(super) fn is_name(&self, text: &str) -> bool {
        let is_of_language = match self.code.program() {
            "php" => text == "php://stdin",
            "R" | "Rscript" | "r" | "littler" => text == "stdin",
            _ => false,
        };
        is_of_language || text != "-" && is_stdin(text)
    }

    fn is_read_at(&self, at: usize) -> bool {
        let is_key = self.code.sign(at + 1) == Some('=') && self.code.sign(at + 2) != Some('=');
        match self.code.get(at) {
            Some(Token::Word(word)) => {
                let is_call = self.code.sign(at + 1) == Some('(');
                let is_of_io = at >= 2 && self.code.word(at - 2) == Some("io");
                (is_listed(word, READERS) && !is_key)
                    || (word == "input" && is_call)
                    || (is_of_io && is_listed(word, "read lines"))
                    || (word == "0" && self.opens(at))
                    || (self.code.is_awk() && is_given_to_awk(word))
                    || (self.variables.contains(word.as_str()) && !is_key)
            }
            Some(Token::Text(text)) => self.is_name(text),
            Some(Token::Shell(_) | Token::Sign(_)) | None => false,
        }
    }

    /// Whether an argument is the first of a function that reads a descriptor.
    fn opens(&self, at: usize) -> bool {
        let is_function = |name| is_listed(name, OPENS);
        at >= 2
            && self.code.sign(at - 1) == Some('(')
            && self.code.word(at - 2).is_some_and(is_function)
    }

    fn names_module(&self, at: usize) -> bool {
        let is_function = |name| is_listed(name, LOADS);
        at >= 2
            && self.code.sign(at - 1) == Some('(')
            && self.code.word(at - 2).is_some_and(is_function)
    }

    /// The variable that is given at a token what was read. A parameter is, where the statement has read before.
    fn assigned(&self, at: usize, has_read: bool) -> Option<&'a str> {
        let name = self.code.word(at)?;
        let text = self.code.held_text(name);
        if text.is_some_and(|text| !text.is_empty()) {
            return None;
        }
        let next = |offset: usize| self.code.sign(at + offset);
        let is_given = match (next(1), next(2), next(3)) {
            // `x => …`, `(x) => …`, `|x|`.
            (Some('='), Some('>'), _) | (Some(')'), Some('='), Some('>')) => has_read,
            (Some('='), Some('='), _) => false,
            (Some('='), ..) => self.begins_at(at + 2),
            (Some('+' | '.' | '|'), Some('='), _) | (Some('<'), Some('<'), _) => {
                self.begins_at(at + 3)
            }
            (Some('|'), ..) => has_read && at > 0 && self.code.sign(at - 1) == Some('|'),
            _ => false,
        };
        let before = |offset: usize| at.checked_sub(offset).and_then(|at| self.code.word(at));
        // `for x in …`, `foreach my $x (…)`, `function(x)`, awk's `getline x`.
        let is_of_loop = matches!(before(1), Some("for" | "foreach" | "my"))
            && (before(1) != Some("my") || matches!(before(2), Some("for" | "foreach")));
        let from = at + 1 + usize::from(self.code.word(at + 1) == Some("in"));
        let is_each = is_of_loop && self.begins_at(from);
        let is_parameter = before(2) == Some("function") && has_read;
        let is_line = before(1) == Some("getline") && self.code.is_awk();
        (is_given || is_each || is_parameter || is_line).then_some(name)
    }
}

/// Whether a word is a field, whose sign tokens do not keep, or a list of what awk is given.
fn is_given_to_awk(word: &str) -> bool {
    matches!(word, "ENVIRON" | "ARGV" | "NF") || word.chars().all(|c| c.is_ascii_digit())
}

/// Whether a text names a shell, or is the option behind which its script stands: `["sh", "-c", gets]`.
fn begins_shell(text: &str) -> bool {
    is_shell(base_name(text)) || matches!(text, "-c" | "-lc" | "-ec")
}
