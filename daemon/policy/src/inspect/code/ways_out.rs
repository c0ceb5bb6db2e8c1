//! Names by which code may start a program in a way that is not followed.
//!
//! Code that holds none of them, and no call of [`CallEffect::Starts`](crate::danger::code::call_effect::CallEffect::Starts), may still start a program by a library
//! of its own.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::danger::code::tokens::Token;
use crate::word_list::is_listed;

const FILE: &str = include_str!("../../../code/ways_out.toml");

/// The ways of a language, as a section of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WaysOut {
    /// The manual.
    #[cfg_attr(not(test), expect(dead_code, reason = "it is there for readers"))]
    source: String,
    programs: String,
    names: String,
    /// Modules that are such a way, as the code loads them: by a text.
    #[serde(default)]
    modules: String,
}

/// By the name of the language. A test reads the file.
static LANGUAGES: LazyLock<BTreeMap<String, WaysOut>> =
    LazyLock::new(|| toml::from_str(FILE).unwrap_or_default());

/// Whether code names such a way.
pub(super) fn has_any(program: &str, code: &str, tokens: &[Token]) -> bool {
    let stem = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let mut languages = LANGUAGES.iter();
    let Some((language, ways)) = languages.find(|(_, ways)| is_listed(stem, &ways.programs)) else {
        return false;
    };
    let has_name = tokens.iter().any(|token| match token {
        Token::Word(word) => is_listed(word, &ways.names),
        Token::Text(text) => is_listed(text.trim_start_matches("node:"), &ways.modules),
        Token::Shell(_) | Token::Sign(_) => false,
    });
    has_name
        || match language.as_str() {
            "Python" => imports_all(tokens),
            "Lua" => passes_library(tokens),
            "JavaScript" => renames_shell(tokens) || imports_value(tokens),
            "Perl" => calls_value(code),
            _ => false,
        }
}

/// Whether Python makes all names of a module its own: `from os import *`.
fn imports_all(tokens: &[Token]) -> bool {
    let mut pairs = tokens.windows(2);
    pairs.any(|pair| matches!(pair, [Token::Word(word), Token::Sign('*')] if word == "import"))
}

/// Whether Perl calls what a value names, or runs a text that it has replaced: `$x->(y)`, `&$x`, `s/x/y/ee`.
fn calls_value(code: &str) -> bool {
    let calls = [
        "exec{",
        "system{",
        "->(",
        "->$",
        "&$",
        "\\&CORE",
        "&{",
        "require shift",
        "require $",
        "do $",
        "do shift",
    ];
    let tight: String = code.split(' ').collect();
    let runs_replaced = code
        .split(['/', '}', ',', '|', '#', '!'])
        .skip(2)
        .any(|flags| {
            let flags = flags.split([';', ' ', '\n']).next().unwrap_or(flags);
            flags.contains("ee") && flags.chars().all(|c| "egimosxr".contains(c))
        });
    runs_replaced
        || calls
            .iter()
            .any(|call| code.contains(call) || tight.contains(call))
}

/// Whether Lua gives the library `os` or `io` to something as a value: `pairs(os)`, `local o = os`.
fn passes_library(tokens: &[Token]) -> bool {
    let is_passed = |pair: &[Token]| match pair {
        [Token::Word(word), next] => is_listed(word, "os io") && *next != Token::Sign('.'),
        _ => false,
    };
    let ends = matches!(tokens.last(), Some(Token::Word(word)) if is_listed(word, "os io"));
    ends || tokens.windows(2).any(is_passed)
}

/// Whether JavaScript gives another name to `$`, which runs a shell line in Bun and zx.
fn renames_shell(tokens: &[Token]) -> bool {
    let mut pairs = tokens.windows(2);
    pairs.any(|pair| match pair {
        [Token::Word(sign), Token::Word(renamed)] => sign.is_empty() && renamed == "as",
        [Token::Word(sign), Token::Sign(':')] => sign.is_empty(),
        _ => false,
    })
}

/// Whether JavaScript loads a module that a value names: `import(x)`, `require(x)`.
fn imports_value(tokens: &[Token]) -> bool {
    tokens.windows(3).any(|window| match window {
        [Token::Word(name), Token::Sign('('), argument] => {
            matches!(name.as_str(), "import" | "require") && !matches!(argument, Token::Text(_))
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_its_source_and_no_program_two() {
        let languages: BTreeMap<String, WaysOut> = toml::from_str(FILE).unwrap();
        let mut seen = std::collections::BTreeSet::new();
        for (language, ways) in &languages {
            assert!(!ways.source.is_empty(), "{language}");
            for program in ways.programs.split_whitespace() {
                assert!(seen.insert(program), "{program} has two");
            }
        }
    }
}
