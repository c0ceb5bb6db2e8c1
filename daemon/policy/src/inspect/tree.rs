//! The statements of a script, by its tree, in the order in which they run: each command goes to a
//! [`CommandSink`] with what it reads, and what it sets counts for those behind it.
//!
//! Where a statement may run or not, what is set there may be set or not. A loop's body is read once, with
//! what it sets as unknown. Subshells and stages of a pipeline set nothing.

use termd_proto::policy::Verdict;
use tree_sitter::Node;

use super::assignment::{assign, blur_assigned, is_special, run_builtin};
use super::command_sink::CommandSink;
use super::emptied::{self, Emptied};
use super::flow::{input_of, output_of, output_of_statement};
use super::redirect::inspect_redirect;
use super::script::{inspect_script, inspect_subscript};
use super::stdin::Stdin;
use crate::danger::fork_bomb::{FORK_BOMB, JOBS_WITHOUT_END, is_fork_bomb, starts_without_end};
use crate::program::kind::{base_name, is_shell};
use crate::program::output::fetches;
use crate::shell::expansion::Scope;
use crate::shell::expansion::choices::{Choices, readings};
use crate::shell::expansion::printed::is_descriptor;
use crate::shell::expansion::source::{Nesting, Source};
use crate::shell::state::state_union::StateUnion;
use crate::shell::state::{Content, ShellState};
use crate::shell::syntax::grammar_faults::words_behind_redirects;
use crate::shell::syntax::reserved_words::is_reserved;
use crate::shell::text::backticks::unescaped;
use crate::shell::word::{UNKNOWN, Word};

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

