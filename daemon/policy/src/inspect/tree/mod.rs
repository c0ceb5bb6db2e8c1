//! The statements of a script, by its tree, in the order in which they run: each command goes to a
//! [`CommandSink`] with what it reads, and what it sets counts for those behind it.
//!
//! Where a statement may run or not, what is set there may be set or not. A loop's body is read once, with
//! what it sets as unknown. Subshells and stages of a pipeline set nothing.

mod declaration;
mod redirected;
mod temporary;

use std::collections::HashSet;

use termd_proto::policy::{Span, Verdict};
use tree_sitter::Node;

use super::assignment::{assign, blur_assigned};
use super::command_sink::CommandSink;
use super::emptied;
use super::flow::{input_of, output_of};
use super::redirect::inspect_redirect;
use super::script::{inspect_script, inspect_subscript};
use super::stdin::Stdin;
use crate::danger::fork_bomb::{FORK_BOMB, JOBS_WITHOUT_END, is_fork_bomb, starts_without_end};
use crate::shell::expansion::Scope;
use crate::shell::expansion::choices::readings;
use crate::shell::expansion::source::{Nesting, Source};
use crate::shell::state::state_union::StateUnion;
use crate::shell::state::{Content, ShellState};
use crate::shell::syntax::reserved_words::is_reserved;
use crate::shell::text::backticks::unescaped;
use crate::shell::word::UNKNOWN;
use crate::work;
use declaration::inspect_declaration;
use redirected::RedirectedStatement;
use temporary::TemporaryAssignments;

/// What it takes to walk over a node, beside the state that is copied for it.
const UNITS_OF_STATEMENT: usize = 16;
/// What it takes to look at a value that a variable is given, beside its bytes.
const UNITS_OF_ASSIGNED: usize = 512;

/// What a statement's redirections give its command.
#[derive(Debug, Default)]
struct Redirects<'t> {
    stdin: Option<Stdin>,
    /// Words of the command that the grammar takes for files.
    words: Vec<Node<'t>>,
}

/// Whether a program's name is a reserved word: the grammar has not read what begins or ends here. It
/// reads `time` and `coproc` before simple commands well.
fn is_unread(name: &str) -> bool {
    is_reserved(name) && !matches!(name, "time" | "coproc")
}

/// A walk through the tree of one script.
pub(super) struct TreeWalk<'a> {
    pub(super) sink: &'a mut dyn CommandSink,
    pub(super) source: Source<'a>,
}

fn named_children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

/// The children of a node that a `&` follows. A node's sibling is looked for from the root, so none is asked
/// for its own.
fn in_background(parent: Node<'_>) -> HashSet<usize> {
    let mut cursor = parent.walk();
    let mut before = None;
    let mut found = HashSet::new();
    for child in parent.children(&mut cursor) {
        if child.kind() == "&" {
            found.extend(before);
        }
        before = Some(child.id());
    }
    found
}

/// The descriptor of a redirection that the grammar has taken for a word: `sh 0< FILE`.
fn descriptor_word(command: Node<'_>, source: Source<'_>) -> Option<Span> {
    let is_descriptor = |word: &Node<'_>| {
        let behind = source.text.get(word.end_byte()..).unwrap_or_default();
        source.of(*word) == "0" && behind.starts_with('<')
    };
    let words = named_children(command);
    let descriptor = words.iter().skip(1).find(|word| is_descriptor(word))?;
    Some(source.span(*descriptor))
}

