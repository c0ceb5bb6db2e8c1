//! Where a path leads, link by link.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, open, statat};
use rustix::io::Errno;

/// Most links in one path, as many as the kernel follows (`MAXSYMLINKS` of linux/namei.h).
const MAX_LINKS: usize = 40;

/// Opens a directory without a link in its path, only to look in it.
const DIRECTORY_FLAGS: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// What is at the end of a path.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) enum Destination {
    /// Something exists, at this path without a link in it.
    Exists(PathBuf, FileKind),
    /// Nothing exists yet; the directory above does.
    Absent(PathBuf),
    /// Neither exists. `..` leads back from absent directories as it will once somebody makes them.
    AbsentBelow(PathBuf),
    /// It cannot be looked at.
    #[default]
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    Directory,
    Other,
}

impl FileKind {
    fn of(found: FileType) -> Self {
        match found {
            FileType::Directory => Self::Directory,
            _ => Self::Other,
        }
    }
}

/// A path, followed to its end.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct ResolvedPath {
    /// The links on the way, in order. Each is a path without another link in it.
    pub(super) links: Vec<PathBuf>,
    /// The directories, without a link in them, that a `..` on the way leaves. Where one is absent, or is
    /// replaced by a link, the rest of the path means something else.
    pub(super) left: Vec<PathBuf>,
    pub(super) destination: Destination,
}

/// Follows paths, and looks only once at the directories that they share: the paths of one sandbox
/// are mostly in a few directories.
#[derive(Debug, Default)]
pub(super) struct LinkResolver {
    /// A few, each compared by its bytes: a hash of a path goes through its names.
    directories: Vec<(PathBuf, Directory)>,
}

/// A directory that paths are followed through.
#[derive(Debug)]
struct Directory {
    resolved: ResolvedPath,
    /// `None` where the directory cannot be opened.
    opened: Option<OwnedFd>,
}

impl LinkResolver {
    /// Follows an absolute path as the kernel does.
    pub(super) fn resolve(&mut self, path: &Path) -> ResolvedPath {
        let goes_up = path
            .as_os_str()
            .as_bytes()
            .windows(2)
            .any(|two| two == b"..");
        let (Some(above), Some(name), false) = (path.parent(), path.file_name(), goes_up) else {
            let mut resolved = ResolvedPath::default();
            resolved.walk(PathBuf::from("/"), names_of(path).collect());
            return resolved;
        };
        let Some(Directory { resolved, opened }) = self.directory(above) else {
            return ResolvedPath::default();
        };
        let mut path = ResolvedPath {
            destination: Destination::Unknown,
            ..resolved.clone()
        };
        let one_name = || VecDeque::from([name.to_owned()]);
        match (&resolved.destination, opened) {
            (Destination::Exists(at, _), Some(opened)) => {
                match statat(opened, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(found) => match FileType::from_raw_mode(found.st_mode) {
                        FileType::Symlink => path.walk(at.clone(), one_name()),
                        other => {
                            let kind = FileKind::of(other);
                            path.destination = Destination::Exists(at.join(name), kind);
                        }
                    },
                    Err(Errno::NOENT) => path.destination = Destination::Absent(at.join(name)),
                    Err(_) => {}
                }
            }
            (Destination::Exists(at, _), None) => path.walk(at.clone(), one_name()),
            (Destination::Absent(at) | Destination::AbsentBelow(at), _) => {
                path.destination = Destination::AbsentBelow(at.join(name));
            }
            (Destination::Unknown, _) => {}
        }
        path
    }

    fn directory(&mut self, path: &Path) -> Option<&Directory> {
        let is_it = |(known, _): &(PathBuf, Directory)| known.as_os_str() == path.as_os_str();
        if let Some(place) = self.directories.iter().position(is_it) {
            return self.directories.get(place).map(|(_, known)| known);
        }
        let resolved = self.resolve(path);
        let opened = match &resolved.destination {
            Destination::Exists(place, _) => open(place, DIRECTORY_FLAGS, Mode::empty()).ok(),
            _ => None,
        };
        self.directories
            .push((path.to_owned(), Directory { resolved, opened }));
        self.directories.last().map(|(_, known)| known)
    }

    /// The path without a link in it; `None` where nothing exists there.
    pub(super) fn real_path(&mut self, path: &Path) -> Option<PathBuf> {
        match self.resolve(path).destination {
            Destination::Exists(place, _) => Some(place),
            _ => None,
        }
    }
}

