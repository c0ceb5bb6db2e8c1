//! Directories that were made so that they could be protected, and are removed when nobody needs
//! them any more.
//!
//! Promises: only what was not there before a terminal needed it is removed, only while it is
//! empty, and only once no process is left that sees it protected: a sandbox whose mount lies on a
//! directory would lose the mount with it. What cannot be told stays. What there is is written down
//! in the state directory before it is made, so that a daemon which was killed leaves nothing for
//! good: the next one removes what nobody has any more. It must not know profiles.
//!
//! Everything here blocks, and is called off the runtime's thread.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags};
use termd_proto::TerminalId;

/// Where they are written down, in the state directory: paths, each ended by a NUL.
const LIST_NAME: &str = "made-directories";
/// The longest list that is read back: some ten thousand paths.
const MAX_LIST_BYTES: u64 = 1 << 20;

/// A directory that a terminal needs, to be made where it is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Needed {
    pub(super) path: PathBuf,
    /// Whether it was there a moment ago.
    pub(super) is_there: bool,
}

/// Which directories were made, and for which terminals.
#[derive(Debug)]
pub(super) struct MadeDirectories {
    made: Mutex<Made>,
    state_dir: PathBuf,
}

/// Whose each is. A terminal is among them from before it is started.
type Made = BTreeMap<PathBuf, BTreeSet<TerminalId>>;

/// Whether there is more to remove for a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// There is not.
    Nothing,
    /// Somebody still sees a directory of it protected.
    InUse,
}

impl MadeDirectories {
    /// None yet; they are written down in this directory.
    pub(super) fn kept_in(state_dir: PathBuf) -> Self {
        let made = Mutex::default();
        Self { made, state_dir }
    }

    fn lock(&self) -> MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes what an earlier daemon made and nobody has any more. Asked once, when every terminal
    /// of an earlier server has claimed its own again.
    pub(super) fn remove_leftovers(&self) {
        let made = self.lock();
        let listed = read_list(&self.state_dir.join(LIST_NAME));
        let unclaimed = listed.into_iter().filter(|path| !made.contains_key(path));
        let left: Vec<PathBuf> = unclaimed.collect();
        if left.is_empty() {
            return;
        }
        // What outlived its daemon may still see some of them protected; the next start looks again.
        let in_use = mounted_somewhere(&left);
        let (stay, gone): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|path| in_use.contains(path));
        for path in gone {
            remove_or_leave(&path);
        }
        self.write_down(made.keys().chain(&stay));
    }

    /// Writes the list anew, whole or not at all. It is for a daemon that is killed, not for a
    /// machine that stops: nothing is synced.
    fn write_down<'a>(&self, paths: impl Iterator<Item = &'a PathBuf>) {
        let mut list = Vec::new();
        for path in paths {
            list.extend_from_slice(path.as_os_str().as_bytes());
            list.push(0);
        }
        if let Err(error) = replace_list(&self.state_dir.join(LIST_NAME), &list) {
            tracing::warn!(%error, "what was made for sandboxes is not written down");
        }
    }

    /// Finds out what a terminal needs while nothing is removed: what is there then stays there.
    /// Gives back which of its directories are not there, or were made for another terminal.
    pub(super) fn claim<T, E>(
        &self,
        id: &TerminalId,
        find: impl FnOnce() -> Result<T, E>,
        needed: impl FnOnce(&T) -> &[Needed],
    ) -> Result<(T, Vec<PathBuf>), E> {
        let mut made = self.lock();
        let found = find()?;
        let mut claimed = Vec::new();
        let before = made.len();
        for Needed { path, is_there } in needed(&found) {
            if !is_there || made.contains_key(path) {
                made.entry(path.clone()).or_default().insert(id.clone());
                claimed.push(path.clone());
            }
        }
        if made.len() > before {
            self.write_down(made.keys());
        }
        Ok((found, claimed))
    }

    /// A terminal of an earlier server has these.
    pub(super) fn claim_again(&self, id: &TerminalId, paths: &[PathBuf]) {
        let mut made = self.lock();
        for path in paths {
            made.entry(path.clone()).or_default().insert(id.clone());
        }
    }

    /// A terminal's command has ended, or was never started: what only it needed is removed, unless
    /// something that it left running still sees it protected.
    pub(super) fn let_go(&self, id: &TerminalId) -> Left {
        let mut made = self.lock();
        let held = made.iter().filter(|(_, holders)| holders.contains(id));
        let (shared, own): (Vec<_>, Vec<_>) = held
            .map(|(path, holders)| (path.clone(), holders.len() > 1))
            .partition(|(_, is_shared)| *is_shared);
        for (path, _) in shared {
            if let Some(holders) = made.get_mut(&path) {
                holders.remove(id);
            }
        }
        let own: Vec<PathBuf> = own.into_iter().map(|(path, _)| path).collect();
        if own.is_empty() {
            return Left::Nothing;
        }
        let in_use = mounted_somewhere(&own);
        for path in own.iter().filter(|path| !in_use.contains(*path)) {
            made.remove(path);
            remove_or_leave(path);
        }
        self.write_down(made.keys());
        if in_use.is_empty() {
            Left::Nothing
        } else {
            Left::InUse
        }
    }

    /// The same for every terminal: none is left.
    pub(super) fn let_all_go(&self) {
        let ids: BTreeSet<TerminalId> = self.lock().values().flatten().cloned().collect();
        for id in ids {
            self.let_go(&id);
        }
    }
}

