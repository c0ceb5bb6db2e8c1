//! Symbolic links in directories that a sandbox protects or hides. What they lead to may lie elsewhere:
//! tools for dotfiles put each file of `~/.config` into a repository.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::git::{DOT_GIT, is_git_directory};

/// Most directories that are searched for one path, and most links that are taken: the settings of
/// programs lie near the top, what they have cached lies below.
const MAX_DIRECTORIES: usize = 64;
const MAX_LINKS: usize = 64;

/// The links in a directory and below, those near its top first. Git's directories have their own
/// search.
pub(super) fn links_below(directory: &Path) -> Vec<PathBuf> {
    let mut links = Vec::new();
    if directory.ends_with(DOT_GIT) || is_git_directory(directory) {
        return links;
    }
    let mut left = VecDeque::from([directory.to_owned()]);
    for _ in 0..MAX_DIRECTORIES {
        let Some(entries) = left.pop_front().map(std::fs::read_dir) else {
            break;
        };
        for entry in entries.into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() && links.len() < MAX_LINKS => {
                    links.push(entry.path());
                }
                Ok(kind) if kind.is_dir() && left.len() < MAX_DIRECTORIES => {
                    left.push_back(entry.path());
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
    links
}

/// Whether a link leads to a directory that holds one of these. To protect or to hide that directory
/// would close what the command works in.
pub(super) fn leads_above(link: &Path, paths: &[PathBuf]) -> bool {
    let real = link.canonicalize();
    real.is_ok_and(|real| paths.iter().any(|path| path.starts_with(&real)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_near_the_top_are_found() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir_all(at("config/deep/er")).unwrap();
        fs::create_dir_all(at("config/.git")).unwrap();
        fs::create_dir_all(at("work/.git")).unwrap();
        for link in ["config/a", "config/deep/er/b", "work/.git/c"] {
            symlink(at("work"), at(link)).unwrap();
        }
        let found = links_below(&at("config"));
        assert_eq!(found, [at("config/a"), at("config/deep/er/b")]);
        assert_eq!(links_below(&at("work/.git")), [] as [PathBuf; 0]);
        assert_eq!(links_below(&at("absent")), [] as [PathBuf; 0]);
        let real = fs::canonicalize(at("work")).unwrap();
        assert!(leads_above(&at("config/a"), &[real.join("below"), real]));
        assert!(!leads_above(&at("config/a"), &[at("config")]));
        for number in 0..2 * MAX_LINKS {
            symlink("x", at(&format!("config/{number}"))).unwrap();
        }
        assert_eq!(links_below(&at("config")).len(), MAX_LINKS);
    }
}
