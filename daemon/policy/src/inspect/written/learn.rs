//! What commands write to files, by their rows.

use termd_proto::policy::{Span, Verdict};

use super::links::makes_links;
use super::package_json::set_scripts;
use super::version::Part;
use crate::danger::files::is_kept;
use crate::danger::{self, WrittenFile};
use crate::inspect::inspection::Inspection;
use crate::inspect::stdin::Stdin;
use crate::program::table::ProgramTable;
use crate::program::table::call::Call;
use crate::shell::word::{UNKNOWN, Word};
use crate::word_list::is_listed;
use crate::work;

/// What the names of the files begin with that a program cuts its input into.
fn prefix_of_parts(table: &ProgramTable, program: &str, args: &[Word]) -> Option<String> {
    let call = || Some(Call::new(table.row(program)?, args));
    match program {
        "split" | "gsplit" => {
            let mut call = call()?;
            let prefix = call.options(None).operand(1).unwrap_or("x");
            Some(prefix.to_owned())
        }
        "csplit" | "gcsplit" => {
            let mut call = call()?;
            let prefix = call.options(None).value(&["f", "prefix"]);
            Some(prefix.map_or("xx", |(_, prefix)| prefix).to_owned())
        }
        _ => None,
    }
}

/// What it takes to learn of a file.
const UNITS_OF_FILE: usize = 768;

/// Programs that make a program of what they read, and name it behind `-o`.
const COMPILERS: &str =
    "cc gcc g++ c++ clang clang++ tcc rustc go ghc gfortran ld nim crystal v dmd gdc ldc2 ocamlopt";

impl Inspection {
    /// Learns of what a command writes, by its row, and of what a compiler makes.
    pub(in crate::inspect) fn learn_written(
        &mut self,
        program: &str,
        args: &[Word],
        stdin: &Stdin,
        span: Span,
    ) {
        let written = &mut self.written;
        let is_link = makes_links(program, args);
        for file in danger::written_files(&self.programs, program, args) {
            if !work::spend(UNITS_OF_FILE) {
                break;
            }
            match file {
                WrittenFile::New(path) if matches!(program, "tee" | "sponge") => {
                    let appends = args
                        .iter()
                        .any(|word| matches!(&*word.text, "-a" | "--append"));
                    written.learn(&path, stdin, appends);
                }
                // What a compiler makes is no script.
                WrittenFile::New(_) if is_listed(program, COMPILERS) => {}
                WrittenFile::New(path) => written.learn(&path, &Stdin::Computed, false),
                WrittenFile::Changed(path) => {
                    written.add(&path, vec![vec![Part::Changed]], true);
                }
                WrittenFile::Copy { source, path } => written.learn_copy(&source, &path, is_link),
            }
        }
        if let Some(prefix) = prefix_of_parts(&self.programs, program, args) {
            let part = format!("{prefix}{UNKNOWN}");
            written.learn(&part, &Stdin::Computed, false);
        }
        if matches!(program, "npm" | "pnpm" | "bun")
            && let Some(row) = self.programs.row(program)
        {
            let mut call = Call::new(row, args);
            let options = call.options(None);
            let operands: Vec<&str> = options.operands.iter().map(|(_, word)| *word).collect();
            if let Some(manifest) = set_scripts(&operands) {
                written.learn("package.json", &Stdin::Literal(manifest), false);
            }
        }
        if matches!(program, "make" | "gmake") {
            // A rule of its own makes a program of a script: `make a` copies `a.sh`.
            for goal in args.iter().map(|word| word.text.as_str()) {
                let script = format!("{goal}.sh");
                if written.written(&script).is_some() {
                    written.learn_copy(&script, goal, false);
                }
            }
        }
        if !written.links.learn(program, args) {
            let reason = "it makes more links than are followed";
            self.note_unread(Verdict::Unknown, reason, span);
        }
        let empties = *stdin == Stdin::File("/dev/null".to_owned());
        let mut files = args.iter().filter(|word| !word.text.starts_with('-'));
        if empties
            && matches!(program, "tee" | "sponge")
            && let Some(file) = files.find(|word| is_kept(&word.text))
        {
            let reason = "it empties a file of data";
            self.note(Verdict::Dangerous, reason, file.span);
        }
        let made = args
            .windows(2)
            .filter(|pair| pair.first().is_some_and(|word| word.text == "-o"));
        if is_listed(program, COMPILERS) {
            let made = made.filter_map(|pair| pair.get(1));
            self.built.extend(made.map(|word| word.raw.clone()));
        }
    }
}
