//! A shell's text, by tree-sitter's grammar of bash: each command in it goes to the
//! [`Inspector`], with what it reads and where its output goes.
//!
//! It must not know what is dangerous about a command; about a place to write to it asks
//! [`danger`](crate::danger).

use termd_proto::policy::{MAX_JUDGED_BYTES, Span, Verdict};
use tree_sitter::Node;

use crate::danger;
use crate::danger::fork_bomb::{FORK_BOMB, is_fork_bomb, looks_like_a_fork_bomb};
use crate::inspect::inspector::{Inspector, Place, Stdin};
use crate::program::kind::{self, base_name};
use crate::shell::confusables::hidden_character;
use crate::shell::grammar::{
    behind_redirections, ends_with_dollar, parse, redirection_over_lines, word_over_lines,
};
use crate::shell::lexer;
use crate::shell::word::{Word, expand};

/// One text on its way through its tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'a> {
    pub(crate) text: &'a str,
    place: Place,
}

impl Text<'_> {
    pub(crate) fn of(&self, node: Node<'_>) -> &str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    pub(crate) fn span(&self, node: Node<'_>) -> Span {
        self.place.span(Span {
            start: node.start_byte(),
            end: node.end_byte(),
        })
    }
}

/// Where a command's output goes, or its input comes from.
#[derive(Debug, Default)]
struct Redirects<'t> {
    stdin: Option<Stdin>,
    /// Words that the grammar took for places to write to.
    words: Vec<Node<'t>>,
}

impl Inspector {
    /// Judges a shell's text.
    pub(crate) fn shell(&mut self, text: &str, place: Place, stdin: &Stdin, depth: usize) {
        let whole = place.span(Span {
            start: 0,
            end: text.len(),
        });
        if self.is_too_deep(depth, whole) {
            return;
        }
        if text.len() > MAX_JUDGED_BYTES {
            self.note(
                Verdict::Unknown,
                "it is longer than is looked at (64 KiB)",
                whole,
            );
            return;
        }
        if !self.may_read(text.len()) {
            let reason = "too much of it stands within itself to be looked into";
            self.note(Verdict::Unknown, reason, whole);
            return;
        }
        if let Some((at, c)) = hidden_character(text) {
            let span = place.span(Span {
                start: at,
                end: at + c.len_utf8(),
            });
            let reason = format!(
                "it holds a character that hides what it does ({})",
                c.escape_unicode()
            );
            self.note(Verdict::Unknown, reason, span);
            // What it says beside is still looked at: a danger is worth more than a doubt.
        }
        if let Some(at) = word_over_lines(text) {
            let end = at + "\\\n".len();
            let span = place.span(Span { start: at, end });
            let reason = "a word of it goes on in the next line";
            self.note(Verdict::Unknown, reason, span);
        }
        let normal: String;
        let read = if text.contains(['\r', '\u{b}', '\u{c}']) {
            normal = text.replace(['\r', '\u{b}', '\u{c}'], "\n");
            normal.as_str()
        } else {
            text
        };
        match parse(read) {
            Some(tree) if !tree.root_node().has_error() && !ends_with_dollar(&tree, read) => {
                let text = Text { text: read, place };
                if let Some(redirect) = redirection_over_lines(&tree, read) {
                    let reason = "a redirection goes on in the next line";
                    self.note(Verdict::Unknown, reason, text.span(redirect));
                }
                self.assignments(tree.root_node(), text);
                self.statement(tree.root_node(), text, stdin, depth);
            }
            _ => self.not_parsed(read, place, whole, stdin, depth),
        }
    }

    /// What the grammar does not take is cut into commands by hand, to find what is plainly
    /// dangerous; the rest of it is not known.
    fn not_parsed(&mut self, text: &str, place: Place, whole: Span, stdin: &Stdin, depth: usize) {
        if looks_like_a_fork_bomb(text) {
            self.note(Verdict::Dangerous, FORK_BOMB, whole);
        }
        self.commands_by_hand(text, place, stdin, depth);
        if !lexer::is_plain(text) {
            self.note(Verdict::Unknown, "it cannot be read as shell", whole);
        }
    }