impl TreeWalk<'_> {
    /// Inspects a node and all that it holds.
    pub(super) fn statement(&mut self, node: Node<'_>, stdin: &Stdin, depth: usize) {
        let span = self.source.span(node);
        let inspection = self.sink.inspection();
        if inspection.is_too_deep(depth, span) || inspection.is_over_cap() {
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
            "redirected_statement" => self.redirected(node, stdin, depth),
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
            "declaration_command" | "unset_command" => self.declaration(node, depth),
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
        self.statements(&named_children(node), stdin, depth);
    }

    fn statements(&mut self, nodes: &[Node<'_>], stdin: &Stdin, depth: usize) {
        for node in nodes {
            let is_background = node.next_sibling().is_some_and(|next| next.kind() == "&");
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
        for (part, is_or) in parts.into_iter().rev() {
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
            self.statements(&own, stdin, depth);
            before = self.state().clone();
        } else {
            let mut cursor = node.walk();
            let count = node.children_by_field_name("condition", &mut cursor);
            let count = count.filter(Node::is_named).count();
            let (condition, body) = own.split_at(count.min(own.len()));
            self.statements(condition, stdin, depth);
            before.join(&self.state().clone());
            self.statements(body, stdin, depth);
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
                self.sink.assignment(&name, &value, span, depth);
            }
        }
    }

    /// `declare`, `export` and their kin, and `unset`.
    fn declaration(&mut self, node: Node<'_>, depth: usize) {
        let source = self.source;
        let program = node.child(0).map_or("", |first| source.of(first));
        self.substitutions_of_command(node, depth);
        let (mut assigned, mut words) = (Vec::new(), Vec::new());
        for child in named_children(node) {
            if child.kind() == "variable_assignment" {
                let name = child.child_by_field_name("name");
                assigned.extend(name.map(|name| source.of(name).to_owned()));
            } else {
                let state = &self.sink.inspection().state;
                words.extend(source.expand(child, Scope::of(state), &mut Choices::none()));
            }
        }
        self.sink.inspection().unordered.matters = true;
        // The attributes hold for the values, so they come first.
        let span = source.span(node);
        let names = assigned.iter().map(|name| Word::literal(name, span));
        let operands: Vec<Word> = words.iter().cloned().chain(names).collect();
        run_builtin(program, &operands, self.state());
        for child in named_children(node) {
            if child.kind() == "variable_assignment" {
                self.assign(child, depth);
            }
        }
        if program == "export" || words.iter().any(|word| word.text.starts_with("-x")) {
            for name in &assigned {
                self.state().export(name);
            }
        }
        for word in words {
            inspect_subscript(self.sink, &word.text, word.span, depth);
            self.declared(program, &word, depth);
        }
    }

    /// Takes a word of `declare` and its kin, which may be an assignment or make a name stand for another.
    fn declared(&mut self, program: &str, word: &Word, depth: usize) {
        let refers = word.text.starts_with('-') && word.text.contains('n');
        if refers && matches!(program, "declare" | "typeset" | "local") {
            self.sink.inspection().note_possible(word.span);
        }
        if let Some((name, value)) = word.text.split_once('=') {
            let name = name.split('[').next().unwrap_or(name);
            let name = name.trim_end_matches('+');
            self.sink.assignment(name, value, word.span, depth);
            if value.starts_with('(') {
                // The elements of an array are expanded once more.
                let nesting = Nesting::Within(word.span);
                let before = self.state().clone();
                inspect_script(
                    self.sink,
                    &format!("_={value}"),
                    nesting,
                    &Stdin::Given,
                    depth + 1,
                );
                *self.state() = before;
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

    fn redirected(&mut self, node: Node<'_>, stdin: &Stdin, depth: usize) {
        let given = self.input_of(node);
        self.note_reverse_shell(node);
        let reads = given.clone().unwrap_or_else(|| stdin.clone());
        let body = node.child_by_field_name("body");
        let output = body.map_or_else(
            || Stdin::Literal(String::new()),
            |body| output_of_statement(body, self.source, self.state(), &reads),
        );
        let printed = match &output {
            Stdin::Given | Stdin::File(_) | Stdin::Joined(_) => Stdin::Computed,
            printed => printed.clone(),
        };
        let emptied = Emptied::by(node, self.source);
        let has_words = !words_behind_redirects(node).is_empty();
        if has_words && body.is_none_or(|body| body.kind() != "command") {
            let span = self.source.span(node);
            self.sink.inspection().note_possible(span);
        }
        for child in named_children(node) {
            match child.kind() {
                "file_redirect" => {
                    self.file_redirect(child);
                    self.note_fetched(node, child);
                    if let Some(reason) = emptied.reason(child) {
                        self.note_danger(reason, child);
                    }
                    self.written(child, &printed, depth);
                    self.learn_written(child, &output);
                }
                // The node holds the rest of the marker's line too: `cat <<EOF | sh`.
                "heredoc_redirect" => {
                    let through = match (&given, node.child_by_field_name("body")) {
                        (Some(given), Some(body)) if self.copies_its_input(body) => given.clone(),
                        (_, Some(_)) => printed.clone(),
                        _ => Stdin::Computed,
                    };
                    self.heredoc(child, &through, &printed, depth + 1);
                }
                "herestring_redirect" => self.children(child, &Stdin::Given, depth + 1),
                "command" => {
                    let redirects = Redirects {
                        stdin: given.clone(),
                        words: words_behind_redirects(node),
                    };
                    self.command(child, redirects, stdin, depth + 1);
                    if self.first_word(child) == "exec" && self.source.of(node).contains(">(") {
                        self.state().feeds_program = true;
                    }
                }
                _ => self.statement(child, &reads, depth + 1),
            }
        }
    }

    /// What a redirection makes of a statement's output: the input of `>(…)`, or of a program that an
    /// earlier statement has started.
    fn written(&mut self, redirect: Node<'_>, printed: &Stdin, depth: usize) {
        let source = self.source;
        for child in named_children(redirect) {
            let is_written = source.of(child).starts_with(">(");
            if child.kind() == "process_substitution" && is_written {
                self.apart(child, printed, depth + 1);
            } else {
                self.statement(child, &Stdin::Given, depth + 1);
            }
        }
        let Some(place) = redirect.child_by_field_name("destination") else {
            return;
        };
        let (operator, target) = (source.operator(redirect), source.of(place));
        let is_standard = matches!(target, "1" | "2" | "-" | "/dev/stdout" | "/dev/stderr");
        let leads = (operator == ">&" || is_descriptor(target)) && !is_standard;
        if !(leads && operator.contains('>') && self.state().feeds_program) {
            return;
        }
        let span = source.span(redirect);
        if let Some(text) = printed.text() {
            let nesting = Nesting::Within(span);
            inspect_script(self.sink, text, nesting, &Stdin::Given, depth + 1);
        } else {
            let reason = "it writes to a program that was started before";
            self.sink.inspection().note(Verdict::Unknown, reason, span);
        }
    }

    /// Learns of the file that a redirection gives what a statement prints.
    fn learn_written(&mut self, redirect: Node<'_>, printed: &Stdin) {
        let source = self.source;
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
        let state = &self.sink.inspection().state;
        let words = source.expand(place, Scope::of(state), &mut Choices::none());
        let parts: Vec<String> = words.iter().map(Word::path).collect();
        let path = parts.join(" ");
        let is_number = path.chars().all(|c| c.is_ascii_digit() || c == '-');
        if !(operator == ">&" && is_number) {
            let written = &mut self.sink.inspection().written;
            written.learn(&path, text, operator.contains(">>"));
        }
    }

    /// Notes a shell that is tied to `/dev/tcp/host/port` (bash(1), REDIRECTION). Another program may
    /// look whether a port is open.
    fn note_reverse_shell(&mut self, node: Node<'_>) {
        let text = self.source.of(node);
        let connects = text.contains("/dev/tcp/") || text.contains("/dev/udp/");
        let program = self.first_word(node);
        if connects && (is_shell(program) || program == "exec") {
            self.note_danger("it ties a shell to a connection", node);
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

    fn heredoc(&mut self, node: Node<'_>, through: &Stdin, printed: &Stdin, depth: usize) {
        for child in named_children(node) {
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
                "file_redirect" => {
                    self.file_redirect(child);
                    self.written(child, printed, depth);
                    self.learn_written(child, printed);
                }
                _ => self.statement(child, &Stdin::Given, depth + 1),
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
        self.substitutions_of_command(node, depth);
        let own = self.input_of(node);
        let reads = own.or(redirects.stdin).unwrap_or_else(|| stdin.clone());
        let source = self.source;
        let state = &self.sink.inspection().state;
        let mut alternatives = readings(|choices| {
            let scope = Scope::of(state);
            let mut words = source.words(node, scope, choices);
            for word in &redirects.words {
                words.extend(source.expand(*word, scope, choices));
            }
            words
        });
        let before = self.state().clone();
        let temporary = self.temporary(node, depth);
        let with_temporary = self.state().clone();
        let mut after = StateUnion::default();
        alternatives.dedup();
        for (words, is_unlikely) in alternatives {
            *self.state() = with_temporary.clone();
            let inspection = self.sink.inspection();
            let was_unlikely = inspection.is_unlikely;
            inspection.is_unlikely |= is_unlikely;
            self.sink.command(&words, &reads, depth + 1);
            self.sink.inspection().is_unlikely = was_unlikely;
            self.restore(&temporary, &before, &words);
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

    /// Makes the assignments before a command, which hold for the command alone. Returns their names.
    fn temporary(&mut self, node: Node<'_>, depth: usize) -> Vec<String> {
        let source = self.source;
        let mut names = Vec::new();
        for child in named_children(node) {
            if child.kind() == "variable_assignment" {
                self.assign(child, depth);
                let name = child.child_by_field_name("name");
                let name = name.map_or("", |name| source.of(name)).to_owned();
                self.state().export(&name);
                names.push(name);
            }
        }
        names
    }

    fn restore(&mut self, temporary: &[String], before: &ShellState, words: &[Word]) {
        let program = words.first().map_or("", |word| word.text.as_str());
        let lasts =
            words.is_empty() || is_special(program) || self.state().function(program).is_some();
        for name in temporary {
            let was = before.contents(name).map(<[Content]>::to_vec);
            match (was, lasts) {
                (was, true) => {
                    self.state()
                        .may_assign(name, was.unwrap_or_else(|| vec![Content::Unknown]));
                }
                (Some(was), false) => self.state().assign(name, was),
                (None, false) => self.state().forget(name),
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

    /// Learns of a file that a fetched text is written to.
    fn note_fetched(&mut self, statement: Node<'_>, redirect: Node<'_>) {
        let body = statement.child_by_field_name("body");
        let file = redirect.child_by_field_name("destination");
        if let (Some(body), Some(file)) = (body, file)
            && self.source.operator(redirect).contains('>')
            && fetches(self.source.of(body))
        {
            let state = &self.sink.inspection().state;
            let words = self
                .source
                .expand(file, Scope::of(state), &mut Choices::none());
            let names = words.iter().map(|word| base_name(&word.text).to_owned());
            let names: Vec<String> = names.collect();
            self.sink.inspection().fetched.files.extend(names);
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
