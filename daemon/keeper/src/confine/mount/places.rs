//! The places of a sandbox, checked and in order. Pure until the child opens them.
//!
//! No symbolic link is followed anywhere in a path: a process that can write beside it could
//! otherwise lead a mount to another place.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use nix::libc;
use rustix::io::Errno;

use super::directory_copy::{DirectoryCopy, copies_above};
use super::own_dirs;
use super::resolve::{file_id, resolve};
use crate::confine::daemon_dirs::DaemonDirs;
use crate::protocol::confinement::{
    Access, FileId, IfAbsent, MAX_SANDBOX_PATHS, Restriction, Sandbox, Temporary,
};

/// The directory, in the socket's, of the scripts that an integrated shell reads. They are no
/// secret.
const SHELL_SCRIPTS: &str = "shell";

/// The kernel's own files. Root needs no capability to write there what the kernel then runs outside
/// of every sandbox (`core_pattern`, `release_agent`).
const KERNEL_DIRS: [&CStr; 2] = [c"/proc", c"/sys"];

/// Whose `/dev` the sandbox has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Devices {
    /// The host's.
    Shared,
    /// Its own.
    Own,
}

/// Every path of a sandbox. The lists have the capacity that the child needs, which allocates none.
#[derive(Debug)]
pub(crate) struct Places {
    /// Whether everything but what is protected is writable.
    pub(crate) everything: bool,
    /// The writable paths, a directory before what is in it. Empty where everything is writable.
    writable: Vec<CString>,
    /// For each writable path what it has to be, where that is known.
    expected: Vec<Option<FileId>>,
    /// For each writable path the names that lead to it from a directory of the sandbox's own
    /// (`/dev`, `/tmp`); empty for a path elsewhere.
    names: Vec<Vec<CString>>,
    opened: Vec<OwnedFd>,
    /// Whether `/tmp` is the sandbox's own.
    pub(crate) temporary: Temporary,
    /// Copies of the mounts of writable places, from before everything became read-only.
    pub(crate) trees: Vec<OwnedFd>,
    /// The directories above guarded and covered places, a directory before what is in it.
    pub(crate) pins: Vec<Pin>,
    pub(crate) guards: Vec<Guard>,
    pub(crate) covers: Vec<Cover>,
    /// The directories above covered places outside of the writable ones.
    pub(crate) copies: Vec<DirectoryCopy>,
    /// The terminal's own tty.
    pub(crate) tty: Option<CString>,
    pub(crate) devices: Devices,
}

/// A directory between a writable place and one that is protected or hidden beneath it. It becomes a
/// mount, so that it can be neither renamed nor removed with what is in it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Pin {
    pub(crate) path: CString,
    pub(crate) is_mounted: bool,
}

/// A place that becomes read-only.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Guard {
    pub(crate) path: CString,
    pub(crate) if_absent: IfAbsent,
    /// The writable place that it is beneath.
    pub(crate) beneath: CString,
    /// The indices of the pins above it, the topmost first.
    pub(crate) pins: Vec<usize>,
}

