//! What a command prints, where the text tells: `echo`, `printf`, `cat` of a here-document, and what
//! names a program (`which`, `command -v`).

use tree_sitter::Node;

use super::choices::Choices;
use super::format::{echoed, formatted};
use super::source::{Nesting, Source};
use super::{Scope, expand_text};
use crate::shell::syntax::grammar::parse;
use crate::shell::word::{UNKNOWN, Word, joined};
use termd_proto::policy::Span;

/// The longest script of a substitution that is evaluated.
const MAX_SCRIPT_BYTES: usize = 16 << 10;

/// What a script prints. Parts that are not known stand as [`UNKNOWN`]; `None`: nothing of it is known.
pub(crate) fn printed(script: &str, scope: Scope<'_>, choices: &mut Choices) -> Option<String> {
    let first = script.split_whitespace().next().unwrap_or_default();
    let name = first.rsplit(['/', '\\']).next().unwrap_or_default();
    if script.len() > MAX_SCRIPT_BYTES || !prints_known(name) {
        return None;
    }
    let tree = parse(script)?;
    let root = tree.root_node();
    if root.has_error() || root.named_child_count() != 1 {
        return None;
    }
    let source = Source {
        text: script,
        nesting: Nesting::Within(Span { start: 0, end: 0 }),
    };
    let statement = root.named_child(0)?;
    let stages = match statement.kind() {
        "pipeline" => {
            let mut cursor = statement.walk();
            statement.named_children(&mut cursor).collect()
        }
        _ => vec![statement],
    };
    let mut flowing: Option<String> = None;
    for stage in stages {
        flowing = Some(printed_by_stage(
            stage,
            source,
            scope,
            choices,
            flowing.as_deref(),
        )?);
    }
    flowing
}

fn prints_known(name: &str) -> bool {
    matches!(
        name,
        "echo" | "printf" | "cat" | "which" | "command" | "builtin" | "mktemp"
    )
}

/// What one stage of a pipeline prints that reads `input`.
pub(crate) fn printed_by_stage(
    stage: Node<'_>,
    source: Source<'_>,
    scope: Scope<'_>,
    choices: &mut Choices,
    input: Option<&str>,
) -> Option<String> {
    let own = input_of(stage, source, scope, choices);
    let command = match stage.kind() {
        "redirected_statement" => stage.child_by_field_name("body")?,
        _ => stage,
    };
    if command.kind() != "command" || sends_elsewhere(stage, source) {
        return None;
    }
    let inner = input_of(command, source, scope, choices);
    let input = inner.or(own).or(input.map(str::to_owned));
    let words = source.words(command, scope, choices);
    printed_by(&words, input.as_deref())
}

/// Whether a statement's output goes to a file or a descriptor.
fn sends_elsewhere(stage: Node<'_>, source: Source<'_>) -> bool {
    let mut cursor = stage.walk();
    stage.named_children(&mut cursor).any(|child| {
        let descriptor = child.child_by_field_name("descriptor");
        child.kind() == "file_redirect"
            && source.operator(child).contains('>')
            && descriptor.is_none_or(|descriptor| source.of(descriptor) == "1")
    })
}

/// What a command prints that reads `input`.
pub(crate) fn printed_by(words: &[Word], input: Option<&str>) -> Option<String> {
    let (first, args) = words.split_first()?;
    let name = first.possible().rsplit('/').next().unwrap_or_default();
    if first.splits || (args.iter().any(|word| word.splits) && name != "cat") {
        // An option or a format may be among them.
        return matches!(name, "echo" | "printf").then(|| UNKNOWN.to_string());
    }
    match name {
        ":" | "true" => Some(String::new()),
        "echo" => Some(echoed(args)),
        "printf" => formatted(args),
        "cat" | "tee" if args.is_empty() => input.map(str::to_owned),
        "cat" if args.iter().all(|word| is_stdin(&word.text)) => input.map(str::to_owned),
        "which" if args.len() == 1 => Some(joined(args)),
        "mktemp" => Some(temporary_path(args)),
        "command" | "builtin" => match args.first()?.text.as_str() {
            "-v" if args.len() == 2 => Some(args.get(1)?.text.clone()),
            option if option.starts_with('-') => None,
            _ => printed_by(args, input),
        },
        _ => None,
    }
}

