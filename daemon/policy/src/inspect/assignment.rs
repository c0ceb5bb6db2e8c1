//! What assignments and builtins set in the shell: bash(1), SHELL BUILTIN COMMANDS.

use std::ops::ControlFlow;

use tree_sitter::Node;

use crate::program::options::{Order, Valued, options};
use crate::shell::expansion::choices::{Choices, readings};
use crate::shell::expansion::format::formatted_texts;
use crate::shell::expansion::source::Source;
use crate::shell::expansion::{Scope, expand_value};
use crate::shell::state::{Content, PARAMETERS, ShellState};
use crate::shell::syntax::grammar::{Step, walk};
use crate::shell::word::{UNKNOWN, Word, is_assignment, is_name};
use crate::work;

/// Builtins that give a variable a value that the text does not tell.
const READERS: [&str; 8] = [
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "vared",
    "sysread",
    "let",
    "printf",
];
/// Builtins after which any variable may be another.
const SETTERS: [&str; 3] = ["eval", "source", "."];
/// Builtins that set variables or positional parameters, some of them by names in their words.
const NAMED_SETTERS: &str = "declare typeset local export readonly integer float unset set shift";
/// Builtins of which an assignment before them may last (POSIX 2.14).
const SPECIAL: &str = ": . eval exec export readonly return set shift times trap unset";

/// Whether an assignment before this command may last.
pub(super) fn is_special(program: &str) -> bool {
    crate::word_list::is_listed(program, SPECIAL)
}

/// Whether a builtin may set a variable or the positional parameters.
pub(super) fn is_setter(program: &str) -> bool {
    READERS.contains(&program)
        || SETTERS.contains(&program)
        || crate::word_list::is_listed(program, NAMED_SETTERS)
}

/// Sets what an assignment sets. Returns the variable's name and its possible values, or those of its
/// element.
pub(super) fn assign(
    node: Node<'_>,
    source: Source<'_>,
    state: &mut ShellState,
) -> Option<(String, Vec<Content>)> {
    let target = node.child_by_field_name("name")?;
    let value = node.child_by_field_name("value");
    if target.kind() == "subscript" {
        let name = target.child_by_field_name("name");
        let name = name.map_or("", |name| source.of(name));
        let scope = Scope::of(state);
        let contents = readings(|choices| match value {
            Some(value) => content_of(value, source, scope, choices),
            None => Content::Unknown,
        });
        let contents = contents.into_iter().map(|(content, _)| content).collect();
        state.blur(name);
        return Some((name.to_owned(), contents));
    }
    let name = source.of(target);
    let behind = source.text.get(target.end_byte()..).unwrap_or_default();
    let appends = behind.starts_with("+=");
    let known = state.contents(name).map(<[Content]>::to_vec);
    let units = known.iter().flatten().map(Content::units).sum();
    if !work::spend(units) {
        state.blur(name);
        return Some((name.to_owned(), vec![Content::Unknown]));
    }
    let known = known.unwrap_or_else(|| vec![Content::Unknown]);
    let scope = Scope::of(state);
    let contents = readings(|choices| {
        let given = value.map_or(Content::Text(String::new()), |value| {
            content_of(value, source, scope, choices)
        });
        if !appends {
            return given;
        }
        let taken = choices.take_of_variable(name, known.len());
        let before = taken.and_then(|taken| known.get(taken)).cloned();
        appended(before.unwrap_or(Content::Unknown), given)
    });
    let contents: Vec<Content> = contents.into_iter().map(|(content, _)| content).collect();
    state.assign(name, contents.clone());
    Some((name.to_owned(), contents))
}

fn content_of(
    value: Node<'_>,
    source: Source<'_>,
    scope: Scope<'_>,
    choices: &mut Choices,
) -> Content {
    if value.kind() != "array" {
        return Content::Text(expand_value(source.of(value), scope, choices));
    }
    let mut elements = Vec::new();
    let mut cursor = value.walk();
    for element in value.named_children(&mut cursor) {
        let raw = source.of(element);
        if element.kind() == "comment" {
            continue;
        }
        for word in source.expand(element, scope, choices) {
            if !word.is_one_text() || raw.starts_with('[') {
                return Content::Unknown;
            }
            elements.push(word.text);
        }
    }
    Content::List(elements)
}

fn appended(before: Content, given: Content) -> Content {
    match (before, given) {
        (Content::List(unset), given) if unset.is_empty() => given,
        (Content::Text(before), Content::Text(given)) => Content::Text(before + &given),
        (Content::Unknown, Content::Text(given)) => Content::Text(format!("{UNKNOWN}{given}")),
        (Content::List(mut before), Content::List(given)) => {
            before.extend(given);
            Content::List(before)
        }
        _ => Content::Unknown,
    }
}

