//! Files that a program looks for by their names, where the text has written them: `printf … > Makefile; make`.

use termd_proto::policy::Span;

use super::package_json;
use super::recipes::{self, Recipes};
use super::version::Part;
use super::written_files::names;
use crate::inspect::inspector::Inspector;
use crate::inspect::stdin::Stdin;
use crate::program::kind::base_name;
use crate::program::table::call::Call;
use crate::shell::expansion::source::Nesting;
use crate::shell::text::quote::quoted;
use crate::shell::word::Word;

/// What a file holds that a program obeys.
#[derive(Debug, Clone, Copy)]
enum Language {
    Recipes(Recipes),
    /// `package.json`: <https://docs.npmjs.com/cli/using-npm/scripts>.
    PackageScripts,
    /// `package.json` to npx(1): <https://docs.npmjs.com/cli/commands/npx>.
    PackagePrograms,
    /// Settings, each as `npm config set` takes it: <https://docs.npmjs.com/cli/configuring-npm/npmrc>.
    NpmSettings,
    /// Code of this interpreter.
    Code(&'static str),
}

/// Programs, the names of the files that they obey, and what these hold.
const OBEYED: [(&str, &[&str], Language); 25] = [
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
    ("node", PACKAGE, Language::PackageScripts),
    ("npx", PACKAGE, Language::PackagePrograms),
    ("bunx", PACKAGE, Language::PackagePrograms),
    ("pnpx", PACKAGE, Language::PackagePrograms),
    ("npm", NPMRC, Language::NpmSettings),
    ("pnpm", NPMRC, Language::NpmSettings),
    ("pytest", CONFTEST, Language::Code("python3")),
    ("py.test", CONFTEST, Language::Code("python3")),
    ("pip", &["setup.py"], Language::Code("python3")),
    ("pip3", &["setup.py"], Language::Code("python3")),
    ("nox", &["noxfile.py"], Language::Code("python3")),
    ("invoke", &["tasks.py"], Language::Code("python3")),
    ("inv", &["tasks.py"], Language::Code("python3")),
    ("fab", &["fabfile.py"], Language::Code("python3")),
    ("rake", RAKEFILES, Language::Code("ruby")),
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
const RAKEFILES: &[&str] = &["Rakefile", "rakefile", "Rakefile.rb"];
const NPMRC: &[&str] = &[".npmrc"];
const CONFTEST: &[&str] = &["conftest.py"];

impl Inspector {
    /// Inspects what a program finds by itself of the files that the text has written. A file that is not read
    /// matters to rules alone: packages and manifests start what no rule knows anyway.
    pub(super) fn run_obeyed(&mut self, program: &str, args: &[Word], span: Span, depth: usize) {
        for (_, files, language) in OBEYED.iter().filter(|(name, ..)| *name == program) {
            let written = &self.inspection.written;
            // A pattern, such as of a copy, may be any file.
            let is_known = |name: &&&str| written.names().any(|known| known == **name);
            let known: Vec<&&str> = files.iter().filter(is_known).collect();
            for name in known {
                self.obey_file(program, *language, name, args, span, depth);
            }
        }
        if program == "rake" {
            let beside: Vec<String> = self.read_by_rake(args).map(str::to_owned).collect();
            for path in beside {
                self.obey_file(program, Language::Code("ruby"), &path, args, span, depth);
            }
        }
    }

    /// The files that rake(1) reads beside a Rakefile: those of `rakelib`, that options name (`-f`, `-r`), and that
    /// a Rakefile imports.
    fn read_by_rake(&self, args: &[Word]) -> impl Iterator<Item = &str> {
        let written = &self.inspection.written;
        let versions = RAKEFILES.iter().filter_map(|name| written.written(name));
        let parts = versions.flatten().flatten();
        let importing: Vec<String> = parts
            .filter_map(|part| match part {
                Part::Text(text) if text.contains("import") => Some(text),
                _ => None,
            })
            .collect();
        let stem = |path: &str| path.strip_suffix(".rb").unwrap_or(path).to_owned();
        let is_named = move |path: &str| {
            let stem = stem(base_name(path));
            path.rsplit_once('.').is_some_and(|(_, end)| end == "rake")
                || args
                    .iter()
                    .any(|word| names(&word.text, &stem) || word.text.ends_with(path))
                || importing.iter().any(|text| names(text, base_name(path)))
        };
        written.paths().filter(move |path| is_named(path))
    }

    /// Inspects what a program obeys of a file of the text.
    fn obey_file(
        &mut self,
        program: &str,
        language: Language,
        path: &str,
        args: &[Word],
        span: Span,
        depth: usize,
    ) {
        let versions = self.inspection.written.written(path).into_iter();
        for part in versions.flatten().flatten() {
            match part {
                Part::Text(text) => self.obey(program, language, &text, args, span, depth),
                Part::Unread | Part::Changed => self.note_written(span),
                Part::CopyOf(_) => {}
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
                recipes::of_goals(Recipes::Make, &text, &operands)
            }
            Language::Recipes(kind) => recipes::of_goals(kind, text, &operands),
            Language::PackageScripts => match (program, operands.split_first()) {
                ("node", _) => match script_of_node(args) {
                    Some(name) => {
                        let operands = [&["run", name][..], &operands].concat();
                        package_json::scripts(program, text, &operands)
                    }
                    None => Vec::new(),
                },
                ("npm" | "pnpm", Some((&("exec" | "x"), rest))) => {
                    package_json::programs(text, rest)
                }
                _ => package_json::scripts(program, text, &operands),
            },
            Language::PackagePrograms => package_json::programs(text, &operands),
            // What sets one does not read them first.
            Language::NpmSettings if operands.first() == Some(&"config") => Vec::new(),
            Language::NpmSettings => npm_settings(text),
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

/// The script of the manifest that `node --run NAME` runs.
fn script_of_node(args: &[Word]) -> Option<&str> {
    let mut words = args.iter().map(|word| word.text.as_str());
    let option = words.find(|word| *word == "--run" || word.starts_with("--run="))?;
    match option.split_once('=') {
        Some((_, name)) => Some(name),
        None => words.next(),
    }
}

/// The settings of a `.npmrc` as lines that set them.
fn npm_settings(text: &str) -> Vec<String> {
    let settings = text.lines().filter_map(|line| line.split_once('='));
    let line = |(key, value): (&str, &str)| {
        let setting = format!("{}={}", key.trim(), value.trim().trim_matches(['"', '\'']));
        format!("npm config set {}", quoted(&setting))
    };
    settings.map(line).collect()
}
