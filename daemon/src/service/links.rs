//! Where a protected path leads, link by link: what has to be held for it to go on leading there.
//!
//! It looks at the file system. It must not know profiles, or how a link is held.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, open, statat};
use rustix::io::Errno;

/// Links in one path, as many as the kernel follows (`MAXSYMLINKS` of linux/namei.h).
const MAX_LINKS: usize = 40;

/// To look in it only; it has no link in it.
const AS_A_PLACE: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// What is at the end of a path.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// Something, at this place without a link in it.
    There(PathBuf, Kind),
    /// Nothing yet; the directory that it would be in is there.
    Absent(PathBuf),
    /// Nothing, nor the directory above it; or nobody can tell.
    #[default]
    Nowhere,
}

/// What something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Something can be in it.
    Directory,
    /// Nothing can.
    Other,
}

impl Kind {
    fn of(found: FileType) -> Self {
        match found {
            FileType::Directory => Self::Directory,
            _ => Self::Other,
        }
    }
}

/// A path, followed.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Way {
    /// The links on it, in order, each by a place without another link in it.
    pub(super) links: Vec<PathBuf>,
    /// Where it ends.
    pub(super) end: End,
}

/// Follows paths, and looks only once at the directories that they share: what is asked about in one
/// go is mostly in a few of them.
#[derive(Debug, Default)]
pub(super) struct Ways {
    /// A few, and each looked for by its very bytes: a hash of a path goes through its names.
    directories: Vec<(PathBuf, Directory)>,
}

/// A directory that paths are followed through.
#[derive(Debug)]
struct Directory {
    way: Way,
    /// To look in it without the way to it; `None` where it cannot be opened.
    opened: Option<OwnedFd>,
}

impl Ways {
    /// Follows an absolute path as the kernel does.
    pub(super) fn follow(&mut self, path: &Path) -> Way {
        let goes_up = path
            .as_os_str()
            .as_bytes()
            .windows(2)
            .any(|two| two == b"..");
        let (Some(above), Some(name), false) = (path.parent(), path.file_name(), goes_up) else {
            let mut links = Vec::new();
            let end = walk(PathBuf::from("/"), names_of(path).collect(), &mut links);
            return Way { links, end };
        };
        let Some(Directory { way, opened }) = self.known(above) else {
            return Way::default();
        };
        let mut links = way.links.clone();
        let end = match (&way.end, opened) {
            (End::There(at, _), Some(opened)) => {
                match statat(opened, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(found) => match FileType::from_raw_mode(found.st_mode) {
                        FileType::Symlink => {
                            walk(at.clone(), VecDeque::from([name.to_owned()]), &mut links)
                        }
                        other => End::There(at.join(name), Kind::of(other)),
                    },
                    Err(Errno::NOENT) => End::Absent(at.join(name)),
                    Err(_) => End::Nowhere,
                }
            }
            (End::There(at, _), None) => {
                walk(at.clone(), VecDeque::from([name.to_owned()]), &mut links)
            }
            (End::Absent(_) | End::Nowhere, _) => End::Nowhere,
        };
        Way { links, end }
    }

    fn known(&mut self, directory: &Path) -> Option<&Directory> {
        let is_it = |(known, _): &(PathBuf, Directory)| known.as_os_str() == directory.as_os_str();
        if let Some(place) = self.directories.iter().position(is_it) {
            return self.directories.get(place).map(|(_, known)| known);
        }
        let way = self.follow(directory);
        let opened = match &way.end {
            End::There(place, _) => open(place, AS_A_PLACE, Mode::empty()).ok(),
            End::Absent(_) | End::Nowhere => None,
        };
        self.directories
            .push((directory.to_owned(), Directory { way, opened }));
        self.directories.last().map(|(_, known)| known)
    }

    /// The place that a path leads to, without a link in it; `None` where nothing is there.
    pub(super) fn place(&mut self, path: &Path) -> Option<PathBuf> {
        match self.follow(path).end {
            End::There(place, _) => Some(place),
            End::Absent(_) | End::Nowhere => None,
        }
    }
}

