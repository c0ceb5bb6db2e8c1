//! The paths at which a setting of git's looks for what it runs, though nothing may be there yet.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use termd_policy::program::names_code_files;

use super::named_files::MODULE_ENDS;
use super::program_words::{Word, words};

/// Most directories that a line may run in, and most variables whose values are followed.
const MAX_DIRECTORIES: usize = 16;
const MAX_VARIABLES: usize = 64;
/// How deep lines are followed within lines.
const MAX_DEPTH: usize = 8;
/// What the shell, and git (`%f`), complete when the line runs.
const GLOBS: &[u8] = b"*?[%";
/// What separates paths within a word: `--rcfile=n`, `PATH=a:b`, `{a,b}`.
const BETWEEN_PATHS: &[u8] = b"=:,{}";
/// Other than letters and digits, what a name of a script may have in it. A word with more is code.
const IN_NAMES: &[u8] = b"._-+@";
/// Options whose value may be joined to them: `-fn`, `-r./n`.
const JOINED_OPTIONS: &[u8] = b"fmMrlId";
/// How commands begin that print a directory, for the path behind them.
const DIRECTORY_COMMANDS: &[&str] = &["git rev-parse", "pwd", "dirname"];
/// Files that are not the workspace's.
const OUTSIDE: &[&str] = &["/dev", "/proc"];

/// The paths of what a line runs. Of a name that is completed (`tools/c*`) it is the directory, because a
/// new file may fit.
///
/// Which word a shell or an interpreter takes for its script is not told: `bash -o pipefail n`,
/// `cat n | sh`, `n=n; bash $n`. In a line with one, or with a program that is computed, each word is that
/// may be a path (`docs/decisions/0141-each-word-may-be-the-script.md`). In other lines it is one behind
/// `-f`, one that names a file, the value of a variable such as `PATH`, and a word with a slash whose
/// directory exists.
pub(super) fn program_paths(line: &[u8], top: &Path, home: &Path) -> Vec<PathBuf> {
    PathFinder::read_all(line, top, home, Scripts::ByProgram)
}

/// The paths of what an alias runs, which is a line or the rest of one that begins with `git`. Many aliases
/// have a shell or `xargs` in them and no script, so a word is none for that.
pub(super) fn alias_paths(line: &[u8], top: &Path, home: &Path) -> Vec<PathBuf> {
    PathFinder::read_all(line, top, home, Scripts::Never)
}

/// What a word means as a path.
pub(super) fn place(word: &[u8], top: &Path, home: &Path) -> PathBuf {
    let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
    for start in [&b"~/"[..], b"$HOME/", b"${HOME}/"] {
        if let Some(below) = word.strip_prefix(start) {
            return home.join(path(below));
        }
    }
    if !matches!(word.first(), Some(b'$' | b'`')) {
        return top.join(path(word));
    }
    let end = word.iter().rposition(|byte| b")`".contains(byte));
    let rest = word.get(end.unwrap_or(0)..).unwrap_or_default();
    let slash = rest.iter().position(|&byte| byte == b'/');
    let below = slash.and_then(|at| rest.get(at + 1..));
    top.join(path(below.unwrap_or_default()))
}

/// Whether words may be scripts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scripts {
    /// None but one that stands where a program does.
    Never,
    /// If the line has a program that takes one.
    ByProgram,
    /// In any case: what the line prints is run.
    Always,
}

struct PathFinder<'a> {
    home: &'a Path,
    /// Where the line may run.
    directories: Vec<PathBuf>,
    /// What the line has set.
    variables: Vec<(Vec<u8>, Vec<u8>)>,
    paths: Vec<PathBuf>,
}

/// What a line says of its words.
struct Line {
    scripts: Scripts,
    has_scripts: bool,
    has_shell: bool,
    /// Whether it says where programs are looked for.
    has_directories: bool,
}

impl Line {
    /// Whether words of a line within this one may be scripts.
    fn scripts_of_line(&self) -> Scripts {
        match self.scripts {
            Scripts::Never => Scripts::Never,
            Scripts::ByProgram | Scripts::Always => Scripts::ByProgram,
        }
    }

    /// The same of a command whose output is in a word.
    fn scripts_of_substitution(&self) -> Scripts {
        match self.scripts {
            Scripts::Never => Scripts::Never,
            _ if self.has_scripts => Scripts::Always,
            Scripts::ByProgram | Scripts::Always => Scripts::ByProgram,
        }
    }
}

impl<'a> PathFinder<'a> {
    fn read_all(line: &[u8], top: &Path, home: &'a Path, scripts: Scripts) -> Vec<PathBuf> {
        let mut finder = Self {
            home,
            directories: vec![top.to_owned()],
            variables: Vec::new(),
            paths: Vec::new(),
        };
        finder.read(line, scripts, 0);
        finder.paths
    }

