//! What agents write around a line: Claude Code, Codex and Gemini CLI. opencode writes nothing.
//!
//! A wrapper is compared as a text, with holes for names, paths and quoted words. No hole takes a character
//! that a shell acts upon outside quotes, so a shell reads what fits as it is written here.

use std::sync::LazyLock;

use regex::Regex;

use crate::shell::expansion::choices::Choices;
use crate::shell::expansion::{Scope, expand_value};
use crate::shell::state::ShellState;

/// Steps before the `eval` of Claude Code, in any order.
const CLAUDE_CODE_STEPS: &[&str] = &[
    "source «snapshot»",
    "source «snapshot» 2>/dev/null || true",
    "shopt -u extglob 2>/dev/null || true",
    r"\builtin shopt -u extglob 2>/dev/null || true",
    "setopt «options» 2>/dev/null || true",
    r"\builtin setopt «options» 2>/dev/null || true",
    "{ shopt -u extglob || setopt «options»; } >/dev/null 2>&1 || true",
    r"{ \builtin shopt -u extglob || \builtin setopt «options»; } >/dev/null 2>&1 || true",
    r"{ \builtin unalias -- '«name»'; \builtin unset -f -- '«name»'; } >/dev/null 2>&1 || true",
];
/// Lines before the `exec` of Codex, in any order. They keep variables over the reading of a snapshot.
const CODEX_LINES: &[&str] = &[
    "",
    r#"«saved»="${«name»+x}""#,
    r#"«saved»="${«name»-}""#,
    "if . '«codex snapshot»' >/dev/null 2>&1; then :; fi",
    r#"if [ -n "${«saved»}" ]; then export «name»="${«saved»}"; else unset «name»; fi"#,
    r#"if [ -n "${«saved»}" ]; then export «name»="${«saved»}"; fi"#,
    r#"if [ -n "$«saved»" ] || [ -n "${«name»+x}" ]; then"#,
    r#"if [ -n "${«saved»}" ]; then"#,
    r#"  if [ -z "${«name»+x}" ] || [ "${«name»-}" != "${«saved»}" ]; then export «name»="${«saved»}"; else export «name»; fi"#,
    "else builtin unset «name» 2>/dev/null || command unset «name»; fi",
    "builtin unset «saved» «saved» 2>/dev/null || command unset «saved» «saved»",
    r#"if [ -n "${PATH:-}" ]; then export PATH='«codex directory»':"$PATH"; else export PATH='«codex directory»'; fi"#,
    "fi",
];
/// Before the lines of Gemini CLI, without the options that it unsets.
const GEMINI_BEGIN: &str = r#"_bgpids_file=«pids file»
(
  trap 'jobs -p > "$_bgpids_file"' EXIT
"#;
/// Behind the lines of Gemini CLI.
const GEMINI_END: &str = "\n)\n__code=$?\nexit $__code";

/// What fits a hole, by its name. A name in the pattern of another hole stands for its own pattern.
const HOLES: &[(&str, &str)] = &[
    (
        "snapshot",
        "(?:«bare»/«snapshot file»|'«quoted»/«snapshot file»')",
    ),
    (
        "codex snapshot",
        r"«quoted»/shell_snapshots/[[:word:].-]+\.sh",
    ),
    (
        "codex directory",
        "«quoted»/(?:codex-path|codex-arg0[[:word:]]*)",
    ),
    (
        "cwd file",
        "(?:«bare»/claude-[[:word:]]+-cwd|'«quoted»/claude-[[:word:]]+-cwd')",
    ),
    (
        "pids file",
        "(?:«bare»/gemini-shell-«pids»|'«quoted»/gemini-shell-«pids»')",
    ),
    (
        "snapshot file",
        r"shell-snapshots/snapshot-(?:bash|zsh|sh)-[[:word:]-]+\.sh",
    ),
    ("pids", r"[[:word:]]+/bgpids\.tmp"),
    (
        "shell",
        "(?:/usr/local/bin|/usr/bin|/bin|/run/current-system/sw/bin)/(?:bash|zsh|sh)",
    ),
    ("options", "NO_[A-Z_]+(?: NO_[A-Z_]+)*"),
    ("name", "[A-Za-z_][[:word:]-]*"),
    ("saved", "__CODEX_SNAPSHOT_[[:word:]]+"),
    // Each part of it is quoted, escaped, or no more than itself.
    (
        "word",
        r#"(?:'[^']*'|"(?:[^"\\$`]|\\.)*"|\\[^\n]|[[:word:]./:=@+,%-])+"#,
    ),
    // The directories of a path.
    ("bare", "(?:/[[:word:].:=@+,-]+)*"),
    ("quoted", r"(?:/[^/'\\$`;&|<>\n]+)*"),
];

/// A pattern, compiled once a text may fit it. `None`: it is wrong, which a test would see.
type Pattern = LazyLock<Option<Regex>>;

static CLAUDE_CODE_BEGIN: Pattern =
    LazyLock::new(|| compiled(&format!("^(?:{} && )*eval ", any_of(CLAUDE_CODE_STEPS))));
static CLAUDE_CODE_END: Pattern =
    LazyLock::new(|| compiled(r"^(?: < /dev/null)? && pwd -P >\| «cwd file»$"));
static CODEX_BEGIN: Pattern = LazyLock::new(|| {
    let lines = any_of(CODEX_LINES);
    compiled(&format!("^(?:{lines}\n)+exec '«shell»' -c "))
});
static GEMINI: Pattern = LazyLock::new(|| {
    let begin = regex::escape(GEMINI_BEGIN);
    compiled(&format!("^(?:shopt -u [a-z]+(?: [a-z]+)*; )?{begin}"))
});
static WORD: Pattern = LazyLock::new(|| compiled("^«word»"));

/// A line in what an agent writes around it.
pub(super) struct Unwrapped<'a> {
    before: &'a str,
    inner: Inner<'a>,
    behind: &'a str,
}

