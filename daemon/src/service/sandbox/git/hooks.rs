//! Scripts of the work tree that hooks call (githooks(5)).

use std::path::{Path, PathBuf};

use super::named_files::{Named, named_files};
use super::read;

/// Longest hook that is read, and most hooks of a directory.
const MAX_HOOK_BYTES: u64 = 64 << 10;
const MAX_HOOKS: usize = 100;

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
    files_named_in(hooks, top, Named::Paths)
}

/// The scripts of the work tree that are named in the settings of programs that run hooks.
pub(super) fn managed_scripts(top: &Path) -> Vec<PathBuf> {
    let settings = MANAGER_SETTINGS.iter().map(|name| top.join(name));
    files_named_in(settings, top, Named::Scripts)
}

fn files_named_in(texts: impl Iterator<Item = PathBuf>, top: &Path, named: Named) -> Vec<PathBuf> {
    let texts = texts.filter_map(|path| read(&path, MAX_HOOK_BYTES));
    texts
        .flat_map(|text| named_files(&text, top, named))
        .collect()
}