    fn read(&mut self, line: &[u8], scripts: Scripts, depth: usize) {
        let words = words(line);
        let sets_path = |word: &Word| {
            let set = word.assignment();
            set.is_some_and(|(name, _)| name.ends_with("PATH"))
        };
        let may_run = |word: &Word| word.runs_scripts() || is_computed_program(word);
        let line = Line {
            scripts,
            has_scripts: match scripts {
                Scripts::Never => false,
                Scripts::ByProgram => words.iter().any(may_run),
                Scripts::Always => true,
            },
            has_shell: words.iter().any(Word::is_shell),
            has_directories: words.iter().any(sets_path),
        };
        for word in &words {
            self.read_word(word, &line, depth);
        }
    }

    fn read_word(&mut self, word: &Word, line: &Line, depth: usize) {
        if depth < MAX_DEPTH && word.is_line() {
            return self.read(&word.text, line.scripts_of_line(), depth + 1);
        }
        let text = self.expanded(&word.text);
        if word.is_directory() {
            return self.change_directory(&text);
        }
        if depth < MAX_DEPTH {
            // What is substituted runs; where there is a script, what it prints may be one, too.
            let scripts = line.scripts_of_substitution();
            for command in word.substitutions() {
                let begins = |start: &&str| command.starts_with(start.as_bytes());
                if !DIRECTORY_COMMANDS.iter().any(begins) {
                    self.read(command, scripts, depth + 1);
                }
            }
        }
        // What it prints is no path that is known.
        if is_substitution(&text) {
            return;
        }
        if let Some((name, value)) = word.assignment() {
            if self.variables.len() < MAX_VARIABLES {
                self.variables
                    .push((name.as_bytes().to_owned(), value.to_owned()));
            }
            let is_taken = line.has_scripts || names_code_files(name);
            for part in value.split(|byte| BETWEEN_PATHS.contains(byte)) {
                if is_substitution(part) {
                    continue;
                }
                if is_taken && is_path(part) || part.contains(&b'/') && self.has_directory(part) {
                    self.add(part);
                }
            }
            return;
        }
        let is_code = word.is_behind_code_option() && !line.has_shell;
        if let Some(glob) = text.iter().position(|byte| GLOBS.contains(byte)) {
            let named = text.get(..glob).unwrap_or_default();
            let slash = named.iter().rposition(|&byte| byte == b'/');
            let directory = slash.and_then(|slash| named.get(..slash));
            if let Some(directory) = directory.filter(|_| word.is_program || line.has_scripts) {
                self.add_if(!is_code, directory);
            }
        } else if text.contains(&b'/') && text.first() != Some(&b'-') {
            let is_script = line.has_scripts && !is_code;
            self.add_if(
                word.is_program || is_script || self.has_directory(&text),
                &text,
            );
            // git's `-c key=value`.
            if let Some(equals) = text.iter().position(|&byte| byte == b'=') {
                let value = text.get(equals + 1..).unwrap_or_default();
                self.add_if(word.is_program && is_path(value), value);
            }
            self.add_modules(word, line, &text);
        } else {
            self.read_name(word, &text, line);
        }
    }

    /// Reads a word that is a name alone, or an option.
    fn read_name(&mut self, word: &Word, text: &[u8], line: &Line) {
        let is_code = word.is_behind_code_option() && !line.has_shell;
        if is_code || word.runs_scripts() || (word.is_program && !line.has_directories) {
            return;
        }
        let is_taken = line.has_scripts
            || line.has_directories
            || word.is_behind_file_option()
            || text.starts_with(b"-f");
        let value = match text {
            [b'-', b'-', option @ ..] => option.splitn(2, |&byte| byte == b'=').nth(1),
            [b'-', option, value @ ..] if JOINED_OPTIONS.contains(option) => Some(value),
            [b'-', _, value @ ..] if value.contains(&b'/') => Some(value),
            [b'-', ..] => None,
            _ => Some(text),
        };
        let parts = value
            .unwrap_or_default()
            .split(|byte| BETWEEN_PATHS.contains(byte));
        for part in parts.filter(|part| is_path(part)) {
            let is_file = || {
                self.directories
                    .iter()
                    .any(|top| place(part, top, self.home).is_file())
            };
            let is_joined = text.first() == Some(&b'-') && part.contains(&b'/');
            let is_named = is_taken || is_file() || is_joined && self.has_directory(part);
            self.add_if(is_named, part);
            self.add_modules(word, line, part);
        }
    }