/// The paths of a list; none where there is none.
fn read_list(file: &Path) -> Vec<PathBuf> {
    let mut list = Vec::new();
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(file, flags, Mode::empty());
    let read = opened.map_err(io::Error::from).and_then(|opened| {
        let limited = File::from(opened).take(MAX_LIST_BYTES);
        io::BufReader::new(limited).read_to_end(&mut list)
    });
    match read {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            tracing::warn!(%error, "what an earlier daemon made for sandboxes cannot be read");
            return Vec::new();
        }
    }
    // What is behind the last NUL was cut.
    let end = list.iter().rposition(|&byte| byte == 0).unwrap_or(0);
    let paths = list.get(..end).unwrap_or_default().split(|&byte| byte == 0);
    let paths = paths.map(|path| PathBuf::from(OsString::from_vec(path.to_vec())));
    paths.filter(|path| is_notable(path)).collect()
}

fn replace_list(file: &Path, list: &[u8]) -> io::Result<()> {
    let next = file.with_extension("next");
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    options.mode(0o600).custom_flags(nix::libc::O_NOFOLLOW);
    options.open(&next)?.write_all(list)?;
    fs::rename(next, file)
}

/// Removes a directory, unless it holds something by now, or was removed: either is somebody's wish.
fn remove_or_leave(path: &Path) {
    if let Err(error) = remove_empty(path) {
        tracing::debug!(path = %path.display(), %error, "a protected directory stays");
    }
}

/// Removes a directory where it is empty. No link is followed on the way to it.
fn remove_empty(path: &Path) -> rustix::io::Result<()> {
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(rustix::io::Errno::INVAL);
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let links = ResolveFlags::NO_SYMLINKS;
    let above = rustix::fs::openat2(CWD, above, flags, Mode::empty(), links)?;
    rustix::fs::unlinkat(&above, name, AtFlags::REMOVEDIR)
}

/// Which of these something is mounted on, as any process of ours sees it: in each mount namespace
/// but our own (`proc_pid_mountinfo(5)`). What belongs to others cannot be read, and is in none of our
/// sandboxes: whoever made a user namespace may read of the processes in it.
fn mounted_somewhere(paths: &[PathBuf]) -> HashSet<PathBuf> {
    let mut seen: HashSet<OsString> = HashSet::new();
    seen.extend(mount_namespace("self"));
    let mut found = HashSet::new();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    for process in processes {
        let name = process.file_name();
        let Some(pid) = name
            .to_str()
            .filter(|pid| pid.bytes().all(|c| c.is_ascii_digit()))
        else {
            continue;
        };
        let is_new = mount_namespace(pid).is_some_and(|namespace| seen.insert(namespace));
        if !is_new {
            continue;
        }
        let mounts = fs::read(format!("/proc/{pid}/mountinfo")).unwrap_or_default();
        let points = mounts.split(|&byte| byte == b'\n').filter_map(mount_point);
        found.extend(points.filter(|point| paths.contains(point)));
    }
    found
}

fn mount_namespace(pid: &str) -> Option<OsString> {
    let link = fs::read_link(format!("/proc/{pid}/ns/mnt")).ok()?;
    Some(link.into_os_string())
}

/// The fifth field of a line, in which the kernel writes white space and backslashes in octal.
fn mount_point(line: &[u8]) -> Option<PathBuf> {
    let field = line.split(|&byte| byte == b' ').nth(4)?;
    let mut path = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|_| byte == b'\\');
        let octal = octal.and_then(|digits| std::str::from_utf8(digits).ok());
        let octal = octal.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        path.push(octal.unwrap_or(byte));
        rest = match octal {
            Some(_) => after.get(3..).unwrap_or_default(),
            None => after,
        };
    }
    Some(PathBuf::from(OsString::from_vec(path)))
}

