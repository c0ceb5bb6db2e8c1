//! The statements of a script, by its tree: each command goes to a [`CommandSink`] with what it reads.

use termd_proto::policy::Verdict;
use tree_sitter::Node;

use super::command_sink::CommandSink;
use super::flow::{input_of, output_of};
use super::redirect::inspect_redirect;
use super::stdin::Stdin;
use crate::danger::fork_bomb::{FORK_BOMB, is_fork_bomb};
use crate::program::kind::{base_name, is_shell};
use crate::program::output::fetches;
use crate::shell::grammar_faults::words_behind_redirects;
use crate::shell::source::Source;
use crate::shell::variables::Variables;
use crate::shell::word::joined;

/// Values of one variable with which a command is read.
const MAX_CHOICES: usize = 8;

/// What a statement's redirections give its command.
#[derive(Debug, Default)]
struct Redirects<'t> {
    stdin: Option<Stdin>,
    /// Words of the command that the grammar takes for files.
    words: Vec<Node<'t>>,
}

/// A walk through the tree of one script.
pub(super) struct TreeWalk<'a> {
    pub(super) sink: &'a mut dyn CommandSink,
    pub(super) source: Source<'a>,
}

impl TreeWalk<'_> {
    /// Inspects a node and all that it holds.
    pub(super) fn statement(&mut self, node: Node<'_>, stdin: &Stdin, depth: usize) {
        let span = self.source.span(node);
        if self.sink.inspection().is_too_deep(depth, span) {
            return;
        }
        match node.kind() {
            "comment" => {}
            "list" => self.list(node, stdin, depth),
            "pipeline" => self.pipeline(node, stdin, depth),
            "redirected_statement" => self.redirected(node, stdin, depth),
            "command" => self.command(node, Redirects::default(), stdin, depth),
            "function_definition" => {
                if is_fork_bomb(node, self.source) {
                    self.sink
                        .inspection()
                        .note(Verdict::Dangerous, FORK_BOMB, span);
                }
                self.children(node, stdin, depth);
            }
            // A substitution reads what its command reads, not what the pipeline carries.
            "variable_assignment" => {
                self.assignment(node, depth);
                self.children(node, stdin, depth);
            }
            "command_substitution" | "process_substitution" => {
                self.children(node, &Stdin::Given, depth);
            }
            "file_redirect" => {
                self.file_redirect(node);
                self.children(node, stdin, depth);
            }
            _ => self.children(node, stdin, depth),
        }
    }

    fn assignment(&mut self, node: Node<'_>, depth: usize) {
        let fields = ["name", "value"].map(|field| node.child_by_field_name(field));
        if let [Some(name), Some(value)] = fields {
            let source = self.source;
            let words = source.expand(value, self.variables(), 0);
            let (name, value) = (source.of(name), joined(&words));
            let span = source.span(node);
            self.sink.assignment(name, &value, span, depth);
        }
    }

    fn children(&mut self, node: Node<'_>, stdin: &Stdin, depth: usize) {
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for child in children {
            self.statement(child, stdin, depth + 1);
        }
    }

    /// `a && b && c` is a tree that leans to the left, as deep as it is long.
    fn list(&mut self, node: Node<'_>, stdin: &Stdin, depth: usize) {
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
            self.statement(part, stdin, depth + 1);
        }
    }

    fn pipeline(&mut self, node: Node<'_>, stdin: &Stdin, depth: usize) {
        let mut cursor = node.walk();
        let stages: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        let mut flowing = stdin.clone();
        for stage in stages {
            self.statement(stage, &flowing, depth + 1);
            let source = self.source;
            flowing = output_of(stage, source, self.variables(), &flowing);
        }
    }

    fn redirected(&mut self, node: Node<'_>, stdin: &Stdin, depth: usize) {
        let given = self.input_of(node);
        self.note_reverse_shell(node);
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        let reads = given.clone().unwrap_or_else(|| stdin.clone());
        for child in children {
            match child.kind() {
                "file_redirect" => {
                    self.file_redirect(child);
                    self.note_fetched(node, child);
                    self.children(child, &Stdin::Given, depth + 1);
                }
                // The node holds the rest of the marker's line too: `cat <<EOF | sh`.
                "heredoc_redirect" => {
                    let through = match (&given, node.child_by_field_name("body")) {
                        (Some(given), Some(body)) if self.copies_its_input(body) => given.clone(),
                        (_, Some(body)) => {
                            let source = self.source;
                            output_of(body, source, self.variables(), &reads)
                        }
                        _ => Stdin::Computed,
                    };
                    self.heredoc(child, &through, depth + 1);
                }
                "herestring_redirect" => self.children(child, &Stdin::Given, depth + 1),
                "command" => {
                    let redirects = Redirects {
                        stdin: given.clone(),
                        words: words_behind_redirects(node),
                    };
                    self.command(child, redirects, stdin, depth + 1);
                }
                _ => self.statement(child, &reads, depth + 1),
            }
        }
    }

    /// Notes a shell that is tied to `/dev/tcp/host/port` (bash(1), REDIRECTION). Another program may
    /// look whether a port is open.
    fn note_reverse_shell(&mut self, node: Node<'_>) {
        let text = self.source.of(node);
        let connects = text.contains("/dev/tcp/") || text.contains("/dev/udp/");
        let program = self.first_word(node);
        if connects && (is_shell(program) || program == "exec") {
            let span = self.source.span(node);
            let reason = "it ties a shell to a connection";
            self.sink
                .inspection()
                .note(Verdict::Dangerous, reason, span);
        }
    }

    /// The name of the program that a statement begins with, as it is written.
    fn first_word(&self, node: Node<'_>) -> &str {
        let mut words = self.source.of(node).split_whitespace();
        words.next().map_or("", base_name)
    }

    /// Whether a statement prints what it reads.
    fn copies_its_input(&self, body: Node<'_>) -> bool {
        matches!(self.first_word(body), "cat" | "tee")
    }

    fn heredoc(&mut self, node: Node<'_>, through: &Stdin, depth: usize) {
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
        for child in children {
            match child.kind() {
                "pipeline" | "command" => {
                    let source = self.source.text;
                    let piped = source
                        .get(node.start_byte()..child.start_byte())
                        .is_some_and(|before| before.trim_end().ends_with('|'))
                        || child.kind() == "pipeline";
                    let reads = if piped { through } else { &Stdin::Given };
                    self.statement(child, reads, depth + 1);
                }
                "file_redirect" => self.file_redirect(child),
                _ => self.statement(child, &Stdin::Given, depth + 1),
            }
        }
    }

    fn command(&mut self, node: Node<'_>, redirects: Redirects<'_>, stdin: &Stdin, depth: usize) {
        let own = self.input_of(node);
        let reads = own.or(redirects.stdin).unwrap_or_else(|| stdin.clone());
        let source = self.source;
        let choices = self.variables().choices(source.of(node));
        for choice in 0..choices.min(MAX_CHOICES) {
            let mut words = source.words(node, self.variables(), choice);
            for word in &redirects.words {
                words.extend(source.expand(*word, self.variables(), choice));
            }
            self.sink.command(&words, &reads, depth + 1);
        }
        self.children(node, &Stdin::Given, depth);
    }

    fn file_redirect(&mut self, node: Node<'_>) {
        // Further destinations are words of the command.
        if let Some(file) = node.child_by_field_name("destination") {
            let (operator, target) = (self.source.operator(node), self.source.of(file));
            let span = self.source.span(file);
            inspect_redirect(self.sink.inspection(), operator, target, span);
        }
    }

    /// Learns of a file that a fetched text is written to.
    fn note_fetched(&mut self, statement: Node<'_>, redirect: Node<'_>) {
        let body = statement.child_by_field_name("body");
        let file = redirect.child_by_field_name("destination");
        if let (Some(body), Some(file)) = (body, file)
            && self.source.operator(redirect).contains('>')
            && fetches(self.source.of(body))
        {
            let name = base_name(self.source.of(file)).to_owned();
            self.sink.inspection().fetched_files.push(name);
        }
    }

    fn input_of(&mut self, node: Node<'_>) -> Option<Stdin> {
        let source = self.source;
        input_of(node, source, self.variables())
    }

    fn variables(&mut self) -> &Variables {
        &self.sink.inspection().variables
    }
}
