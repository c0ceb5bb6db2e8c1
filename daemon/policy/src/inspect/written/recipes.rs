//! The shell lines of a file of recipes that a goal runs: make(1), just(1).

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::shell::text::quote::quoted;
use crate::shell::word::{UNKNOWN, is_name};

/// Variables that make(1) has by itself, and those that stand for files.
const BUILT_IN: [(&str, &str); 8] = [
    ("CC", "cc"),
    ("CXX", "c++"),
    ("AR", "ar"),
    ("LD", "ld"),
    ("MAKE", "make"),
    ("RM", "rm -f"),
    ("SHELL", "/bin/sh"),
    ("CURDIR", "."),
];
/// How often variables within the values of variables are put in.
const MAX_ROUNDS: usize = 4;
/// Bytes that a line may grow to by its variables.
const MAX_LINE: usize = 16 << 10;
/// Variables that are set before a recipe's line.
const MAX_EXPORTED: usize = 32;
/// Recipes that are read.
const MAX_RULES: usize = 512;

/// How a file of recipes is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recipes {
    Make,
    Just,
}

/// The files that a text for make(1) includes.
pub(super) fn included(text: &str) -> impl Iterator<Item = &str> {
    let names = text.lines().filter_map(|line| {
        let (directive, names) = line.split_once([' ', '\t'])?;
        matches!(directive, "include" | "-include" | "sinclude").then_some(names)
    });
    names.flat_map(str::split_whitespace)
}

#[derive(Debug, Default)]
struct Rule<'a> {
    names: Vec<&'a str>,
    needs: Vec<String>,
    lines: Vec<String>,
}

/// The lines that these goals run, or the first rule without any. An operand such as `CC=gcc` is a value. Each rule is one text,
/// since just runs one with `#!` as a script.
pub(super) fn of_goals(kind: Recipes, text: &str, operands: &[&str]) -> Vec<String> {
    let (given, goals): (Vec<&str>, Vec<&str>) =
        operands.iter().partition(|word| word.contains('='));
    let text = text.replace("\\\n", " ");
    let (rules, mut values) = rules(kind, &text);
    let given = given.into_iter().filter_map(assigned);
    values.extend(given.map(|(name, value)| (name, Cow::from(value))));
    let mut found = Vec::new();
    if kind == Recipes::Make {
        found.extend(run_by_reading(&text, &values));
    }
    let first = rules.iter().find(|rule| {
        let named = rule.names.first();
        named.is_some_and(|name| !name.starts_with('.'))
    });
    let mut wanted: Vec<String> = goals.into_iter().map(str::to_owned).collect();
    if wanted.is_empty() {
        wanted.extend(first.and_then(|rule| rule.names.first().map(|name| (*name).to_owned())));
    }
    let mut known = HashSet::new();
    while let Some(goal) = wanted.pop() {
        if !known.insert(goal.clone()) {
            continue;
        }
        let has_rule = rules.iter().any(|rule| rule.is_for(&goal));
        let goal = if has_rule { goal.as_str() } else { ".DEFAULT" };
        for rule in rules.iter().filter(|rule| rule.is_for(goal)) {
            wanted.extend(rule.needs.iter().cloned());
            let lines = rule.lines.iter().map(|line| filled(kind, line, &values));
            match kind {
                Recipes::Make => found.extend(by_shell_of_make(&text, lines, &values)),
                Recipes::Just => found.push(lines.collect::<Vec<_>>().join("\n")),
            }
        }
    }
    found
}

/// What make(1) runs while it reads, whatever the goal: `$(shell …)` outside recipes and `X != …`; and the
/// programs of its own rules that the text names.
fn run_by_reading(text: &str, values: &HashMap<&str, Cow<'_, str>>) -> Vec<String> {
    let make = |line: &str| filled(Recipes::Make, line, values);
    let read = text.lines().filter(|line| !line.starts_with('\t'));
    let runs = read.filter_map(|line| match line.split_once("!=") {
        Some((name, line)) if assigned(name.trim()).is_none() => Some(make(line)),
        _ if line.contains("(shell ") || line.contains("{shell ") => {
            Some(format!(": {}", make(line)))
        }
        _ => None,
    });
    let mut lines: Vec<String> = runs.collect();
    let named = BUILT_IN.iter().filter(|(name, value)| {
        *name != "SHELL" && values.get(name).is_some_and(|known| known != value)
    });
    lines.extend(named.map(|(name, _)| make(&format!("$({name}) x"))));
    lines
}

