//! A statement with redirections: what it reads and prints by them, and the files that get its output.

use termd_proto::policy::Verdict;
use tree_sitter::Node;

use super::{Redirects, TreeWalk, named_children};
use crate::inspect::emptied::Emptied;
use crate::inspect::flow::output_of_statement;
use crate::inspect::script::inspect_script;
use crate::inspect::stdin::Stdin;
use crate::program::kind::{base_name, is_shell};
use crate::program::output::fetches;
use crate::shell::expansion::Scope;
use crate::shell::expansion::choices::Choices;
use crate::shell::expansion::printed::is_descriptor;
use crate::shell::expansion::source::Nesting;
use crate::shell::syntax::grammar_faults::words_behind_redirects;
use crate::shell::word::Word;

/// A statement with redirections.
pub(super) struct RedirectedStatement<'w, 'a, 't> {
    walk: &'w mut TreeWalk<'a>,
    node: Node<'t>,
    /// What its redirections give it to read.
    given: Option<Stdin>,
    /// What it prints. The output of a program that copies a file is the file.
    output: Stdin,
    /// The same as a text.
    printed: Stdin,
}

impl<'w, 'a, 't> RedirectedStatement<'w, 'a, 't> {
    /// Inspects a statement with redirections that reads `stdin` where they give it nothing else.
    pub(super) fn inspect(walk: &'w mut TreeWalk<'a>, node: Node<'t>, stdin: &Stdin, depth: usize) {
        let given = walk.input_of(node);
        let reads = given.as_ref().unwrap_or(stdin);
        let body = node.child_by_field_name("body");
        let source = walk.source;
        let output = body.map_or_else(
            || Stdin::Literal(String::new()),
            |body| output_of_statement(body, source, walk.state(), reads),
        );
        let printed = match &output {
            Stdin::Given | Stdin::File(_) | Stdin::Joined(_) => Stdin::Computed,
            printed => printed.clone(),
        };
        let mut statement = Self {
            walk,
            node,
            given,
            output,
            printed,
        };
        statement.note_reverse_shell();
        statement.note_words();
        statement.parts(stdin, depth);
    }

    /// Notes words behind the redirections of a statement that is no command. The grammar has misread it.
    fn note_words(&mut self) {
        let has_words = !words_behind_redirects(self.node, self.walk.source.text).is_empty();
        let body = self.node.child_by_field_name("body");
        if has_words && body.is_none_or(|body| body.kind() != "command") {
            let span = self.walk.source.span(self.node);
            self.walk.sink.inspection().note_possible(span);
        }
    }

    fn parts(&mut self, stdin: &Stdin, depth: usize) {
        let (node, source) = (self.node, self.walk.source);
        let emptied = Emptied::by(node, source);
        let reads = self.given.clone().unwrap_or_else(|| stdin.clone());
        for child in named_children(node) {
            match child.kind() {
                "file_redirect" => {
                    self.walk.file_redirect(child);
                    self.note_fetched(child);
                    if let Some(reason) = emptied.reason(child) {
                        self.walk.note_danger(reason, child);
                    }
                    self.feed(child, depth);
                    self.learn_written(child, &self.output.clone());
                }
                // The node holds the rest of the marker's line too: `cat <<EOF | sh`.
                "heredoc_redirect" => {
                    let through = match (&self.given, node.child_by_field_name("body")) {
                        (Some(given), Some(body)) if self.copies_its_input(body) => given.clone(),
                        (_, Some(_)) => self.printed.clone(),
                        _ => Stdin::Computed,
                    };
                    self.heredoc(child, &through, depth + 1);
                }
                "herestring_redirect" => self.walk.children(child, &Stdin::Given, depth + 1),
                "command" => {
                    let redirects = Redirects {
                        stdin: self.given.clone(),
                        words: words_behind_redirects(node, source.text),
                    };
                    self.walk.command(child, redirects, stdin, depth + 1);
                    if self.first_word(child) == "exec" && source.of(node).contains(">(") {
                        self.walk.state().feeds_program = true;
                    }
                }
                _ => self.walk.statement(child, &reads, depth + 1),
            }
        }
    }

