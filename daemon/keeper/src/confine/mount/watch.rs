//! Keeps the mounts that protect and hide while a sandbox runs.
//!
//! The kernel takes a mount off a file that somebody outside unlinks or replaces, and a directory that
//! is renamed outside takes its mount along. The init of the sandbox's PID namespace is told of both, by
//! the mount table and by inotify(7), and mounts again over what is there by then. It keeps its
//! capabilities for that. The command has none, so it can neither trace the init nor undo a mount.
//!
//! Between the change outside and the new mount some milliseconds pass, in which nothing is held.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::fs::{Dir, Mode, OFlags};
use rustix::io::Errno;

use super::ops::is_directory;
use super::places::{Cover, Guard, Pin, Places};
use super::resolve::{resolve, resolve_link};
use super::state::{MEMORY, file_system_type, is_mount_point, is_read_only};
use super::view::{
    EMPTY_DIRECTORY, EMPTY_FILE, attach_empty, make, make_absent, mount_on_itself, pin_link,
};
use crate::confine::kernel::READ_ONLY;
use crate::protocol::confinement::IfAbsent;

/// The mounts of the process that reads it (`proc_pid_mountinfo(5)`).
const MOUNT_TABLE: &str = "/proc/self/mountinfo";
/// The directory of the empty things, as it is mounted.
const STORE: &CStr = c"/dev/.hidden";
/// Bytes of events that are read at once.
const BUFFER_BYTES: usize = 4 << 10;

/// What protects and hides in a sandbox, and what tells of changes.
#[derive(Debug)]
pub(crate) struct MountWatch<'a> {
    places: &'a Places,
    /// The guards that are held: all that could be at first.
    guards: Vec<HeldGuard<'a>>,
    /// The same of covers.
    covers: Vec<&'a Cover>,
    mount_table: Option<File>,
    /// Tells of names in the directories above. `None` where the user has no more of them.
    names: Option<OwnedFd>,
}

#[derive(Debug)]
struct HeldGuard<'a> {
    guard: &'a Guard,
    /// Whether it was an empty directory at first, which is made again when somebody removes it.
    is_placeholder: bool,
}

impl<'a> MountWatch<'a> {
    /// Watches nothing yet.
    pub(crate) fn new(places: &'a Places) -> Self {
        Self {
            places,
            guards: Vec::new(),
            covers: Vec::new(),
            mount_table: None,
            names: None,
        }
    }

    /// Begins, once the sandbox is built. What is not held at first, as by best effort, is not later.
    pub(crate) fn begin(&mut self) {
        self.mount_table = File::open(MOUNT_TABLE).ok();
        self.names = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok();
        self.watch_names();
        for guard in &self.places.guards {
            let held = HeldGuard {
                guard,
                is_placeholder: is_empty_directory(&guard.path),
            };
            if retry(|| self.restore_guard(&held)).is_ok() {
                self.guards.push(held);
            }
        }
        let covers = self.places.covers.iter();
        self.covers = covers
            .filter(|cover| retry(|| self.restore_cover(cover)).is_ok())
            .collect();
    }

