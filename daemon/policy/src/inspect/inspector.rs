//! What is wrong with a script and with the commands in it, and with what these start.
//!
//! The programs that only start others are taken off a command ([`wrapper`]); what remains is asked
//! about ([`danger`]). Rules, clients and settings are not known here.

use termd_proto::policy::{Span, Verdict};

use super::assignment::read_from;
use super::command_sink::CommandSink;
use super::cwd::inner_directories;
use super::finding::{Finding, InspectedCommand};
use super::foreign_shell::{changes_grammar, reads_as_bash};
use super::inspection::{Inspection, SearchPath};
use super::program_word::{is_descriptor_variable, known_program};
use super::redirect::note_write;
use super::script::{inspect_script, inspect_subscript};
use super::stdin::Stdin;
use crate::danger::Danger;
use crate::program::kind::base_name;
use crate::program::output::fetches;
use crate::program::wrapper;
use crate::program::wrapper::inner_command::InnerCommand;
use crate::program::wrapper::typed_keys::{Editing, TypedKeys};
use crate::shell::expansion::source::Nesting;
use crate::shell::state::Content;
use crate::shell::word::{UNKNOWN, Word};

pub(super) const FETCHED: &str = "it runs what is fetched or decoded, unseen";
pub(super) const COMPUTED: &str = "it runs what another command prints";
const EDITED: &str = "it types keys that change a line in a way that is not known";

/// Inspects scripts and commands, and all that is in them.
#[derive(Debug, Default)]
pub(super) struct Inspector {
    pub(super) inspection: Inspection,
}

impl CommandSink for Inspector {
    fn inspection(&mut self) -> &mut Inspection {
        &mut self.inspection
    }

    fn assignment(&mut self, name: &str, value: &str, span: Span, depth: usize) {
        // A value may be evaluated as a number, and its subscript with it.
        inspect_subscript(self, value, span, depth + 1);
        if name.starts_with("GIT_CONFIG_") {
            let pair = (name.to_owned(), value.to_owned());
            self.inspection.git_settings.push(pair);
        }
        self.variable(name, value, span, depth + 1);
    }

    fn command(&mut self, words: &[Word], stdin: &Stdin, depth: usize) {
        let (Some(name), Some(last)) = (words.first(), words.last()) else {
            return;
        };
        let span = Span {
            start: name.span.start,
            end: last.span.end.max(name.span.end),
        };
        if self.inspection.is_too_deep(depth, span)
            || !self.inspection.count_command(span)
            || !self.inspection.count_words(words, span)
        {
            return;
        }
        if words.len() == 1 && is_descriptor_variable(name) {
            return;
        }
        let Some(program) = known_program(name, &self.inspection.state) else {
            let is_built = self.inspection.built.contains(&name.raw);
            if self.inspection.awaits_call(name) || is_built {
                self.inspection.add_command(&name.text, words, None, span);
                return;
            }
            let reason = "what it runs is only known once it runs".to_owned();
            let danger = Danger {
                runs_unread: false,
                ..Danger::unread(Verdict::Unknown, reason)
            };
            self.inspection
                .add_command(&name.text, words, Some(danger), span);
            return;
        };
        let args = words.get(1..).unwrap_or_default();
        let of_shell = self.inspection.stdin_of_shell.clone();
        let behind = self.rest_of_script(&program, args);
        let stdin = match (stdin, &of_shell, &behind) {
            (Stdin::Given, Some(of_shell), _) => of_shell,
            (Stdin::Given, None, Some(behind)) => behind,
            _ => stdin,
        };
        if program == "exec" && args.is_empty() && *stdin != Stdin::Given {
            self.replace_stdin(stdin, span, depth + 1);
        }
        self.redefined(words, stdin, span, depth);
        let danger = self.inspection.danger_of(&name.text, &program, args, stdin);
        let is_dangerous = danger
            .as_ref()
            .is_some_and(|danger| danger.verdict == Verdict::Dangerous);
        self.inspection.add_command(&program, words, danger, span);
        self.inspection.learn_flow(&program, args, span);
        self.inspection
            .fetched
            .learn_directories(&program, args, stdin);
        if let Some(verb) = program.strip_prefix("git-") {
            // git(1): a command of its own is a program in git's directory.
            let mut inner = vec![
                Word::literal("git", name.span),
                Word::literal(verb, name.span),
            ];
            inner.extend_from_slice(args);
            self.command(&inner, stdin, depth + 1);
        }
        self.started(&program, args, stdin, span, depth);
        // What a sourced file sets is only known as far as its text is.
        let is_sourced = matches!(program.as_str(), "source" | ".");
        if !is_sourced {
            self.builtin(&program, args, span, depth);
        }
        if let ("read", Stdin::Literal(text)) = (program.as_str(), stdin) {
            read_from(text, args, &mut self.inspection.state);
        }
        self.inspection.learn_written(&program, args, stdin, span);
        self.run_written(words, &program, stdin, span, depth + 1);
        if is_dangerous {
            // One danger is enough, but a rule may be about what runs.
            self.read_for_rules(span, |inspector| {
                inspector.input(&program, args, stdin, span, depth + 1);
            });
        } else {
            self.input(&program, args, stdin, span, depth + 1);
        }
        if is_sourced {
            self.builtin(&program, args, span, depth);
        }
    }
}