    /// The commands of a text, cut out without a grammar.
    pub(crate) fn commands_by_hand(
        &mut self,
        text: &str,
        place: Place,
        stdin: &Stdin,
        depth: usize,
    ) {
        for command in lexer::commands(text) {
            let mut words = Vec::new();
            for (raw, span) in &command.words {
                words.extend(expand(raw, place.span(*span), &self.variables, 0));
            }
            for (operator, raw, span) in &command.redirects {
                self.redirect(operator, raw, place.span(*span));
            }
            let piped = match command.fed_by {
                lexer::Feed::Nobody => stdin.clone(),
                lexer::Feed::Fetcher => Stdin::Fetched,
                lexer::Feed::Command => Stdin::Computed,
            };
            self.argv(&words, &piped, depth + 1);
            for inner in &command.substitutions {
                self.commands_by_hand_within(inner, place, depth + 1);
            }
        }
    }

    fn commands_by_hand_within(&mut self, inner: &(String, Span), place: Place, depth: usize) {
        let span = place.span(inner.1);
        if !self.is_too_deep(depth, span) {
            self.shell(&inner.0, Place::Within(span), &Stdin::Given, depth);
        }
    }

    fn statement(&mut self, node: Node<'_>, text: Text<'_>, stdin: &Stdin, depth: usize) {
        if self.is_too_deep(depth, text.span(node)) {
            return;
        }
        match node.kind() {
            "comment" => {}
            "list" => self.list(node, text, stdin, depth),
            "pipeline" => self.pipeline(node, text, stdin, depth),
            "redirected_statement" => self.redirected(node, text, stdin, depth),
            "command" => self.command(node, Redirects::default(), text, stdin, depth),
            "function_definition" => {
                if is_fork_bomb(node, text) {
                    self.note(Verdict::Dangerous, FORK_BOMB, text.span(node));
                }
                self.children(node, text, stdin, depth);
            }
            // What a substitution reads is what its command reads, and not what flows by.
            "command_substitution" | "process_substitution" => {
                self.children(node, text, &Stdin::Given, depth);
            }
            "file_redirect" => {
                self.file_redirect(node, text);
                self.children(node, text, stdin, depth);
            }
            _ => self.children(node, text, stdin, depth),
        }
    }

    fn children(&mut self, node: Node<'_>, text: Text<'_>, stdin: &Stdin, depth: usize) {
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for child in children {
            self.statement(child, text, stdin, depth + 1);
        }
    }

    /// `a && b && c` leans to the left, as deep as it is long.
    fn list(&mut self, node: Node<'_>, text: Text<'_>, stdin: &Stdin, depth: usize) {
        let (mut left, mut parts) = (node, Vec::new());
        while left.kind() == "list" {
            let mut cursor = left.walk();
            let children: Vec<Node<'_>> = left.named_children(&mut cursor).collect();
            let Some((first, rest)) = children.split_first() else {
                break;
            };
            parts.extend(rest.iter().rev());
            left = *first;
        }
        parts.push(left);
        for part in parts.into_iter().rev() {
            self.statement(part, text, stdin, depth + 1);
        }
    }

    fn pipeline(&mut self, node: Node<'_>, text: Text<'_>, stdin: &Stdin, depth: usize) {
        let mut cursor = node.walk();
        let stages: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        let mut flowing = stdin.clone();
        for stage in stages {
            self.statement(stage, text, &flowing, depth + 1);
            flowing = self.output_of(stage, text, &flowing);
        }
    }

    fn redirected(&mut self, node: Node<'_>, text: Text<'_>, stdin: &Stdin, depth: usize) {
        let given = self.input_of(node, text);
        if text.of(node).contains("/dev/tcp/") || text.of(node).contains("/dev/udp/") {
            self.reverse_shell(node, text);
        }
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        let reads = given.clone().unwrap_or_else(|| stdin.clone());
        for child in children {
            match child.kind() {
                "file_redirect" => {
                    self.file_redirect(child, text);
                    self.children(child, text, &Stdin::Given, depth + 1);
                }
                // What stands behind `<<EOF` on its line is in here: `cat <<EOF | sh`.
                "heredoc_redirect" => {
                    let through = match (&given, node.child_by_field_name("body")) {
                        (Some(given), Some(body)) if passes_through(body, text) => given.clone(),
                        (_, Some(body)) => self.output_of(body, text, &reads),
                        _ => Stdin::Computed,
                    };
                    self.heredoc(child, text, &through, depth + 1);
                }
                "herestring_redirect" => self.children(child, text, &Stdin::Given, depth + 1),
                "command" => {
                    let redirects = Redirects {
                        stdin: given.clone(),
                        words: behind_redirections(node),
                    };
                    self.command(child, redirects, text, stdin, depth + 1);
                }
                _ => self.statement(child, text, &reads, depth + 1),
            }
        }
    }