/// The path that mktemp(1) prints, with the part that it makes up as [`UNKNOWN`].
fn temporary_path(args: &[Word]) -> String {
    let (mut template, mut directory, mut suffix) = ("tmp.XXXXXXXXXX", None, "");
    let mut words = args.iter().map(|word| word.text.as_str());
    while let Some(word) = words.next() {
        if let Some(value) = word.strip_prefix("--suffix=") {
            suffix = value;
        } else if word == "--suffix" {
            suffix = words.next().unwrap_or_default();
        } else if let Some(value) = word.strip_prefix("--tmpdir=") {
            directory = Some(value);
        } else if word == "-p" {
            directory = words.next();
        } else if !word.starts_with('-') {
            template = word;
            directory = directory.or(Some("")).filter(|_| template.contains('/'));
        }
    }
    let made_up = template.rfind('X').map_or(template.len(), |at| at + 1);
    let (before, after) = template.split_at(made_up);
    let name = format!("{}{UNKNOWN}{after}{suffix}", before.trim_end_matches('X'));
    match directory.unwrap_or("/tmp") {
        "" => name,
        directory => format!("{directory}/{name}"),
    }
}

/// Whether a path leads to the standard input of the program that opens it
/// (`proc_pid_fd(5)`).
pub(crate) fn is_stdin(path: &str) -> bool {
    matches!(path, "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
}

/// Whether a path leads to a descriptor of the program that opens it.
pub(crate) fn is_descriptor(path: &str) -> bool {
    path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/") || path == "/dev/stdin"
}

/// The text that a statement's own redirections give it to read. The last one counts.
pub(crate) fn input_of(
    statement: Node<'_>,
    source: Source<'_>,
    scope: Scope<'_>,
    choices: &mut Choices,
) -> Option<String> {
    let mut cursor = statement.walk();
    let redirects: Vec<Node<'_>> = statement.named_children(&mut cursor).collect();
    let mut last_first = redirects.into_iter().rev();
    last_first.find_map(|redirect| match redirect.kind() {
        "heredoc_redirect" => Some(here_document(redirect, source, scope, choices)),
        _ => here_string(redirect, source, scope, choices),
    })
}

/// The text of a here-string, also of one that the grammar takes for a file.
pub(crate) fn here_string(
    redirect: Node<'_>,
    source: Source<'_>,
    scope: Scope<'_>,
    choices: &mut Choices,
) -> Option<String> {
    let word = match redirect.kind() {
        "herestring_redirect" => redirect.named_child(0)?,
        "file_redirect" if source.operator(redirect) == "<<<" => {
            redirect.child_by_field_name("destination")?
        }
        _ => return None,
    };
    let words = source.expand(word, scope, choices);
    Some(format!("{}\n", joined(&words)))
}

/// The text of a here-document: as it stands if its marker is quoted, otherwise expanded.
pub(crate) fn here_document(
    redirect: Node<'_>,
    source: Source<'_>,
    scope: Scope<'_>,
    choices: &mut Choices,
) -> String {
    let (mut marker, mut body, mut end) = ("", "", "");
    let mut cursor = redirect.walk();
    for child in redirect.named_children(&mut cursor) {
        match child.kind() {
            "heredoc_start" => marker = source.of(child),
            "heredoc_body" => body = source.of(child),
            "heredoc_end" => end = source.of(child),
            _ => {}
        }
    }
    if let Some((_, lines)) = source.of(redirect).split_once('\n') {
        let whole = lines.strip_suffix(end).unwrap_or(lines);
        // The grammar loses the first line of a body that begins with a backslash.
        if whole.trim_start().starts_with('\\') && whole.ends_with(body) {
            body = whole;
        }
    }
    let text = if marker.contains(['\'', '"', '\\']) {
        body.to_owned()
    } else {
        expand_text(body, scope, choices)
    };
    if source.of(redirect).starts_with("<<-") {
        let lines = text.split_inclusive('\n');
        return lines.map(|line| line.trim_start_matches('\t')).collect();
    }
    text
}