impl ResolvedPath {
    /// Goes on from a place without a link in it.
    fn walk(&mut self, at: PathBuf, names: VecDeque<OsString>) {
        self.destination = self.follow(at, names).unwrap_or_default();
    }

    /// `None` where something cannot be looked at.
    fn follow(&mut self, mut at: PathBuf, mut names: VecDeque<OsString>) -> Option<Destination> {
        let mut followed = self.links.len();
        let mut kind = FileKind::Directory;
        // How many names at the end of `at` are absent.
        let mut absent = 0_usize;
        while let Some(name) = names.pop_front() {
            if name == ".." {
                if !self.left.contains(&at) && at.parent().is_some() {
                    self.left.push(at.clone());
                }
                at.pop();
                absent = absent.saturating_sub(1);
                kind = FileKind::Directory;
                continue;
            }
            let next = at.join(&name);
            if absent > 0 {
                at = next;
                absent += 1;
                continue;
            }
            match fs::symlink_metadata(&next) {
                Ok(found) if found.is_symlink() => {
                    let target = fs::read_link(&next).ok()?;
                    // The same link twice is held once.
                    if !self.links.contains(&next) {
                        self.links.push(next);
                    }
                    followed += 1;
                    if followed > MAX_LINKS {
                        return None;
                    }
                    kind = FileKind::Directory;
                    if target.is_absolute() {
                        at = PathBuf::from("/");
                    }
                    let rest = std::mem::take(&mut names);
                    names = names_of(&target).chain(rest).collect();
                }
                Ok(found) => {
                    at = next;
                    kind = if found.is_dir() {
                        FileKind::Directory
                    } else {
                        FileKind::Other
                    };
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    at = next;
                    absent = 1;
                }
                Err(_) => return None,
            }
        }
        Some(match absent {
            0 => Destination::Exists(at, kind),
            1 => Destination::Absent(at),
            _ => Destination::AbsentBelow(at),
        })
    }
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
        let mut all = LinkResolver::default();
        let there = |place: &str| Destination::Exists(root.join(place), FileKind::Directory);
        let absent = |place: &str| Destination::Absent(root.join(place));
        let below = |place: &str| Destination::AbsentBelow(root.join(place));
        for (path, links, end) in [
            ("project/real", vec![], there("project/real")),
            ("project/real/none", vec![], absent("project/real/none")),
            ("project/none/none", vec![], below("project/none/none")),
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
            (
                "project/deep",
                vec!["project/deep"],
                below("project/real/absent/too"),
            ),
        ] {
            let links = links.into_iter().map(|link| root.join(link)).collect();
            let left = match path {
                "project/up/agent" => vec![root.join("project")],
                _ => Vec::new(),
            };
            let way = ResolvedPath {
                links,
                left,
                destination: end,
            };
            assert_eq!(
                LinkResolver::default().resolve(&root.join(path)),
                way,
                "{path}"
            );
            assert_eq!(all.resolve(&root.join(path)), way, "{path} after others");
        }
        let up = root.join("project/out/../agent/../../project/in");
        assert_eq!(all.real_path(&up), Some(root.join("project/real")));
        assert_eq!(all.real_path(Path::new("/")), Some(PathBuf::from("/")));
    }

    #[test]
    fn absent_directories_are_left_as_they_will_be() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        fs::create_dir_all(root.join("a/real")).unwrap();
        let at = |place: &str| root.join(place);
        for (path, left, destination) in [
            (
                "a/b/../../a/hooks",
                &["a/b", "a"][..],
                Destination::Absent(at("a/hooks")),
            ),
            (
                "x/y/../../x/hooks",
                &["x/y", "x"],
                Destination::AbsentBelow(at("x/hooks")),
            ),
            (
                "x/../a/real",
                &["x"],
                Destination::Exists(at("a/real"), FileKind::Directory),
            ),
            (
                "a/real/../none/../file",
                &["a/real", "a/none"],
                Destination::Absent(at("a/file")),
            ),
        ] {
            let resolved = LinkResolver::default().resolve(&root.join(path));
            assert_eq!(resolved.destination, destination, "{path}");
            assert_eq!(
                resolved.left,
                left.iter().map(|left| at(left)).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn a_ring_of_links_ends() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        symlink("b", root.join("a")).unwrap();
        symlink("a", root.join("b")).unwrap();
        symlink("c/c", root.join("c")).unwrap();
        for name in ["a", "c"] {
            let way = LinkResolver::default().resolve(&root.join(name));
            assert_eq!(way.destination, Destination::Unknown, "{name}");
            assert!(way.links.contains(&root.join(name)), "{name}");
        }
    }
}
