//! Which places a sandbox concerns, and in which order: pure until the child opens them.
//!
//! Every path is opened without following a symbolic link anywhere in it: whoever can write beside
//! it could otherwise lead a mount to somewhere else.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use nix::libc;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::{OwnPlaces, temporary};
use crate::protocol::confinement::{Access, IfAbsent, MAX_SANDBOX_PATHS, Sandbox, Temporary, Wall};

/// Where the scripts are that an integrated shell reads, in the socket's directory: read-only, and
/// no secret.
const SHELL_SCRIPTS: &str = "shell";

/// The kernel's own files. Root needs no capability to write there what the kernel then runs outside
/// of every sandbox (`core_pattern`, `release_agent`).
const KERNELS: [&CStr; 2] = [c"/proc", c"/sys"];

/// Room for the daemon's own places beside those of a spec.
const OWN_PLACES: usize = 4;

/// Whose `/dev` it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Devices {
    /// Everybody's.
    Shared,
    /// This sandbox's.
    Own,
}

/// Every path of a sandbox. A list never grows in the child beyond what is reserved here.
#[derive(Debug)]
pub(super) struct Places {
    /// Whether everything is writable: then nothing is made read-only but what is protected.
    pub(super) everything: bool,
    /// Those above come first; none where everything is.
    writable: Vec<CString>,
    /// For each of them the names that lead to it in a directory of the sandbox's own (`/dev`, and
    /// those for temporary files); none where it is elsewhere.
    ways: Vec<Vec<CString>>,
    opened: Vec<OwnedFd>,
    /// Whose temporary directories these are.
    pub(super) temporary: Temporary,
    /// Copies of the writable places' mounts, made before everything becomes read-only.
    pub(super) trees: Vec<OwnedFd>,
    /// The directories above guarded places, those above first.
    pub(super) pins: Vec<Pin>,
    pub(super) guards: Vec<Guard>,
    pub(super) covers: Vec<Cover>,
    /// The terminal's own tty.
    pub(super) tty: Option<CString>,
    pub(super) devices: Devices,
}

/// A directory between a writable place and one that is protected or hidden beneath it. It becomes a mount,
/// so that it can be neither renamed nor removed with what it holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pin {
    pub(super) path: CString,
    pub(super) is_mounted: bool,
}

/// A place that becomes read-only.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Guard {
    pub(super) path: CString,
    pub(super) if_absent: IfAbsent,
    /// The writable place that it is beneath.
    pub(super) beneath: CString,
    /// Which pins are above it, from above.
    pub(super) pins: Vec<usize>,
}

impl Guard {
    fn kernels(path: &CStr) -> Self {
        Self {
            path: path.to_owned(),
            if_absent: IfAbsent::Leave,
            beneath: c"/".to_owned(),
            pins: Vec::new(),
        }
    }
}

/// A place that is covered by something empty.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cover {
    pub(super) path: CString,
    /// What is used where something is visible in it: a directory of its own, of this name.
    pub(super) name: CString,
    pub(super) visible: Vec<Visible>,
    /// Whether it has to be there.
    pub(super) is_daemons: bool,
    /// Which pins are above it, from above: a directory above the database that could be renamed
    /// would let another one be put in its place.
    pub(super) pins: Vec<usize>,
}

/// Something beneath a covered place that stays visible, read-only.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Visible {
    pub(super) path: CString,
    /// The way to it from the covered place.
    pub(super) names: Vec<CString>,
}

impl Places {
    /// Checks and orders the paths of a spec. The wall says which list is wrong.
    pub(super) fn new(
        sandbox: &Sandbox,
        own: &OwnPlaces,
        tty: Option<u32>,
    ) -> Result<Self, (Wall, i32)> {
        let lists = [
            (sandbox.writable.len(), Wall::Writes),
            (sandbox.protected.len(), Wall::Protected),
            (sandbox.hidden.len(), Wall::Hidden),
            (sandbox.visible.len(), Wall::Hidden),
        ];
        if let Some((_, wall)) = lists.iter().find(|(length, _)| *length > MAX_SANDBOX_PATHS) {
            return Err((*wall, libc::E2BIG));
        }
        let checked = |wall, paths: &[Vec<u8>]| {
            let paths = paths.iter().map(|path| checked(path));
            let mut paths = paths
                .collect::<Result<Vec<_>, _>>()
                .map_err(|errno| (wall, errno))?;
            paths.sort_unstable();
            paths.dedup();
            Ok(paths)
        };
        let (roots, writable): (Vec<_>, Vec<_>) = sandbox
            .writable
            .iter()
            .cloned()
            .partition(|path| path == b"/");
        let mut writable = checked(Wall::Writes, &writable)?;
        let everything = !roots.is_empty();
        if everything {
            // Everything is beneath the empty name.
            writable = vec![Vec::new()];
        }
        let daemons = daemons(sandbox.daemon_socket, own).map_err(|errno| (Wall::Hidden, errno))?;
        let mut pinned = Pinned::default();
        let mut guards = guards(sandbox, &daemons, &writable, &mut pinned)?;
        if everything {
            guards.extend(KERNELS.map(Guard::kernels));
        }
        let mut hidden = checked(Wall::Hidden, &sandbox.hidden)?;
        let mut visible = checked(Wall::Hidden, &sandbox.visible)?;
        hidden.extend(daemons.hidden.iter().cloned());
        visible.extend(daemons.visible);
        let mut covers = covers(hidden, &visible, &daemons.hidden);
        for cover in &mut covers {
            let path = cover.path.to_bytes();
            if let Some(topmost) = topmost(path, &writable) {
                cover.pins = pinned.above(path, topmost);
            }
            // What lies where the sandbox has a directory of its own is hidden with the host's.
            if !temporary::names_to(cover.path.to_bytes(), sandbox.temporary).is_empty() {
                cover.is_daemons = false;
            }
        }
        writable.retain(|path| !path.is_empty());
        let trees = writable.len();
        let opened = trees + 1 + temporary::COUNT;
        let way = |path: &Vec<u8>| temporary::names_to(path, sandbox.temporary);
        Ok(Self {
            ways: writable.iter().map(way).collect(),
            temporary: sandbox.temporary,
            covers,
            everything,
            writable: writable.into_iter().map(terminated).collect(),
            opened: Vec::with_capacity(opened),
            trees: Vec::with_capacity(trees),
            pins: pinned.pins(),
            guards,
            tty: tty.and_then(tty_path),
            devices: Devices::Shared,
        })
    }

