//! The words of a command line that stand where a program does, or may be a script of one, though nothing
//! may be there yet.
//!
//! Git hands such a line to a shell. Nothing is expanded here: of a word that begins with a variable or a
//! command the rest is taken as a path in the work tree.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use termd_policy::program::{is_interpreter, is_shell};

/// Words that a program follows: words of the shell, programs that start another one.
const BEFORE_PROGRAM: &[&str] = &[
    "{", "if", "then", "else", "elif", "while", "until", "do", "exec", "command", "eval", "env",
    "time", "timeout", "nice", "nohup", "npx",
];
/// Words that a script follows, beside shells and interpreters.
const BEFORE_SCRIPT: &[&str] = &[".", "source", "bun", "deno", "tsx", "ts-node"];
/// Words that a line follows.
const BEFORE_LINE: &[&str] = &["-c", "eval"];
const BETWEEN_COMMANDS: &[u8] = b";|&()!`\n";
const GLOBS: &[u8] = b"*?[";
/// Other than letters and digits, what a name of a script may have in it. A word with more is code.
const IN_NAMES: &[u8] = b"._-+@";

/// The paths that the programs of a line have, or will have. Of a name that the shell completes
/// (`tools/c*`) it is the directory, because a new file may fit.
///
/// Which word an interpreter takes for its script is not told: `bash -o pipefail n`, `cat n | sh`. In a
/// line with one, each word that may be a name is. In other lines that is a word behind `-f`, or one that
/// names a file (`docs/decisions/0141-each-word-may-be-the-script.md`). A word with a slash is taken in other lines, and where it is code, only where its
/// directory exists: `sed s/a/b/` names no file.
pub(super) fn program_paths(line: &[u8], top: &Path, home: &Path) -> Vec<PathBuf> {
    let words = words(line);
    let has_interpreter = words.iter().any(Word::runs_scripts);
    let has_shell = words.iter().any(Word::is_shell);
    let mut paths = Vec::new();
    for word in words {
        if word.is_line() {
            paths.extend(program_paths(&word.text, top, home));
            continue;
        }
        let whole = word.text.as_slice();
        let glob = whole.iter().position(|byte| GLOBS.contains(byte));
        let named = whole.get(..glob.unwrap_or(whole.len())).unwrap_or_default();
        let Some(slash) = named.iter().rposition(|&byte| byte == b'/') else {
            let Some(name) = word.name() else {
                continue;
            };
            let path = place(name, top, home);
            if has_interpreter || takes_file(&word.before) || path.is_file() {
                paths.push(path);
            }
            if has_interpreter && word.is_module() {
                paths.push(place(&[name, b".py"].concat(), top, home));
            }
            continue;
        };
        if glob.is_some() {
            let directory = named.get(..slash).unwrap_or_default();
            paths.extend(word.is_program.then(|| place(directory, top, home)));
            continue;
        }
        let path = place(whole, top, home);
        let is_code = takes_code(&word.before) && !has_shell;
        let is_script = has_interpreter && !whole.starts_with(b"-") && !is_code;
        if word.is_program || is_script || path.parent().is_some_and(Path::is_dir) {
            paths.push(path);
        }
    }
    paths
}

/// What a word means as a path.
pub(super) fn place(word: &[u8], top: &Path, home: &Path) -> PathBuf {
    let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
    for start in [&b"~/"[..], b"$HOME/", b"${HOME}/"] {
        if let Some(below) = word.strip_prefix(start) {
            return home.join(path(below));
        }
    }
    if word.first() != Some(&b'$') {
        return top.join(path(word));
    }
    let end = word.iter().rposition(|&byte| byte == b')');
    let rest = word.get(end.unwrap_or(0)..).unwrap_or_default();
    let slash = rest.iter().position(|&byte| byte == b'/');
    let below = slash.and_then(|at| rest.get(at + 1..));
    top.join(path(below.unwrap_or_default()))
}

/// A word of a line, without its quotes.
struct Word {
    text: Vec<u8>,
    /// The word before it, of whatever command.
    before: Vec<u8>,
    /// Whether it stands where a program does.
    is_program: bool,
}

impl Word {
    /// Whether it is a line itself.
    fn is_line(&self) -> bool {
        BEFORE_LINE
            .iter()
            .any(|word| word.as_bytes() == self.before)
    }

    /// Whether it stands behind `-m`, where Python takes a module of the directory.
    fn is_module(&self) -> bool {
        self.before == b"-m"
    }

    /// The name of the program, where it stands as one.
    fn program(&self) -> Option<&str> {
        let name = self.is_program.then(|| base_name(&self.text))?;
        std::str::from_utf8(name).ok()
    }

    fn is_shell(&self) -> bool {
        self.program().is_some_and(is_shell)
    }

