//! What is wrong with a script and with the commands in it, and with what these start.
//!
//! The programs that only start others are taken off a command ([`wrapper`]); what remains is asked
//! about ([`danger`]). Rules, clients and settings are not known here.

use termd_proto::policy::{Span, Verdict};
use termd_proto::terminal::Front;

use super::assignment::read_from;
use super::code::{Started, UseOfInput, signals_parent, started};
use super::command_sink::CommandSink;
use super::cwd::inner_directories;
use super::finding::{Finding, InspectedCommand};
use super::foreign_shell::{changes_grammar, reads_as_bash};
use super::function_calls::CallReading;
use super::inspection::{Inspection, SearchPath};
use super::program_word::{is_descriptor_variable, known_program};
use super::redirect::note_write;
use super::script::{inspect_script, inspect_subscript};
use super::stdin::Stdin;
use crate::danger::code::plain::Code;
use crate::danger::writes::Files;
use crate::danger::{self, Danger, code, sql};
use crate::program::kind::{SqlClient, base_name};
use crate::program::output::fetches;
use crate::program::wrapper;
use crate::program::wrapper::inner_command::InnerCommand;
use crate::shell::expansion::source::Nesting;
use crate::shell::state::Content;
use crate::shell::text::quote::quoted;
use crate::shell::word::{UNKNOWN, Word};
use crate::work;

pub(super) const FETCHED: &str = "it runs what is fetched or decoded, unseen";
pub(super) const COMPUTED: &str = "it runs what another command prints";

const IN_SHELL_LINE: &str = "it runs a shell line: ";

/// What one reading of a code starts.
#[derive(Debug, Default)]
struct StartsOfCode {
    /// Something that the code does not name by a literal.
    runs_unread: bool,
    /// Something that the code puts together at run time.
    runs_assembled: bool,
    /// Why one of its shell lines is unknown.
    doubt: Option<String>,
    input: UseOfInput,
}

