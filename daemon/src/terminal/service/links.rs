//! Where a protected path leads, link by link: what has to be held for it to go on leading there.
//!
//! It looks at the file system. It must not know profiles, or how a link is held.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// Links in one path, as many as the kernel follows (`MAXSYMLINKS` of linux/namei.h).
const MAX_LINKS: usize = 40;

/// What is at the end of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// Something, at this place without a link in it.
    There(PathBuf),
    /// Nothing yet; the directory that it would be in is there.
    Absent(PathBuf),
    /// Nothing, nor the directory above it; or nobody can tell.
    Nowhere,
}

/// A path, followed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Way {
    /// The links on it, in order, each by a place without another link in it.
    pub(super) links: Vec<PathBuf>,
    /// Where it ends.
    pub(super) end: End,
}

/// Follows an absolute path as the kernel does.
pub(super) fn follow(path: &Path) -> Way {
    let mut links = Vec::new();
    let end = walk(path, &mut links);
    Way { links, end }
}

fn walk(path: &Path, links: &mut Vec<PathBuf>) -> End {
    let mut names: VecDeque<OsString> = names_of(path).collect();
    let mut at = PathBuf::from("/");
    let mut followed = 0;
    while let Some(name) = names.pop_front() {
        if name == ".." {
            at.pop();
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
                if target.is_absolute() {
                    at = PathBuf::from("/");
                }
                let rest = std::mem::take(&mut names);
                names = names_of(&target).chain(rest).collect();
            }
            Ok(_) => at = next,
            Err(error) if error.kind() == ErrorKind::NotFound && names.is_empty() => {
                return End::Absent(next);
            }
            Err(_) => return End::Nowhere,
        }
    }
    End::There(at)
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
        let there = |place: &str| End::There(root.join(place));
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
            assert_eq!(follow(&root.join(path)), Way { links, end }, "{path}");
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
            let way = follow(&root.join(name));
            assert_eq!(way.end, End::Nowhere, "{name}");
            assert!(way.links.contains(&root.join(name)), "{name}");
        }
    }
}