    /// Opens the writable places. All of them have to be there.
    pub(super) fn open_writable(&mut self) -> Result<(), i32> {
        for path in &self.writable {
            self.opened.push(resolve(path)?);
        }
        if self.everything {
            self.opened.push(resolve(c"/")?);
        }
        Ok(())
    }

    /// The writable places, each with its way in a directory of the sandbox's own.
    pub(super) fn writable(&self) -> impl Iterator<Item = (&CStr, &[CString])> {
        let ways = self.ways.iter().map(Vec::as_slice);
        self.writable.iter().map(CString::as_c_str).zip(ways)
    }

    /// Adds a writable place that is not the host's. Room was made for it.
    pub(super) fn may_be_written(&mut self, place: OwnedFd) {
        self.opened.push(place);
    }

    /// Whether a path is the host's, and not beneath a directory of the sandbox's own; what is
    /// writable there is mounted back.
    pub(super) fn is_hosts(&self, path: &CStr) -> bool {
        let path = path.to_bytes();
        let is_own = |path: &[u8]| temporary::is_own(path, self.temporary);
        let mut back = self.writable.iter().map(|place| place.to_bytes());
        !is_own(path) || back.any(|place| is_own(place) && is_within(path, place))
    }

    /// Whether what is mounted there may be written, as far as mounts say so.
    pub(super) fn may_be_written_at(&self, path: &[u8]) -> bool {
        let mut writable = self.writable.iter().map(|place| place.to_bytes());
        writable.any(|place| is_within(path, place)) || temporary::is_own(path, self.temporary)
    }

    /// The writable places as they were opened.
    pub(super) fn opened_writable(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.opened.iter().map(AsFd::as_fd)
    }
}

/// Opens a path that has no symbolic link in it, to be named and not read.
pub(super) fn resolve(path: &CStr) -> Result<OwnedFd, i32> {
    let links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    // Without NOFOLLOW, which with PATH would open a last link itself.
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    rustix::fs::openat2(CWD, path, flags, Mode::empty(), links).map_err(Errno::raw_os_error)
}

/// Opens a symbolic link itself; there is none on the way to it.
pub(super) fn resolve_link(path: &CStr) -> Result<OwnedFd, i32> {
    let links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat2(CWD, path, flags, Mode::empty(), links).map_err(Errno::raw_os_error)
}

/// An absolute path that says where it leads, without its last slash; not the root.
fn checked(path: &[u8]) -> Result<Vec<u8>, i32> {
    let path = path.strip_suffix(b"/").unwrap_or(path);
    let Some(names) = path.strip_prefix(b"/") else {
        return Err(libc::EINVAL);
    };
    let is_name = |name: &[u8]| !matches!(name, b"" | b"." | b"..");
    if path.contains(&0) || !names.split(|&byte| byte == b'/').all(is_name) {
        return Err(libc::EINVAL);
    }
    if path.len() >= libc::PATH_MAX.unsigned_abs() as usize {
        return Err(libc::ENAMETOOLONG);
    }
    Ok(path.to_vec())
}

/// Of a path without NUL, which [`checked`] has seen to.
fn terminated(path: Vec<u8>) -> CString {
    CString::new(path).unwrap_or_default()
}

