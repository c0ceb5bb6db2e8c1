//! Directories that were created so that a sandbox could protect them, and are removed when no
//! terminal needs them any more.
//!
//! **Promises:** a directory is removed only if it was absent before a terminal needed it, only while
//! it is empty and has the mark that the keeper gave it, and only once no process is left that sees it protected: a sandbox whose mount lies
//! on a directory would lose the mount with it. A directory in doubt stays. A directory is written
//! down before it is created, so that the next daemon removes what a killed one has left.
//!
//! Everything here blocks, and is called off the runtime's threads.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, StatxFlags, StatxTimestamp};
use rustix::io::Errno;
use termd_keeper::protocol::confinement::PLACEHOLDER_MARK;
use termd_proto::TerminalId;

use super::directory_list::DirectoryList;
use super::mounts::mounted_elsewhere;

/// A directory or an empty file that a terminal needs, and that is created where it is absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NeededPath {
    pub(super) path: PathBuf,
    /// Whether it was there a moment ago.
    pub(super) exists: bool,
}

/// The directories that were created, and the terminals that need them.
#[derive(Debug)]
pub(super) struct SandboxDirectories {
    users: Mutex<Users>,
    list: DirectoryList,
}

/// The terminals that need each directory. A terminal is among them from before it is started.
type Users = BTreeMap<PathBuf, BTreeSet<TerminalId>>;

/// Whether there is more to remove for a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remaining {
    Nothing,
    /// A process still sees a directory of the terminal protected.
    InUse,
}

impl SandboxDirectories {
    /// None yet. They are written down in this state directory.
    pub(super) fn new(state_dir: &Path) -> Self {
        Self {
            users: Mutex::default(),
            list: DirectoryList::new(state_dir),
        }
    }

    fn users(&self) -> MutexGuard<'_, Users> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes what an earlier daemon created and no terminal needs any more. To be called once, when
    /// every terminal of an earlier server has reclaimed its directories.
    pub(super) fn remove_leftovers(&self) {
        let users = self.users();
        let listed = self.list.read().into_iter();
        let left: Vec<PathBuf> = listed.filter(|path| !users.contains_key(path)).collect();
        if left.is_empty() {
            return;
        }
        // A process that outlived its daemon may still see some of them protected. The next start
        // looks again.
        let in_use = mounted_elsewhere(&left);
        let (stay, mut gone): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|path| in_use.contains(path));
        gone.sort_by_key(|path| depth_first(path));
        for path in gone {
            remove_or_leave(&path);
        }
        self.list.write(users.keys().chain(&stay));
    }

    /// Finds out what a terminal needs while nothing is removed: what exists then stays. Returns the
    /// directories that are absent or were created for another terminal.
    pub(super) fn claim<T, E>(
        &self,
        id: &TerminalId,
        find: impl FnOnce() -> Result<T, E>,
        needed: impl FnOnce(&T) -> &[NeededPath],
    ) -> Result<(T, Vec<PathBuf>), E> {
        let mut users = self.users();
        let found = find()?;
        let mut claimed = Vec::new();
        let before = users.len();
        for NeededPath { path, exists } in needed(&found) {
            if !exists || users.contains_key(path) {
                users.entry(path.clone()).or_default().insert(id.clone());
                claimed.push(path.clone());
            }
        }
        if users.len() > before {
            self.list.write(users.keys());
        }
        Ok((found, claimed))
    }

    /// A terminal of an earlier server needs these.
    pub(super) fn reclaim(&self, id: &TerminalId, paths: &[PathBuf]) {
        let mut users = self.users();
        for path in paths {
            users.entry(path.clone()).or_default().insert(id.clone());
        }
    }

    /// A terminal's command has ended, or was never started. Removes the directories that only this
    /// terminal needed, unless a process that it left running still sees them protected.
    pub(super) fn release(&self, id: &TerminalId) -> Remaining {
        let mut users = self.users();
        let mut own = Vec::new();
        for (path, terminals) in users.iter_mut() {
            if !terminals.contains(id) {
                continue;
            }
            if terminals.len() > 1 {
                terminals.remove(id);
            } else {
                own.push(path.clone());
            }
        }
        if own.is_empty() {
            return Remaining::Nothing;
        }
        let in_use = mounted_elsewhere(&own);
        own.sort_by_key(|path| depth_first(path));
        for path in own.iter().filter(|path| !in_use.contains(*path)) {
            users.remove(path);
            remove_or_leave(path);
        }
        self.list.write(users.keys());
        if in_use.is_empty() {
            Remaining::Nothing
        } else {
            Remaining::InUse
        }
    }

    /// Releases every terminal: all have ended.
    pub(super) fn release_all(&self) {
        let ids: BTreeSet<TerminalId> = self.users().values().flatten().cloned().collect();
        for id in ids {
            self.release(&id);
        }
    }
}