impl TreeWalk<'_> {
    /// Inspects a node and all that it holds.
    pub(super) fn statement(&mut self, node: Node<'_>, stdin: &Stdin, depth: usize) {
        let span = self.source.span(node);
        let inspection = self.sink.inspection();
        let is_affordable = work::spend(UNITS_OF_STATEMENT + inspection.state.units());
        if inspection.is_too_deep(depth, span) || inspection.is_over_cap() || !is_affordable {
            return;
        }
        match node.kind() {
            "comment" => {}
            "list" => self.list(node, stdin, depth),
            "pipeline" => {
                if let Some(reason) = emptied::reason_of_pipeline(node, self.source) {
                    self.note_danger(reason, node);
                }
                self.pipeline(node, stdin, depth);
            }
            "redirected_statement" => RedirectedStatement::inspect(self, node, stdin, depth),
            "command" => self.command(node, Redirects::default(), stdin, depth),
            "if_statement" | "case_statement" => self.branches(node, stdin, depth),
            "while_statement" | "for_statement" | "c_style_for_statement" => {
                if starts_without_end(node, self.source) {
                    self.note_danger(JOBS_WITHOUT_END, node);
                }
                self.repeated(node, stdin, depth);
            }
            "function_definition" => self.function(node, stdin, depth),
            "variable_assignment" => self.assignment(node, depth),
            "declaration_command" | "unset_command" => inspect_declaration(self, node, depth),
            "subshell" => self.apart(node, stdin, depth),
            // A substitution reads what its command reads, not what the pipeline carries.
            "command_substitution" => self.substitution(node, depth),
            "process_substitution" => {
                let is_written = self.source.of(node).starts_with(">(");
                let reads = if is_written {
                    Stdin::Computed
                } else {
                    Stdin::Given
                };
                self.apart(node, &reads, depth);
            }
            "test_command" => {
                self.subscripts_of(node, depth);
                self.children(node, stdin, depth);
            }
            "file_redirect" => {
                self.file_redirect(node);
                self.children(node, stdin, depth);
            }
            "expansion" => {
                // bash(1), Parameter transformation: a prompt's substitutions run.
                if self.source.of(node).ends_with("@P}") {
                    let reason = "it runs what a variable holds";
                    self.sink.inspection().note(Verdict::Unknown, reason, span);
                }
                self.children(node, stdin, depth);
                let mut cursor = node.walk();
                let mut parts = node.children(&mut cursor);
                if parts.any(|part| matches!(part.kind(), "=" | ":=")) {
                    let source = self.source;
                    let mut cursor = node.walk();
                    let mut parts = node.named_children(&mut cursor);
                    let name = parts.find(|part| part.kind() == "variable_name");
                    let name = name.map_or("", |name| source.of(name));
                    if self.state().contents(name).is_some() {
                        self.state().may_assign(name, vec![Content::Unknown]);
                    }
                }
            }
            _ => self.children(node, stdin, depth),
        }
    }

    fn note_danger(&mut self, reason: &str, node: Node<'_>) {
        let span = self.source.span(node);
        let inspection = self.sink.inspection();
        inspection.note(Verdict::Dangerous, reason, span);
    }

    fn children(&mut self, node: Node<'_>, stdin: &Stdin, depth: usize) {
        self.statements(node, &named_children(node), stdin, depth);
    }

    fn statements(&mut self, parent: Node<'_>, nodes: &[Node<'_>], stdin: &Stdin, depth: usize) {
        let in_background = in_background(parent);
        for node in nodes {
            if work::is_spent() {
                return;
            }
            let is_background = in_background.contains(&node.id());
            let before = is_background.then(|| self.state().clone());
            self.statement(*node, stdin, depth + 1);
            if let Some(before) = before {
                *self.state() = before;
            }
        }
    }

    /// Inspects what runs in a shell of its own.
    fn apart(&mut self, node: Node<'_>, stdin: &Stdin, depth: usize) {
        let before = self.state().clone();
        self.children(node, stdin, depth);
        *self.state() = before;
    }

    /// The grammar reads no backslashes of backticks.
    fn substitution(&mut self, node: Node<'_>, depth: usize) {
        let text = self.source.of(node);
        let written = text.strip_prefix('`').filter(|text| text.contains('\\'));
        let Some(written) = written else {
            return self.apart(node, &Stdin::Given, depth);
        };
        let in_double_quotes = node
            .parent()
            .is_some_and(|parent| parent.kind() == "string");
        let inner = unescaped(
            written.strip_suffix('`').unwrap_or(written),
            in_double_quotes,
        );
        let nesting = Nesting::Within(self.source.span(node));
        let before = self.state().clone();
        inspect_script(self.sink, &inner, nesting, &Stdin::Given, depth + 1);
        *self.state() = before;
    }

    /// `a && b && c` is a tree that leans to the left, as deep as it is long.
    fn list(&mut self, node: Node<'_>, stdin: &Stdin, depth: usize) {
        let (mut left, mut parts) = (node, Vec::new());
        while left.kind() == "list" {
            let children = named_children(left);
            let Some((first, rest)) = children.split_first() else {
                break;
            };
            let mut cursor = left.walk();
            let is_or = left.children(&mut cursor).any(|child| child.kind() == "||");
            parts.extend(rest.iter().rev().map(|part| (*part, is_or)));
            left = *first;
        }
        parts.push((left, false));
        // What may be so behind the list, wherever it ends.
        let mut ends = StateUnion::default();
        let mut parts = parts.into_iter().rev().peekable();
        while let Some((part, is_or)) = parts.next() {
            let before = self.state().clone();
            if is_or && let Some(ended) = ends.state() {
                self.state().join(ended);
            }
            let is_plain_value =
                part.kind() == "variable_assignment" && !self.source.of(part).contains(['$', '`']);
            self.statement(part, stdin, depth + 1);
            match ends.state() {
                // It runs, and does not fail.
                None if is_plain_value => continue,
                None => {}
                Some(_) => ends.add(&before),
            }
            ends.add(self.state());
            if parts.peek().is_some_and(|(_, is_or)| !is_or) {
                self.state().place.succeed(&before.place);
            }
        }
        if let Some(ended) = ends.state() {
            self.state().join(ended);
        }
    }

    fn pipeline(&mut self, node: Node<'_>, stdin: &Stdin, depth: usize) {
        let mut flowing = stdin.clone();
        for stage in named_children(node) {
            let before = self.state().clone();
            self.statement(stage, &flowing, depth + 1);
            // zsh runs the last stage in the shell itself.
            self.state().join(&before);
            let source = self.source;
            flowing = output_of(stage, source, &before, &flowing);
        }
    }

    /// `if` and `case`: of several courses one is taken.
    fn branches(&mut self, node: Node<'_>, stdin: &Stdin, depth: usize) {
        let mut before = self.state().clone();
        let mut after = StateUnion::default();
        let is_case = node.kind() == "case_statement";
        let mut has_else = false;
        let (mut own, mut clauses) = (Vec::new(), Vec::new());
        for child in named_children(node) {
            match child.kind() {
                "elif_clause" | "else_clause" | "case_item" => clauses.push(child),
                _ => own.push(child),
            }
        }
        if is_case {
            self.statements(node, &own, stdin, depth);
            before = self.state().clone();
        } else {
            let mut cursor = node.walk();
            let count = node.children_by_field_name("condition", &mut cursor);
            let count = count.filter(Node::is_named).count();
            let (condition, body) = own.split_at(count.min(own.len()));
            self.statements(node, condition, stdin, depth);
            before.join(&self.state().clone());
            self.statements(node, body, stdin, depth);
            after.add(self.state());
        }
        for clause in clauses {
            has_else |= clause.kind() == "else_clause";
            *self.state() = before.clone();
            self.children(clause, stdin, depth);
            let state = self.state().clone();
            if clause.kind() == "elif_clause" {
                // Its condition is read again where it does not hold.
                before.join(&state);
            }
            after.add(&state);
        }
        if !has_else {
            after.add(&before);
        }
        if let Some(after) = after.into_state() {
            *self.state() = after;
        }
    }

    /// A loop. What its body sets may be set when the body begins.
    fn repeated(&mut self, node: Node<'_>, stdin: &Stdin, depth: usize) {
        let source = self.source;
        blur_assigned(node, source, self.state());
        let before = self.state().clone();
        if node.kind() == "for_statement" {
            self.loop_variable(node);
        }
        self.children(node, stdin, depth);
        self.state().join(&before);
    }

    fn loop_variable(&mut self, node: Node<'_>) {
        let Some(variable) = node.child_by_field_name("variable") else {
            return;
        };
        let source = self.source;
        let state = &self.sink.inspection().state;
        let mut contents = Vec::new();
        let mut cursor = node.walk();
        let mut has_values = false;
        for value in node.children_by_field_name("value", &mut cursor) {
            has_values = true;
            let words = readings(|choices| source.expand(value, Scope::of(state), choices));
            for word in words.into_iter().flat_map(|(words, _)| words) {
                contents.push(if word.splits {
                    Content::Unknown
                } else {
                    Content::Text(word.possible().to_owned())
                });
            }
        }
        // `for x` takes the positional parameters, and `select` what is typed.
        if !has_values || source.of(node).starts_with("select") {
            contents.push(Content::Unknown);
        }
        let name = source.of(variable);
        self.sink.inspection().learn_assigned(name);
        self.state().assign(name, contents);
    }

    fn function(&mut self, node: Node<'_>, stdin: &Stdin, depth: usize) {
        let source = self.source;
        if is_fork_bomb(node, source) {
            let span = source.span(node);
            self.sink
                .inspection()
                .note(Verdict::Dangerous, FORK_BOMB, span);
        }
        if let (Some(name), Some(body)) = (
            node.child_by_field_name("name"),
            node.child_by_field_name("body"),
        ) {
            // Its redirections are made at each call (bash(1), FUNCTIONS).
            let (begin, end) = (body.start_byte(), node.end_byte());
            let body = source.text.get(begin..end).unwrap_or_default();
            let name = source.of(name);
            let is_known = self.state().function(name).is_some();
            self.sink.inspection().unordered.matters |= is_known;
            self.state().define(name, body);
        }
        // The body is read here, and once more where it is called.
        let before = self.state().clone();
        self.state().replace_parameters(None);
        self.sink.inspection().definitions += 1;
        self.children(node, stdin, depth);
        self.sink.inspection().definitions -= 1;
        *self.state() = before;
    }

    fn assignment(&mut self, node: Node<'_>, depth: usize) {
        self.substitutions(node, depth);
        self.assign(node, depth);
    }

    fn substitutions(&mut self, node: Node<'_>, depth: usize) {
        self.children(node, &Stdin::Given, depth);
    }

    fn assign(&mut self, node: Node<'_>, depth: usize) {
        let source = self.source;
        let span = source.span(node);
        if let Some(target) = node.child_by_field_name("name") {
            self.sink.inspection().learn_assigned(source.of(target));
        }
        let Some((name, contents)) = assign(node, source, self.state()) else {
            return;
        };
        for content in contents {
            let values = match content {
                Content::Unknown => vec![UNKNOWN.to_string()],
                Content::Text(value) => vec![value],
                Content::List(values) => values,
            };
            for value in values {
                if !work::spend(UNITS_OF_ASSIGNED + value.len()) {
                    return;
                }
                self.sink.assignment(&name, &value, span, depth);
            }
        }
    }

    /// The commands in the subscripts of quoted words: `[[ -v 'a[$(cmd)]' ]]`.
    fn subscripts_of(&mut self, node: Node<'_>, depth: usize) {
        let mut rest = vec![node];
        while let Some(node) = rest.pop() {
            if matches!(node.kind(), "raw_string" | "string" | "ansi_c_string") {
                let span = self.source.span(node);
                inspect_subscript(self.sink, self.source.of(node), span, depth);
            } else {
                rest.extend(named_children(node));
            }
        }
    }

    fn command(&mut self, node: Node<'_>, redirects: Redirects<'_>, stdin: &Stdin, depth: usize) {
        if node
            .child_by_field_name("name")
            .is_some_and(|name| is_unread(self.source.of(name)))
        {
            let span = self.source.span(node);
            self.sink.inspection().note_possible(span);
        }
        if let Some(script) = &mut self.sink.inspection().script_of_stdin
            && work::spend(self.source.text.len())
        {
            script.go_to(self.source.text, node.end_byte());
        }
        self.substitutions_of_command(node, depth);
        let own = self.input_of(node);
        let reads = own.or(redirects.stdin).unwrap_or_else(|| stdin.clone());
        let source = self.source;
        let state = &self.sink.inspection().state;
        let mut alternatives = readings(|choices| {
            let scope = Scope::of(state);
            let mut words = source.words(node, scope, choices);
            if let Some(descriptor) = descriptor_word(node, source) {
                words.retain(|word| word.span != descriptor);
            }
            for word in &redirects.words {
                words.extend(source.expand(*word, scope, choices));
            }
            words
        });
        let before = self.state().clone();
        let temporary = TemporaryAssignments::make(self, node, depth);
        let with_temporary = self.state().clone();
        let mut after = StateUnion::default();
        alternatives.dedup();
        for (words, is_unlikely) in alternatives {
            if work::is_spent() {
                break;
            }
            *self.state() = with_temporary.clone();
            let inspection = self.sink.inspection();
            let was_unlikely = inspection.is_unlikely;
            inspection.is_unlikely |= is_unlikely;
            self.sink.command(&words, &reads, depth + 1);
            self.sink.inspection().is_unlikely = was_unlikely;
            temporary.restore(self.state(), &words);
            after.add(self.state());
        }
        *self.state() = after.into_state().unwrap_or(before);
    }

    fn substitutions_of_command(&mut self, node: Node<'_>, depth: usize) {
        for child in named_children(node) {
            match child.kind() {
                "variable_assignment" => self.substitutions(child, depth),
                _ => self.statement(child, &Stdin::Given, depth + 1),
            }
        }
    }

    fn file_redirect(&mut self, node: Node<'_>) {
        // Further destinations are words of the command.
        if let Some(file) = node.child_by_field_name("destination") {
            let (operator, target) = (self.source.operator(node), self.source.of(file));
            let span = self.source.span(file);
            inspect_redirect(self.sink.inspection(), operator, target, span);
        }
    }

    fn input_of(&mut self, node: Node<'_>) -> Option<Stdin> {
        let source = self.source;
        input_of(node, source, self.state())
    }

    fn state(&mut self) -> &mut ShellState {
        &mut self.sink.inspection().state
    }
}