/// Goes on from a place without a link in it.
fn walk(mut at: PathBuf, mut names: VecDeque<OsString>, links: &mut Vec<PathBuf>) -> End {
    let mut followed = links.len();
    let mut kind = Kind::Directory;
    while let Some(name) = names.pop_front() {
        if name == ".." {
            at.pop();
            kind = Kind::Directory;
            continue;
        }
        let next = at.join(&name);
        match fs::symlink_metadata(&next) {
            Ok(found) if found.is_symlink() => {
                let Ok(target) = fs::read_link(&next) else {
                    return End::Nowhere;
                };
                // The same link twice is held once.
                if !links.contains(&next) {
                    links.push(next);
                }
                followed += 1;
                if followed > MAX_LINKS {
                    return End::Nowhere;
                }
                kind = Kind::Directory;
                if target.is_absolute() {
                    at = PathBuf::from("/");
                }
                let rest = std::mem::take(&mut names);
                names = names_of(&target).chain(rest).collect();
            }
            Ok(found) => {
                at = next;
                kind = if found.is_dir() {
                    Kind::Directory
                } else {
                    Kind::Other
                };
            }
            Err(error) if error.kind() == ErrorKind::NotFound && names.is_empty() => {
                return End::Absent(next);
            }
            Err(_) => return End::Nowhere,
        }
    }
    End::There(at, kind)
}

/// The names of a path, `..` among them.
fn names_of(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn every_link_on_the_way_is_told() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        fs::create_dir_all(root.join("project/real")).unwrap();
        fs::create_dir_all(root.join("home/agent")).unwrap();
        for (link, to) in [
            ("project/out", root.join("home/agent")),
            ("project/in", "real".into()),
            ("project/two", "in".into()),
            ("project/up", "../home".into()),
            ("project/lost", "real/absent".into()),
            ("project/deep", "real/absent/too".into()),
            ("project/loop", "loop".into()),
            ("project/ring", "gnir".into()),
            ("project/gnir", "ring".into()),
        ] {
            symlink(to, root.join(link)).unwrap();
        }
        let mut all = Ways::default();
        let there = |place: &str| End::There(root.join(place), Kind::Directory);
        let absent = |place: &str| End::Absent(root.join(place));
        for (path, links, end) in [
            ("project/real", vec![], there("project/real")),
            ("project/real/none", vec![], absent("project/real/none")),
            ("project/none/none", vec![], End::Nowhere),
            ("project/out", vec!["project/out"], there("home/agent")),
            (
                "project/out/new",
                vec!["project/out"],
                absent("home/agent/new"),
            ),
            (
                "project/two",
                vec!["project/two", "project/in"],
                there("project/real"),
            ),
            ("project/up/agent", vec!["project/up"], there("home/agent")),
            (
                "project/lost",
                vec!["project/lost"],
                absent("project/real/absent"),
            ),
            ("project/deep", vec!["project/deep"], End::Nowhere),
        ] {
            let links = links.into_iter().map(|link| root.join(link)).collect();
            let way = Way { links, end };
            assert_eq!(Ways::default().follow(&root.join(path)), way, "{path}");
            assert_eq!(all.follow(&root.join(path)), way, "{path} after others");
        }
        let up = root.join("project/out/../agent/../../project/in");
        assert_eq!(all.place(&up), Some(root.join("project/real")));
        assert_eq!(all.place(Path::new("/")), Some(PathBuf::from("/")));
    }

    #[test]
    fn a_ring_of_links_ends() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        symlink("b", root.join("a")).unwrap();
        symlink("a", root.join("b")).unwrap();
        symlink("c/c", root.join("c")).unwrap();
        for name in ["a", "c"] {
            let way = Ways::default().follow(&root.join(name));
            assert_eq!(way.end, End::Nowhere, "{name}");
            assert!(way.links.contains(&root.join(name)), "{name}");
        }
    }
}