    /// bash(1), REDIRECTION: `/dev/tcp/host/port`. To look whether a port is open is no harm.
    fn reverse_shell(&mut self, node: Node<'_>, text: Text<'_>) {
        let first = text
            .of(node)
            .split_whitespace()
            .next()
            .map_or("", base_name);
        if kind::is_shell(first) || first == "exec" {
            let reason = "it ties a shell to a connection";
            self.note(Verdict::Dangerous, reason, text.span(node));
        }
    }

    fn heredoc(&mut self, node: Node<'_>, text: Text<'_>, through: &Stdin, depth: usize) {
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for child in children {
            match child.kind() {
                "pipeline" | "command" => {
                    let piped = text
                        .text
                        .get(node.start_byte()..child.start_byte())
                        .is_some_and(|before| before.trim_end().ends_with('|'))
                        || child.kind() == "pipeline";
                    let reads = if piped { through } else { &Stdin::Given };
                    self.piped_into(child, text, reads, depth + 1);
                }
                "file_redirect" => self.file_redirect(child, text),
                _ => self.statement(child, text, &Stdin::Given, depth + 1),
            }
        }
    }

    fn piped_into(&mut self, node: Node<'_>, text: Text<'_>, reads: &Stdin, depth: usize) {
        if node.kind() == "pipeline" {
            self.pipeline(node, text, reads, depth);
        } else {
            self.statement(node, text, reads, depth);
        }
    }

    fn command(
        &mut self,
        node: Node<'_>,
        redirects: Redirects<'_>,
        text: Text<'_>,
        stdin: &Stdin,
        depth: usize,
    ) {
        let own = self.input_of(node, text);
        let reads = own.or(redirects.stdin).unwrap_or_else(|| stdin.clone());
        let choices = self.variables.choices(text.of(node)).min(8);
        for choice in 0..choices {
            let mut words = self.words(node, text, choice);
            for word in &redirects.words {
                let raw = text.of(*word);
                words.extend(expand(raw, text.span(*word), &self.variables, choice));
            }
            self.argv(&words, &reads, depth + 1);
        }
        self.children(node, text, &Stdin::Given, depth);
    }

    /// A command's words, expanded.
    pub(crate) fn words(&self, command: Node<'_>, text: Text<'_>, choice: usize) -> Vec<Word> {
        let mut cursor = command.walk();
        let mut words = Vec::new();
        for child in command.children(&mut cursor) {
            let is_word = !matches!(
                child.kind(),
                "variable_assignment"
                    | "file_redirect"
                    | "herestring_redirect"
                    | "heredoc_redirect"
                    | "comment"
                    | "subshell"
            );
            if is_word {
                let raw = text.of(child);
                words.extend(expand(raw, text.span(child), &self.variables, choice));
            }
        }
        for word in behind_redirections(command) {
            let raw = text.of(word);
            words.extend(expand(raw, text.span(word), &self.variables, choice));
        }
        words
    }

    fn file_redirect(&mut self, node: Node<'_>, text: Text<'_>) {
        let operator = operator(node, text).to_owned();
        let mut cursor = node.walk();
        let destinations: Vec<Node<'_>> = node
            .children_by_field_name("destination", &mut cursor)
            .collect();
        if let Some(destination) = destinations.first() {
            self.redirect(&operator, text.of(*destination), text.span(*destination));
        }
    }

    fn redirect(&mut self, operator: &str, raw: &str, span: Span) {
        if !operator.contains('>') {
            return;
        }
        let appends = operator.contains(">>");
        for word in expand(raw, span, &self.variables, 0) {
            if let Some(reason) = danger::of_writing(&word.text, appends) {
                self.note(Verdict::Dangerous, reason, span);
            }
        }
    }
}

/// Whether a statement prints what it reads.
fn passes_through(body: Node<'_>, text: Text<'_>) -> bool {
    let name = text
        .of(body)
        .split_whitespace()
        .next()
        .map_or("", base_name);
    matches!(name, "cat" | "tee")
}

pub(crate) fn operator<'a>(redirect: Node<'_>, text: Text<'a>) -> &'a str {
    let mut cursor = redirect.walk();
    let found = redirect
        .children(&mut cursor)
        .find(|child| child.kind().contains(['<', '>']) && child.kind() != "process_substitution");
    found
        .and_then(|node| text.text.get(node.byte_range()))
        .unwrap_or_default()
}