/// The lines of a recipe as make(1) gives them to its shell, with what the text exports.
fn by_shell_of_make(
    text: &str,
    lines: impl Iterator<Item = String>,
    values: &HashMap<&str, Cow<'_, str>>,
) -> Vec<String> {
    let lines = lines.map(|line| line.trim_start_matches(['@', '-', '+', ' ']).to_owned());
    let mut lines: Vec<String> = lines.collect();
    if text.contains(".ONESHELL") {
        lines = vec![lines.join("\n")];
    }
    let value = |name: &str| {
        values
            .get(name)
            .map(|value| filled(Recipes::Make, value, values))
    };
    let shell = value("SHELL").filter(|shell| !shell.ends_with("sh"));
    let flags = value(".SHELLFLAGS");
    if shell.is_some()
        || flags
            .as_deref()
            .is_some_and(|flags| !flags.starts_with('-'))
    {
        let shell = shell.unwrap_or_else(|| "sh".to_owned());
        let flags = flags.unwrap_or_else(|| "-c".to_owned());
        for line in &mut lines {
            *line = format!("{shell} {flags} {}", quoted(line));
        }
    }
    if text.contains("export ") || text.contains(".EXPORT_ALL_VARIABLES") {
        let is_built_in = |name: &str| BUILT_IN.iter().any(|(known, _)| *known == name);
        let names = values
            .keys()
            .filter(|name| is_name(name) && !is_built_in(name));
        let exported = names.filter_map(|name| {
            let value = value(name)?;
            Some(format!("{name}={}; ", quoted(&value)))
        });
        let exported: String = exported.take(MAX_EXPORTED).collect();
        for line in &mut lines {
            line.insert_str(0, &exported);
        }
    }
    lines
}

impl Rule<'_> {
    /// Whether the rule is for a goal. A name that is not known may be any.
    fn is_for(&self, goal: &str) -> bool {
        let mut names = self.names.iter();
        names.any(|name| match name.split_once('%') {
            Some((before, behind)) => goal.starts_with(before) && goal.ends_with(behind),
            None => *name == goal || name.contains('$'),
        })
    }
}

fn rules(kind: Recipes, text: &str) -> (Vec<Rule<'_>>, HashMap<&str, Cow<'_, str>>) {
    let mut rules: Vec<Rule<'_>> = Vec::new();
    let built_in = BUILT_IN.into_iter();
    let mut values: HashMap<&str, Cow<'_, str>> = built_in
        .map(|(name, value)| (name, Cow::from(value)))
        .collect();
    let mut defined: Option<(&str, String)> = None;
    for line in text.lines() {
        if let Some((name, mut value)) = defined.take() {
            if line.trim() == "endef" {
                values.insert(name, Cow::from(value));
            } else {
                value.push_str(line);
                value.push('\n');
                defined = Some((name, value));
            }
            continue;
        }
        if let Some(name) = line
            .strip_prefix("define ")
            .filter(|_| kind == Recipes::Make)
        {
            let name = name
                .split(|c: char| c.is_whitespace() || "=:?+!".contains(c))
                .next();
            defined = name.map(|name| (name, String::new()));
            continue;
        }
        let is_recipe = match kind {
            Recipes::Make => line.starts_with('\t'),
            Recipes::Just => line.starts_with([' ', '\t']),
        };
        if is_recipe && let Some(rule) = rules.last_mut() {
            let line = line.trim();
            rule.lines
                .push(line.trim_start_matches(['@', '-', '+']).to_owned());
            continue;
        }
        let line = line.split('#').next().unwrap_or_default().trim_end();
        if let Some((name, value)) = assigned(line) {
            values.insert(name, Cow::from(value));
        } else if let Some((names, rest)) = line.split_once(':')
            && rules.len() < MAX_RULES
        {
            let (needs, inline) = rest.split_once(';').unwrap_or((rest, ""));
            // `all: X = y` and `all: export X = y` are variables of that goal.
            if let Some((name, value)) = assigned(needs.trim()) {
                values.insert(name, Cow::from(value));
                continue;
            }
            let needs = needs.trim_start_matches(':').split_whitespace();
            // just(1) passes arguments in brackets, and names parameters behind the recipe's name.
            let needs = needs.map(|need| need.trim_matches(['(', ')']).to_owned());
            let names = names.trim_start_matches('@').split_whitespace();
            rules.push(Rule {
                names: match kind {
                    Recipes::Make => names.collect(),
                    Recipes::Just => names.take(1).collect(),
                },
                needs: needs.collect(),
                lines: (!inline.is_empty())
                    .then(|| inline.trim().to_owned())
                    .into_iter()
                    .collect(),
            });
        }
    }
    (rules, values)
}

/// A variable and its value: `X = v`, `X := v`, `X ?= v`.
fn assigned(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', '!']).trim();
    let name = name.strip_prefix("export ").unwrap_or(name).trim();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
    (!name.is_empty() && name.chars().all(is_name)).then(|| (name, value.trim()))
}