impl Guard {
    fn kernel_dir(path: &CStr) -> Self {
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
pub(crate) struct Cover {
    pub(crate) path: CString,
    /// The name of its own empty directory, which is used where something in it is visible.
    pub(crate) name: CString,
    pub(crate) visible: Vec<Visible>,
    /// Whether it has to exist, as the daemon's own directories do.
    pub(crate) is_required: bool,
    /// The indices of the pins above it, the topmost first. If a directory above the database could
    /// be renamed, another one could be put in its place.
    pub(crate) pins: Vec<usize>,
}

/// Something beneath a covered place that stays visible, read-only.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Visible {
    pub(crate) path: CString,
    /// The names that lead to it from the covered place.
    pub(crate) names: Vec<CString>,
}

impl Places {
    /// Checks and orders the paths of a spec. The error's restriction says which list is wrong.
    pub(crate) fn new(
        sandbox: &Sandbox,
        dirs: &DaemonDirs,
        tty: Option<u32>,
    ) -> Result<Self, (Restriction, Errno)> {
        let lists = [
            (sandbox.writable.len(), Restriction::Writes),
            (sandbox.protected.len(), Restriction::Protected),
            (sandbox.hidden.len(), Restriction::Hidden),
            (sandbox.visible.len(), Restriction::Hidden),
        ];
        if let Some((_, restriction)) = lists.iter().find(|(length, _)| *length > MAX_SANDBOX_PATHS)
        {
            return Err((*restriction, Errno::TOOBIG));
        }
        let checked = |restriction, paths: &[Vec<u8>]| {
            let paths = paths.iter().map(|path| checked(path));
            let mut paths = paths
                .collect::<Result<Vec<_>, _>>()
                .map_err(|errno| (restriction, errno))?;
            paths.sort_unstable();
            paths.dedup();
            Ok(paths)
        };
        let (roots, writable): (Vec<_>, Vec<_>) = sandbox
            .writable
            .iter()
            .cloned()
            .partition(|path| path == b"/");
        let mut writable = checked(Restriction::Writes, &writable)?;
        let everything = !roots.is_empty();
        if everything {
            // Everything is beneath the empty name.
            writable = vec![Vec::new()];
        }
        let daemons = daemon_places(sandbox.daemon_socket, dirs)
            .map_err(|errno| (Restriction::Hidden, errno))?;
        let mut pinned = Pinned::default();
        let mut guards = guards(sandbox, &daemons, &writable, &mut pinned)?;
        if everything {
            guards.extend(KERNEL_DIRS.map(Guard::kernel_dir));
        }
        let mut hidden = checked(Restriction::Hidden, &sandbox.hidden)?;
        let mut visible = checked(Restriction::Hidden, &sandbox.visible)?;
        hidden.extend(daemons.hidden.iter().cloned());
        visible.extend(daemons.visible);
        let mut covers = covers(hidden, &visible, &daemons.hidden);
        for cover in &mut covers {
            let path = cover.path.to_bytes();
            if let Some(topmost) = topmost(path, &writable) {
                cover.pins = pinned.above(path, topmost);
            }
            // In a directory of the sandbox's own it is hidden anyway.
            if !own_dirs::names_to(cover.path.to_bytes(), sandbox.temporary).is_empty() {
                cover.is_required = false;
            }
        }
        let hidden = covers.iter().map(|cover| cover.path.to_bytes());
        let is_replaced = |path: &[u8]| {
            topmost(path, &writable).is_none() && !own_dirs::is_own(path, sandbox.temporary)
        };
        let copies = copies_above(hidden.filter(|path| is_replaced(path)));
        writable.retain(|path| !path.is_empty());
        let trees = writable.len();
        let opened = trees + 1 + own_dirs::TEMPORARY.len();
        let names = |path: &Vec<u8>| own_dirs::names_to(path, sandbox.temporary);
        let expected = |path: &Vec<u8>| {
            let mut known = sandbox.writable.iter().zip(&sandbox.writable_ids);
            known.find_map(|(known, id)| (known == path).then_some(*id))
        };
        Ok(Self {
            expected: writable.iter().map(expected).collect(),
            copies,
            names: writable.iter().map(names).collect(),
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

    /// Opens the writable places. All of them have to exist, and to be what they were when they were
    /// judged (ESTALE).
    pub(crate) fn open_writable(&mut self) -> Result<(), Errno> {
        for (path, expected) in self.writable.iter().zip(&self.expected) {
            let place = resolve(path)?;
            if let Some(expected) = expected
                && file_id(place.as_fd())? != *expected
            {
                return Err(Errno::STALE);
            }
            self.opened.push(place);
        }
        if self.everything {
            self.opened.push(resolve(c"/")?);
        }
        Ok(())
    }

    /// The writable places, each with its names in a directory of the sandbox's own.
    pub(crate) fn writable(&self) -> impl Iterator<Item = (&CStr, &[CString])> {
        let names = self.names.iter().map(Vec::as_slice);
        self.writable.iter().map(CString::as_c_str).zip(names)
    }

    /// Adds a writable place of the sandbox's own, for which there is capacity.
    pub(crate) fn add_writable(&mut self, place: OwnedFd) {
        self.opened.push(place);
    }

    /// Whether the sandbox shows the host's file at a path. In a directory of the sandbox's own it
    /// does only beneath a writable place, which is mounted back.
    pub(crate) fn shows_host(&self, path: &CStr) -> bool {
        let path = path.to_bytes();
        let is_own = |path: &[u8]| own_dirs::is_own(path, self.temporary);
        let mut back = self.writable.iter().map(|place| place.to_bytes());
        !is_own(path) || back.any(|place| is_own(place) && is_within(path, place))
    }

    /// Whether a mount at this path may be writable.
    pub(crate) fn may_be_writable_at(&self, path: &[u8]) -> bool {
        let mut writable = self.writable.iter().map(|place| place.to_bytes());
        writable.any(|place| is_within(path, place)) || own_dirs::is_own(path, self.temporary)
    }

    /// The writable places, opened.
    pub(crate) fn opened_writable(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.opened.iter().map(AsFd::as_fd)
    }
}

/// A path that is absolute, without `.`, `..` and its last slash, and not the root.
fn checked(path: &[u8]) -> Result<Vec<u8>, Errno> {
    let path = path.strip_suffix(b"/").unwrap_or(path);
    let Some(names) = path.strip_prefix(b"/") else {
        return Err(Errno::INVAL);
    };
    let is_name = |name: &[u8]| !matches!(name, b"" | b"." | b"..");
    if path.contains(&0) || !names.split(|&byte| byte == b'/').all(is_name) {
        return Err(Errno::INVAL);
    }
    if path.len() >= libc::PATH_MAX.unsigned_abs() as usize {
        return Err(Errno::NAMETOOLONG);
    }
    Ok(path.to_vec())
}

/// The path has no NUL in it: [`checked`] has refused that.
fn terminated(path: Vec<u8>) -> CString {
    CString::new(path).unwrap_or_default()
}

/// Whether a path is a place or beneath it.
fn is_within(path: &[u8], place: &[u8]) -> bool {
    path.strip_prefix(place)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// The protected paths beneath writable places. All others are read-only anyway, and so is what is
/// beneath another protected place.
fn guards(
    sandbox: &Sandbox,
    daemons: &DaemonPlaces,
    writable: &[Vec<u8>],
    pinned: &mut Pinned,
) -> Result<Vec<Guard>, (Restriction, Errno)> {
    let mut protected: Vec<_> = daemons.protected.clone().into_iter().collect();
    for entry in &sandbox.protected {
        let path = checked(&entry.path).map_err(|errno| (Restriction::Protected, errno))?;
        protected.push((path, entry.if_absent));
    }
    // What is protected as a whole needs no pin.
    protected
        .sort_unstable_by(|one, other| (&one.0, one.1.is_pin()).cmp(&(&other.0, other.1.is_pin())));
    let mut guards: Vec<Guard> = Vec::new();
    let mut last: Vec<Vec<u8>> = Vec::new();
    for (path, if_absent) in protected {
        // The list is sorted, so the paths above this one have been seen.
        if last.iter().any(|above| is_within(&path, above)) {
            continue;
        }
        let Some(topmost) = topmost(&path, writable) else {
            continue;
        };
        let pins = match if_absent {
            IfAbsent::PinDirectory => pinned.at(&path, topmost),
            _ => pinned.above(&path, topmost),
        };
        if if_absent == IfAbsent::PinDirectory && pins.is_empty() {
            continue;
        }
        guards.push(Guard {
            path: terminated(path.clone()),
            if_absent,
            beneath: match topmost.as_slice() {
                b"" => c"/".to_owned(),
                topmost => terminated(topmost.to_vec()),
            },
            pins,
        });
        if !if_absent.is_pin() {
            last.push(path);
        }
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
    /// The indices of the directories between a writable place and a path beneath it, the topmost
    /// first.
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

    /// The same with the path itself, a directory, unless it is the writable place.
    fn at(&mut self, path: &[u8], writable: &[u8]) -> Vec<usize> {
        self.above(&[path, b"/"].concat(), writable)
    }

    fn pins(self) -> Vec<Pin> {
        let pin = |path| Pin {
            path: terminated(path),
            is_mounted: false,
        };
        self.0.into_iter().map(pin).collect()
    }
}

/// The daemon's own places in a sandbox.
struct DaemonPlaces {
    hidden: Vec<Vec<u8>>,
    /// The socket's directory, where the socket may be used.
    protected: Option<(Vec<u8>, IfAbsent)>,
    visible: Vec<Vec<u8>>,
}

fn daemon_places(socket: Access, dirs: &DaemonDirs) -> Result<DaemonPlaces, Errno> {
    let of = |path: &std::path::Path| checked(path.as_os_str().as_bytes());
    let mut hidden = Vec::new();
    let mut visible = Vec::new();
    let mut protected = None;
    hidden.push(of(&dirs.state_dir)?);
    match socket {
        Access::Allowed => {
            visible.push(of(&dirs.socket_dir)?);
            protected = Some((of(&dirs.socket_dir)?, IfAbsent::Leave));
        }
        Access::Denied => {
            hidden.push(of(&dirs.socket_dir)?);
            visible.push(of(&dirs.socket_dir.join(SHELL_SCRIPTS))?);
        }
    }
    Ok(DaemonPlaces {
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
        // A cover above it hides it, unless that leaves it visible.
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
            is_required: daemons.contains(&path),
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
mod tests;
