//! The work tree that a repository's settings name (`core.worktree` of git-config(1)).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::config::entries;
use super::{MAX_CONFIG_BYTES, read};

/// The work tree that a configuration file of a git directory names. Git follows no include for it, and
/// starts at the git directory.
pub(super) fn named_work_tree(git_directory: &Path, file: &str) -> Option<PathBuf> {
    let config = read(&git_directory.join(file), MAX_CONFIG_BYTES)?;
    let named = entries(&config).into_iter().rev();
    let mut named = named.filter(|entry| entry.is("core", "worktree"));
    let path = git_directory.join(OsStr::from_bytes(named.next()?.value()));
    Some(path.canonicalize().unwrap_or_else(|_| cleaned(&path)))
}

/// The path without `..`, of one that is absent.
fn cleaned(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(clean.pop()),
            other => clean.push(other),
        }
    }
    clean
}