/// The order of removal: what is below a directory goes before it.
fn depth_first(path: &Path) -> Reverse<usize> {
    Reverse(path.components().count())
}

/// Removes a placeholder, unless it holds something by now or was removed: both are somebody's wish.
fn remove_or_leave(path: &Path) {
    match remove_placeholder(path) {
        Ok(Removal::Removed) => {}
        Ok(stays) => tracing::debug!(path = %path.display(), ?stays, "a protected path stays"),
        Err(error) => tracing::debug!(path = %path.display(), %error, "a protected path stays"),
    }
}

/// What became of a placeholder.
#[derive(Debug, PartialEq, Eq)]
enum Removal {
    Removed,
    /// Somebody put something into it. It is theirs from now on, and no longer marked.
    Filled,
    /// Somebody made this in its place.
    Foreign,
}

/// Removes a directory or a file that is marked as a placeholder and empty. No link is followed on the
/// way to it.
fn remove_placeholder(path: &Path) -> rustix::io::Result<Removal> {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Errno::INVAL);
    };
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let links = ResolveFlags::NO_SYMLINKS;
    let above = rustix::fs::openat2(CWD, above, flags | OFlags::DIRECTORY, Mode::empty(), links)?;
    let found = rustix::fs::openat(&above, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
    let entry = rustix::fs::fstat(&found)?;
    if entry.st_mode & PLACEHOLDER_MARK == 0 {
        return Ok(Removal::Foreign);
    }
    let removed = match FileType::from_raw_mode(entry.st_mode) {
        FileType::Directory => rustix::fs::unlinkat(&above, name, AtFlags::REMOVEDIR),
        FileType::RegularFile if entry.st_size == 0 && !was_written(&found)? => {
            rustix::fs::unlinkat(&above, name, AtFlags::empty())
        }
        FileType::RegularFile => Err(Errno::NOTEMPTY),
        _ => return Ok(Removal::Foreign),
    };
    match removed {
        Ok(()) => Ok(Removal::Removed),
        Err(Errno::NOTEMPTY | Errno::EXIST) => {
            let mode = Mode::from_raw_mode(entry.st_mode & !PLACEHOLDER_MARK);
            // A descriptor by O_PATH has no fchmod(2) of its own.
            rustix::fs::chmod(format!("/proc/self/fd/{}", found.as_raw_fd()), mode)?;
            Ok(Removal::Filled)
        }
        Err(errno) => Err(errno),
    }
}

/// Whether somebody has written a file since it was made, or emptied it to write later: `> FILE` sets the
/// time of the change. Where the file system tells no time of birth, an empty file counts as untouched.
fn was_written(file: &OwnedFd) -> rustix::io::Result<bool> {
    let wanted = StatxFlags::MTIME | StatxFlags::BTIME;
    let found = rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, wanted)?;
    let is_told = found.stx_mask & wanted.bits() == wanted.bits();
    let time = |time: StatxTimestamp| (time.tv_sec, time.tv_nsec);
    Ok(is_told && time(found.stx_mtime) != time(found.stx_btime))
}

#[cfg(test)]
mod tests;