    fn runs_scripts(&self) -> bool {
        let is_other = |name| is_interpreter(name) || BEFORE_SCRIPT.contains(&name);
        self.is_shell() || self.program().is_some_and(is_other)
    }

    /// The name of a file that it may be, alone, behind `<` or as the value of a long option.
    fn name(&self) -> Option<&[u8]> {
        if self.is_program {
            return None;
        }
        let text = self.text.strip_prefix(b"<").unwrap_or(&self.text);
        let name = match text.strip_prefix(b"--") {
            Some(option) => option.splitn(2, |&byte| byte == b'=').nth(1)?,
            None => text,
        };
        let may_stand =
            |byte: &u8| byte.is_ascii_alphanumeric() || IN_NAMES.contains(byte) || !byte.is_ascii();
        let is_name = !matches!(name.first(), None | Some(b'-')) && name.iter().all(may_stand);
        is_name.then_some(name)
    }
}

fn words(line: &[u8]) -> Vec<Word> {
    let mut reader = WordReader {
        words: Vec::new(),
        text: None,
        expects_program: true,
    };
    let mut quote = None;
    // How many `$(` are open in a word.
    let mut depth = 0_usize;
    let mut bytes = line.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\'' | b'"', None) => {
                quote = Some(byte);
                reader.text.get_or_insert_default();
            }
            (_, Some(open)) if open == byte => quote = None,
            (b'\\', None | Some(b'"')) => reader.push(bytes.next()),
            (b'(', None) if depth > 0 || reader.is_behind_dollar() => {
                depth += 1;
                reader.push(Some(byte));
            }
            (b')', None) if depth > 0 => {
                depth -= 1;
                reader.push(Some(byte));
            }
            (b' ' | b'\t', None) if depth == 0 => reader.end_word(),
            (_, None) if depth == 0 && BETWEEN_COMMANDS.contains(&byte) => {
                reader.end_word();
                reader.expects_program = true;
            }
            _ => reader.push(Some(byte)),
        }
    }
    reader.end_word();
    reader.words
}

struct WordReader {
    words: Vec<Word>,
    text: Option<Vec<u8>>,
    expects_program: bool,
}

impl WordReader {
    fn push(&mut self, byte: Option<u8>) {
        self.text.get_or_insert_default().extend(byte);
    }

    fn is_behind_dollar(&self) -> bool {
        let text = self.text.as_ref();
        text.is_some_and(|text| text.last() == Some(&b'$'))
    }

    fn end_word(&mut self) {
        let Some(text) = self.text.take() else {
            return;
        };
        let name = base_name(&text);
        let begins_program = BEFORE_PROGRAM.iter().any(|word| word.as_bytes() == name);
        let is_option = text.first() == Some(&b'-');
        let variable = text.split(|&byte| byte == b'=').next().unwrap_or_default();
        let is_assignment = variable.len() < text.len() && !variable.contains(&b'/');
        let before = self.words.last().map(|word| word.text.clone());
        let word = Word {
            before: before.unwrap_or_default(),
            is_program: self.expects_program && !is_option && !is_assignment,
            text: text.clone(),
        };
        // That of timeout(1).
        let is_time = text.first().is_some_and(u8::is_ascii_digit);
        let goes_on = is_option || is_assignment || is_time || begins_program;
        self.expects_program &= goes_on;
        self.words.push(word);
    }
}

/// The last part of a program's path.
fn base_name(program: &[u8]) -> &[u8] {
    let slash = program.iter().rposition(|&byte| byte == b'/');
    program
        .get(slash.map_or(0, |at| at + 1)..)
        .unwrap_or_default()
}

/// Whether code follows this option of an interpreter, and no script: `-e`, `-pe`, `-r`. Of a shell it is a
/// script: `bash -e n`.
fn takes_code(option: &[u8]) -> bool {
    option.first() == Some(&b'-') && matches!(option.last(), Some(b'e' | b'r'))
}

/// Whether a file of commands follows this option in most programs: `-f`, `-nf`.
fn takes_file(option: &[u8]) -> bool {
    option.first() == Some(&b'-') && option.get(1) != Some(&b'-') && option.last() == Some(&b'f')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_are_absent_are_found() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path();
        std::fs::create_dir(top.join("there")).unwrap();
        std::fs::write(top.join("known"), "").unwrap();
        let home = Path::new("/home/me");
        for (line, expected) in [
            ("./.fsm", &["./.fsm"][..]),
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
            ("python3 -m fmt", &["fmt", "fmt.py"]),
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
            ("sed -nf n", &["n"]),
            ("tool known other", &["known"]),
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
        ] {
            let found = program_paths(line.as_bytes(), top, home);
            let expected = expected.iter().map(|path| top.join(path));
            assert_eq!(found, expected.collect::<Vec<_>>(), "{line}");
        }
    }
}
