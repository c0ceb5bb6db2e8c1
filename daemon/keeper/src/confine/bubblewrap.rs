//! bubblewrap as the builder of a sandbox's namespaces and mounts: which program it is, and what it
//! is asked for.
//!
//! It promises the mounts that `mounts`, `devices` and `temporary` make, in an order in which none
//! takes another one away: bubblewrap binds everything from the host's own tree, so a directory is
//! bound before what is protected, hidden or shown beneath it. It must not know how it is executed,
//! nor believe that it did what it was asked: that is `built`'s to find out.

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::libc;

use super::paths::{Cover, Places};
use super::survey::{Node, Survey};

/// Where a distribution or an administrator puts it. Never a `PATH`: that is the client's word.
const DIRECTORIES: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];
const NAME: &str = "bwrap";
/// Who may own it and its directory.
const ROOT: u32 = 0;
/// Modes that let others than the owner write.
const WRITABLE_BY_OTHERS: u32 = 0o022;
const EXECUTABLE: u32 = 0o111;

/// What a file system in memory for temporary files may grow to: this part of the memory, as those
/// of our own.
const PART_OF_MEMORY: u64 = 4;
/// A `/tmp`, and an empty directory or file that covers something.
const SHARED_MODE: &str = "1777";
const DIRECTORY_MODE: &str = "0755";
const FILE_MODE: &str = "0444";

/// The program, without a link in its path. ENOENT: there is none. EPERM: there is one that others
/// than root can replace. EACCES: nobody may execute it.
pub(crate) fn find() -> Result<CString, i32> {
    let found = find_in(&DIRECTORIES.map(Path::new), ROOT)?;
    CString::new(found.as_os_str().as_bytes()).map_err(|_| libc::EINVAL)
}

/// The first that is to be trusted; where none is, what is wrong with the first.
fn find_in(directories: &[&Path], owner: u32) -> Result<PathBuf, i32> {
    let mut wrong = None;
    for directory in directories {
        match trusted(&directory.join(NAME), owner) {
            Ok(program) => return Ok(program),
            Err(libc::ENOENT | libc::ENOTDIR) => {}
            Err(errno) => {
                wrong.get_or_insert(errno);
            }
        }
    }
    Err(wrong.unwrap_or(libc::ENOENT))
}

fn trusted(path: &Path, owner: u32) -> Result<PathBuf, i32> {
    let errno = |error: std::io::Error| error.raw_os_error().unwrap_or(libc::EIO);
    let program = path.canonicalize().map_err(errno)?;
    let directory = program.parent().ok_or(libc::ENOENT)?;
    let entry = program.metadata().map_err(errno)?;
    for entry in [&entry, &directory.metadata().map_err(errno)?] {
        if entry.uid() != owner || entry.mode() & WRITABLE_BY_OTHERS != 0 {
            return Err(libc::EPERM);
        }
    }
    if !entry.is_file() || entry.mode() & EXECUTABLE == 0 {
        return Err(libc::EACCES);
    }
    Ok(program)
}

/// What it is asked for: its options, each with a NUL after it, and how many empty files they read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    pub(crate) text: Vec<u8>,
    pub(crate) empty_files: u32,
}

impl Arguments {
    /// For these places as they were found. Each hidden file takes a descriptor of an empty file, from
    /// this number on.
    pub(super) fn new(places: &Places, survey: &Survey, first_empty_file: i32) -> Self {
        let mut asked = Self::default();
        // A user namespace where it can make one: without, `built` says so. Whoever stays as its
        // monitor ends with the keeper, and what it builds with the monitor.
        asked.words(&["--unshare-user-try", "--cap-drop", "ALL"]);
        asked.words(&["--die-with-parent", "--chdir", "/"]);
        let root = if places.everything {
            "--bind"
        } else {
            "--ro-bind"
        };
        asked.mount(root, c"/");
        asked.words(&["--dev", "/dev", "--perms", SHARED_MODE]);
        asked.words(&["--tmpfs", "/dev/shm"]);
        let size = (memory() / PART_OF_MEMORY).max(1).to_string();
        for directory in &survey.temporary {
            asked.words(&["--perms", SHARED_MODE, "--size", &size, "--tmpfs"]);
            asked.word(directory.to_bytes());
        }
        for (path, _) in places.writable() {
            asked.mount("--bind", path);
        }
        for (pin, is_needed) in places.pins.iter().zip(needed_pins(places, survey)) {
            if is_needed {
                asked.mount("--bind", &pin.path);
            }
        }
        for (guard, found) in places.guards.iter().zip(&survey.guards) {
            if found.is_some() {
                asked.mount("--ro-bind", &guard.path);
            }
        }
        for (cover, found) in places.covers.iter().zip(&survey.covers) {
            asked.cover(cover, *found, survey, first_empty_file);
        }
        asked.words(&["--remount-ro", "/dev"]);
        asked
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

    /// The host's, at its own place.
    fn mount(&mut self, how: &str, path: &CStr) {
        self.word(how.as_bytes());
        self.word(path.to_bytes());
        self.word(path.to_bytes());
    }

    fn cover(&mut self, cover: &Cover, found: Option<Node>, survey: &Survey, first: i32) {
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
        for shown in &cover.visible {
            if survey.shown.contains(&shown.path) {
                self.mount("--ro-bind", &shown.path);
            }
        }
        self.word(b"--remount-ro");
        self.word(cover.path.to_bytes());
    }
}

/// Which directories become mounts: those above something that is there to be protected or hidden,
/// and the host's. Those above come first, as they do among the pins.
pub(super) fn needed_pins(places: &Places, survey: &Survey) -> Vec<bool> {
    let guards = places.guards.iter().map(|guard| &guard.pins);
    let covers = places.covers.iter().map(|cover| &cover.pins);
    let found = survey.guards.iter().chain(&survey.covers);
    let mut needed = vec![false; places.pins.len()];
    for (pins, _) in (guards.chain(covers).zip(found)).filter(|(_, found)| found.is_some()) {
        for &number in pins {
            if let (Some(needed), Some(pin)) = (needed.get_mut(number), places.pins.get(number)) {
                *needed = places.is_hosts(&pin.path);
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
#[path = "bubblewrap_tests.rs"]
mod tests;
