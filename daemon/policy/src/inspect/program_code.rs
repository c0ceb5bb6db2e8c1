//! Code that an interpreter is given: what is dangerous in it, and what it starts.

use termd_proto::policy::{Span, Verdict};
use termd_proto::terminal::Front;

use super::code::{Started, UseOfInput, signals_parent, started};
use super::command_sink::CommandSink;
use super::inspector::{FETCHED, Inspector};
use super::stdin::Stdin;
use crate::danger::code::plain::Code;
use crate::danger::writes::Files;
use crate::danger::{self, code};
use crate::shell::expansion::source::Nesting;
use crate::shell::state::Content;
use crate::shell::word::Word;
use crate::work;

const IN_SHELL_LINE: &str = "it runs a shell line: ";

/// Shell lines in one code that are told apart from the rest of it: of more texts within one, all is unknown.
const MAX_LINES_OF_CODE: usize = 256;
/// The depth at which shell lines in code begin.
const CODE_DEPTH: usize = 8;

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

impl Inspector {
    /// Inspects code of an interpreter, and the shell lines that it gives to the system. A rule may fit
    /// these lines; whether they run cannot be told.
    /// Returns whether the code starts what is only known once it runs.
    pub(super) fn code(&mut self, program: &str, text: &str, span: Span) -> bool {
        let read = code::plain::read(program, text);
        self.code_read(program, read, text, span).runs_unread
    }

    /// Inspects code of an interpreter, and what the code runs of its standard input.
    pub(super) fn code_with_stdin(
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
