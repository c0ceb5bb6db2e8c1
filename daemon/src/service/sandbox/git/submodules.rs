//! Submodules that were fetched once (gitsubmodules(7)): each has its git directory below `modules`,
//! whatever branch it belongs to.

use std::path::{Path, PathBuf};

use super::work_tree::named_work_tree;
use super::{CONFIG, is_git_directory};

/// The directory of the submodules' git directories.
const MODULES: &str = "modules";
/// Most directories that are looked at.
const MAX_DIRECTORIES: usize = 2_000;

/// The work trees of a repository's submodules, as their settings name them.
pub(super) fn fetched_submodules(git_directory: &Path) -> Vec<PathBuf> {
    let mut work_trees = Vec::new();
    let mut left = vec![git_directory.join(MODULES)];
    let mut looked_at = 0;
    while let Some(directory) = left.pop() {
        looked_at += 1;
        if looked_at > MAX_DIRECTORIES {
            break;
        }
        if is_git_directory(&directory) {
            work_trees.extend(named_work_tree(&directory, CONFIG));
            left.push(directory.join(MODULES));
            continue;
        }
        // A submodule's name may have slashes in it.
        let below = std::fs::read_dir(&directory)
            .into_iter()
            .flatten()
            .flatten();
        let directories = below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        left.extend(directories.map(|entry| entry.path()));
    }
    work_trees
}
