//! A shell's text without a grammar: its commands cut out where the grammar fails, and whether a
//! line that is typed goes on in the next.
//!
//! It promises to take any text. It must not know what is dangerous.

use termd_proto::policy::Span;

use crate::program::wrapper;

/// What a command's standard input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Feed {
    Nobody,
    Fetcher,
    Command,
}

/// A command as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) words: Vec<(String, Span)>,
    /// Operator, word and place.
    pub(crate) redirects: Vec<(String, String, Span)>,
    pub(crate) substitutions: Vec<(String, Span)>,
    pub(crate) fed_by: Feed,
}

/// Words of the grammar that stand before a command.
const LEADING: [&str; 13] = [
    "if", "then", "else", "elif", "while", "until", "do", "!", "{", "(", "time", "begin", "and",
];
/// Words that open a block, and those that close one.
const OPENERS: [&str; 7] = ["if", "for", "while", "until", "case", "select", "{"];
const CLOSERS: [&str; 4] = ["fi", "done", "esac", "}"];

/// How a text that was typed ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The shell runs it.
    Complete,
    /// In quotes: what follows is data.
    Quoted,
    /// In a here-document: what follows is data.
    Heredoc,
    /// In a block, behind an operator, or behind a backslash: what follows are commands.
    Open,
}

/// How far the end of an extended glob is looked for: each bracket of a text may begin one.
const MAX_GLOB_BYTES: usize = 1_024;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String, Span),
    Operator(&'static str),
    Newline,
}

struct Lexed {
    tokens: Vec<Token>,
    ending: Option<Ending>,
    /// What ends the here-document that the text ends in.
    heredoc: Option<String>,
}

const OPERATORS: [&str; 26] = [
    "<<<", "<<-", "&>>", ";;&", "<<", ">>", ">&", "<&", "<>", ">|", "&>", "&&", "||", "|&", ";;",
    ";&", "|", "&", ";", "<", ">", "(", ")", "((", "))", "<(",
];

/// A pending here-document: its end, and whether tabs before it are skipped.
struct Heredoc {
    end: String,
    skips_tabs: bool,
}

fn lex(text: &str) -> Lexed {
    let mut lexed = Lexed {
        tokens: Vec::new(),
        ending: None,
        heredoc: None,
    };
    let mut heredocs: Vec<Heredoc> = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let Some(c) = rest.chars().next() else { break };
        if c == '\n' {
            lexed.tokens.push(Token::Newline);
            at += 1;
            for heredoc in std::mem::take(&mut heredocs) {
                let Some(end) = end_of_heredoc(text, at, &heredoc) else {
                    lexed.ending = Some(Ending::Heredoc);
                    lexed.heredoc = Some(heredoc.end);
                    return lexed;
                };
                at = end;
            }
        } else if c.is_whitespace() {
            at += c.len_utf8();
        } else if let Some(after) = rest.strip_prefix("\\\n") {
            at += 2;
            if after.is_empty() {
                lexed.ending = Some(Ending::Open);
            }
        } else if c == '#' {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if let Some(operator) = operator_at(rest) {
            at += operator.len();
            lexed.tokens.push(Token::Operator(operator));
        } else {
            let (length, ending) = word_length(rest);
            let end = at + length.max(c.len_utf8());
            let raw = text.get(at..end).unwrap_or_default().to_owned();
            let begins = lexed.tokens.last().and_then(|token| match token {
                Token::Operator("<<") => Some(false),
                Token::Operator("<<-") => Some(true),
                _ => None,
            });
            if let Some(skips_tabs) = begins {
                heredocs.push(Heredoc {
                    end: raw.replace(['\'', '"', '\\'], ""),
                    skips_tabs,
                });
            }
            lexed.tokens.push(Token::Word(raw, Span { start: at, end }));
            at = end;
            if ending.is_some() {
                lexed.ending = ending;
                return lexed;
            }
        }
    }
    if !heredocs.is_empty() {
        lexed.ending = Some(Ending::Heredoc);
    }
    lexed
}

