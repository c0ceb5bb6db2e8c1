//! Files that a redirection empties: with nothing (`: > orders.csv`), or before they are read (`sort f > f`).

use std::collections::HashSet;

use tree_sitter::Node;

use crate::danger::files::is_kept;
use crate::program::kind::base_name;
use crate::shell::expansion::source::Source;
use crate::word_list::is_listed;

/// Programs whose operands are words, or files of other places.
const PRINTERS: &str = "
    echo printf : true false test [ expr touch mkdir mktemp basename dirname date which type cd export set exit rm ln
    git docker kubectl npm cargo make sleep kill seq yes sponge
    ssh mosh adb vagrant podman nerdctl lxc gh curl wget http pip brew man helm aws gcloud az";

/// Commands that print nothing, or a line feed.
const NOTHING: [&str; 14] = [
    "",
    ":",
    "true",
    "cat /dev/null",
    "echo",
    "echo -n",
    "printf ''",
    "echo -n ''",
    "printf \"\"",
    "cat <<< ''",
    "cat <<< \"\"",
    "echo \"\"",
    "echo ''",
    "echo -n \"\"",
];

/// Programs that copy what they read to its end.
const COPIERS: &str = "cat yes tr base64 base32 gzip xz zstd pv tee rev nl";

/// What the redirections of a statement may lose.
pub(super) struct Emptied<'a> {
    source: Source<'a>,
    /// The files that the statement's pipeline reads.
    read: HashSet<&'a str>,
    /// The files that the text appends to.
    appended: HashSet<&'a str>,
    is_endless: bool,
    prints_nothing: bool,
}

impl<'a> Emptied<'a> {
    pub(super) fn by(statement: Node<'_>, source: Source<'a>) -> Self {
        let whole = whole(statement);
        let body = statement.child_by_field_name("body");
        let printed = body.map_or("", |body| source.of(body));
        let appended = source.text.split(">>").skip(1);
        let first = |rest: &'a str| name(rest.split_whitespace().next().unwrap_or(""));
        Self {
            source,
            read: read_by(whole, source),
            appended: appended.map(first).collect(),
            is_endless: is_endless(whole, source),
            prints_nothing: NOTHING.contains(&printed.trim()),
        }
    }

    /// Why a redirection loses what its file holds.
    pub(super) fn reason(&self, redirect: Node<'_>) -> Option<&'static str> {
        let source = self.source;
        let operator = source.operator(redirect);
        let descriptor = redirect.child_by_field_name("descriptor");
        let is_output = descriptor.is_none_or(|descriptor| source.of(descriptor) == "1");
        if !matches!(operator, ">" | ">|" | "&>") || !is_output {
            return None;
        }
        let file = name(source.of(redirect.child_by_field_name("destination")?));
        let is_memory = file.starts_with("/dev/shm/");
        if (is_memory || !file.starts_with("/dev/")) && self.is_endless {
            return Some("it fills a disk with what does not end");
        }
        if file.starts_with("/dev/") || file.is_empty() {
            return None;
        }
        if self.prints_nothing && is_kept(file) && !self.appended.contains(file) {
            return Some("it empties a file of data");
        }
        let is_read = self.read.contains(file);
        is_read.then_some("it empties a file before it is read")
    }
}

/// The pipeline that a statement is the last stage of, or the statement.
fn whole(statement: Node<'_>) -> Node<'_> {
    let parent = statement.parent();
    parent
        .filter(|parent| parent.kind() == "pipeline")
        .unwrap_or(statement)
}

/// Whether a statement copies what does not end: `cat /dev/zero`, `yes | tr -d x`.
fn is_endless(statement: Node<'_>, source: Source<'_>) -> bool {
    let text = source.of(statement);
    let reads_endless = ["/dev/zero", "/dev/urandom", "/dev/random"]
        .iter()
        .any(|device| text.contains(device));
    let mut stages = text.split('|').map(|stage| {
        let mut words = stage.split_whitespace();
        base_name(words.next().unwrap_or_default())
    });
    let is_yes = stages.clone().next() == Some("yes");
    (reads_endless || is_yes) && stages.all(|program| is_listed(program, COPIERS))
}

/// Why a pipeline loses a file that one stage reads and another one writes anew: `sort f | tee f`.
pub(super) fn reason_of_pipeline(pipeline: Node<'_>, source: Source<'_>) -> Option<&'static str> {
    let mut cursor = pipeline.walk();
    let stages: Vec<Node<'_>> = pipeline.named_children(&mut cursor).collect();
    let loses = stages.iter().enumerate().any(|(at, stage)| {
        let words: Vec<&str> = source.of(*stage).split_whitespace().collect();
        let Some(("tee", args)) = words.split_first().map(|(name, args)| (*name, args)) else {
            return false;
        };
        let appends = args.iter().any(|word| matches!(*word, "-a" | "--append"));
        let mut files = args
            .iter()
            .filter(|word| !word.starts_with(['-', '>', '/']));
        let before = stages.get(..at).unwrap_or_default();
        !appends
            && files.any(|file| {
                let mut before = before.iter();
                before.any(|stage| read_by(*stage, source).contains(name(file)))
            })
    });
    loses.then_some("it empties a file before it is read")
}

/// The files that commands below a node read.
fn read_by<'a>(node: Node<'_>, source: Source<'a>) -> HashSet<&'a str> {
    let mut files = HashSet::new();
    let mut rest = vec![node];
    while let Some(node) = rest.pop() {
        match node.kind() {
            // These run before the redirections of their command.
            "command_substitution" | "process_substitution" | "heredoc_redirect" => continue,
            "file_redirect" => {
                let destination = node.child_by_field_name("destination");
                let read = destination.filter(|_| source.operator(node) == "<");
                files.extend(read.map(|place| name(source.of(place))));
                continue;
            }
            "command" => add_operands(node, source, &mut files),
            _ => {}
        }
        let mut cursor = node.walk();
        rest.extend(node.named_children(&mut cursor));
    }
    files
}

fn add_operands<'a>(command: Node<'_>, source: Source<'a>, files: &mut HashSet<&'a str>) {
    let program = command.child_by_field_name("name");
    let program = program.map_or("", |name| base_name(source.of(name)));
    if !is_listed(program, PRINTERS) {
        let mut cursor = command.walk();
        let operands = command.children_by_field_name("argument", &mut cursor);
        files.extend(operands.map(|word| name(source.of(word))));
    }
}

/// A file as it is written, without its quotes.
fn name(raw: &str) -> &str {
    let name = raw.trim_matches(['"', '\'', ';', ')']);
    name.strip_prefix("./").unwrap_or(name)
}
