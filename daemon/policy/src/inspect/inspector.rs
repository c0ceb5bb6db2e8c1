//! What is wrong with a script and with the commands in it, and with what these start.
//!
//! The programs that only start others are taken off a command ([`wrapper`]); what remains is asked
//! about ([`danger`]). Rules, clients and settings are not known here.

use termd_proto::policy::{Span, Verdict};

use super::command_sink::CommandSink;
use super::finding::{Finding, InspectedCommand};
use super::inspection::Inspection;
use super::script::inspect_script;
use super::stdin::Stdin;
use crate::danger::{self, Danger, code, exfiltration, sql};
use crate::program::input::{runs_stdin, script_substitution};
use crate::program::kind::{ProgramKind, SqlClient, base_name, program_kind};
use crate::program::output::{fetches, prints_environment};
use crate::program::wrapper;
use crate::program::wrapper::inner_command::InnerCommand;
use crate::shell::source::Nesting;
use crate::shell::word::{UNKNOWN, Word, joined};

const FETCHED: &str = "it runs what is fetched or decoded, unseen";
const COMPUTED: &str = "it runs what another command prints";

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
        let Some(program) = known_program(name) else {
            let danger = Danger {
                verdict: Verdict::Unknown,
                reason: "what it runs is only known once it runs".to_owned(),
                needs_person: false,
            };
            self.add(&name.text, words, Some(danger), span);
            return;
        };
        let args = words.get(1..).unwrap_or_default();
        let programs = self.inspection.programs.clone();
        let danger = danger::of_init_script(&name.text, args)
            .map(Danger::from)
            .or_else(|| danger::of_command(&programs, &program, args))
            .or_else(|| self.danger_of_fetched(&name.text, &program, args))
            .or_else(|| self.unlisted(&program, args));
        let is_dangerous = danger
            .as_ref()
            .is_some_and(|danger| danger.verdict == Verdict::Dangerous);
        self.add(&program, words, danger, span);
        self.learn_flow(&program, args, span);
        for inner in wrapper::inner_commands(&programs, &program, args) {
            self.inner(inner, args, stdin, span, depth + 1);
        }
        if !is_dangerous {
            self.input(&program, args, stdin, span, depth + 1);
        }
    }
}

impl Inspector {
    /// Inspects a shell text.
    pub(super) fn script(&mut self, text: &str, nesting: Nesting, depth: usize) {
        inspect_script(self, text, nesting, &Stdin::Given, depth);
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
        for line in sql::shell_lines(client, text) {
            self.script(line, Nesting::Within(span), depth);
        }
    }

    /// Inspects code of an interpreter, and the shell lines that it gives to the system.
    pub(super) fn code(&mut self, text: &str, span: Span) {
        if let Some(reason) =
            code::danger(&self.inspection.programs, text).or_else(|| danger_of_shell_lines(text))
        {
            self.inspection.note(Verdict::Dangerous, reason, span);
        }
    }

    /// Inspects the variables that a request sets.
    pub(super) fn environment(&mut self, env: &[(String, String)]) {
        for (name, value) in env {
            self.variable(name, value, Span { start: 0, end: 0 }, 1);
        }
        let names = env
            .iter()
            .filter(|(name, _)| name.starts_with("GIT_CONFIG_KEY_"));
        for (name, key) in names {
            let value = name.replace("_KEY_", "_VALUE_");
            let value = env.iter().find(|(name, _)| *name == value);
            let setting = format!("{key}={}", value.map_or("", |(_, value)| value));
            let words =
                ["git", "-c", &setting].map(|text| Word::literal(text, Span { start: 0, end: 0 }));
            self.inner(
                InnerCommand::Argv(words.to_vec()),
                &[],
                &Stdin::Given,
                Span { start: 0, end: 0 },
                1,
            );
        }
    }

    /// Inspects what a variable makes programs run.
    fn variable(&mut self, name: &str, value: &str, span: Span, depth: usize) {
        let programs = self.inspection.programs.clone();
        for inner in wrapper::of_variable(&programs, name, value, 0) {
            self.inner(inner, &[], &Stdin::Given, span, depth);
        }
    }

    /// Why a command is dangerous that runs a file which the text has fetched. Learns of such files.
    fn danger_of_fetched(&mut self, path: &str, program: &str, args: &[Word]) -> Option<Danger> {
        let programs = self.inspection.programs.clone();
        for file in danger::fetched_files(&programs, program, args) {
            self.inspection.fetched_files.push(file);
        }
        let fetched = &self.inspection.fetched_files;
        let is_fetched = |path: &str| fetched.iter().any(|file| file == base_name(path));
        let runs_files = matches!(
            program_kind(program),
            ProgramKind::Shell | ProgramKind::Code
        ) || matches!(program, "source" | ".");
        let script = args.iter().find(|word| !word.text.starts_with('-'));
        let runs = (path.contains('/') && is_fetched(path))
            || (runs_files && script.is_some_and(|word| is_fetched(&word.text)));
        runs.then(|| FETCHED.to_owned().into())
    }

    /// Why a command is unknown that nobody has listed, where these are asked about.
    fn unlisted(&self, program: &str, args: &[Word]) -> Option<Danger> {
        let programs = &self.inspection.programs;
        let asks = self.inspection.asks_unlisted && !danger::is_harmless(programs, program, args);
        asks.then(|| Danger {
            verdict: Verdict::Unknown,
            reason: format!("`{program}` is not listed as harmless with these words"),
            needs_person: false,
        })
    }