    /// What to wait for.
    pub(crate) fn poll_fds(&self) -> impl Iterator<Item = PollFd<'_>> {
        let table = self.mount_table.iter();
        let table = table.map(|table| PollFd::new(table, PollFlags::PRI));
        let names = self.names.iter();
        table.chain(names.map(|names| PollFd::new(names, PollFlags::IN)))
    }

    /// Mounts again what is gone. To be called when a descriptor of [`poll_fds`](Self::poll_fds) is
    /// ready.
    pub(crate) fn restore(&self, is_mount_change: bool) -> Result<(), Errno> {
        let is_name_change = self.is_name_change();
        if !is_mount_change && !is_name_change {
            return Ok(());
        }
        // First: what appears in a new directory after the look at it tells of itself.
        self.watch_names();
        for held in &self.guards {
            retry(|| self.restore_guard(held))?;
        }
        for cover in &self.covers {
            retry(|| self.restore_cover(cover))?;
        }
        Ok(())
    }

    fn restore_guard(&self, held: &HeldGuard<'_>) -> Result<(), Errno> {
        let guard = held.guard;
        if guard.if_absent == IfAbsent::PinDirectory {
            if held.is_placeholder {
                match make_absent(guard, &self.places.pins) {
                    // A link by now, which is held in its place.
                    Err(Errno::LOOP) => {}
                    made => made.or_else(unless_absent)?,
                }
            }
            return self.restore_pins(&guard.pins);
        }
        if guard.if_absent == IfAbsent::PinLink {
            return match resolve_link(&guard.path) {
                Ok(link) if is_mount_point(link.as_fd())? => Ok(()),
                Ok(_) => {
                    self.restore_pins(&guard.pins)?;
                    hold_anything(&guard.path)
                }
                Err(errno) => unless_absent(errno),
            };
        }
        match resolve(&guard.path) {
            Ok(place) if is_mount_point(place.as_fd())? && is_read_only(place.as_fd())? => Ok(()),
            Ok(_) | Err(Errno::LOOP) => {
                self.restore_pins(&guard.pins)?;
                hold_anything(&guard.path)
            }
            Err(Errno::NOENT) if held.is_placeholder => {
                // Fails where a directory above is gone, too. It is made with that one.
                match make(guard, &self.places.pins) {
                    Ok(()) => {
                        self.restore_pins(&guard.pins)?;
                        hold_anything(&guard.path)
                    }
                    Err(errno) => unless_absent(errno),
                }
            }
            Err(errno) => unless_absent(errno),
        }
    }

    fn restore_pins(&self, numbers: &[usize]) -> Result<(), Errno> {
        let pins = numbers.iter().filter_map(|&at| self.places.pins.get(at));
        for Pin { path, .. } in pins {
            match resolve(path) {
                Ok(place) if is_mount_point(place.as_fd())? => {}
                Ok(place) => mount_on_itself(place.as_fd(), 0)?,
                // A link by now: what is behind it is not beneath the writable place.
                Err(Errno::LOOP) => return hold_anything(path),
                Err(errno) => return unless_absent(errno),
            }
        }
        Ok(())
    }

    fn restore_cover(&self, cover: &Cover) -> Result<(), Errno> {
        let Cover { path, pins, .. } = cover;
        let place = match resolve(path) {
            Ok(place) => place,
            Err(Errno::LOOP) => {
                self.restore_pins(pins)?;
                return hold_anything(path);
            }
            Err(errno) => return unless_absent(errno),
        };
        let is_covered = is_mount_point(place.as_fd())?
            && is_read_only(place.as_fd())?
            && file_system_type(place.as_fd())? == MEMORY;
        if is_covered {
            return Ok(());
        }
        self.restore_pins(pins)?;
        let store = resolve(STORE)?;
        let place = resolve(path)?;
        let empty = if is_directory(place.as_fd())? {
            EMPTY_DIRECTORY
        } else {
            EMPTY_FILE
        };
        attach_empty(store.as_fd(), empty, place.as_fd())
    }

    /// Watches each directory with a name in it that is protected or hidden. A directory that is watched
    /// already stays so.
    fn watch_names(&self) {
        let Some(names) = &self.names else {
            return;
        };
        let flags = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVE
            | WatchFlags::ONLYDIR
            | WatchFlags::DONT_FOLLOW;
        let mut last: &[u8] = b"";
        for path in self.paths() {
            let Some(end) = path.to_bytes().iter().rposition(|&byte| byte == b'/') else {
                continue;
            };
            let above = path.to_bytes().get(..end).unwrap_or_default();
            if above == last || above.is_empty() {
                continue;
            }
            last = above;
            // One that is absent is watched once a directory above it tells of a change.
            let _ = inotify::add_watch(names, above, flags);
        }
    }

    /// Everything that is held, and the directories above.
    fn paths(&self) -> impl Iterator<Item = &CString> {
        let places = self.places;
        let pins = places.pins.iter().map(|pin| &pin.path);
        let guards = places.guards.iter().map(|guard| &guard.path);
        let covers = places.covers.iter().map(|cover| &cover.path);
        pins.chain(guards).chain(covers)
    }

    /// Takes the events of names. Whether one of them is held.
    fn is_name_change(&self) -> bool {
        let Some(names) = &self.names else {
            return false;
        };
        let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
        let mut events = inotify::Reader::new(names, &mut buffer);
        let mut is_change = false;
        // EAGAIN: there are no more.
        while let Ok(event) = events.next() {
            is_change = is_change
                || event.events().contains(ReadFlags::QUEUE_OVERFLOW)
                || event.file_name().is_some_and(|name| self.is_held(name));
        }
        is_change
    }

    fn is_held(&self, name: &CStr) -> bool {
        let ends_so = |path: &CString| {
            let above = path.to_bytes().strip_suffix(name.to_bytes());
            above.is_some_and(|above| above.ends_with(b"/"))
        };
        self.paths().any(ends_so)
    }
}

/// Most tries to mount on something that goes away meanwhile.
const MAX_TRIES: usize = 100;

/// Tries again where something was removed between its opening and the mounting (ENOENT). The kernel
/// tells of a mount that fell off before the rename is done that took it off.
fn retry(restore: impl Fn() -> Result<(), Errno>) -> Result<(), Errno> {
    for _ in 1..MAX_TRIES {
        match restore() {
            Err(Errno::NOENT) => {}
            restored => return restored,
        }
    }
    restore()
}

/// Makes what is at a path read-only, be it a link.
fn hold_anything(path: &CStr) -> Result<(), Errno> {
    match resolve(path) {
        Ok(place) => mount_on_itself(place.as_fd(), READ_ONLY),
        Err(Errno::LOOP) => pin_link(path).or_else(|errno| match errno {
            // The link is on the way.
            Errno::LOOP | Errno::INVAL | Errno::STALE => Ok(()),
            errno => unless_absent(errno),
        }),
        Err(errno) => unless_absent(errno),
    }
}

/// What is absent is not held. A new name tells of itself.
fn unless_absent(errno: Errno) -> Result<(), Errno> {
    match errno {
        Errno::NOENT | Errno::NOTDIR | Errno::ACCESS => Ok(()),
        errno => Err(errno),
    }
}

/// What cannot be read is not empty.
fn is_empty_directory(path: &CStr) -> bool {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = resolve(path)
        .and_then(|place| rustix::fs::openat(place, c".", flags, Mode::empty()))
        .and_then(Dir::new);
    opened.is_ok_and(|mut entries| {
        entries.all(|entry| {
            entry.is_ok_and(|entry| matches!(entry.file_name().to_bytes(), b"." | b".."))
        })
    })
}
