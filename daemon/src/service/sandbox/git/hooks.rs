//! Scripts of the work tree that hooks call (githooks(5)).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use termd_policy::MissingPath;

use super::named_files::{BETWEEN_WORDS, Named, named_files};
use super::read;

/// Longest hook that is read, and most hooks of a directory.
const MAX_HOOK_BYTES: u64 = 64 << 10;
const MAX_HOOKS: usize = 100;

/// How the names of lefthook's settings end.
const SETTINGS_END: &[&[u8]] = &[b".yml", b".yaml", b".toml", b".json"];

/// Settings of the programs that run hooks. Each names what is run.
const MANAGER_SETTINGS: &[&str] = &[
    ".pre-commit-config.yaml",
    "prek.toml",
    ".overcommit.yml",
    ".config/lefthook.yml",
    "lefthook.yml",
    "lefthook.yaml",
    "lefthook.toml",
    "lefthook.json",
    ".lefthook.yml",
    ".lefthook.yaml",
    ".lefthook.toml",
    ".lefthook.json",
    "lefthook-local.yml",
    ".lefthook-local.yml",
    ".lintstagedrc",
    ".lintstagedrc.json",
    ".lintstagedrc.yaml",
    ".lintstagedrc.yml",
    ".lintstagedrc.js",
    ".lintstagedrc.mjs",
    ".lintstagedrc.cjs",
    "lint-staged.config.js",
    "lint-staged.config.mjs",
    "lint-staged.config.cjs",
];

/// The files of the work tree that are named in the hooks of a directory.
pub(super) fn called_scripts(hooks: &Path, top: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(hooks).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.path());
    let is_sample = |path: &PathBuf| path.extension().is_some_and(|end| end == "sample");
    let hooks = names.filter(|path| !is_sample(path)).take(MAX_HOOKS);
    let texts = hooks.filter_map(|path| read(&path, MAX_HOOK_BYTES));
    texts
        .flat_map(|text| named_files(&text, top, Named::Paths))
        .collect()
}

/// What the settings of programs that run hooks name: scripts, and of lefthook further settings and a
/// directory of scripts.
pub(super) fn manager_paths(top: &Path) -> Vec<(PathBuf, MissingPath)> {
    let mut paths = Vec::new();
    let mut seen: Vec<PathBuf> = MANAGER_SETTINGS.iter().map(|name| top.join(name)).collect();
    let mut at = 0;
    while let Some(settings) = seen.get(at).filter(|_| at < MAX_HOOKS).cloned() {
        at += 1;
        let Some(text) = read(&settings, MAX_HOOK_BYTES) else {
            continue;
        };
        let scripts = named_files(&text, top, Named::Scripts).into_iter();
        paths.extend(scripts.map(|path| (path, MissingPath::Ignore)));
        let is_added = at > MANAGER_SETTINGS.len();
        let is_lefthook = settings.to_string_lossy().contains("lefthook");
        if !is_added && !is_lefthook {
            continue;
        }
        for (named, missing) in lefthook_paths(&text, top) {
            if named.is_file() && missing == MissingPath::Ignore && !seen.contains(&named) {
                seen.push(named.clone());
            }
            paths.push((named, missing));
        }
    }
    paths
}

/// `extends`, `rc` and `source_dir` of lefthook: files of settings by how they end, the others by the
/// key before them.
fn lefthook_paths(text: &[u8], top: &Path) -> Vec<(PathBuf, MissingPath)> {
    let words = text.split(|byte| BETWEEN_WORDS.contains(byte));
    let words: Vec<&[u8]> = words.filter(|word| !word.is_empty()).collect();
    let mut paths = Vec::new();
    for (key, word) in std::iter::once(&&b""[..]).chain(&words).zip(&words) {
        let path = top.join(OsStr::from_bytes(word));
        if matches!(*key, b"source_dir" | b"source_dir_local") {
            paths.push((path, MissingPath::CreateDirectory));
        } else if *key == b"rc" || SETTINGS_END.iter().any(|end| word.ends_with(end)) {
            let glob = word.iter().position(|&byte| byte == b'*');
            let named = word.get(..glob.unwrap_or(word.len())).unwrap_or_default();
            let slash = named.iter().rposition(|&byte| byte == b'/');
            match (glob, slash.and_then(|slash| named.get(..slash))) {
                (None, _) => paths.push((path, MissingPath::Ignore)),
                // A new file may fit: the directory.
                (Some(_), Some(directory)) => {
                    let directory = top.join(OsStr::from_bytes(directory));
                    paths.push((directory, MissingPath::Ignore));
                }
                (Some(_), None) => {}
            }
        }
    }
    paths
}
