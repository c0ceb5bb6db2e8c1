//! The branch of git that a directory is on.
//!
//! Nothing is executed, and what is read may be of anybody: small files alone, and no FIFO is waited for.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};
use termd_client::escape::escaped;

/// Longest file that is read, in bytes: a reference has one line.
const MAX_BYTES: u64 = 4 << 10;
/// Directories that are looked into, from the given one up.
const MAX_LEVELS: usize = 32;
/// Characters of a commit's name that are shown.
const COMMIT_CHARS: usize = 8;

/// The branch, or else the beginning of the commit's name; `None`: it is no work tree of git.
pub(super) fn branch_of(directory: &Path) -> Option<String> {
    if !directory.is_absolute() {
        return None;
    }
    let mut levels = directory.ancestors().take(MAX_LEVELS);
    let head = levels.find_map(|level| head_of(&level.join(".git")))?;
    let head = head.trim();
    let branch = match head.strip_prefix("ref: refs/heads/") {
        Some(branch) => branch,
        None => head.get(..COMMIT_CHARS)?,
    };
    Some(escaped(branch))
}

/// What `HEAD` says of a repository, which a work tree may name by a file in its place.
fn head_of(git: &Path) -> Option<String> {
    if let Some(head) = small_file(&git.join("HEAD")) {
        return Some(head);
    }
    let named = small_file(git)?;
    let named = PathBuf::from(named.strip_prefix("gitdir: ")?.trim());
    small_file(&git.parent()?.join(named).join("HEAD"))
}

fn small_file(path: &Path) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file: File = open(path, flags, Mode::empty()).ok()?.into();
    let is_file = file.metadata().ok()?.is_file();
    let mut text = String::new();
    let mut start = file.take(MAX_BYTES);
    (is_file && start.read_to_string(&mut text).is_ok()).then_some(text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_branch_is_read_from_below_and_from_other_work_trees() {
        let home = tempfile::tempdir().unwrap();
        let at = |path: &str| home.path().join(path);
        fs::create_dir_all(at("repo/.git/worktrees/w")).unwrap();
        fs::create_dir_all(at("repo/src/deep")).unwrap();
        fs::create_dir_all(at("w")).unwrap();
        fs::create_dir_all(at("none")).unwrap();
        fs::write(at("repo/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(at("repo/.git/worktrees/w/HEAD"), "0123456789abcdef\n").unwrap();
        fs::write(at("w/.git"), "gitdir: ../repo/.git/worktrees/w\n").unwrap();
        for (directory, branch) in [
            ("repo/src/deep", Some("main")),
            ("w", Some("01234567")),
            ("none", None),
        ] {
            let found = branch_of(&at(directory));
            assert_eq!(found.as_deref(), branch, "{directory}");
        }
        fs::write(at("repo/.git/HEAD"), "ref: refs/heads/a\u{1b}[2J").unwrap();
        assert_eq!(branch_of(&at("repo")).unwrap(), "a\\x1b[2J");
        assert_eq!(branch_of(Path::new("relative")), None);
    }
}
