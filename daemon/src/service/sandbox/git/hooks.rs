//! Scripts of the work tree that hooks call (githooks(5)).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::read;

/// Longest hook that is read, and most hooks of a directory.
const MAX_HOOK_BYTES: u64 = 64 << 10;
const MAX_HOOKS: usize = 100;
/// What ends a word in the languages that hooks are written in.
const BETWEEN_WORDS: &[u8] = b" \t\n\"'`!;|&<>()[]{},=";

/// The files of the work tree that are named in hooks. A word with a slash in it counts, whatever the
/// language, also behind a variable or a command (`$TOP/check`, `$(git rev-parse --show-toplevel)/check`).
pub(super) fn called_scripts(hooks: &Path, top: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(hooks).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.path());
    let is_sample = |path: &PathBuf| path.extension().is_some_and(|end| end == "sample");
    let mut scripts = Vec::new();
    for hook in names.filter(|path| !is_sample(path)).take(MAX_HOOKS) {
        let Some(text) = read(&hook, MAX_HOOK_BYTES) else {
            continue;
        };
        let words = text.split(|byte| BETWEEN_WORDS.contains(byte));
        for word in words.filter_map(below_top) {
            let path = top.join(OsStr::from_bytes(word));
            if path.is_file() && path.starts_with(top) && !scripts.contains(&path) {
                scripts.push(path);
            }
        }
    }
    scripts
}

/// A word as a path below the top of the work tree, where hooks run.
fn below_top(word: &[u8]) -> Option<&[u8]> {
    let slash = memchr::memchr(b'/', word)?;
    let is_computed = slash == 0 || word.first() == Some(&b'$');
    let path = if is_computed {
        word.get(slash..)?
    } else {
        word
    };
    let start = path.iter().position(|&byte| byte != b'/')?;
    path.get(start..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_found_however_it_is_called() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path();
        std::fs::create_dir_all(top.join("hooks")).unwrap();
        std::fs::create_dir_all(top.join("bin")).unwrap();
        for name in ["a", "b", "c", "d", "e", "f"] {
            std::fs::write(top.join("bin").join(name), "").unwrap();
        }
        let hook = "#!/bin/sh\nexec ./bin/a\nsh bin/b\n\"$(git rev-parse --show-toplevel)/bin/c\"\n\
            $TOP/bin/d && \"${TOP}/bin/e\" bin bin/none /bin/sh ../bin/f\n";
        std::fs::write(top.join("hooks/pre-commit"), hook).unwrap();
        std::fs::write(top.join("hooks/x.sample"), "bin/f").unwrap();
        let mut found = called_scripts(&top.join("hooks"), top);
        found.sort();
        let expected = ["./bin/a", "bin/b", "bin/c", "bin/d", "bin/e"].map(|name| top.join(name));
        let mut expected = expected.to_vec();
        expected.sort();
        assert_eq!(found, expected);
    }
}
