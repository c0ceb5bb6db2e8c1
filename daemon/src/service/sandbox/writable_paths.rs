//! The writable paths of a sandbox, judged once: what a path leads to is found here, and the keeper
//! refuses the start where the path leads to something else by then.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use termd_keeper::protocol::confinement::FileId;
use termd_policy::HostPaths;

use super::link_resolver::LinkResolver;
use super::places::real_path;

/// A path that may be written, without a link in it, and what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WritablePath {
    pub(super) path: PathBuf,
    pub(super) id: FileId,
}

/// Why a path cannot be made writable.
#[derive(Debug, thiserror::Error)]
#[error("the writable path {}: {cause}", path.display())]
pub(super) struct WritablePathError {
    path: PathBuf,
    cause: Cause,
}

#[derive(Debug)]
enum Cause {
    System(io::Error),
    /// A sandboxed command can have made this link, and so would choose what is writable.
    Link(PathBuf),
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(error) => error.fmt(f),
            Self::Link(link) => write!(
                f,
                "it leads through the link {}, which lies in another writable path",
                link.display()
            ),
        }
    }
}

/// Resolves writable paths. The workspace and the directories for temporary files are taken as they
/// were judged: a link that is there by now was put there meanwhile.
pub(super) fn writable_paths(
    links: &mut LinkResolver,
    paths: &[PathBuf],
    places: &HostPaths,
) -> Result<Vec<WritablePath>, WritablePathError> {
    let mut writable: Vec<WritablePath> = Vec::new();
    let mut followed: Vec<(&PathBuf, PathBuf)> = Vec::new();
    for path in paths {
        let is_judged = *path == places.workspace || places.temporary.contains(path);
        let real = if is_judged {
            path.clone()
        } else {
            followed.extend(
                links
                    .resolve(path)
                    .links
                    .into_iter()
                    .map(|link| (path, link)),
            );
            real_path(links, path).map_err(|cause| system(path, cause))?
        };
        let id = file_id(&real)?;
        writable.push(WritablePath { path: real, id });
    }
    writable.sort_by(|one, other| one.path.cmp(&other.path));
    writable.dedup();
    let can_be_made = |link: &Path| {
        let mut above = writable.iter().map(|writable| writable.path.as_path());
        above.any(|above| above != Path::new("/") && link.starts_with(above))
    };
    match followed.into_iter().find(|(_, link)| can_be_made(link)) {
        Some((path, link)) => Err(WritablePathError {
            path: path.clone(),
            cause: Cause::Link(link),
        }),
        None => Ok(writable),
    }
}

/// What is at a path that has no link in it.
pub(super) fn file_id(path: &Path) -> Result<FileId, WritablePathError> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let opened = rustix::fs::openat2(CWD, path, flags, Mode::empty(), links);
    let entry = opened.and_then(rustix::fs::fstat);
    let entry = entry.map_err(|errno| system(path, errno.into()))?;
    Ok(FileId {
        device: entry.st_dev,
        inode: entry.st_ino,
    })
}

fn system(path: &Path, cause: io::Error) -> WritablePathError {
    WritablePathError {
        path: path.to_owned(),
        cause: Cause::System(cause),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_that_a_command_can_make_is_not_followed() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        for directory in ["cache", "home/bin", "work", "links"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        symlink(root.join("home/bin"), root.join("cache/tool")).unwrap();
        symlink(root.join("cache"), root.join("links/cache")).unwrap();
        let places = HostPaths {
            workspace: root.join("work"),
            ..HostPaths::default()
        };
        let resolved = |names: &[&str]| {
            let paths: Vec<PathBuf> = names.iter().map(|name| root.join(name)).collect();
            let found = writable_paths(&mut LinkResolver::default(), &paths, &places);
            found.map(|found| found.into_iter().map(|path| path.path).collect::<Vec<_>>())
        };
        assert_eq!(resolved(&["links/cache"]).unwrap(), [root.join("cache")]);
        assert_eq!(resolved(&["cache/tool"]).unwrap(), [root.join("home/bin")]);
        let refused = resolved(&["cache", "cache/tool"]).unwrap_err();
        assert!(
            refused.to_string().contains("through the link"),
            "{refused}"
        );
        // The workspace was judged. A link in its place is not followed any more.
        fs::remove_dir(root.join("work")).unwrap();
        symlink(root.join("home/bin"), root.join("work")).unwrap();
        assert!(resolved(&["work"]).is_err());
    }
}
