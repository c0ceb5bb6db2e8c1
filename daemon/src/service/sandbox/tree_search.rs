//! A search of a directory tree for what a sandbox protects wherever it lies: repositories, and files
//! that a shell reads when somebody changes into their directory.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir};
use rustix::io::Errno;

use super::git::{DOT_GIT, is_git_directory};

/// Most directories that are searched for one command.
const MAX_DIRECTORIES: usize = 200_000;
/// Bytes of names that are read at once.
const BUFFER_BYTES: usize = 32 << 10;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct TreeSearch {
    /// Directories with a `.git`.
    pub(super) work_trees: Vec<PathBuf>,
    /// Directories that are repositories themselves, under another name than `.git`.
    pub(super) git_directories: Vec<PathBuf>,
    /// Files of the names that are looked for.
    pub(super) files: Vec<PathBuf>,
    /// Directories that cannot be read. Their owner can make them readable again.
    pub(super) unreadable: Vec<PathBuf>,
    directories: usize,
}

/// Why a tree cannot be searched.
#[derive(Debug, thiserror::Error)]
pub(super) enum TreeSearchError {
    #[error(
        "{} holds more than {MAX_DIRECTORIES} directories, which is more than are searched for \
         repositories; start in a directory below it", top.display()
    )]
    TooManyDirectories { top: PathBuf },
    #[error("{}: {cause}", path.display())]
    Unsearchable { path: PathBuf, cause: Errno },
}

/// The entries of one directory that matter.
#[derive(Default)]
struct Names {
    has_git: bool,
    has_head: bool,
    below: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl TreeSearch {
    /// Searches a directory and all below it. Links are not followed, and a repository is not
    /// entered.
    pub(super) fn search(&mut self, top: &Path, names: &[&str]) -> Result<(), TreeSearchError> {
        let mut buffer = Vec::with_capacity(BUFFER_BYTES);
        let mut left = vec![top.to_owned()];
        while let Some(directory) = left.pop() {
            self.directories += 1;
            if self.directories > MAX_DIRECTORIES {
                let top = top.to_owned();
                return Err(TreeSearchError::TooManyDirectories { top });
            }
            let found = match read(&directory, names, &mut buffer) {
                Ok(found) => found,
                Err(Errno::ACCESS | Errno::PERM) => {
                    self.unreadable.push(closed_directory(directory));
                    continue;
                }
                // It was removed or replaced meanwhile, or is a file that a profile names.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => continue,
                Err(cause) => {
                    let path = directory;
                    return Err(TreeSearchError::Unsearchable { path, cause });
                }
            };
            if found.has_head && is_git_directory(&directory) {
                self.git_directories.push(directory);
                continue;
            }
            if found.has_git {
                self.work_trees.push(directory);
            }
            self.files.extend(found.files);
            left.extend(found.below);
        }
        Ok(())
    }
}

/// The directory itself, or the one above where that one cannot be entered.
fn closed_directory(directory: PathBuf) -> PathBuf {
    let above = directory
        .parent()
        .filter(|_| rustix::fs::lstat(&directory).is_err_and(|errno| errno == Errno::ACCESS));
    above.map(Path::to_owned).unwrap_or(directory)
}

fn read(directory: &Path, names: &[&str], buffer: &mut Vec<u8>) -> Result<Names, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(directory, flags, Mode::empty())?;
    let mut found = Names::default();
    let mut entries = RawDir::new(&opened, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        let bytes = name.to_bytes();
        let path = || directory.join(OsStr::from_bytes(bytes));
        match bytes {
            b"." | b".." => continue,
            // A file system may not tell the cases apart.
            _ if bytes.eq_ignore_ascii_case(DOT_GIT.as_bytes()) => {
                found.has_git = true;
                continue;
            }
            b"HEAD" => found.has_head = true,
            _ if names.iter().any(|name| name.as_bytes() == bytes) => found.files.push(path()),
            _ => {}
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                let entry = rustix::fs::statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(entry.st_mode)
            }
            known => known,
        };
        if kind == FileType::Directory {
            found.below.push(path());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_repository_is_found_where_it_lies_and_not_entered() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        for directory in [
            "top/.git/modules/x/.git",
            "top/node_modules/deep/er/.git",
            "top/target",
            "elsewhere/.git",
            "bare/objects",
            "bare/refs",
            "bare/below/.git",
            "not-bare/objects",
            "admin",
            "full/.envrc",
        ] {
            fs::create_dir_all(at(directory)).unwrap();
        }
        for file in [
            "top/target/.git",
            "bare/HEAD",
            "not-bare/HEAD",
            "admin/HEAD",
            "admin/commondir",
            "top/.envrc",
        ] {
            fs::write(at(file), "").unwrap();
        }
        symlink(at("elsewhere"), at("top/link")).unwrap();
        symlink(at("elsewhere/.git"), at("full/.git")).unwrap();
        let mut search = TreeSearch::default();
        search.search(root.path(), &[".envrc"]).unwrap();
        search.search(&at("top/.envrc"), &[]).unwrap();
        search.search(&at("absent"), &[]).unwrap();
        for (mut found, expected) in [
            (
                search.work_trees,
                &[
                    "elsewhere",
                    "full",
                    "top",
                    "top/node_modules/deep/er",
                    "top/target",
                ][..],
            ),
            (search.git_directories, &["admin", "bare"]),
            (search.files, &["full/.envrc", "top/.envrc"]),
            (search.unreadable, &[]),
        ] {
            found.sort();
            let expected: Vec<PathBuf> = expected.iter().map(|name| at(name)).collect();
            assert_eq!(found, expected);
        }
    }
}