    /// Learns whether a command reads secrets, and whether it sends something.
    fn learn_flow(&mut self, program: &str, args: &[Word], span: Span) {
        let programs = self.inspection.programs.clone();
        self.inspection.reads_secrets |= exfiltration::reads_secrets(&programs, program, args);
        if self.inspection.sends.is_none() && exfiltration::sends(&programs, program, args) {
            self.inspection.sends = Some(span);
        }
    }

    /// Notes a text that reads secrets and sends something.
    pub(super) fn note_exfiltration(&mut self) {
        if let (true, Some(span)) = (self.inspection.reads_secrets, self.inspection.sends) {
            let reason = "it reads secrets and sends something";
            self.inspection.note(Verdict::Dangerous, reason, span);
        }
    }

    fn add(&mut self, program: &str, words: &[Word], danger: Option<Danger>, span: Span) {
        let args = words.get(1..).unwrap_or_default();
        let name = words.first().map_or("", |word| base_name(&word.text));
        self.inspection.commands.push(InspectedCommand {
            program: program.to_owned(),
            computed: is_computed(name),
            args: args.to_vec(),
            arguments: joined(args),
            finding: danger.map(|danger| Finding {
                verdict: danger.verdict,
                reason: danger.reason,
                span,
                needs_person: danger.needs_person,
            }),
        });
    }

    /// Inspects what a command starts.
    fn inner(
        &mut self,
        inner: InnerCommand,
        args: &[Word],
        stdin: &Stdin,
        span: Span,
        depth: usize,
    ) {
        let span_of = |at: usize| args.get(at).map_or(span, |word| word.span);
        match inner {
            InnerCommand::Argv(words) => self.command(&words, stdin, depth),
            InnerCommand::Line { text, at } => {
                if text.chars().all(|c| c == UNKNOWN) && !text.is_empty() {
                    let raw = args.get(at).map_or("", |word| word.raw.as_str());
                    self.computed_script(raw, span_of(at));
                } else {
                    inspect_script(self, &text, Nesting::Within(span_of(at)), stdin, depth);
                }
            }
            InnerCommand::Code { text, at } => self.code(&text, span_of(at)),
            InnerCommand::Sql { client, text, at } => {
                self.sql(client, &text, Nesting::Within(span_of(at)), span, depth);
            }
            InnerCommand::Unknown(reason) => {
                self.inspection.note(Verdict::Unknown, reason, span);
            }
            InnerCommand::Dangerous(reason) => {
                self.inspection.note(Verdict::Dangerous, reason, span);
            }
        }
    }

    /// Notes a script that another command prints: `bash -c "$(curl …)"`, `eval "$(ssh-agent)"`.
    fn computed_script(&mut self, raw: &str, span: Span) {
        if fetches(raw) {
            self.inspection.note(Verdict::Dangerous, FETCHED, span);
        } else if !prints_environment(raw) {
            self.inspection.note(Verdict::Unknown, COMPUTED, span);
        }
    }

    /// Inspects the standard input of a program that runs it.
    fn input(&mut self, program: &str, args: &[Word], stdin: &Stdin, span: Span, depth: usize) {
        if let Some(raw) = script_substitution(program, args) {
            self.computed_script(raw, span);
            return;
        }
        if !runs_stdin(program, args) {
            return;
        }
        let kind = match program {
            "at" | "batch" => ProgramKind::Shell,
            _ => program_kind(program),
        };
        match (kind, stdin) {
            (_, Stdin::Given)
            | (ProgramKind::Text | ProgramKind::Other, _)
            | (ProgramKind::Sql(_), Stdin::Fetched | Stdin::Computed) => {}
            (ProgramKind::Shell, Stdin::Literal(text)) => {
                self.script(text, Nesting::Within(span), depth);
            }
            (ProgramKind::Code, Stdin::Literal(text)) => self.code(text, span),
            (ProgramKind::Sql(client), Stdin::Literal(text)) => {
                self.sql(client, text, Nesting::Within(span), span, depth);
            }
            (_, Stdin::Fetched) => self.inspection.note(Verdict::Dangerous, FETCHED, span),
            (_, Stdin::Computed) => self.inspection.note(Verdict::Unknown, COMPUTED, span),
        }
    }
}

/// Why the shell lines in code are dangerous. Each code has bounds of its own.
fn danger_of_shell_lines(code: &str) -> Option<String> {
    code::shell_lines(code).iter().find_map(|line| {
        let mut inspector = Inspector::default();
        let nowhere = Nesting::Within(Span { start: 0, end: 0 });
        inspector.script(line, nowhere, CODE_DEPTH);
        let mut findings = inspector.inspection.findings();
        let danger = findings.find(|finding| finding.verdict == Verdict::Dangerous)?;
        Some(format!("it runs a shell line: {}", danger.reason))
    })
}

/// Whether a program's name is not known, or is a pattern that the shell replaces.
fn is_computed(name: &str) -> bool {
    name.contains([UNKNOWN, '*', '?'])
}

/// The program that a word names, if that is known. The last part of its path is enough.
fn known_program(word: &Word) -> Option<String> {
    let name = base_name(&word.text);
    if !is_computed(name) {
        return Some(name.to_owned());
    }
    // Variables that by custom hold a program, as a program of the same kind.
    let variable = word.raw.trim_matches(['"', '{', '}', '$']);
    let known = match variable {
        "SHELL" | "BASH" => "sh",
        "EDITOR" | "VISUAL" | "PAGER" | "BROWSER" | "CC" | "CXX" | "LD" | "AR" | "MAKE"
        | "CARGO" | "RUSTC" | "GIT" | "NODE" | "NPM" | "GO" | "JAVA" => "true",
        "PYTHON" | "PYTHON3" => "python3",
        _ => return None,
    };
    Some(known.to_owned())
}
