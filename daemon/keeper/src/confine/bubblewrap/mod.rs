//! bubblewrap: finding the program, and its arguments for a sandbox.
//!
//! The arguments ask for the mounts that `mount` makes. bubblewrap binds everything from the host's
//! own tree, so a directory is bound before what is protected, hidden or visible beneath it. `verify`
//! finds out whether it did so.

mod snapshot;
pub(super) mod verify;

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use self::snapshot::Node;
pub(crate) use self::snapshot::Snapshot;
use crate::confine::mount::places::{Cover, Places};
use rustix::io::Errno;

/// Where distributions and administrators install it. A client controls `PATH`, so it is not used.
const DIRECTORIES: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];
const NAME: &str = "bwrap";
/// The required owner of the program and of its directory.
const ROOT: u32 = 0;
/// The permission bits that let others than the owner write.
const WRITABLE_BY_OTHERS: u32 = 0o022;
const EXECUTABLE: u32 = 0o111;

/// A file system for temporary files may grow to this part of the memory, as in `temporary`.
const PART_OF_MEMORY: u64 = 4;
/// The modes of a `/tmp`, and of an empty directory or file that covers a hidden one.
const SHARED_MODE: &str = "1777";
const DIRECTORY_MODE: &str = "0755";
const FILE_MODE: &str = "0444";

/// The program's path, without links. ENOENT: it is not installed. EPERM: others than root can
/// replace it. EACCES: it is not executable.
pub(crate) fn find() -> Result<CString, Errno> {
    let found = find_in(&DIRECTORIES.map(Path::new), ROOT)?;
    CString::new(found.as_os_str().as_bytes()).map_err(|_| Errno::INVAL)
}

/// The first trusted one; without any, the error of the first that exists.
fn find_in(directories: &[&Path], owner: u32) -> Result<PathBuf, Errno> {
    let mut wrong = None;
    for directory in directories {
        match trusted(&directory.join(NAME), owner) {
            Ok(program) => return Ok(program),
            Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(errno) => {
                wrong.get_or_insert(errno);
            }
        }
    }
    Err(wrong.unwrap_or(Errno::NOENT))
}

fn trusted(path: &Path, owner: u32) -> Result<PathBuf, Errno> {
    let errno = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    let program = path.canonicalize().map_err(errno)?;
    let directory = program.parent().ok_or(Errno::NOENT)?;
    let entry = program.metadata().map_err(errno)?;
    for entry in [&entry, &directory.metadata().map_err(errno)?] {
        if entry.uid() != owner || entry.mode() & WRITABLE_BY_OTHERS != 0 {
            return Err(Errno::PERM);
        }
    }
    if !entry.is_file() || entry.mode() & EXECUTABLE == 0 {
        return Err(Errno::ACCESS);
    }
    Ok(program)
}

/// bubblewrap's options, each with a NUL after it, and the number of empty files that they read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    pub(crate) text: Vec<u8>,
    pub(crate) empty_files: u32,
}

impl Arguments {
    /// The arguments for these places. Each hidden file takes a descriptor of an empty file, from
    /// `first_empty_file` on.
    pub(crate) fn new(places: &Places, snapshot: &Snapshot, first_empty_file: i32) -> Self {
        let mut arguments = Self::default();
        // Without a user namespace `verify` fails. bubblewrap's monitor process ends with the keeper,
        // and the process behind it with the monitor.
        arguments.words(&["--unshare-user-try", "--cap-drop", "ALL"]);
        arguments.words(&["--die-with-parent", "--chdir", "/"]);
        let root = if places.everything {
            "--bind"
        } else {
            "--ro-bind"
        };
        arguments.mount(root, c"/");
        arguments.words(&["--dev", "/dev", "--perms", SHARED_MODE]);
        arguments.words(&["--tmpfs", "/dev/shm"]);
        let size = (memory() / PART_OF_MEMORY).max(1).to_string();
        for directory in &snapshot.temporary {
            arguments.words(&["--perms", SHARED_MODE, "--size", &size, "--tmpfs"]);
            arguments.word(directory.to_bytes());
        }
        for (path, _) in places.writable() {
            arguments.mount("--bind", path);
        }
        for (pin, is_needed) in places.pins.iter().zip(needed_pins(places, snapshot)) {
            if is_needed {
                arguments.mount("--bind", &pin.path);
            }
        }
        for (guard, found) in places.guards.iter().zip(&snapshot.guards) {
            if found.is_some() {
                arguments.mount("--ro-bind", &guard.path);
            }
        }
        for (cover, found) in places.covers.iter().zip(&snapshot.covers) {
            arguments.cover(cover, *found, snapshot, first_empty_file);
        }
        arguments.words(&["--remount-ro", "/dev"]);
        arguments
    }

    /// Adds an IPC namespace. Not a PID namespace: its init would be bubblewrap's, and would turn the
    /// command's death by a signal into a number.
    pub(crate) fn unshare_ipc(&mut self) {
        self.words(&["--unshare-ipc"]);
    }

    fn word(&mut self, word: &[u8]) {
        self.text.extend_from_slice(word);
        self.text.push(0);
    }

    fn words(&mut self, words: &[&str]) {
        for word in words {
            self.word(word.as_bytes());
        }
    }

    /// Mounts the host's file or directory at its own path.
    fn mount(&mut self, how: &str, path: &CStr) {
        self.word(how.as_bytes());
        self.word(path.to_bytes());
        self.word(path.to_bytes());
    }

    fn cover(&mut self, cover: &Cover, found: Option<Node>, snapshot: &Snapshot, first: i32) {
        let Some(node) = found else {
            return;
        };
        if !node.is_directory {
            let empty = first.saturating_add_unsigned(self.empty_files).to_string();
            self.empty_files += 1;
            self.words(&["--perms", FILE_MODE, "--ro-bind-data", &empty]);
            self.word(cover.path.to_bytes());
            return;
        }
        self.words(&["--perms", DIRECTORY_MODE, "--tmpfs"]);
        self.word(cover.path.to_bytes());
        for visible in &cover.visible {
            if snapshot.visible.contains(&visible.path) {
                self.mount("--ro-bind", &visible.path);
            }
        }
        self.word(b"--remount-ro");
        self.word(cover.path.to_bytes());
    }
}

/// For each pin, whether it becomes a mount: it is the host's, and above an existing place that is
/// protected or hidden.
pub(crate) fn needed_pins(places: &Places, snapshot: &Snapshot) -> Vec<bool> {
    let guards = places.guards.iter().map(|guard| &guard.pins);
    let covers = places.covers.iter().map(|cover| &cover.pins);
    let found = snapshot.guards.iter().chain(&snapshot.covers);
    let mut needed = vec![false; places.pins.len()];
    for (pins, _) in (guards.chain(covers).zip(found)).filter(|(_, found)| found.is_some()) {
        for &number in pins {
            if let (Some(needed), Some(pin)) = (needed.get_mut(number), places.pins.get(number)) {
                *needed = places.shows_host(&pin.path);
            }
        }
    }
    needed
}

/// The machine's memory, in bytes.
fn memory() -> u64 {
    let system = rustix::system::sysinfo();
    u64::from(system.mem_unit).saturating_mul(system.totalram)
}

#[cfg(test)]
mod tests;