/// Sets what a builtin sets. `declare` and its kin come with their names as words.
pub(super) fn run_builtin(program: &str, args: &[Word], state: &mut ShellState) {
    match program {
        "printf" => print_into(args, state),
        "read" | "vared" | "sysread" | "mapfile" | "readarray" | "getopts" | "let" => {
            blur_names(args, state);
            if matches!(program, "read" | "mapfile" | "readarray") {
                let name = if program == "read" {
                    "REPLY"
                } else {
                    "MAPFILE"
                };
                state.blur(name);
            }
        }
        "source" | "." => state.blur_all(),
        "cd" | "chdir" | "pushd" => {
            let mut operands = args.iter().filter(|word| !word.text.starts_with('-'));
            match operands.next() {
                Some(word) => state.place.enter(Some(&from_variable(word))),
                None if args.is_empty() && program != "pushd" => state.place.enter(Some("~")),
                None => state.place.enter(None),
            }
        }
        "popd" => state.place.enter(None),
        "declare" | "typeset" | "local" | "export" | "readonly" | "integer" | "float" => {
            declare(program, args, state);
        }
        "unset" => unset(args, state),
        "set" => set(args, state),
        "shift" => {
            let count = args
                .first()
                .map_or(Ok(1), |word| word.text.parse::<usize>());
            shift(count.ok(), state);
        }
        "alias" => {
            let is_global = args.iter().any(|word| word.text == "-g");
            for word in args {
                if let Some((name, text)) = word.text.split_once('=') {
                    if is_global {
                        state.define_global_alias(name);
                    }
                    state.define_alias(name, text);
                }
            }
        }
        "abbr" => {
            let mut words = args.iter().skip_while(|word| word.text.starts_with('-'));
            if let Some(name) = words.next() {
                let texts: Vec<&str> = words.map(|word| word.text.as_str()).collect();
                state.define_alias(&name.text, &texts.join(" "));
            }
        }
        "hash" => {
            let given = options(args, Valued::These("p"), Order::OptionsFirst);
            for (_, name) in &given.operands {
                if let Some((_, path)) = given.value(&["p"]) {
                    state.define_alias(name, path);
                }
            }
        }
        _ => {}
    }
}

/// Lines of a text that `read` may take, in a loop.
const MAX_READ_LINES: usize = 8;

/// Adds what `read` may take of this text to the values of its variables. Which line it takes, and whether it
/// takes one, is not told.
pub(super) fn read_from(text: &str, args: &[Word], state: &mut ShellState) {
    let given = options(args, Valued::These("a d i n N p t u"), Order::OptionsFirst);
    let has_own_ends = given.has(&["a", "d", "n", "N", "u"]);
    if has_own_ends || state.contents("IFS").is_some() || text.contains('\\') {
        return;
    }
    let names: Vec<&str> = given.operands.iter().map(|(_, name)| *name).collect();
    for line in text.lines().take(MAX_READ_LINES) {
        let mut rest = line.trim();
        for (number, name) in names.iter().enumerate().filter(|(_, name)| is_name(name)) {
            let is_last = number + 1 == names.len();
            let end = rest.find([' ', '\t']).filter(|_| !is_last);
            let (value, behind) = rest.split_at(end.unwrap_or(rest.len()));
            state.may_assign(name, vec![Content::Text(value.to_owned())]);
            rest = behind.trim_start();
        }
    }
}

/// bash(1), shift: with more than there are, the parameters stay. `None`: the number is not known.
fn shift(count: Option<usize>, state: &mut ShellState) {
    let shifted = |content: &Content| match (content, count) {
        (Content::List(all), Some(count)) => {
            Content::List(all.get(count..).unwrap_or(all).to_vec())
        }
        _ => Content::Unknown,
    };
    if let Some(contents) = state.contents(PARAMETERS) {
        let contents = contents.iter().map(shifted).collect();
        state.assign(PARAMETERS, contents);
    }
}

/// A directory, with the place of `$HOME` or `$XDG_RUNTIME_DIR` where its word begins with that.
fn from_variable(word: &Word) -> String {
    let raw = word.raw.trim_start_matches('"');
    let is_home = raw.starts_with("$HOME") || raw.starts_with("${HOME}");
    let is_runtime = raw.starts_with("$XDG_RUNTIME_DIR") || raw.starts_with("${XDG_RUNTIME_DIR");
    match word.text.strip_prefix(UNKNOWN) {
        Some(rest) if is_home => format!("~{rest}"),
        Some(rest) if is_runtime => format!("/run/user/*{rest}"),
        _ => word.text.clone(),
    }
}

fn print_into(args: &[Word], state: &mut ShellState) {
    let given = options(args, Valued::These("v"), Order::OptionsFirst);
    let Some((_, name)) = given.value(&["v"]) else {
        return;
    };
    let mut texts = given.operands.iter().map(|(_, text)| *text);
    let format = texts.next().unwrap_or_default();
    let splits = args.iter().any(|word| word.splits);
    if splits || !is_name(name) {
        blur_names(args, state);
        return;
    }
    let values: Vec<&str> = texts.collect();
    let text = formatted_texts(format, &values);
    state.assign(name, vec![Content::Text(text)]);
}