impl Inspector {
    /// Inspects a shell text.
    pub(super) fn script(&mut self, text: &str, nesting: Nesting, depth: usize) {
        inspect_script(self, text, nesting, &Stdin::Given, depth);
    }

    /// Notes that any command may run where a shell reads a text otherwise than bash does.
    pub(super) fn foreign(&mut self, shell: &str, text: &str, span: Span) {
        if !reads_as_bash(shell, text) {
            self.inspection.note_possible(span);
        }
    }

    /// Adds what another reading of a text has found: its dangers, and its commands for rules.
    pub(super) fn add_possible(&mut self, mut inner: Self, before_reason: &str, span: Span) {
        inner.inspection.note_exfiltration();
        self.inspection.unordered.matters |= inner.inspection.unordered.matters;
        if inner.inspection.runs_of_written > 0 {
            self.note_written(span);
        }
        for command in &inner.inspection.dangerous {
            self.inspection.add_dangerous_command(command.clone());
        }
        let findings = inner.inspection.findings();
        let dangers = findings.filter(|finding| finding.verdict == Verdict::Dangerous);
        let danger = dangers.max_by_key(|finding| finding.needs_person);
        if let Some(danger) = danger.cloned() {
            self.inspection.text_findings.push(Finding {
                reason: format!("{before_reason}{}", danger.reason),
                span,
                ..danger
            });
        }
        for command in inner.inspection.commands {
            // A word that is no program's name is text.
            if command.name_end.is_none() {
                self.inspection.commands.push(InspectedCommand {
                    is_certain: false,
                    finding: None,
                    ..command
                });
            }
        }
    }

    /// Inspects what a command starts by its own words.
    fn started(&mut self, program: &str, args: &[Word], stdin: &Stdin, span: Span, depth: usize) {
        let programs = self.inspection.programs.clone();
        for inner in wrapper::inner_commands(&programs, program, args) {
            let own_shell = runs_in_same_shell(program);
            let outer = (!own_shell).then(|| self.inspection.state.clone());
            if let Some(outer) = &outer {
                self.inspection.state = outer.of_child();
                for directory in inner_directories(program, args) {
                    self.inspection.state.place.enter(directory);
                }
            }
            let feeds = matches!(
                program,
                "coproc" | "split" | "gsplit" | "tar" | "bsdtar" | "gtar"
            );
            let reads = if feeds { &Stdin::Computed } else { stdin };
            if program == "trap" && !self.inspection.is_aside {
                // It runs when the text may have set other values.
                let later = inner.clone();
                self.read_for_rules(span, |inspector| {
                    inspector.inspection.state.blur_all();
                    inspector.inner(program, later, args, &Stdin::Given, span, depth + 1);
                });
            }
            self.inner(program, inner, args, reads, span, depth + 1);
            if let Some(outer) = outer {
                self.inspection.state = outer;
            }
        }
    }

    /// Reads something for rules alone: its commands count, and what is wrong with them does not.
    fn read_for_rules(&mut self, span: Span, read: impl FnOnce(&mut Self)) {
        let mut inner = Self {
            inspection: self.inspection.aside(),
        };
        read(&mut inner);
        self.inspection.add_aside(inner.inspection, span);
    }

    /// Inspects the variables that a request sets.
    pub(super) fn environment(&mut self, env: &[(String, String)]) {
        for (name, value) in env {
            self.variable(name, value, Span { start: 0, end: 0 }, 1);
        }
        let value_of = |name: &str| env.iter().find(|(other, _)| other == name);
        for (name, value) in env {
            let nowhere = Span { start: 0, end: 0 };
            if name.starts_with("GIT_CONFIG_VALUE_")
                && value_of(&name.replace("_VALUE_", "_KEY_")).is_none()
            {
                let reason = "it sets a setting of git's whose name is not in the text";
                self.inspection
                    .note_unread(Verdict::Unknown, reason, nowhere);
            }
            if !name.starts_with("GIT_CONFIG_KEY_") {
                continue;
            }
            let given = value_of(&name.replace("_KEY_", "_VALUE_"));
            let setting = format!("{value}={}", given.map_or("", |(_, given)| given));
            let words = ["git", "-c", &setting].map(|text| Word::literal(text, nowhere));
            let command = InnerCommand::Argv(words.to_vec());
            self.inner("", command, &[], &Stdin::Given, nowhere, 1);
        }
    }

    /// The lines that keys may make: alone, and behind what the text has typed before into any terminal. What waits
    /// for its Enter is a line, too: another text may send that.
    fn lines_of_keys(&mut self, keys: TypedKeys, span: Span) -> Vec<String> {
        let TypedKeys { text, editing } = keys;
        let before = std::mem::take(&mut self.inspection.typed_ahead);
        if before.text.is_empty() && editing == Editing::Moves && text.chars().all(|c| c == UNKNOWN)
        {
            return Vec::new();
        }
        let behind = format!("{}{text}", before.text);
        let waiting = behind.rsplit('\n').next().unwrap_or_default();
        let editing = editing.max(before.editing);
        if !waiting.is_empty() {
            self.inspection.typed_ahead = TypedKeys {
                text: waiting.to_owned(),
                editing,
            };
        }
        if editing != Editing::Nothing {
            self.inspection.note(Verdict::Unknown, EDITED, span);
        }
        if before.text.is_empty() {
            vec![text]
        } else {
            vec![text, behind]
        }
    }

