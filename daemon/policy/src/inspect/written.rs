//! Files that a text writes and then runs: `cat > x.sh <<E …`, `bash x.sh`.

use termd_proto::policy::{Span, Verdict};

use super::inspector::Inspector;
use super::stdin::Stdin;
use crate::danger;
use crate::danger::files::is_kept;
use crate::program::input::takes_script;
use crate::program::kind::{base_name, is_shell};
use crate::program::wrapper::inner_command::InnerCommand;
use crate::shell::word::Word;
use crate::word_list::is_listed;

/// Programs that make a program of what they read, and name it behind `-o`.
const COMPILERS: &str =
    "cc gcc g++ c++ clang clang++ tcc rustc go ghc gfortran ld nim crystal v dmd gdc ldc2 ocamlopt";

/// The files of one text that are remembered.
const MAX_FILES: usize = 32;

/// What a text has written to files, by the last parts of their names.
#[derive(Debug, Default)]
pub(super) struct WrittenFiles(Vec<(String, String)>);

impl WrittenFiles {
    /// Learns of a file. `appends`: what it held stays.
    pub(super) fn learn(&mut self, path: &str, text: &str, appends: bool) {
        let name = base_name(path);
        let has_space = self.0.len() < MAX_FILES && !path.starts_with("/dev/");
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) if appends => known.push_str(text),
            Some((_, known)) => text.clone_into(known),
            None if has_space => self.0.push((name.to_owned(), text.to_owned())),
            None => {}
        }
    }

    fn text(&self, path: &str) -> Option<String> {
        let name = base_name(path);
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, text)| text.clone())
    }
}

impl Inspector {
    /// Inspects a file that the text has written, where a command runs it.
    pub(super) fn run_written(
        &mut self,
        path: &str,
        program: &str,
        args: &[Word],
        span: Span,
        depth: usize,
    ) {
        let is_sourced = matches!(program, "source" | ".");
        let script = args.iter().position(|word| !word.text.starts_with('-'));
        let first = script.and_then(|at| args.get(at));
        let (text, interpreter, given) = if is_shell(program) || is_sourced || takes_script(program)
        {
            let has_code = args.iter().any(|word| word.text == "-c");
            let text = first
                .filter(|_| !has_code)
                .and_then(|word| self.written(&word.text));
            let rest = script.and_then(|at| args.get(at + 1..));
            (text, program.to_owned(), rest.unwrap_or_default())
        } else if path.contains('/') {
            let text = self.written(path);
            let interpreter = text.as_deref().map_or("sh", shebang).to_owned();
            (text, interpreter, args)
        } else {
            let files = danger::run_files(&self.inspection.programs.clone(), program, args);
            let text = files.iter().find_map(|file| self.written(file));
            (text, program.to_owned(), &[][..])
        };
        let Some(text) = text else {
            return;
        };
        if !is_shell(&interpreter) && !is_sourced {
            let _unread = self.code(&interpreter, &text, span);
            return;
        }
        let mut parameters = vec![Word::literal(path, span)];
        parameters.extend_from_slice(given);
        let outer = self.inspection.state.clone();
        if !is_sourced {
            self.inspection.state = outer.of_child();
        }
        let script = InnerCommand::Script {
            text,
            at: usize::MAX,
            parameters,
        };
        self.inner(program, script, args, &Stdin::Given, span, depth);
        self.inspection.state = outer;
    }

    /// Learns of what tee(1) writes, and of what a compiler makes.
    pub(super) fn learn_written(&mut self, program: &str, args: &[Word], stdin: &Stdin) {
        if let ("tee", Some(text)) = (program, stdin.text()) {
            let appends = args
                .iter()
                .any(|word| matches!(&*word.text, "-a" | "--append"));
            for word in args.iter().filter(|word| !word.text.starts_with('-')) {
                self.inspection.written.learn(&word.text, text, appends);
            }
        }
        let empties = *stdin == Stdin::File("/dev/null".to_owned());
        let mut files = args.iter().filter(|word| !word.text.starts_with('-'));
        if empties
            && matches!(program, "tee" | "sponge")
            && let Some(file) = files.find(|word| is_kept(&word.text))
        {
            let reason = "it empties a file of data";
            self.inspection.note(Verdict::Dangerous, reason, file.span);
        }
        let made = args
            .windows(2)
            .filter(|pair| pair.first().is_some_and(|word| word.text == "-o"));
        if is_listed(program, COMPILERS) {
            let made = made.filter_map(|pair| pair.get(1));
            self.inspection
                .built
                .extend(made.map(|word| word.raw.clone()));
        }
    }

    fn written(&self, path: &str) -> Option<String> {
        self.inspection.written.text(path)
    }
}

/// The program that the first line of a script names.
fn shebang(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    let Some(command) = line.strip_prefix("#!") else {
        return "sh";
    };
    let mut words = command
        .split_whitespace()
        .filter(|word| !word.starts_with('-'));
    let name = base_name(words.next().unwrap_or("sh"));
    if name == "env" {
        return base_name(words.next().unwrap_or("sh"));
    }
    name
}