/// The line as the wrapper has it.
#[derive(Clone, Copy)]
enum Inner<'a> {
    /// A word that is one constant.
    Word(&'a str),
    /// Lines of a shell, as they are.
    Lines(&'a str),
}

impl Unwrapped<'_> {
    pub(super) fn line(&self) -> String {
        match self.inner {
            Inner::Word(word) => constant(word),
            Inner::Lines(lines) => lines.to_owned(),
        }
    }

    /// The whole text with another line.
    pub(super) fn with_line(&self, line: &str) -> String {
        let inner = match self.inner {
            Inner::Word(word) if constant(word) == line => word.to_owned(),
            Inner::Word(_) => format!("'{}'", line.replace('\'', r#"'"'"'"#)),
            Inner::Lines(_) => line.to_owned(),
        };
        format!("{}{inner}{}", self.before, self.behind)
    }
}

/// A text without the wrapper of an agent. `None`: it has no such wrapper.
pub(super) fn unwrapped(text: &str) -> Option<Unwrapped<'_>> {
    claude_code(text)
        .or_else(|| codex(text))
        .or_else(|| gemini(text))
}

fn claude_code(text: &str) -> Option<Unwrapped<'_>> {
    if !text.contains(" && pwd -P >| ") {
        return None;
    }
    let (before, rest) = split(text, &CLAUDE_CODE_BEGIN)?;
    let (word, behind) = split(rest, &WORD)?;
    split(behind, &CLAUDE_CODE_END)?;
    let inner = Inner::Word(word);
    Some(Unwrapped {
        before,
        inner,
        behind,
    })
}

fn codex(text: &str) -> Option<Unwrapped<'_>> {
    if !text.contains("\nexec '") {
        return None;
    }
    let (before, rest) = split(text, &CODEX_BEGIN)?;
    let (word, behind) = split(rest, &WORD)?;
    let inner = Inner::Word(word);
    behind.is_empty().then_some(Unwrapped {
        before,
        inner,
        behind,
    })
}

fn gemini(text: &str) -> Option<Unwrapped<'_>> {
    let (before, lines) = split(text.strip_suffix(GEMINI_END)?, &GEMINI)?;
    Some(Unwrapped {
        before,
        inner: Inner::Lines(lines),
        behind: GEMINI_END,
    })
}

/// A text's beginning that fits a pattern, and the rest.
fn split<'a>(text: &'a str, begin: &Pattern) -> Option<(&'a str, &'a str)> {
    let found = begin.as_ref()?.find(text)?;
    text.split_at_checked(found.end())
}

/// What a word without expansions is to the command that gets it.
fn constant(word: &str) -> String {
    let state = ShellState::default();
    expand_value(word, Scope::of(&state), &mut Choices::none())
}

/// The pattern of any of these texts, with their holes.
fn any_of(texts: &[&str]) -> String {
    let patterns: Vec<String> = texts.iter().map(|text| regex::escape(text)).collect();
    format!("(?:{})", patterns.join("|"))
}

/// A pattern whose holes are filled.
fn compiled(pattern: &str) -> Option<Regex> {
    let fill =
        |pattern: String, (name, hole): &(&str, &str)| pattern.replace(&format!("«{name}»"), hole);
    let pattern = HOLES.iter().fold(pattern.to_owned(), fill);
    Regex::new(&format!("(?s:{pattern})")).ok()
}
