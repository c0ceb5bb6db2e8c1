//! Files of a work tree that a text names: a hook, a setting of git, settings of a program that runs
//! hooks.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use super::open;

/// Most paths that are looked for, and most directories that a text may change into.
const MAX_NAMED_PATHS: usize = 4_000;
const MAX_DIRECTORIES: usize = 16;
/// What ends a word in the languages that hooks are written in.
pub(super) const BETWEEN_WORDS: &[u8] = b" \t\r\n\"'`!;|&<>()[]{},=:";
/// What files of modules end with. A directory that a path names is not taken for a module: most are what
/// a hook looks through (`mypy src/app`).
pub(super) const MODULE_ENDS: &[&str] = &[".py", ".pm", ".rb", ".js", ".lua"];
/// The same of a module of Python's whose name has dots.
const DOTTED_ENDS: &[&str] = &[".py", "/__init__.py", "/__main__.py"];
/// Stands for a blank behind a backslash.
const ESCAPED_BLANK: u8 = 0;

/// Which of the files that a text names are taken for what it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// Each that is named by a path, and scripts that are named alone.
    Paths,
    /// Scripts: the text names many other files.
    Scripts,
}

/// The files below `top` that a text names. Relative paths start there, or in a directory that the text
/// names, too (`cd t && ./f`).
pub(super) fn named_files(text: &[u8], top: &Path, named: Named) -> Vec<PathBuf> {
    let words = words(text);
    let mut paths: Vec<PathBuf> = words.iter().flat_map(|word| paths_of(word)).collect();
    paths.sort();
    paths.dedup();
    paths.truncate(MAX_NAMED_PATHS);
    let is_other = |path: &&PathBuf| path.components().any(|part| part != Component::CurDir);
    let directories = paths.iter().filter(is_other).map(|path| top.join(path));
    let directories = directories.filter(|directory| directory.is_dir());
    let starts = std::iter::once(top.to_owned()).chain(directories.take(MAX_DIRECTORIES));
    let mut files = Vec::new();
    for start in starts {
        for path in &paths {
            let file = start.join(path);
            let is_path = path.components().count() > 1;
            let is_named = match named {
                Named::Paths if is_path => file.is_file(),
                Named::Paths | Named::Scripts => is_script(&file),
            };
            let found = if is_named {
                vec![file]
            } else if is_path && named == Named::Paths {
                module_files(&file)
            } else {
                Vec::new()
            };
            for file in found {
                if !files.contains(&file) {
                    files.push(file);
                }
            }
        }
    }
    files
}

/// The words of a text, whatever its language. What is between quotes is one, too: a path may have
/// blanks in it.
fn words(text: &[u8]) -> HashSet<Vec<u8>> {
    let mut escaped = Vec::with_capacity(text.len());
    for &byte in text {
        if byte == b' ' && escaped.last() == Some(&b'\\') {
            escaped.pop();
            escaped.push(ESCAPED_BLANK);
        } else {
            escaped.push(byte);
        }
    }
    let restored = |word: &[u8]| {
        let bytes = word.iter();
        let bytes = bytes.map(|&byte| if byte == ESCAPED_BLANK { b' ' } else { byte });
        bytes.collect::<Vec<u8>>()
    };
    let plain = escaped.split(|byte| BETWEEN_WORDS.contains(byte));
    let mut words: HashSet<Vec<u8>> = plain.map(restored).collect();
    for quote in [b'"', b'\''] {
        let quoted = text.split(|&byte| byte == quote);
        let quoted = quoted.filter(|word| !word.contains(&b'\n'));
        words.extend(quoted.map(<[u8]>::to_vec));
    }
    words
}

/// The paths below a directory that a word may mean. Behind a variable, a command or a home
/// (`$TOP/check`, `$(git rev-parse --show-toplevel)/check`) it may be any end of the word.
fn paths_of(word: &[u8]) -> Vec<PathBuf> {
    let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
    let is_computed = matches!(word.first(), Some(b'/' | b'$' | b'~'));
    let paths = if is_computed {
        let slashes = memchr::memchr_iter(b'/', word);
        slashes
            .filter_map(|at| word.get(at + 1..))
            .map(path)
            .collect()
    } else {
        vec![path(word)]
    };
    // `-O./check`, `-rlib/check`.
    let joined = match word {
        [b'-', option, value @ ..] if option.is_ascii_alphabetic() && value.contains(&b'/') => {
            Some(path(value))
        }
        _ => None,
    };
    let paths = paths.into_iter().chain(joined).chain(dotted_paths(word));
    let is_below = |path: &PathBuf| {
        let mut parts = path.components();
        !path.as_os_str().is_empty() && parts.all(|part| !matches!(part, Component::RootDir))
    };
    paths.filter(is_below).collect()
}

