//! What a program runs of its standard input, and of other descriptors and files that it is given.

use termd_proto::policy::{Span, Verdict};

use super::inspector::{COMPUTED, FETCHED, Inspector};
use super::script_of_stdin::ScriptOfStdin;
use super::stdin::{Piece, Stdin};
use crate::danger::writes::{self, Files};
use crate::danger::{self, sql};
use crate::program::input::{console_language, module_of_code, runs_stdin, takes_script};
use crate::program::kind::{ProgramKind, SqlClient, is_shell, program_kind};
use crate::program::output::{fetches, prints_environment};
use crate::program::table::ProgramTable;
use crate::program::wrapper;
use crate::shell::expansion::Scope;
use crate::shell::expansion::choices::Choices;
use crate::shell::expansion::printed::{is_descriptor, is_stdin, printed};
use crate::shell::expansion::source::Nesting;
use crate::shell::word::{UNKNOWN, Word};

const MAKEFILE: &str = "it runs the makefile that it reads";

impl Inspector {
    /// Notes a script that another command prints: `bash -c "$(curl …)"`, `eval "$(ssh-agent)"`.
    pub(super) fn computed_script(&mut self, raw: &str, span: Span) {
        if fetches(raw) {
            self.inspection
                .note_unread(Verdict::Dangerous, FETCHED, span);
        } else if !prints_environment(raw) {
            self.inspection.note(Verdict::Unknown, COMPUTED, span);
        }
    }

    /// Inspects what a program runs of its standard input, and of other descriptors that it is given.
    pub(super) fn input(
        &mut self,
        program: &str,
        args: &[Word],
        stdin: &Stdin,
        span: Span,
        depth: usize,
    ) {
        let programs = self.inspection.programs.clone();
        let (run, unclear) = descriptors(&programs, program, args);
        if unclear {
            self.inspection.note_possible(span);
        }
        for word in run {
            let text = self.held_by(word, stdin);
            if is_stdin(&word.text) {
                self.run_files(program, &text, args, span, depth);
            }
            self.run_text(program, &text, &word.raw, span, depth);
        }
        if is_sender(program) {
            for path in stdin.files() {
                let files = Files::new(programs.files(), &self.inspection.state.place);
                if let Some(reason) = writes::upload(files, path) {
                    self.inspection.note(Verdict::Dangerous, reason, span);
                }
            }
        }
        // Services of stores are spoken to in lines.
        if let (true, Stdin::Literal(text)) = (is_line_client(program), stdin)
            && let Some(reason) = sql::danger(SqlClient::Redis, text)
        {
            self.inspection.note(Verdict::Dangerous, reason, span);
        }
        let is_control = |word: &Word| matches!(word.text.as_str(), "-C" | "-CC");
        if program == "tmux" && args.iter().any(is_control) {
            // tmux(1), CONTROL MODE: its input is commands.
            match stdin {
                Stdin::Literal(text) => self.run_settings(program, text.clone(), span, depth),
                Stdin::Fetched | Stdin::Computed => {
                    self.inspection.note(Verdict::Unknown, COMPUTED, span);
                }
                Stdin::Given | Stdin::File(_) | Stdin::Joined(_) => {}
            }
        }
        let console = console_language(program, args);
        if let Some(reader) = console.or(runs_stdin(program, args).then_some(program)) {
            if let Stdin::Literal(text) = stdin
                && is_shell(reader)
                && wrapper::expands_history_of_stdin(reader, args, text)
            {
                self.inspection
                    .note_unread(Verdict::Unknown, wrapper::OF_HISTORY, span);
            }
            self.run_files(reader, stdin, args, span, depth);
            self.run_text(reader, stdin, "", span, depth);
        }
    }

    /// Takes what `exec < FILE` makes the standard input of the shell. One that reads its commands from
    /// there runs it.
    pub(super) fn replace_stdin(&mut self, stdin: &Stdin, span: Span, depth: usize) {
        self.run_files("sh", stdin, &[], span, depth);
        match stdin {
            // Scripts so take back the input that they had: `exec 0<&6`.
            Stdin::Computed => self.inspection.note_possible(span),
            stdin => self.run_text("sh", stdin, "", span, depth),
        }
        self.inspection.stdin_of_shell = Some(stdin.clone());
    }