/// Whether it is that place or beneath it.
fn is_within(path: &[u8], place: &[u8]) -> bool {
    path.strip_prefix(place)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// What is protected beneath writable places: the rest is read-only anyway, and so is what is
/// beneath another protected place.
fn guards(
    sandbox: &Sandbox,
    daemons: &Daemons,
    writable: &[Vec<u8>],
    pinned: &mut Pinned,
) -> Result<Vec<Guard>, (Wall, i32)> {
    let mut protected: Vec<_> = daemons.protected.clone().into_iter().collect();
    for entry in &sandbox.protected {
        let path = checked(&entry.path).map_err(|errno| (Wall::Protected, errno))?;
        protected.push((path, entry.if_absent));
    }
    protected.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    let mut guards: Vec<Guard> = Vec::new();
    let mut last: Vec<Vec<u8>> = Vec::new();
    for (path, if_absent) in protected {
        // Sorted: those above it have been seen.
        if last.iter().any(|above| is_within(&path, above)) {
            continue;
        }
        let Some(topmost) = topmost(&path, writable) else {
            continue;
        };
        let pins = pinned.above(&path, topmost);
        guards.push(Guard {
            path: terminated(path.clone()),
            if_absent,
            beneath: match topmost.as_slice() {
                b"" => c"/".to_owned(),
                topmost => terminated(topmost.to_vec()),
            },
            pins,
        });
        last.push(path);
    }
    Ok(guards)
}

/// The topmost writable place that a path is beneath.
fn topmost<'a>(path: &[u8], writable: &'a [Vec<u8>]) -> Option<&'a Vec<u8>> {
    let above = writable.iter().filter(|place| is_within(path, place));
    above.min_by_key(|place| place.len())
}

/// The directories that become pins.
#[derive(Default)]
struct Pinned(Vec<Vec<u8>>);

impl Pinned {
    /// Those between a writable place and a path beneath it, from above, by their numbers.
    fn above(&mut self, path: &[u8], writable: &[u8]) -> Vec<usize> {
        let slashes = (writable.len() + 1..path.len()).filter(|&at| path.get(at) == Some(&b'/'));
        let above: Vec<&[u8]> = slashes.filter_map(|end| path.get(..end)).collect();
        let number = |directory: &[u8]| {
            let known = self.0.iter().position(|known| known == directory);
            known.unwrap_or_else(|| {
                self.0.push(directory.to_vec());
                self.0.len() - 1
            })
        };
        above.into_iter().map(number).collect()
    }

    fn pins(self) -> Vec<Pin> {
        let pin = |path| Pin {
            path: terminated(path),
            is_mounted: false,
        };
        self.0.into_iter().map(pin).collect()
    }
}

/// The daemon's own places.
struct Daemons {
    hidden: Vec<Vec<u8>>,
    /// Its socket's directory, where it may be used.
    protected: Option<(Vec<u8>, IfAbsent)>,
    visible: Vec<Vec<u8>>,
}

fn daemons(socket: Access, own: &OwnPlaces) -> Result<Daemons, i32> {
    let of = |path: &std::path::Path| checked(path.as_os_str().as_bytes());
    let mut hidden = Vec::with_capacity(OWN_PLACES);
    let mut visible = Vec::with_capacity(OWN_PLACES);
    let mut protected = None;
    hidden.push(of(&own.state_dir)?);
    match socket {
        Access::Allowed => {
            visible.push(of(&own.socket_dir)?);
            protected = Some((of(&own.socket_dir)?, IfAbsent::Leave));
        }
        Access::Denied => {
            hidden.push(of(&own.socket_dir)?);
            visible.push(of(&own.socket_dir.join(SHELL_SCRIPTS))?);
        }
    }
    Ok(Daemons {
        hidden,
        protected,
        visible,
    })
}

fn covers(mut hidden: Vec<Vec<u8>>, visible: &[Vec<u8>], daemons: &[Vec<u8>]) -> Vec<Cover> {
    hidden.sort_unstable();
    hidden.dedup();
    let mut covers: Vec<Cover> = Vec::new();
    let mut last: Vec<Vec<u8>> = Vec::new();
    for path in hidden {
        // Covered with what is above it, unless that leaves it visible.
        let seen = |place: &Vec<u8>| is_within(&path, place);
        let is_covered = last.iter().any(|above| {
            is_within(&path, above)
                && !visible
                    .iter()
                    .any(|shown| is_within(shown, above) && seen(shown))
        });
        if is_covered {
            continue;
        }
        let beneath = visible
            .iter()
            .filter(|place| is_within(place, &path) && place.len() > path.len());
        covers.push(Cover {
            name: terminated(format!("cover{}", covers.len()).into_bytes()),
            visible: beneath
                .map(|place| Visible {
                    names: place
                        .get(path.len() + 1..)
                        .unwrap_or_default()
                        .split(|&byte| byte == b'/')
                        .map(|name| terminated(name.to_vec()))
                        .collect(),
                    path: terminated(place.clone()),
                })
                .collect(),
            is_daemons: daemons.contains(&path),
            pins: Vec::new(),
            path: terminated(path.clone()),
        });
        last.push(path);
    }
    covers
}

/// `/dev/pts/N` of a device number in the form of `new_encode_dev`.
fn tty_path(device: u32) -> Option<CString> {
    let minor = (device & 0xff) | ((device >> 12) & 0x000f_ff00);
    CString::new(format!("/dev/pts/{minor}")).ok()
}

#[cfg(test)]
#[path = "paths_tests.rs"]
mod tests;