    /// Adds the files of a module that an interpreter is to load.
    fn add_modules(&mut self, word: &Word, line: &Line, name: &[u8]) {
        if line.has_scripts && word.names_module() && is_path(name) {
            for end in MODULE_ENDS {
                self.add(&[name, end.as_bytes()].concat());
            }
        }
    }

    fn change_directory(&mut self, directory: &[u8]) {
        for at in 0..self.directories.len() {
            let Some(path) = self
                .directories
                .get(at)
                .map(|top| place(directory, top, self.home))
            else {
                return;
            };
            if self.directories.len() < MAX_DIRECTORIES && !self.directories.contains(&path) {
                self.directories.push(path);
            }
        }
    }

    /// The word with the value of a variable that the line sets, where it begins with one.
    fn expanded(&self, text: &[u8]) -> Vec<u8> {
        let whole = || text.to_owned();
        let Some(rest) = text.strip_prefix(b"$") else {
            return whole();
        };
        let rest = rest.strip_prefix(b"{").unwrap_or(rest);
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let end = rest
            .iter()
            .position(|byte| !is_name(byte))
            .unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        let set = self.variables.iter().rev().find(|(set, _)| set == name);
        let behind = behind.strip_prefix(b"}").unwrap_or(behind);
        set.map_or_else(whole, |(_, value)| [value, behind].concat())
    }

    /// Whether the directory of a path exists.
    fn has_directory(&self, path: &[u8]) -> bool {
        let mut places = self
            .directories
            .iter()
            .map(|top| place(path, top, self.home));
        places.any(|path| path.parent().is_some_and(Path::is_dir))
    }

    fn add_if(&mut self, is_named: bool, path: &[u8]) {
        if is_named {
            self.add(path);
        }
    }

    /// Adds a path in each directory in which the line may run.
    fn add(&mut self, path: &[u8]) {
        for top in &self.directories {
            let path = place(path, top, self.home);
            let is_outside = OUTSIDE.iter().any(|outside| path.starts_with(outside));
            if !is_outside && !self.paths.contains(&path) {
                self.paths.push(path);
            }
        }
    }
}

/// Whether a program is what a variable or a command says.
fn is_computed_program(word: &Word) -> bool {
    let is_computed = matches!(word.text.first(), Some(b'$' | b'`'));
    let end = word.text.iter().rposition(|byte| b")}`".contains(byte));
    let behind = word.text.get(end.unwrap_or(0)..).unwrap_or_default();
    word.is_program && is_computed && !behind.contains(&b'/')
}

/// Whether a text is what a command prints, and nothing else.
fn is_substitution(text: &[u8]) -> bool {
    matches!(text, [b'$', b'(', .., b')'] | [b'`', .., b'`'])
}