    /// What a program reads that runs its standard input, where the shell has its script from there.
    pub(super) fn rest_of_script(&self, program: &str, args: &[Word]) -> Option<Stdin> {
        let script = self.inspection.script_of_stdin.as_ref()?;
        let reads = !script.rest.trim().is_empty() && runs_stdin(program, args);
        reads.then(|| Stdin::Literal(script.rest.clone()))
    }

    /// Inspects the files that a program runs as its standard input.
    fn run_files(&mut self, program: &str, stdin: &Stdin, args: &[Word], span: Span, depth: usize) {
        let is_sourced = matches!(program, "source" | ".");
        let program = if is_sourced { "sh" } else { program };
        match stdin {
            Stdin::File(path) => self.run_file(program, path, args, span, depth),
            Stdin::Joined(pieces) => self.run_joined(program, pieces, span, depth),
            Stdin::Given | Stdin::Literal(_) | Stdin::Fetched | Stdin::Computed => {}
        }
    }

    /// Inspects a file that a program runs as its standard input: `sh < FILE`.
    fn run_file(&mut self, program: &str, path: &str, args: &[Word], span: Span, depth: usize) {
        if self.inspection.fetched.has(path) {
            self.inspection
                .note_unread(Verdict::Dangerous, FETCHED, span);
        }
        let kind = program_kind(program);
        if self.inspection.written.may_have(path) {
            let pieces = [Piece::File(path.to_owned())];
            self.run_joined(program, &pieces, span, depth);
        }
        match kind {
            ProgramKind::Shell => self
                .inspection
                .add_script_file(&[Word::literal(path, span)]),
            ProgramKind::Sql(_) if sql::destroys_by_name(path, args) => {
                let reason = "it runs statements that their name says to destroy";
                self.inspection.note(Verdict::Dangerous, reason, span);
            }
            _ => {}
        }
    }

    /// What the descriptor holds that a word names.
    fn held_by(&mut self, word: &Word, stdin: &Stdin) -> Stdin {
        if let Some((_, inner)) = word.raw.split_once("<(")
            && word.text.contains(UNKNOWN)
        {
            let inner = inner.rsplit_once(')').map_or(inner, |(inner, _)| inner);
            let scope = Scope::of(&self.inspection.state);
            let text = printed(inner, scope, &mut Choices::none());
            let is_fetched = fetches(inner);
            return match text.map(|text| Stdin::of_text(text, is_fetched)) {
                Some(text) => text,
                None if is_fetched => Stdin::Fetched,
                None => Stdin::Computed,
            };
        }
        match stdin {
            Stdin::Given | Stdin::File(_) | Stdin::Joined(_)
                if is_descriptor(&word.text) && !is_stdin(&word.text) =>
            {
                Stdin::Computed
            }
            stdin => stdin.clone(),
        }
    }

    /// Inspects a text that a program runs. `raw` is the substitution that it comes from.
    pub(super) fn run_text(
        &mut self,
        program: &str,
        text: &Stdin,
        raw: &str,
        span: Span,
        depth: usize,
    ) {
        let kind = match program {
            "at" | "batch" | "source" | "." => ProgramKind::Shell,
            _ => program_kind(program),
        };
        let is_make = matches!(program, "make" | "gmake");
        match (kind, text) {
            (_, Stdin::Given | Stdin::File(_) | Stdin::Joined(_))
            | (ProgramKind::Sql(SqlClient::Redis | SqlClient::Mongo), Stdin::Computed) => {}
            (ProgramKind::Sql(_), Stdin::Computed) if is_local_database(program) => {}
            (_, Stdin::Literal(text)) if is_make => {
                self.inspection.note(Verdict::Unknown, MAKEFILE, span);
                self.run_recipes(text, span, depth);
            }
            (ProgramKind::Shell, Stdin::Literal(text)) => {
                self.foreign(program, text, span);
                let is_same_shell = matches!(program, "source" | ".");
                let outer = (!is_same_shell).then(|| self.inspection.state.clone());
                if let Some(outer) = &outer {
                    self.inspection.state = outer.of_child();
                }
                let of_outer = self.inspection.script_of_stdin.clone();
                if !is_same_shell {
                    self.inspection.script_of_stdin = Some(ScriptOfStdin::new(text));
                }
                self.script(text, Nesting::Within(span), depth);
                self.inspection.script_of_stdin = of_outer;
                if let Some(outer) = outer {
                    self.inspection.state = outer;
                }
            }
            (ProgramKind::Sql(client), Stdin::Literal(text)) => {
                self.sql(client, text, Nesting::Within(span), span, depth);
            }
            (_, Stdin::Literal(text)) if matches!(program, "sed" | "gsed") => {
                for inner in wrapper::sed_script(0, text) {
                    self.inner(program, inner, &[], &Stdin::Given, span, depth);
                }
            }
            (_, Stdin::Literal(text)) => {
                // ed(1) writes by commands that vim has as well.
                if wrapper::vim_script::is_editor(program) || program == "ed" {
                    for inner in wrapper::vim_script::started(0, text) {
                        self.inner(program, inner, &[], &Stdin::Given, span, depth);
                    }
                }
                let _unread = self.code(program, text, span);
                if program == "nvim" {
                    // `nvim -l FILE` runs Lua.
                    let _unread = self.code("lua", text, span);
                }
            }
            (_, Stdin::Fetched) => {
                self.inspection
                    .note_unread(Verdict::Dangerous, FETCHED, span);
            }
            (ProgramKind::Text | ProgramKind::Other, Stdin::Computed) if !is_make => {
                self.inspection.note_possible(span);
            }
            (_, Stdin::Computed) if prints_environment(raw) => {}
            (_, Stdin::Computed) => self.inspection.note(Verdict::Unknown, COMPUTED, span),
        }
    }
}