    /// Inspects what a variable makes programs run.
    fn variable(&mut self, name: &str, value: &str, span: Span, depth: usize) {
        let programs = self.inspection.programs.clone();
        for inner in wrapper::of_variable(&programs, name, value, 0) {
            self.inner("", inner, &[], &Stdin::Given, span, depth);
        }
    }

    /// Inspects what a command of this program starts.
    pub(super) fn inner(
        &mut self,
        program: &str,
        inner: InnerCommand,
        args: &[Word],
        stdin: &Stdin,
        span: Span,
        depth: usize,
    ) {
        let span_of = |at: usize| args.get(at).map_or(span, |word| word.span);
        match inner {
            InnerCommand::Argv(words) => self.command(&words, stdin, depth),
            InnerCommand::Options(words) => {
                let asks = std::mem::take(&mut self.inspection.asks_unlisted);
                self.command(&words, stdin, depth);
                self.inspection.asks_unlisted = asks;
            }
            InnerCommand::Batch(batch) => {
                // What is read may be the verb or an option that names a program.
                let is_alone = stdin.text().is_none() && batch.placeholder.is_none();
                if let ([name], true) = (batch.words.as_slice(), is_alone)
                    && self.inspection.programs.runs_others(base_name(&name.text))
                {
                    self.inspection.note_possible(span);
                }
                for words in batch.commands(stdin.text(), span) {
                    self.command(&words, &Stdin::Given, depth);
                }
            }
            InnerCommand::Line { text, at } => {
                let is_unknown = |c: char| c == UNKNOWN || c.is_whitespace();
                if text.chars().all(is_unknown) && text.contains(UNKNOWN) {
                    let raw = args.get(at).map_or("", |word| word.raw.as_str());
                    self.computed_script(raw, span_of(at));
                } else {
                    self.foreign(program, &text, span_of(at));
                    inspect_script(self, &text, Nesting::Within(span_of(at)), stdin, depth);
                }
            }
            InnerCommand::Keys { keys, at } => {
                for text in self.lines_of_keys(keys, span_of(at)) {
                    let line = InnerCommand::Line { text, at };
                    self.inner(program, line, args, &Stdin::Given, span, depth);
                }
            }
            InnerCommand::Script {
                text,
                at,
                parameters,
            } => {
                if changes_grammar(program, args) {
                    self.inspection.note_possible(span);
                }
                let is_known = parameters.iter().all(|word| !word.splits);
                let mut given = parameters.into_iter().map(|word| word.text);
                self.inspection.state.zero = given.next().map(Into::into);
                let given = is_known.then(|| vec![Content::List(given.collect())]);
                self.inspection.state.replace_parameters(given);
                let line = InnerCommand::Line { text, at };
                self.inner(program, line, args, stdin, span, depth);
            }
            InnerCommand::ScriptFile(words) => self.inspection.add_script_file(&words),
            InnerCommand::ObeyedFile(path) => self.obey_written(&path, span),
            InnerCommand::ObeyedHome(home) => self.obey_home(home, span),
            InnerCommand::Any => self.inspection.note_possible(span),
            InnerCommand::Code { text, at } => {
                let raw = args.get(at).map_or("", |word| word.raw.as_str());
                let is_unknown = |c: char| c == UNKNOWN || c.is_whitespace();
                if text.contains(UNKNOWN) && text.chars().all(is_unknown) {
                    self.inspection.note_possible(span_of(at));
                    if fetches(raw) {
                        self.inspection
                            .note_unread(Verdict::Dangerous, FETCHED, span_of(at));
                    }
                }
                self.code_with_stdin(program, &text, stdin, span_of(at), depth);
            }
            InnerCommand::Sql { client, text, at } => {
                self.sql(client, &text, Nesting::Within(span_of(at)), span, depth);
            }
            InnerCommand::Unknown(reason) => {
                self.inspection.note(Verdict::Unknown, reason, span);
            }
            InnerCommand::Writes(path) => {
                let word = Word::literal(&path, span);
                note_write(&mut self.inspection, &word, false, span);
                self.inspection
                    .written
                    .learn(&path, &Stdin::Computed, false);
            }
            InnerCommand::Doubtful(reason) => self.inspection.note_doubt(reason, span),
            InnerCommand::Dangerous(reason) => {
                self.inspection.note(Verdict::Dangerous, reason, span);
            }
            InnerCommand::OwnPath => self.inspection.search_path = SearchPath::Own,
        }
    }
}

/// Whether the lines of a program run in the shell itself.
fn runs_in_same_shell(program: &str) -> bool {
    matches!(
        program,
        "eval" | "trap" | "alias" | "builtin" | "command" | "exec" | "time" | "noglob"
    )
}