/// Whether a part of a word may be a path, and is no code.
fn is_path(part: &[u8]) -> bool {
    let may_stand = |byte: &u8| {
        byte.is_ascii_alphanumeric() || IN_NAMES.contains(byte) || *byte == b'/' || !byte.is_ascii()
    };
    !matches!(part.first(), None | Some(b'-'))
        && part.iter().all(may_stand)
        && !part.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks which paths lines name, in a directory with the directory `there` and the file `known`.
    fn check(lines: &[(&str, &[&str])]) {
        let top = tempfile::tempdir().unwrap();
        let top = top.path();
        std::fs::create_dir(top.join("there")).unwrap();
        std::fs::write(top.join("known"), "").unwrap();
        let mut wrong = Vec::new();
        for (line, expected) in lines {
            let found = program_paths(line.as_bytes(), top, Path::new("/home/me"));
            let expected: Vec<PathBuf> = expected.iter().map(|path| top.join(path)).collect();
            if found != expected {
                wrong.push(format!("{line}: {found:?}"));
            }
        }
        assert_eq!(wrong, Vec::<String>::new());
    }

    #[test]
    fn modules_and_values_that_are_joined_to_options_are_found() {
        check(&[
            (
                "python3 -m fmt",
                &["fmt", "fmt.py", "fmt.pm", "fmt.rb", "fmt.js", "fmt.lua"],
            ),
            (
                "ruby -r./n x",
                &[
                    "./n", "./n.py", "./n.pm", "./n.rb", "./n.js", "./n.lua", "x",
                ],
            ),
            (
                "node --require=./n -p 1",
                &["./n", "./n.py", "./n.pm", "./n.rb", "./n.js", "./n.lua"],
            ),
            ("grep -O./there/n", &["./there/n"]),
            ("grep --open-files-in-pager=there/n", &["there/n"]),
            ("grep -I./absent/n", &[]),
            ("git -c core.pager=./n log", &["core.pager=./n", "./n"]),
        ]);
    }

    #[test]
    fn programs_that_are_absent_are_found() {
        check(&[
            ("./.fsm", &["./.fsm"]),
            ("./bin/clean || cat", &["./bin/clean"]),
            ("[ -x bin/c ] && bin/c %f; cat", &["bin/c"]),
            ("if test -x bin/c; then X=1 bin/c; fi", &["bin/c"]),
            ("'./my bin/c' %f", &["./my bin/c"]),
            ("my\\ bin/c %f", &["my bin/c"]),
            ("sh -c './a/b || ./c'", &["./a/b", "./c"]),
            ("\"$(git rev-parse --show-toplevel)/bin/c\"", &["bin/c"]),
            ("$(git rev-parse --show-toplevel)/bin/c x", &["bin/c"]),
            ("${TOP}/bin/c", &["bin/c"]),
            ("$HOME/x/c", &["/home/me/x/c"]),
            ("~/x/c | /usr/bin/d", &["/home/me/x/c", "/usr/bin/d"]),
            ("f() { ./bin/c; }; f", &["./bin/c"]),
            ("python3 -u tools/nb.py", &["tools/nb.py"]),
            ("python3 fmt.py %f", &["fmt.py"]),
            ("timeout 5 python3 -u fmt.py %f", &["fmt.py"]),
            ("X=1 node clean.js && cat", &["clean.js"]),
            ("deno run clean.ts", &["run", "clean.ts"]),
            ("npx tsx f.ts", &["f.ts"]),
            ("perl -pe s,a,b,", &[]),
            ("perl -pe s/a/b/g", &[]),
            ("bash -e sub/n", &["sub/n"]),
            ("bash -e -x n1", &["n1"]),
            ("/bin/sh n", &["/bin/sh", "n"]),
            ("/usr/bin/env bash n", &["/usr/bin/env", "n"]),
            ("bash --norc n", &["n"]),
            ("bash --rcfile=n -i", &["n"]),
            ("bash -o pipefail n", &["pipefail", "n"]),
            ("bash < n <m", &["n", "m"]),
            ("cat n | sh", &["n"]),
            ("bash -c '. n'", &["n"]),
            ("source n", &["n"]),
            ("lua n", &["n"]),
            ("xonsh n", &["n"]),
            ("python3 -u -W ignore n", &["ignore", "n"]),
            ("awk -f n", &["n"]),
            ("awk -fn x", &["n"]),
            ("sh<n", &["n"]),
            ("cat<n|sh", &["n"]),
            ("sh 0<n", &["n"]),
            ("sh 3<n /dev/fd/3", &["n"]),
            ("env -S \"sh n\"", &["n"]),
            ("BASH_ENV=n bash -c :", &["n"]),
            ("BASH_ENV=./n bash -c cat", &["./n"]),
            ("ENV=./n sh -i", &["./n"]),
            ("PATH=./d:$PATH n", &["./d", "n"]),
            ("PATH=d:$PATH; n", &["d", "n"]),
            ("cd d; ./n", &["./n", "d/./n"]),
            ("cd there && python3 n.py", &["n.py", "there/n.py"]),
            ("bash `pwd`/n", &["n"]),
            ("bash $(pwd)/n", &["n"]),
            ("eval \"$(cat n)\"", &["n"]),
            ("sh -c \"$(cat n)\"", &["n"]),
            ("`cat n`", &["n"]),
            ("n=n; bash $n", &["n"]),
            ("F=./n; $F", &["./n"]),
            ("D=d; $D/n", &["d/n"]),
            ("sh d/%f", &["d"]),
            ("bash d/n*", &["d"]),
            ("find . -exec sh n ;", &["n"]),
            ("xargs -a n env", &["n", "env"]),
            ("LESS=FRX less", &[]),
            ("LC_ALL=C.UTF-8 sort -k 1", &[]),
            ("gh auth git-credential", &[]),
            ("cache --timeout=3600", &[]),
            ("sed -nf n", &["n"]),
            ("tool known other", &["known"]),
            ("cat $(./n)", &["./n"]),
            ("x=\"`./n`\"; cat $(sh m)", &["./n", "m"]),
            ("echo $(date)", &[]),
            ("git-lfs filter-process", &[]),
            ("code --wait", &[]),
            ("less -FRX", &[]),
            ("exec tool x", &[]),
            ("jq -f there/filter.jq", &["there/filter.jq"]),
            ("tools/c* x", &["tools"]),
            ("sed -e s/a/b/ -e 's/a*/b/'", &[]),
            ("git-lfs clean -- %f", &[]),
            ("true", &[]),
            ("'", &[]),
        ]);
    }
}