    /// Inspects what a redirection makes of the output: the input of `>(…)`, or of a program that an earlier
    /// statement has started.
    fn feed(&mut self, redirect: Node<'_>, depth: usize) {
        let source = self.walk.source;
        for child in named_children(redirect) {
            let is_written = source.of(child).starts_with(">(");
            if child.kind() == "process_substitution" && is_written {
                self.walk.apart(child, &self.printed, depth + 1);
            } else {
                self.walk.statement(child, &Stdin::Given, depth + 1);
            }
        }
        let Some(place) = redirect.child_by_field_name("destination") else {
            return;
        };
        let (operator, target) = (source.operator(redirect), source.of(place));
        let is_standard = matches!(target, "1" | "2" | "-" | "/dev/stdout" | "/dev/stderr");
        let leads = (operator == ">&" || is_descriptor(target)) && !is_standard;
        if !(leads && operator.contains('>') && self.walk.state().feeds_program) {
            return;
        }
        let span = source.span(redirect);
        if let Some(text) = self.printed.text() {
            let nesting = Nesting::Within(span);
            inspect_script(self.walk.sink, text, nesting, &Stdin::Given, depth + 1);
        } else {
            let reason = "it writes to a program that was started before";
            self.walk
                .sink
                .inspection()
                .note(Verdict::Unknown, reason, span);
        }
    }

    /// Learns of the file that a redirection gives what a statement prints.
    fn learn_written(&mut self, redirect: Node<'_>, printed: &Stdin) {
        let source = self.walk.source;
        let operator = source.operator(redirect);
        let Some(place) = redirect.child_by_field_name("destination") else {
            return;
        };
        if !operator.contains('>') || place.kind() == "process_substitution" {
            return;
        }
        let descriptor = redirect.child_by_field_name("descriptor");
        let is_of_stdout = descriptor.is_none_or(|descriptor| source.of(descriptor) == "1");
        let text = if is_of_stdout && operator != "<>" {
            printed
        } else {
            &Stdin::Computed
        };
        let state = &self.walk.sink.inspection().state;
        let words = source.expand(place, Scope::of(state), &mut Choices::none());
        let parts: Vec<String> = words.iter().map(Word::path).collect();
        let path = parts.join(" ");
        let is_number = path.chars().all(|c| c.is_ascii_digit() || c == '-');
        if !(operator == ">&" && is_number) {
            let written = &mut self.walk.sink.inspection().written;
            written.learn(&path, text, operator.contains(">>"));
        }
    }

    /// Learns of a file that a fetched text is written to.
    fn note_fetched(&mut self, redirect: Node<'_>) {
        let body = self.node.child_by_field_name("body");
        let file = redirect.child_by_field_name("destination");
        if let (Some(body), Some(file)) = (body, file)
            && self.walk.source.operator(redirect).contains('>')
            && fetches(self.walk.source.of(body))
        {
            let state = &self.walk.sink.inspection().state;
            let words = self
                .walk
                .source
                .expand(file, Scope::of(state), &mut Choices::none());
            let names = words.iter().map(|word| base_name(&word.text).to_owned());
            let names: Vec<String> = names.collect();
            self.walk.sink.inspection().fetched.files.extend(names);
        }
    }

    /// Notes a shell that is tied to `/dev/tcp/host/port` (bash(1), REDIRECTION). Another program may
    /// look whether a port is open.
    fn note_reverse_shell(&mut self) {
        let node = self.node;
        let text = self.walk.source.of(node);
        let connects = text.contains("/dev/tcp/") || text.contains("/dev/udp/");
        let program = self.first_word(node);
        if connects && (is_shell(program) || program == "exec") {
            self.walk
                .note_danger("it ties a shell to a connection", node);
        }
    }

    /// The name of the program that a statement begins with, as it is written.
    fn first_word(&self, node: Node<'_>) -> &str {
        let mut words = self.walk.source.of(node).split_whitespace();
        words.next().map_or("", base_name)
    }

    /// Whether a statement prints what it reads.
    fn copies_its_input(&self, body: Node<'_>) -> bool {
        matches!(self.first_word(body), "cat" | "tee")
    }

    /// Inspects a here-document, with the rest of its marker's line. `through` is what comes out of the statement
    /// there: `cat <<EOF | sh`.
    fn heredoc(&mut self, node: Node<'_>, through: &Stdin, depth: usize) {
        for child in named_children(node) {
            match child.kind() {
                "pipeline" | "command" => {
                    let source = self.walk.source.text;
                    let piped = source
                        .get(node.start_byte()..child.start_byte())
                        .is_some_and(|before| before.trim_end().ends_with('|'))
                        || child.kind() == "pipeline";
                    let reads = if piped { through } else { &Stdin::Given };
                    self.walk.statement(child, reads, depth + 1);
                }
                "file_redirect" => {
                    self.walk.file_redirect(child);
                    self.feed(child, depth);
                    self.learn_written(child, &self.printed.clone());
                }
                _ => self.walk.statement(child, &Stdin::Given, depth + 1),
            }
        }
    }
}
