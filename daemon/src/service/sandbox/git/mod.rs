//! What git obeys of a repository, and what has to be protected for it to stay as it is
//! (gitrepository-layout(5), git-config(1), gitmodules(5)).
//!
//! git itself is never started: it would run what the repository names.

mod config;
mod hooks;
mod index;
mod named_files;
mod program_paths;
mod program_words;
mod submodules;
mod work_tree;

use std::ffi::OsStr;
use std::ffi::OsString;
use std::fs::{DirEntry, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use termd_policy::MissingPath;

use self::config::ConfigFiles;
use self::hooks::{called_scripts, manager_paths};
use self::index::submodule_paths;
use self::submodules::fetched_submodules;
use self::work_tree::named_work_tree;

/// The name by which git finds a repository.
pub(super) const DOT_GIT: &str = ".git";
/// What a directory has to hold, beside others, for git to take the directory itself as a repository.
pub(super) const HEAD: &str = "HEAD";

/// The configuration of a git directory, and that of one work tree.
const CONFIG: &str = "config";
const WORKTREE_CONFIG: &str = "config.worktree";

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
        Self::named_by(home, |name| std::env::var_os(name))
    }

    /// The usual files and those that variables name (git(1), `GIT_CONFIG_GLOBAL`): a person's shell may
    /// have other variables than the daemon.
    fn named_by(home: &Path, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let named = |name| variable(name).map(PathBuf::from);
        let mut files = vec![
            PathBuf::from("/etc/gitconfig"),
            home.join(".config/git/config"),
            home.join(".gitconfig"),
        ];
        files.extend(named("XDG_CONFIG_HOME").map(|config| config.join("git/config")));
        files.extend(
            ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"]
                .into_iter()
                .filter_map(named),
        );
        files.retain(|file| file.is_absolute());
        files.dedup();
        Self(files)
    }
}

/// What the settings of this user name, whether a repository is there or not.
pub(super) fn user_paths(user: &UserConfig, home: &Path) -> Vec<(PathBuf, MissingPath)> {
    let mut files = ConfigFiles::new(home, home);
    for file in &user.0 {
        files.read(file);
    }
    files.into_named_paths()
}

/// A repository, with the directories that git works in.
#[derive(Debug)]
pub(super) struct Repository {
    git_directory: PathBuf,
    /// The same, or the one of which this is a linked worktree's.
    common: PathBuf,
    /// Where it was found, and what its settings name.
    work_trees: Vec<PathBuf>,
}

impl Repository {
    /// The repository that a work tree's `.git` is or leads to.
    pub(super) fn of_work_tree(top: &Path) -> Option<Self> {
        let dot_git = top.join(DOT_GIT);
        let git_directory = match std::fs::metadata(&dot_git) {
            Ok(found) if found.is_dir() => dot_git,
            _ => top.join(named_path(&dot_git, b"gitdir:")?),
        };
        Some(Self::new(git_directory, top))
    }

    /// A git directory that was found under another name than `.git`.
    pub(super) fn of_git_directory(directory: &Path) -> Self {
        Self::new(directory.to_owned(), directory)
    }

    fn new(git_directory: PathBuf, found_in: &Path) -> Self {
        let common = named_path(&git_directory.join("commondir"), b"");
        let common = common.map_or_else(|| git_directory.clone(), |path| git_directory.join(path));
        let mut work_trees = vec![found_in.to_owned()];
        for named in [
            named_work_tree(&common, CONFIG),
            named_work_tree(&git_directory, WORKTREE_CONFIG),
        ] {
            work_trees.extend(named.filter(|named| named != found_in));
        }
        Self {
            git_directory,
            common,
            work_trees,
        }
    }

    pub(super) fn work_trees(&self) -> &[PathBuf] {
        &self.work_trees
    }

    /// The paths that decide what git does: its directories, what their configuration names, and where
    /// the index has a submodule that is not there.
    pub(super) fn paths(&self, user: &UserConfig, home: &Path) -> Vec<(PathBuf, MissingPath)> {
        let Self {
            git_directory,
            common,
            work_trees,
        } = self;
        let mut paths = vec![(git_directory.clone(), MissingPath::CreateDirectory)];
        if common != git_directory {
            paths.push((common.clone(), MissingPath::CreateDirectory));
        }
        for directory in [git_directory, common] {
            paths.extend(links_in(directory, MissingPath::CreateDirectory));
            paths.extend(links_in(&directory.join("info"), MissingPath::CreateFile));
        }
        for top in work_trees {
            paths.extend(self.paths_in(top, user, home));
        }
        let fetched = fetched_submodules(git_directory).into_iter();
        let absent = fetched.filter(|path| path.join(DOT_GIT).symlink_metadata().is_err());
        paths.extend(absent.map(|path| (path, MissingPath::CreateDirectory)));
        paths
    }

    /// The same of one work tree. Hooks run at its top.
    fn paths_in(&self, top: &Path, user: &UserConfig, home: &Path) -> Vec<(PathBuf, MissingPath)> {
        let mut paths = Vec::new();
        let mut files = ConfigFiles::new(top, home);
        for file in &user.0 {
            files.read(file);
        }
        files.read(&self.common.join(CONFIG));
        files.read(&self.git_directory.join(WORKTREE_CONFIG));
        let named = files.into_named_paths();
        let directories = named.iter().map(|(path, _)| path.clone());
        // The hooks that husky puts in `.husky/_` start those above.
        let hooks = [self.common.join("hooks"), top.join(".husky")].into_iter();
        for hooks in hooks.chain(directories) {
            paths.extend(links_in(&hooks, MissingPath::CreateFile));
            let scripts = called_scripts(&hooks, top).into_iter();
            paths.extend(scripts.map(|path| (path, MissingPath::Ignore)));
        }
        paths.extend(manager_paths(top));
        paths.extend(named);
        if top != self.git_directory {
            paths.extend(self.absent_submodules(top));
        }
        paths
    }

    /// Where the index has a submodule that is not there. One that is there is found where it lies.
    fn absent_submodules(&self, top: &Path) -> Vec<(PathBuf, MissingPath)> {
        let index = self.git_directory.join("index");
        let indices = std::iter::once(index).chain(shared_indices(&self.git_directory));
        let indices = indices.filter_map(|index| read(&index, MAX_INDEX_BYTES));
        let submodules = indices.flat_map(|bytes| submodule_paths(&bytes));
        let submodules = submodules.map(|submodule| top.join(submodule));
        let absent = submodules.filter(|path| path.join(DOT_GIT).symlink_metadata().is_err());
        absent
            .map(|path| (path, MissingPath::CreateDirectory))
            .collect()
    }
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