/// Shell lines in one code that are told apart from the rest of it: of more texts within one, all is unknown.
const MAX_LINES_OF_CODE: usize = 256;
/// The depth at which shell lines in code begin.
const CODE_DEPTH: usize = 8;

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
            // The arguments of a function are known where it is called.
            let raw = name.raw.trim_matches(['"', '{', '}']);
            let is_parameter = raw.strip_prefix('$').is_some_and(|rest| {
                let rest = rest.trim_start_matches('{');
                matches!(rest, "@" | "*") || rest.starts_with(|c: char| c.is_ascii_digit())
            });
            let is_built = self.inspection.built.contains(&name.raw);
            if (self.inspection.definitions > 0 && is_parameter) || is_built {
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

    /// Inspects statements of a database, and the shell lines that its client runs.
    pub(super) fn sql(
        &mut self,
        client: SqlClient,
        text: &str,
        nesting: Nesting,
        own: Span,
        depth: usize,
    ) {
        let span = nesting.span(own);
        if let Some(reason) = sql::danger(client, text) {
            self.inspection.note(Verdict::Dangerous, reason, span);
        }
        if sql::hides_line(text) {
            let reason = "its client decodes escapes in what it starts";
            self.inspection.note(Verdict::Unknown, reason, span);
        }
        if sql::may_start(text) {
            self.inspection.note_possible(span);
        }
        if sql::opens_answer(client, text) {
            let reason = "its client opens the answer in another program";
            self.inspection.note(Verdict::Unknown, reason, span);
        }
        for file in sql::written_files::written_files(text) {
            let file = Word::literal(&file, span);
            note_write(&mut self.inspection, &file, false, span);
        }
        // What a client pipes into a line is what it prints.
        let is_fed = text.contains('|');
        let stdin = if is_fed {
            Stdin::Computed
        } else {
            Stdin::Given
        };
        for line in sql::shell_lines(client, text) {
            inspect_script(self, line, Nesting::Within(span), &stdin, depth);
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

    /// Inspects code of an interpreter, and the shell lines that it gives to the system. A rule may fit
    /// these lines; whether they run cannot be told.
    /// Returns whether the code starts what is only known once it runs.
    pub(super) fn code(&mut self, program: &str, text: &str, span: Span) -> bool {
        let read = code::plain::read(program, text);
        self.code_read(program, read, text, span).runs_unread
    }

    /// Inspects code of an interpreter, and what the code runs of its standard input.
    fn code_with_stdin(
        &mut self,
        program: &str,
        text: &str,
        stdin: &Stdin,
        span: Span,
        depth: usize,
    ) {
        let read = code::plain::read(program, text);
        let of_outer = self.inspection.stdin_of_code.take();
        self.inspection.stdin_of_code = Some(stdin.clone()).filter(|stdin| stdin.text().is_some());
        let starts = self.code_read(program, read, text, span);
        self.inspection.stdin_of_code = of_outer;
        if !starts.input.runs() {
            return;
        }
        match stdin {
            Stdin::Literal(given) => {
                if starts.input.is_started {
                    self.script(given, Nesting::Within(span), depth + 1);
                }
                if starts.input.is_evaluated {
                    let _unread = self.code(program, given, span);
                }
            }
            Stdin::Fetched => {
                self.inspection
                    .note_unread(Verdict::Dangerous, FETCHED, span);
            }
            Stdin::Given | Stdin::File(_) | Stdin::Joined(_) | Stdin::Computed => {}
        }
    }

    /// Inspects a line that is typed into an interpreter, as [`Inspector::code`] does.
    pub(super) fn code_line(&mut self, program: &str, line: &str, span: Span) -> bool {
        let read = code::plain::read_line(program, line);
        self.code_read(program, read, line, span).runs_unread
    }

    fn code_read(&mut self, program: &str, read: Code, text: &str, span: Span) -> StartsOfCode {
        let plain;
        let text = match read {
            Code::Plain(read) => {
                plain = read;
                plain.as_str()
            }
            Code::Unread if work::is_spent() => {
                self.inspection.note_too_much(span);
                return StartsOfCode {
                    runs_unread: true,
                    ..StartsOfCode::default()
                };
            }
            Code::Unread => {
                let reason = "its code cannot be read";
                self.inspection.note_unread(Verdict::Unknown, reason, span);
                // The text is searched all the same: a danger weighs more than a doubt.
                text
            }
            Code::OfOtherLanguage => text,
        };
        let mut found = self.code_as_written(program, text, span);
        if let Some(calls) = code::lisp::as_calls(program, text) {
            found.runs_unread |= self.code_as_written(program, &calls, span).runs_unread;
        }
        if let Some(folded) = code::constants::folded(program, text) {
            let of_folded = self.code_as_written(program, &folded, span);
            found.runs_unread |= of_folded.runs_unread;
            found.input.add(of_folded.input);
            // What is put together out of constants is one there.
            found.runs_assembled = of_folded.runs_assembled;
            found.doubt = of_folded.doubt;
        }
        if let Some(doubt) = found.doubt.take() {
            let reason = format!("{IN_SHELL_LINE}{doubt}");
            self.inspection.note(Verdict::Unknown, reason, span);
        }
        if found.runs_assembled {
            let reason = "it starts what it puts together";
            self.inspection.note(Verdict::Unknown, reason, span);
        }
        found
    }

    fn code_as_written(&mut self, program: &str, text: &str, span: Span) -> StartsOfCode {
        let unread = StartsOfCode {
            runs_unread: true,
            ..StartsOfCode::default()
        };
        if !self.inspection.count_text(text.len(), span) {
            return unread;
        }
        if code::calls::are_too_many(text) {
            self.inspection.note_too_much(span);
            return unread;
        }
        if let Some(reason) = code::danger(
            &self.inspection.programs,
            &self.inspection.state.place,
            text,
        ) {
            self.inspection.note(Verdict::Dangerous, reason, span);
        }
        let files = Files::new(
            self.inspection.programs.files(),
            &self.inspection.state.place,
        );
        if let Some(reason) = code::session::danger(files, program, text) {
            self.inspection.note(Verdict::Dangerous, reason, span);
        }
        let fetched = code::fetching::fetched_files(text);
        self.inspection.fetched.files.extend(fetched);
        let daemon = self.inspection.programs.daemon();
        if (signals_parent(text) && self.inspection.front != Some(Front::Cli))
            || danger::daemon::is_signalled_in(text, daemon)
        {
            let reason = "it sends a signal to what has started it, which may be termd";
            self.inspection.note_for_person(reason, span);
        }
        let place = &self.inspection.state.place;
        if danger::own_files::are_in_code(&self.inspection.programs, place, program, text)
            && !code::is_harmless_plain(program, text)
        {
            let reason = "its code names a file of termd, which asks about what you do";
            self.inspection.note_for_person(reason, span);
        }
        let mut inner = Self::default();
        inner.inspection.front = self.inspection.front;
        inner.inspection.state = self.inspection.state.of_child();
        inner.inspection.programs = self.inspection.programs.clone();
        inner.inspection.count_on_from(&self.inspection);
        // A shell that the code starts reads on.
        let stdin = &self.inspection.stdin_of_code;
        inner.inspection.stdin_of_shell.clone_from(stdin);
        let mut started = started(program, text);
        let mut lines = code::shell_lines(program, text);
        lines.extend(
            started
                .lines
                .drain(..)
                .map(|line| code::with_unknown(&line)),
        );
        // Its lines may run what the rest of it writes.
        inner.inspection.written = std::mem::take(&mut self.inspection.written);
        inner
            .inspection
            .written
            .learn_code(&without_lines(text, &lines));
        inner.environment(&started.variables);
        for (name, value) in &started.variables {
            let value = Content::Text(value.clone());
            inner.inspection.state.may_assign(name, vec![value]);
        }
        let (may_run_any, doubt) = inner.commands_of_code(&started, span);
        for line in lines.iter().chain(&started.texts) {
            inner.script(line, Nesting::Within(span), CODE_DEPTH);
        }
        self.inspection.written = std::mem::take(&mut inner.inspection.written);
        self.inspection.count_on_behind(&inner.inspection, span);
        self.add_possible(inner, IN_SHELL_LINE, span);
        for text in started.code {
            let read = code::plain::read(program, &text);
            let within = self.code_read(program, read, &text, span);
            started.runs_unread |= within.runs_unread;
            started.input.add(within.input);
        }
        if started.input.runs() {
            let reason = "it starts what it is given";
            self.inspection.note(Verdict::Unknown, reason, span);
        }
        if started.runs_unread || started.may_start || may_run_any {
            self.inspection.note_possible(span);
        }
        StartsOfCode {
            runs_unread: started.runs_unread,
            runs_assembled: started.assembled_calls > 0,
            doubt,
            input: started.input,
        }
    }

    /// Inspects what calls of code start. Returns whether that may be any command, and why what a shell line
    /// runs is not known.
    fn commands_of_code(&mut self, started: &Started, span: Span) -> (bool, Option<String>) {
        let before = self.inspection.commands.len();
        for line in &started.shell_lines {
            self.script(line, Nesting::Within(span), CODE_DEPTH);
        }
        let doubt = self.inspection.first_unknown().map(str::to_owned);
        for command in &started.partly_known {
            let words = command.iter().map(|word| match word {
                Some(text) => Word::literal(text, span),
                None => Word::unknown(span),
            });
            let words: Vec<Word> = words.collect();
            self.command(&words, &Stdin::Given, CODE_DEPTH);
        }
        let mut commands = self.inspection.commands.iter().skip(before);
        let may_run_any = commands.any(|command| command.name_end.is_some())
            || self.inspection.first_unknown().is_some();
        (may_run_any, doubt)
    }

    /// Inspects what a name stands for that the text has defined: a function, or an alias. It is
    /// inspected as a program too, since the definition may be of another shell.
    fn redefined(&mut self, words: &[Word], stdin: &Stdin, span: Span, depth: usize) {
        let Some((name, args)) = words.split_first() else {
            return;
        };
        if let Some(text) = self.inspection.state.take_alias(&name.text) {
            let mut rest: Vec<String> = args.iter().map(|word| quoted(&word.text)).collect();
            // bash(1), ALIASES: behind a blank at its end, the next word may be an alias too.
            let next = args.first().filter(|_| text.ends_with([' ', '\t']));
            let next = next.and_then(|word| self.inspection.state.alias(&word.raw));
            if let (Some(next), Some(first)) = (next, rest.first_mut()) {
                *first = next.to_string();
            }
            let line = format!("{text} {}", rest.join(" "));
            inspect_script(self, &line, Nesting::Within(span), stdin, depth + 1);
            self.inspection.state.define_alias(&name.text, &text);
        }
        if args
            .iter()
            .any(|word| self.inspection.state.is_global_alias(&word.raw))
        {
            let reason = "a word of it is an alias for something else";
            self.inspection.note(Verdict::Unknown, reason, span);
        }
        let Some(body) = self.inspection.state.function(&name.text) else {
            return;
        };
        let reading = self.inspection.calls.count(&name.text);
        if reading == CallReading::TooMany {
            self.inspection.note_possible(span);
        }
        if reading != CallReading::WithArguments {
            self.inspection.state.blur_all();
        }
        if matches!(reading, CallReading::Skip | CallReading::TooMany) {
            return;
        }
        let is_known =
            reading == CallReading::WithArguments && args.iter().all(|word| !word.splits);
        let given = args.iter().map(|word| word.text.clone());
        let given = is_known.then(|| vec![Content::List(given.collect())]);
        self.inspection.calls.enter(&name.text);
        let outer = self.inspection.state.replace_parameters(given);
        let locals = self.inspection.state.enter_function();
        inspect_script(self, &body, Nesting::Within(span), stdin, depth + 1);
        self.inspection.state.leave_function(locals);
        self.inspection.state.replace_parameters(outer);
        self.inspection.calls.leave();
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

/// Code without the lines that it gives to a shell, as far as they stand in it as they are.
fn without_lines(code: &str, lines: &[String]) -> String {
    let mut rest = code.to_owned();
    let lines = lines.iter().filter(|line| !line.is_empty());
    for line in lines.take(MAX_LINES_OF_CODE) {
        if let Some(at) = rest.rfind(line.as_str()) {
            rest.replace_range(at..at + line.len(), "");
        }
    }
    rest
}

/// Whether the lines of a program run in the shell itself.
fn runs_in_same_shell(program: &str) -> bool {
    matches!(
        program,
        "eval" | "trap" | "alias" | "builtin" | "command" | "exec" | "time" | "noglob"
    )
}