/// Whether a record may name this: absolute, and not longer than a path can be. Notes are a
/// process's memory, and not to be grown by a deep tree.
pub(super) fn is_notable(path: &Path) -> bool {
    path.is_absolute()
        && path.as_os_str().as_bytes().len() < nix::libc::PATH_MAX.unsigned_abs() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u64) -> TerminalId {
        TerminalId::from_random(number)
    }

    /// Claims these for a terminal, which then makes them as the keeper does.
    fn start(made: &MadeDirectories, number: u64, paths: &[PathBuf]) -> Vec<PathBuf> {
        let needed = paths.iter().map(|path| Needed {
            path: path.clone(),
            is_there: path.exists(),
        });
        let found = || Ok::<Vec<_>, ()>(needed.collect());
        let claimed = made.claim(&id(number), found, |needed| needed);
        for path in paths {
            let _ = fs::create_dir(path);
        }
        claimed.unwrap().1
    }

    #[test]
    fn the_last_one_removes_what_was_made_and_is_empty() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        let [before, used, empty] = ["before", "used", "empty"].map(|name| root.join(name));
        fs::create_dir(&before).unwrap();
        let all = [before.clone(), used.clone(), empty.clone()];
        let state = tempfile::tempdir().unwrap();
        let made = MadeDirectories::kept_in(state.path().to_owned());
        let ours = [used.clone(), empty.clone()];
        assert_eq!(start(&made, 1, &all), ours);
        assert_eq!(start(&made, 2, &all), ours, "they are there for the first");
        fs::write(used.join("file"), "somebody's").unwrap();
        assert_eq!(made.let_go(&id(1)), Left::Nothing);
        assert!(empty.exists(), "the second needs it");
        assert_eq!(made.let_go(&id(2)), Left::Nothing);
        assert!(!empty.exists());
        assert!(used.exists() && before.exists());
        // What stayed is somebody's now.
        assert_eq!(start(&made, 3, &all), [empty]);
        assert_eq!(made.let_go(&id(2)), Left::Nothing, "it has none any more");
    }

    #[test]
    fn what_an_earlier_server_made_is_removed_too() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        let path = root.join("made");
        fs::create_dir(&path).unwrap();
        let state = tempfile::tempdir().unwrap();
        let made = MadeDirectories::kept_in(state.path().to_owned());
        made.claim_again(&id(1), std::slice::from_ref(&path));
        made.let_all_go();
        assert!(!path.exists());
    }

    #[test]
    fn what_a_killed_daemon_left_is_removed_unless_somebody_has_it() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        let names = ["left", "full", "kept", "new\nline"];
        let [left, full, kept, strange] = names.map(|name| root.join(name));
        let all = [left.clone(), full.clone(), kept.clone(), strange.clone()];
        let killed = MadeDirectories::kept_in(root.clone());
        start(&killed, 1, &all);
        fs::write(full.join("file"), "somebody's").unwrap();
        drop(killed);
        let next = MadeDirectories::kept_in(root.clone());
        next.claim_again(&id(2), std::slice::from_ref(&kept));
        next.remove_leftovers();
        assert!(!left.exists() && !strange.exists());
        assert!(full.join("file").exists() && kept.exists());
        assert_eq!(
            read_list(&root.join(LIST_NAME)),
            std::slice::from_ref(&kept)
        );
        next.let_all_go();
        assert!(!kept.exists());
        assert!(read_list(&root.join(LIST_NAME)).is_empty());
        // Damage names nothing that is not whole.
        fs::create_dir(&left).unwrap();
        let cut = left.as_os_str().as_bytes();
        fs::write(root.join(LIST_NAME), [b"relative\0\0", cut].concat()).unwrap();
        MadeDirectories::kept_in(root.clone()).remove_leftovers();
        assert!(left.exists());
    }

    #[test]
    fn no_link_leads_a_removal_elsewhere() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        fs::create_dir_all(root.join("real/made")).unwrap();
        std::os::unix::fs::symlink("real", root.join("link")).unwrap();
        assert!(remove_empty(&root.join("link/made")).is_err());
        assert!(root.join("real/made").exists());
        assert!(remove_empty(&root.join("real/made")).is_ok());
    }

    #[test]
    fn mount_points_are_read_as_the_kernel_writes_them() {
        for (line, point) in [
            (
                "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw",
                Some("/mnt2"),
            ),
            ("1 2 0:1 / /a\\040b\\134c ro - tmpfs t rw", Some("/a b\\c")),
            ("1 2 0:1 / /a\\9 ro - tmpfs t rw", Some("/a\\9")),
            ("1 2 0:1 /", None),
            ("", None),
        ] {
            assert_eq!(
                mount_point(line.as_bytes()),
                point.map(PathBuf::from),
                "{line}"
            );
        }
    }
}