fn operator_at(rest: &str) -> Option<&'static str> {
    // `<(` begins a word.
    if rest.starts_with("<(") || rest.starts_with(">(") {
        return None;
    }
    let mut operators = OPERATORS
        .iter()
        .filter(|operator| rest.starts_with(**operator));
    let first = operators.next()?;
    Some(if first.starts_with("((") || *first == "))" {
        "("
    } else {
        first
    })
}

/// Where the line after the here-document begins.
fn end_of_heredoc(text: &str, from: usize, heredoc: &Heredoc) -> Option<usize> {
    let mut at = from;
    for line in text.get(from..)?.split_inclusive('\n') {
        at += line.len();
        let bare = line.trim_end_matches(['\n', '\r']);
        let bare = if heredoc.skips_tabs {
            bare.trim_start_matches('\t')
        } else {
            bare
        };
        if bare == heredoc.end {
            // The newline stays, for what follows to begin on a line of its own.
            return Some(if line.ends_with('\n') { at - 1 } else { at });
        }
    }
    None
}

/// How long the word is that stands first, and how the text ends if it ends within.
#[allow(clippy::match_same_arms)] // What is quoted or escaped is passed over before the rest.
fn word_length(rest: &str) -> (usize, Option<Ending>) {
    let mut chars = rest.char_indices().peekable();
    // What closes each thing that is open.
    let mut open: Vec<char> = Vec::new();
    while let Some((at, c)) = chars.next() {
        let top = open.last().copied();
        match (top, c) {
            (Some('\''), '\'') | (Some('"'), '"') | (Some('`'), '`') => {
                open.pop();
            }
            (Some('\''), _) => {}
            (_, '\\') if chars.next().is_none() => {
                return (rest.len(), Some(Ending::Open));
            }
            // The character behind it is taken.
            (_, '\\') => {}
            (Some('"'), '$') | (Some(')' | '}') | None, '$' | '<' | '>')
                if chars.peek().is_some_and(|(_, next)| *next == '(') =>
            {
                chars.next();
                open.push(')');
            }
            (_, '$') if chars.peek().is_some_and(|(_, next)| *next == '{') => {
                chars.next();
                open.push('}');
            }
            (Some('"'), '`') => open.push('`'),
            (Some('"'), _) => {}
            (_, '\'' | '"' | '`') => open.push(c),
            (Some(')'), '(') => open.push(')'),
            (Some(close), c) if close == c => {
                open.pop();
            }
            // `name=(…)` is one word.
            (None, '(') if rest.get(..at).is_some_and(|before| before.ends_with('=')) => {
                open.push(')');
            }
            (None, '(') if is_extended_glob(rest, at) => open.push(')'),
            (None, c) if c.is_whitespace() || ";&|<>()".contains(c) => return (at, None),
            _ => {}
        }
    }
    let ending = match open.last() {
        None => None,
        Some('\'' | '"') => Some(Ending::Quoted),
        Some(_) => Some(Ending::Open),
    };
    (rest.len(), ending)
}

/// bash(1), Pattern Matching: `@(a|b)`; a subshell has white space, or nothing before it.
fn is_extended_glob(rest: &str, at: usize) -> bool {
    let before = rest.get(..at).unwrap_or_default();
    if !before.ends_with(['@', '!', '?', '*', '+']) {
        return false;
    }
    let end = rest.floor_char_boundary(at.saturating_add(MAX_GLOB_BYTES));
    let inner = rest.get(at..end).unwrap_or_default();
    match inner.find(|c: char| c == ')' || c.is_whitespace()) {
        Some(stop) => inner.as_bytes().get(stop) == Some(&b')'),
        // Where the text ends here, it would go on in the next line.
        None => end == rest.len(),
    }
}

/// What ends the here-document that a text, which is given without its last newline, ends in.
pub(crate) fn open_heredoc(text: &str) -> Option<String> {
    lex(&format!("{text}\n")).heredoc
}

