//! The words of a command line that stand where a program does, though nothing may be there yet.
//!
//! Git hands such a line to a shell. Nothing is expanded here: of a word that begins with a variable or a
//! command the rest is taken as a path in the work tree.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Words that a program follows: words of the shell, programs that start another one.
const BEFORE_PROGRAM: &[&str] = &[
    "{", "if", "then", "else", "elif", "while", "until", "do", "exec", "command", "eval", "env",
    "time", "timeout", "nice", "nohup", "npx",
];
/// Words that a script follows, of which a bare name is one in the work tree.
const BEFORE_SCRIPT: &[&str] = &[
    "sh", "bash", "dash", "zsh", "node", "bun", "deno", "run", "tsx", "ts-node", "python",
    "python3", "perl", "ruby", "php",
];
/// Words that a line follows.
const BEFORE_LINE: &[&str] = &["-c", "eval"];
const BETWEEN_COMMANDS: &[u8] = b";|&()!`\n";
const GLOBS: &[u8] = b"*?[";

/// The paths that the programs of a line have, or will have. Of a name that the shell completes
/// (`tools/c*`) it is the directory, because a new file may fit.
///
/// A word that stands elsewhere is taken only where its directory exists: `sed s/a/b/` names no file.
pub(super) fn program_paths(line: &[u8], top: &Path, home: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for word in words(line) {
        if word.is_line {
            paths.extend(program_paths(&word.text, top, home));
            continue;
        }
        let whole = word.text.as_slice();
        let glob = whole.iter().position(|byte| GLOBS.contains(byte));
        let named = whole.get(..glob.unwrap_or(whole.len())).unwrap_or_default();
        let Some(slash) = named.iter().rposition(|&byte| byte == b'/') else {
            let is_name = glob.is_none() && !matches!(whole.first(), None | Some(b'-' | b'$'));
            paths.extend((word.is_script && is_name).then(|| place(whole, top, home)));
            continue;
        };
        if glob.is_some() {
            let directory = named.get(..slash).unwrap_or_default();
            paths.extend(word.is_program.then(|| place(directory, top, home)));
            continue;
        }
        let path = place(whole, top, home);
        if word.is_program || path.parent().is_some_and(Path::is_dir) {
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
    /// Whether it stands where a program does.
    is_program: bool,
    /// Whether it stands where a script of an interpreter does.
    is_script: bool,
    /// Whether it is a line itself.
    is_line: bool,
}

fn words(line: &[u8]) -> Vec<Word> {
    let mut reader = WordReader {
        words: Vec::new(),
        text: None,
        expects_program: true,
        expects_script: false,
        expects_line: false,
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
                (reader.expects_program, reader.expects_script) = (true, false);
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
    expects_script: bool,
    expects_line: bool,
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
        let is_one_of = |words: &[&str]| words.iter().any(|word| word.as_bytes() == text);
        let is_option = text.first() == Some(&b'-');
        let name = text.split(|&byte| byte == b'=').next().unwrap_or_default();
        let is_assignment = name.len() < text.len() && !name.contains(&b'/');
        let is_interpreter = self.expects_program && is_one_of(BEFORE_SCRIPT);
        let word = Word {
            is_program: self.expects_program,
            is_script: self.expects_script && !is_interpreter,
            is_line: self.expects_line,
            text: text.clone(),
        };
        // That of timeout(1).
        let is_time = text.first().is_some_and(u8::is_ascii_digit);
        let goes_on = is_option || is_assignment || is_time || is_one_of(BEFORE_PROGRAM);
        self.expects_program &= goes_on || is_interpreter;
        let is_behind = is_interpreter || (self.expects_script && !takes_code(&text));
        self.expects_script = self.expects_program && is_behind;
        self.expects_line = is_one_of(BEFORE_LINE);
        self.words.push(word);
    }
}

/// Whether code or a module follows this option of an interpreter, and no script: `-c`, `-pe`, `-m`.
fn takes_code(option: &[u8]) -> bool {
    option.first() == Some(&b'-') && matches!(option.last(), Some(b'c' | b'e' | b'm' | b'r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_are_absent_are_found() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path();
        std::fs::create_dir(top.join("there")).unwrap();
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
            ("deno run clean.ts", &["clean.ts"]),
            ("npx tsx f.ts", &["f.ts"]),
            ("perl -pe s,a,b,", &[]),
            ("python3 -m fmt", &[]),
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