/// Whether a program sends what it reads to an address, whatever its options are.
fn is_sender(program: &str) -> bool {
    is_line_client(program)
        || matches!(
            program,
            "mail" | "mailx" | "mutt" | "neomutt" | "sendmail" | "msmtp" | "s-nail" | "pastebinit"
        )
}

/// Whether a program sends lines to a service as they are.
fn is_line_client(program: &str) -> bool {
    matches!(program, "nc" | "ncat" | "netcat" | "telnet" | "socat")
}

/// The words that name a descriptor which a program runs, and whether other such words may.
fn descriptors<'a>(table: &ProgramTable, program: &str, args: &'a [Word]) -> (Vec<&'a Word>, bool) {
    let is_descriptor = |word: &&Word| names_descriptor(&word.text);
    let files = danger::run_files(table, program, args);
    let runs_code = program_kind(program) == ProgramKind::Code
        || matches!(program, "sed" | "gsed")
        || program.ends_with("awk");
    let names_stdin = runs_code && files.iter().any(|file| file == "-");
    let is_stdin_file = |word: &&Word| names_stdin && word.text.ends_with('-') && word.text != "--";
    let is_given = |word: &&Word| is_descriptor(word) || is_stdin_file(word);
    let given: Vec<&Word> = args.iter().filter(is_given).collect();
    let reads_script =
        is_shell(program) || takes_script(program) || matches!(program, "source" | ".");
    if reads_script {
        // Further operands are data of the script.
        let mut operands = args.iter().filter(|word| !word.text.starts_with('-'));
        let script = match module_of_code(program, args) {
            Some(_) => operands.find(is_descriptor),
            None => operands.next().filter(is_descriptor),
        };
        return (script.into_iter().collect(), false);
    }
    if given.is_empty() {
        return (given, false);
    }
    let (mut run, mut other) = (Vec::new(), Vec::new());
    let is_sql = matches!(program_kind(program), ProgramKind::Sql(_));
    for word in given {
        let is_run = files.iter().any(|file| word.text.ends_with(file.as_str()));
        if is_sql || (is_run && program_kind(program) != ProgramKind::Shell) {
            run.push(word);
        } else {
            other.push(word);
        }
    }
    (run, !other.is_empty() && table.runs_others(program))
}

/// Whether a word names a descriptor: `/dev/stdin`, `--file=/dev/fd/3`, and `<(…)` outside of quotes.
fn names_descriptor(text: &str) -> bool {
    let places = ["/dev/fd/", "/dev/stdin", "/proc/self/fd/"];
    places.iter().any(|place| text.contains(place))
}

/// Whether a client of a database works on a file of its own.
fn is_local_database(program: &str) -> bool {
    matches!(program, "sqlite3" | "sqlite" | "litecli" | "duckdb" | "bq")
}