/// Whether what was typed so far is complete, or how it goes on.
pub(crate) fn ending(text: &str) -> Ending {
    let lexed = lex(text);
    if let Some(ending) = lexed.ending {
        return ending;
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
                // A pattern of `case` closes none.
                parens = if parens > 0 { parens - 1 } else { parens };
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
        Ending::Open
    } else {
        Ending::Complete
    }
}

/// The commands of a text, as far as they can be told apart.
pub(crate) fn commands(text: &str) -> Vec<Written> {
    let mut commands = Vec::new();
    let nothing = |fed_by| Written {
        words: Vec::new(),
        redirects: Vec::new(),
        substitutions: Vec::new(),
        fed_by,
    };
    let mut current = nothing(Feed::Nobody);
    let mut redirect: Option<&'static str> = None;
    for token in lex(text).tokens {
        match token {
            Token::Operator(operator) if operator.contains(['<', '>']) => {
                redirect = Some(operator);
            }
            Token::Word(raw, span) => {
                substitutions(&raw, span, &mut current.substitutions);
                if let Some(operator) = redirect.take() {
                    current.redirects.push((operator.to_owned(), raw, span));
                } else if current.words.is_empty()
                    && (LEADING.contains(&&*raw) || CLOSERS.contains(&&*raw) || is_assignment(&raw))
                {
                    // Not part of the command.
                } else {
                    current.words.push((raw, span));
                }
            }
            Token::Operator(operator) => {
                let fetches = current
                    .words
                    .iter()
                    .any(|(raw, _)| wrapper::fetches(raw) || raw == "-d")
                    || current.fed_by == Feed::Fetcher;
                let fed_by = match operator {
                    "|" | "|&" if fetches => Feed::Fetcher,
                    "|" | "|&" => Feed::Command,
                    _ => Feed::Nobody,
                };
                commands.push(std::mem::replace(&mut current, nothing(fed_by)));
            }
            Token::Newline => {
                if !current.words.is_empty() {
                    commands.push(std::mem::replace(&mut current, nothing(Feed::Nobody)));
                }
            }
        }
    }
    commands.push(current);
    commands.retain(|command| {
        !command.words.is_empty()
            || !command.redirects.is_empty()
            || !command.substitutions.is_empty()
    });
    commands
}

fn is_assignment(raw: &str) -> bool {
    raw.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// What stands in `$(…)`, `<(…)` and backticks of a word.
fn substitutions(raw: &str, span: Span, out: &mut Vec<(String, Span)>) {
    let mut at = 0;
    let mut single = false;
    while let Some(rest) = raw.get(at..) {
        let Some(c) = rest.chars().next() else { return };
        let opens = rest.starts_with("$(") || rest.starts_with("<(") || rest.starts_with(">(");
        if c == '\'' {
            single = !single;
        } else if !single && opens && !rest.starts_with("$((") {
            let (length, _) = word_length(rest);
            let inner = rest.get(2..length).unwrap_or_default();
            let inner = inner.strip_suffix('"').unwrap_or(inner);
            let inner = inner.strip_suffix(')').unwrap_or(inner);
            out.push((inner.to_owned(), span));
            at += length.max(1);
            continue;
        } else if !single && c == '`' {
            let inner = rest.get(1..).unwrap_or_default();
            let end = inner.find('`').unwrap_or(inner.len());
            let inner_text = inner.get(..end).unwrap_or_default();
            out.push((inner_text.to_owned(), span));
            at += end + 2;
            continue;
        }
        at += c.len_utf8();
    }
}

/// Whether a text that the grammar of bash does not take is plain all the same: one line of words
/// and quotes with nothing that runs another command in it.
pub(crate) fn is_plain(text: &str) -> bool {
    let lexed = lex(text);
    let calm = |token: &Token| match token {
        Token::Word(raw, _) => !raw.contains(['`', '{', '}']) && !raw.contains("$("),
        Token::Operator(operator) => {
            matches!(*operator, ";" | "&&" | "||" | "|" | ">" | ">>" | "<" | "&")
        }
        Token::Newline => true,
    };
    lexed.ending.is_none() && lexed.tokens.iter().all(calm) && ending(text) == Ending::Complete
}
