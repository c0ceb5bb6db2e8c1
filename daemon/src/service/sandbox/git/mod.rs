//! What git obeys of a repository, and what has to be protected for it to stay as it is
//! (gitrepository-layout(5), git-config(1), gitmodules(5)).
//!
//! git itself is never started: it would run what the repository names.

mod config;
mod hooks;
mod index;
mod named_files;
mod submodules;

use std::ffi::OsStr;
use std::fs::{DirEntry, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use termd_policy::MissingPath;

use self::config::ConfigFiles;
use self::hooks::{called_scripts, managed_scripts};
use self::index::submodule_paths;
use self::submodules::fetched_submodules;

/// The name by which git finds a repository.
pub(super) const DOT_GIT: &str = ".git";
/// What a directory has to hold, beside others, for git to take the directory itself as a repository.
pub(super) const HEAD: &str = "HEAD";

/// Longest file that holds one path.
const MAX_PATH_FILE_BYTES: u64 = 8 << 10;
/// Longest configuration that is read.
const MAX_CONFIG_BYTES: u64 = 1 << 20;
/// Most links of one directory that are followed. More paths than this are refused in any case.
const MAX_LINKS: usize = 1_000;
/// Longest index that is read: some two million files.
const MAX_INDEX_BYTES: u64 = 256 << 20;

/// Whether git takes this directory as the top of a work tree. An empty `.git` is none: git goes on
/// to the directory above, and it may be one that protects this name.
pub(super) fn is_work_tree(directory: &Path) -> bool {
    let git = directory.join(DOT_GIT);
    match std::fs::metadata(&git) {
        Ok(found) if found.is_dir() => {
            std::fs::read_dir(&git).is_ok_and(|mut entries| entries.next().is_some())
        }
        Ok(_) => true,
        Err(_) => false,
    }
}

/// Whether git takes this directory itself as a repository (`is_git_directory` in its setup.c). One
/// whose `HEAD` is a directory is none.
pub(super) fn is_git_directory(directory: &Path) -> bool {
    let exists = |name| directory.join(name).symlink_metadata().is_ok();
    let head = directory.join(HEAD).symlink_metadata();
    head.is_ok_and(|head| !head.is_dir())
        && ((exists("objects") && exists("refs")) || exists("commondir"))
}

/// The settings that hold for every repository of this user.
pub(super) struct UserConfig(Vec<PathBuf>);

impl UserConfig {
    pub(super) fn new(home: &Path) -> Self {
        let xdg = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
        let xdg = xdg.filter(|path| path.is_absolute());
        let xdg = xdg.unwrap_or_else(|| home.join(".config"));
        Self(vec![
            PathBuf::from("/etc/gitconfig"),
            xdg.join("git/config"),
            home.join(".gitconfig"),
        ])
    }
}

/// The paths that decide what git does in a work tree: its `.git`, the git directories behind it, what
/// their configuration names, and where the index has a submodule that is not there.
pub(super) fn work_tree_paths(
    top: &Path,
    user: &UserConfig,
    home: &Path,
) -> Vec<(PathBuf, MissingPath)> {
    let dot_git = top.join(DOT_GIT);
    let mut paths = vec![(dot_git.clone(), MissingPath::CreateDirectory)];
    let git_directory = match std::fs::metadata(&dot_git) {
        Ok(found) if found.is_dir() => dot_git,
        _ => match named_path(&dot_git, b"gitdir:") {
            Some(named) => top.join(named),
            None => return paths,
        },
    };
    paths.extend(git_directory_paths(&git_directory, top, user, home));
    let fetched = fetched_submodules(&git_directory).into_iter();
    let absent = fetched.filter(|path| path.join(DOT_GIT).symlink_metadata().is_err());
    paths.extend(absent.map(|path| (path, MissingPath::CreateDirectory)));
    let indices =
        std::iter::once(git_directory.join("index")).chain(shared_indices(&git_directory));
    for index in indices {
        let Some(bytes) = read(&index, MAX_INDEX_BYTES) else {
            continue;
        };
        for submodule in submodule_paths(&bytes) {
            let submodule = top.join(submodule);
            // One that is there is found where it lies.
            if submodule.join(DOT_GIT).symlink_metadata().is_err() {
                paths.push((submodule, MissingPath::CreateDirectory));
            }
        }
    }
    paths
}

/// The same of a git directory. Hooks run in `top`.
pub(super) fn git_directory_paths(
    git_directory: &Path,
    top: &Path,
    user: &UserConfig,
    home: &Path,
) -> Vec<(PathBuf, MissingPath)> {
    let mut paths = vec![(git_directory.to_owned(), MissingPath::CreateDirectory)];
    let common = named_path(&git_directory.join("commondir"), b"");
    let common = common.map_or_else(|| git_directory.to_owned(), |path| git_directory.join(path));
    if common != git_directory {
        paths.push((common.clone(), MissingPath::CreateDirectory));
    }
    for directory in [git_directory, &common] {
        paths.extend(links_in(directory, MissingPath::CreateDirectory));
        paths.extend(links_in(&directory.join("info"), MissingPath::CreateFile));
    }
    let mut files = ConfigFiles::new(top, home);
    for file in &user.0 {
        files.read(file);
    }
    files.read(&common.join("config"));
    files.read(&git_directory.join("config.worktree"));
    let named = files.into_named_paths();
    let directories = named.iter().map(|(path, _)| path.clone());
    // The hooks that husky puts in `.husky/_` start those above.
    let hooks = [common.join("hooks"), top.join(".husky")].into_iter();
    for hooks in hooks.chain(directories) {
        paths.extend(links_in(&hooks, MissingPath::CreateFile));
        let scripts = called_scripts(&hooks, top).into_iter();
        paths.extend(scripts.map(|path| (path, MissingPath::Ignore)));
    }
    let managed = managed_scripts(top).into_iter();
    paths.extend(managed.map(|path| (path, MissingPath::Ignore)));
    paths.extend(named);
    paths
}

/// The symbolic links in a directory: git follows one in its directory, and runs a hook that is one.
fn links_in(
    directory: &Path,
    missing: MissingPath,
) -> impl Iterator<Item = (PathBuf, MissingPath)> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let is_link = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
    let links = entries.filter(is_link).take(MAX_LINKS);
    links.map(move |entry| (entry.path(), missing))
}

/// The parts of a split index.
fn shared_indices(git_directory: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(git_directory)
        .into_iter()
        .flatten()
        .flatten();
    let is_shared = |name: &OsStr| name.as_bytes().starts_with(b"sharedindex.");
    entries
        .filter(move |entry| is_shared(&entry.file_name()))
        .map(|entry| entry.path())
}

/// The path in a file that holds one line.
fn named_path(file: &Path, prefix: &[u8]) -> Option<PathBuf> {
    let text = read(file, MAX_PATH_FILE_BYTES)?;
    let named = text.strip_prefix(prefix)?.trim_ascii();
    (!named.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(named)))
}

/// A regular file of at most this many bytes; `None` for anything else. It may lie where a command has
/// made it, so a FIFO must not hold the reader up.
fn read(file: &Path, max_bytes: u64) -> Option<Vec<u8>> {
    let opened = open(file)?;
    if opened.metadata().ok()?.len() > max_bytes {
        return None;
    }
    let mut bytes = Vec::new();
    opened.take(max_bytes).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Opens a regular file; `None` for anything else.
fn open(file: &Path) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = File::from(rustix::fs::open(file, flags, Mode::empty()).ok()?);
    opened.metadata().ok()?.is_file().then_some(opened)
}

#[cfg(test)]
mod tests;