/// A line with its variables. What is not known is [`UNKNOWN`].
fn filled(kind: Recipes, line: &str, values: &HashMap<&str, Cow<'_, str>>) -> String {
    let open = match kind {
        Recipes::Make => '$',
        Recipes::Just => '{',
    };
    let mut line = line.to_owned();
    for _ in 0..MAX_ROUNDS {
        if !line.contains(open) || line.len() > MAX_LINE {
            break;
        }
        let mut filled = String::with_capacity(line.len());
        let mut rest = line.as_str();
        while let Some((before, behind)) = rest.split_once(open) {
            filled.push_str(before);
            let (value, length) = match kind {
                Recipes::Make => reference(behind, values),
                Recipes::Just if behind.starts_with('{') => {
                    let end = behind.find("}}");
                    let name = behind
                        .get(1..end.unwrap_or(behind.len()))
                        .unwrap_or_default();
                    let value = values
                        .get(name.trim())
                        .map(|value| value.trim_matches(['\'', '"']));
                    let length = end.map_or(behind.len(), |end| end + 2);
                    (value.map_or_else(unknown, str::to_owned), length)
                }
                Recipes::Just => (open.to_string(), 0),
            };
            if value.contains(UNKNOWN) && begins_command(&filled) {
                // `$(GO) build`: it is customary to name a program's variable after it.
                filled.push_str(
                    &behind
                        .get(..length)
                        .unwrap_or_default()
                        .to_lowercase()
                        .replace(['(', ')', '{', '}'], ""),
                );
            } else {
                filled.push_str(&value);
            }
            rest = behind.get(length..).unwrap_or_default();
        }
        filled.push_str(rest);
        let is_done = filled == line || kind == Recipes::Just;
        line = filled;
        if is_done {
            break;
        }
    }
    line.replace(DOLLAR, "$")
}

/// Whether a command begins behind this part of a line.
fn begins_command(line: &str) -> bool {
    let line = line.trim_end();
    line.is_empty() || line.ends_with(['&', '|', ';', '('])
}

/// Stands for `$$` until all is put in.
const DOLLAR: char = '\u{fdd0}';

/// The value of a reference behind `$`, and its length.
fn reference(behind: &str, values: &HashMap<&str, Cow<'_, str>>) -> (String, usize) {
    let Some(first) = behind.chars().next() else {
        return ("$".to_owned(), 0);
    };
    let close = match first {
        '$' => return (DOLLAR.to_string(), 1),
        '(' => ')',
        '{' => '}',
        one => {
            let name = behind.get(..one.len_utf8()).unwrap_or_default();
            let value = values.get(name).map(|value| value.clone().into_owned());
            return (value.unwrap_or_else(unknown), one.len_utf8());
        }
    };
    let mut depth = 0_usize;
    let end = behind.char_indices().find(|(_, c)| {
        depth += usize::from(*c == first);
        depth -= usize::from(*c == close);
        depth == 0
    });
    let Some((end, _)) = end else {
        return (unknown(), behind.len());
    };
    let name = behind.get(1..end).unwrap_or_default();
    let value = match name.split_once(' ') {
        // What it prints is put in, and it runs.
        Some(("shell", line)) => format!("{DOLLAR}({line})"),
        Some(("call", call)) => called(call, values),
        _ => values
            .get(name)
            .map_or_else(unknown, |value| value.clone().into_owned()),
    };
    (value, end + 1)
}

/// The value of `$(call NAME,ARGUMENT,…)`.
fn called(call: &str, values: &HashMap<&str, Cow<'_, str>>) -> String {
    let mut arguments = call.split(',');
    let name = arguments.next().unwrap_or_default().trim();
    let Some(value) = values.get(name) else {
        return unknown();
    };
    let mut value = value.clone().into_owned();
    for (at, argument) in (1..10).zip(arguments) {
        value = value.replace(&format!("$({at})"), argument.trim());
        value = value.replace(&format!("${at}"), argument.trim());
    }
    value
}

fn unknown() -> String {
    UNKNOWN.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_a_goal_and_of_what_it_needs_are_run() {
        let text = "X := ls\n.PHONY: all\nall: build ; echo $(X)\nbuild: x.o\n\t@cc -o $@ $^\n\
                    clean:\n\trm -rf build $$HOME\n%.o:\n\t$(CC) $(FLAGS) -c $< \\\n  -o x\n";
        let first = of_goals(Recipes::Make, text, &[]);
        assert_eq!(first.len(), 3, "{first:?}");
        assert_eq!(first.first().map(String::as_str), Some("echo ls"));
        assert!(
            first.iter().any(|line| line.starts_with("cc -o ")),
            "{first:?}"
        );
        let clean = of_goals(Recipes::Make, text, &["clean"]);
        assert!(
            clean.contains(&"rm -rf build $HOME".to_owned()),
            "{clean:?}"
        );
        let text = "x := 'a'\n# it\n_build target='all': (dep x)\n  make {{target}} {{x}}\ndep y:\n    @ls\n";
        let built = of_goals(Recipes::Just, text, &["_build"]);
        assert_eq!(built, ["make \u{fffc} a", "ls"]);
        assert_eq!(of_goals(Recipes::Just, text, &[]), built);
        for odd in [
            "", ":", "=", "\t", "a:\n\t$(", "a:\n\t${", "a: a", "a:\n\t$",
        ] {
            let _ = of_goals(Recipes::Make, odd, &[]);
            let _ = of_goals(Recipes::Just, odd, &[]);
        }
    }
}