/// The files of a module of Python's whose name has dots (`import lib.check`, `python3 -m lib.check`).
fn dotted_paths(word: &[u8]) -> Vec<PathBuf> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    if !word.contains(&b'.') || !word.iter().all(is_name) {
        return Vec::new();
    }
    let path: Vec<u8> = (word.iter())
        .map(|&byte| if byte == b'.' { b'/' } else { byte })
        .collect();
    let ends = DOTTED_ENDS.iter().map(|end| end.as_bytes());
    ends.map(|end| OsStr::from_bytes(&[&path, end].concat()).into())
        .collect()
}

/// The files that a module is loaded from.
fn module_files(module: &Path) -> Vec<PathBuf> {
    let files = MODULE_ENDS.iter().map(|end| {
        let mut file = module.as_os_str().to_owned();
        file.push(end);
        PathBuf::from(file)
    });
    files.filter(|file| file.is_file()).collect()
}

/// Whether this file can be run by its name.
fn is_script(file: &Path) -> bool {
    let Ok(found) = std::fs::metadata(file) else {
        return false;
    };
    let is_executable = found.permissions().mode() & 0o111 != 0;
    found.is_file() && (is_executable || begins_as_script(file))
}

fn begins_as_script(file: &Path) -> bool {
    let mut start = [0; 2];
    let opened = open(file);
    opened.is_some_and(|mut file| file.read_exact(&mut start).is_ok() && start == *b"#!")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = directory.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        directory
    }

    #[test]
    fn a_script_is_found_however_it_is_called() {
        let top = tree(&[
            ("bin/a", ""),
            ("bin/b", ""),
            ("bin/c", ""),
            ("bin/run", "#!/bin/sh"),
            ("my bin/x", ""),
            ("my bin/y", ""),
            ("run", "#!/bin/sh"),
            ("top", "#!/bin/sh"),
            ("package.json", "{}"),
            ("lib/m.rb", ""),
            ("lib/n/__init__.py", ""),
            ("lib/o/__main__.py", ""),
        ]);
        let top = top.path();
        let real = |path: PathBuf| path.canonicalize().unwrap();
        for (hook, expected) in [
            ("exec ./bin/a\nsh bin/b", &["bin/a", "bin/b"][..]),
            (
                "\"$(git rev-parse --show-toplevel)/bin/a\" ../bin/b",
                &["bin/a"],
            ),
            (
                "$TOP/bin/a && \"${TOP}/bin/b\" bin bin/none /bin/sh",
                &["bin/a", "bin/b"],
            ),
            (
                "exec $PWD/bin/a; ${HOME}/src/x/bin/b; ~/src/x/bin/a",
                &["bin/a", "bin/b"],
            ),
            ("'./my bin/x' \"my bin/y\"", &["my bin/x", "my bin/y"]),
            (
                "my\\ bin/x; sh -c \"cd 'my bin'; ./y\"",
                &["my bin/x", "my bin/y"],
            ),
            ("cd bin && ./a", &["bin/a"]),
            ("PATH=bin:$PATH run", &["bin/run", "run"]),
            ("true|bin/a>&2; {bin/b;}", &["bin/a", "bin/b"]),
            ("sh run; top; package.json", &["run", "top"]),
            ("bin//a ./bin/../bin/b", &["bin/a", "bin/b"]),
            ("node --require=bin/a x:bin/b", &["bin/a", "bin/b"]),
            ("git grep -O./bin/a; awk -fbin/b", &["bin/a", "bin/b"]),
            ("ruby -r./lib/m -e 1", &["lib/m.rb"]),
            ("require_relative 'lib/m'", &["lib/m.rb"]),
            ("mypy lib/n", &[]),
            ("python3 -m lib.o", &["lib/o/__main__.py"]),
            ("import lib.n", &["lib/n/__init__.py"]),
        ] {
            let found = named_files(hook.as_bytes(), top, Named::Paths);
            let found: HashSet<PathBuf> = found.into_iter().map(real).collect();
            let expected = expected.iter().map(|name| real(top.join(name)));
            assert_eq!(found, expected.collect(), "{hook}");
        }
        let settings = b"script: ./bin/run {files}\nexclude: bin/a\nentry: python top --x";
        let mut found = named_files(settings, top, Named::Scripts);
        found.sort();
        assert_eq!(found, ["./bin/run", "top"].map(|name| top.join(name)));
    }
}