/// Every word that may be a variable's name loses its value.
fn blur_names(args: &[Word], state: &mut ShellState) {
    for word in args {
        if word.text.contains(UNKNOWN) {
            state.blur_all();
        }
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        for name in word
            .text
            .split(|c| !is_part(c))
            .filter(|name| is_name(name))
        {
            state.blur(name);
        }
    }
}

fn declare(program: &str, args: &[Word], state: &mut ShellState) {
    let is_option = |word: &&Word| word.text.starts_with(['-', '+']);
    let letters: String = args
        .iter()
        .filter(is_option)
        .map(|word| word.text.as_str())
        .collect();
    let refers = letters.contains('T') || (letters.contains('n') && program != "export");
    let changes = letters.contains(['i', 'l', 'u', 'c']) || program == "integer";
    if refers {
        state.refer();
    }
    for word in args.iter().filter(|word| !is_option(word)) {
        let (name, value) = match word.text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.text.as_str(), None),
        };
        let (name, appends) = match name.strip_suffix('+') {
            Some(name) => (name, true),
            None => (name, false),
        };
        if !is_name(name) {
            blur_names(std::slice::from_ref(word), state);
            continue;
        }
        if program == "local"
            || (matches!(program, "declare" | "typeset") && !letters.contains('g'))
        {
            state.make_local(name);
        }
        match value {
            Some(value) if !appends && !value.starts_with('(') => {
                state.assign(name, vec![Content::Text(value.to_owned())]);
            }
            Some(_) => state.blur(name),
            None if matches!(program, "declare" | "typeset" | "local") => {
                state.declare(name);
            }
            None => {}
        }
        if changes {
            state.attribute(name);
        }
        if program == "export" || letters.contains('x') {
            state.export(name);
        }
    }
}

fn unset(args: &[Word], state: &mut ShellState) {
    for word in args.iter().filter(|word| !word.text.starts_with('-')) {
        if is_name(&word.text) {
            state.assign(&word.text, vec![Content::List(Vec::new())]);
        } else if word.text.starts_with('[') {
            // The grammar takes an element for two words.
            blur_names(args, state);
        } else {
            blur_names(std::slice::from_ref(word), state);
        }
    }
}

/// `set -- a b`, and fish's `set NAME value`.
fn set(args: &[Word], state: &mut ShellState) {
    let dashes = args.iter().position(|word| word.text == "--");
    let first = dashes.map(|at| at + 1).or_else(|| {
        let mut words = args.iter();
        words.position(|word| !word.text.starts_with(['-', '+']))
    });
    let operands = first.and_then(|at| args.get(at..)).unwrap_or_default();
    if dashes.is_some() || !operands.is_empty() {
        let is_known = operands.iter().all(Word::is_one_text);
        let texts = operands.iter().map(|word| word.text.clone());
        state.assign(
            PARAMETERS,
            vec![if is_known {
                Content::List(texts.collect())
            } else {
                Content::Unknown
            }],
        );
    }
    if let (None, Some((name, values))) = (dashes, operands.split_first())
        && is_name(&name.text)
    {
        let values: Vec<&str> = values.iter().map(|word| word.text.as_str()).collect();
        state.may_assign(&name.text, vec![Content::Text(values.join(" "))]);
    }
}

/// Blurs what a loop's body may set. A body is read once, and may run often.
pub(super) fn blur_assigned(body: Node<'_>, source: Source<'_>, state: &mut ShellState) {
    walk(body, |node| {
        match node.kind() {
            "variable_assignment" => {
                let name = node.child_by_field_name("name");
                let name = name.map_or("", |name| source.of(name));
                let name = name.split('[').next().unwrap_or(name);
                state.may_assign(name, vec![Content::Unknown]);
            }
            "for_statement" => {
                let name = node.child_by_field_name("variable");
                let name = name.map_or("", |name| source.of(name));
                state.may_assign(name, vec![Content::Unknown]);
            }
            "command" | "declaration_command" | "unset_command" => {
                let text = source.of(node);
                let mut words = text.split_whitespace();
                let first = words.next().unwrap_or_default();
                let words = words.filter(|word| !is_assignment(word));
                if SETTERS.contains(&first) || state.function(first).is_some() {
                    state.blur_all();
                } else if READERS.contains(&first) || node.kind() != "command" {
                    let names = words.filter(|word| is_name(word));
                    let names: Vec<String> = names.map(str::to_owned).collect();
                    for name in names {
                        state.may_assign(&name, vec![Content::Unknown]);
                    }
                }
            }
            _ => {}
        }
        ControlFlow::<(), _>::Continue(Step::Into)
    });
}
