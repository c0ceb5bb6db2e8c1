//! Files that a program looks for by their names, where the text has written them: `printf … > Makefile; make`.

use serde_json::Value;
use termd_proto::policy::Span;

use super::recipes::{self, Recipes};
use super::version::Part;
use crate::inspect::inspector::Inspector;
use crate::inspect::stdin::Stdin;
use crate::program::table::call::Call;
use crate::shell::expansion::source::Nesting;
use crate::shell::word::Word;

/// What a file holds that a program obeys.
#[derive(Debug, Clone, Copy)]
enum Language {
    Recipes(Recipes),
    /// `package.json`: <https://docs.npmjs.com/cli/using-npm/scripts>.
    PackageScripts,
    /// Code of this interpreter.
    Code(&'static str),
}

/// Programs, the names of the files that they obey, and what these hold.
const OBEYED: [(&str, &[&str], Language); 19] = [
    ("make", MAKEFILES, Language::Recipes(Recipes::Make)),
    ("gmake", MAKEFILES, Language::Recipes(Recipes::Make)),
    ("bmake", MAKEFILES, Language::Recipes(Recipes::Make)),
    (
        "just",
        &["justfile", "Justfile", ".justfile"],
        Language::Recipes(Recipes::Just),
    ),
    ("npm", PACKAGE, Language::PackageScripts),
    ("pnpm", PACKAGE, Language::PackageScripts),
    ("yarn", PACKAGE, Language::PackageScripts),
    ("bun", PACKAGE, Language::PackageScripts),
    ("pytest", CONFTEST, Language::Code("python3")),
    ("py.test", CONFTEST, Language::Code("python3")),
    ("pip", &["setup.py"], Language::Code("python3")),
    ("pip3", &["setup.py"], Language::Code("python3")),
    ("nox", &["noxfile.py"], Language::Code("python3")),
    ("invoke", &["tasks.py"], Language::Code("python3")),
    ("inv", &["tasks.py"], Language::Code("python3")),
    ("fab", &["fabfile.py"], Language::Code("python3")),
    (
        "rake",
        &["Rakefile", "rakefile", "Rakefile.rb"],
        Language::Code("ruby"),
    ),
    (
        "vite",
        &["vite.config.js", "vite.config.ts", "vite.config.mjs"],
        Language::Code("node"),
    ),
    (
        "webpack",
        &["webpack.config.js", "webpack.config.cjs"],
        Language::Code("node"),
    ),
];
/// Files that are included, one by another.
const MAX_INCLUDED: usize = 16;
const MAKEFILES: &[&str] = &["GNUmakefile", "makefile", "Makefile"];
const PACKAGE: &[&str] = &["package.json"];
const CONFTEST: &[&str] = &["conftest.py"];

impl Inspector {
    /// Inspects what a program finds by itself of the files that the text has written. A file that is not read
    /// matters to rules alone: packages and manifests start what no rule knows anyway.
    pub(super) fn run_obeyed(&mut self, program: &str, args: &[Word], span: Span, depth: usize) {
        for (_, names, language) in OBEYED.iter().filter(|(name, ..)| *name == program) {
            let written = &self.inspection.written;
            // A pattern, such as of a copy, may be any file.
            let is_known = |name: &&&str| written.names().any(|known| known == **name);
            let names: Vec<&&str> = names.iter().filter(is_known).collect();
            let versions = names.iter().filter_map(|name| written.written(name));
            let parts: Vec<Part> = versions.flatten().flatten().collect();
            for part in parts {
                match part {
                    Part::Text(text) => self.obey(program, *language, &text, args, span, depth),
                    Part::Unread | Part::Changed => self.note_written(span),
                    Part::CopyOf(_) => {}
                }
            }
        }
    }

    fn obey(
        &mut self,
        program: &str,
        language: Language,
        text: &str,
        args: &[Word],
        span: Span,
        depth: usize,
    ) {
        let programs = self.inspection.programs.clone();
        let operands: Vec<&str> = match programs.row(program) {
            Some(row) => {
                let options = Call::new(row, args).options(None);
                options.operands.iter().map(|(_, word)| *word).collect()
            }
            None => Vec::new(),
        };
        let (values, operands): (Vec<&str>, Vec<&str>) =
            operands.into_iter().partition(|word| word.contains('='));
        let lines = match language {
            Language::Code(interpreter) => {
                self.run_text(
                    interpreter,
                    &Stdin::Literal(text.to_owned()),
                    "",
                    span,
                    depth,
                );
                return;
            }
            Language::Recipes(Recipes::Make) => {
                let text = self.with_included(text, span);
                recipes::of_goals(Recipes::Make, &text, &operands, &values)
            }
            Language::Recipes(kind) => recipes::of_goals(kind, text, &operands, &values),
            Language::PackageScripts => package_scripts(program, text, &operands),
        };
        for line in lines {
            let outer = self.inspection.state.clone();
            self.inspection.state = outer.of_child();
            self.script(&line, Nesting::Within(span), depth + 1);
            self.inspection.state = outer;
        }
    }

    /// A text for make(1), with the files that it includes and the text has written.
    fn with_included(&mut self, text: &str, span: Span) -> String {
        let mut whole = text.to_owned();
        let mut names: Vec<String> = recipes::included(text).map(str::to_owned).collect();
        for _ in 0..MAX_INCLUDED {
            let Some(name) = names.pop() else { break };
            let versions = self.inspection.written.written(&name);
            for part in versions.into_iter().flatten().flatten() {
                match part {
                    Part::Text(text) => {
                        names.extend(recipes::included(&text).map(str::to_owned));
                        whole.push('\n');
                        whole.push_str(&text);
                    }
                    Part::Unread | Part::Changed => self.note_written(span),
                    Part::CopyOf(_) => {}
                }
            }
        }
        whole
    }

    /// Inspects the recipes of a text that make(1) reads.
    pub(in crate::inspect) fn run_recipes(&mut self, text: &str, span: Span, depth: usize) {
        self.obey(
            "make",
            Language::Recipes(Recipes::Make),
            text,
            &[],
            span,
            depth,
        );
    }
}

/// The lines of a manifest that a command of its tool runs.
fn package_scripts(program: &str, text: &str, operands: &[&str]) -> Vec<String> {
    let Ok(manifest) = serde_json::from_str::<Value>(text) else {
        return Vec::new();
    };
    let verb = operands.first().copied().unwrap_or("install");
    let mut names = match verb {
        "run" | "run-script" | "rum" => operands.get(1..).unwrap_or_default().to_vec(),
        "install" | "i" | "ci" | "add" => vec!["install", "prepare", "prepublish"],
        "t" | "tst" => vec!["test"],
        "test" | "start" | "stop" | "restart" | "pack" | "publish" | "version" => vec![verb],
        // yarn and pnpm run a script by its name alone.
        _ if program != "npm" => vec![verb],
        _ => Vec::new(),
    };
    names.truncate(3);
    let line = |name: &str| {
        let line = manifest.get("scripts")?.get(name)?.as_str()?;
        Some(line.to_owned())
    };
    let around = |name: &str| [format!("pre{name}"), name.to_owned(), format!("post{name}")];
    let names = names.into_iter().flat_map(around);
    names.filter_map(|name| line(&name)).collect()
}
