//! Whether everybody may put something else in a path's place, as `StrictModes` of `sshd_config(5)`.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// The mode bits of a directory in which anybody may rename and remove.
const WRITABLE_BY_ALL: u32 = 0o002;
/// With it only the owner of an entry may (`/tmp`).
const STICKY: u32 = 0o1000;
/// Most links that are followed, as `path_resolution(7)` has it.
const MAX_LINKS: u32 = 40;

/// The first directory on the way to a path, through each symbolic link, in which everybody may
/// replace what lies there. `None` also where the way ends early.
pub fn loose_directory(path: &Path) -> Option<PathBuf> {
    let own = rustix::process::geteuid().as_raw();
    let mut left: VecDeque<OsString> = names(path).collect();
    let mut at = PathBuf::from("/");
    let mut links = 0;
    while let Some(name) = left.pop_front() {
        if name == ".." {
            at.pop();
            continue;
        }
        let directory = at.symlink_metadata().ok()?;
        let next = at.join(name);
        let found = next.symlink_metadata().ok()?;
        let is_own = found.uid() == own || found.uid() == 0;
        let is_loose = directory.mode() & WRITABLE_BY_ALL != 0;
        if is_loose && (directory.mode() & STICKY == 0 || !is_own) {
            return Some(at);
        }
        if !found.is_symlink() {
            at = next;
            continue;
        }
        links += 1;
        if links > MAX_LINKS {
            return None;
        }
        let target = fs::read_link(&next).ok()?;
        if target.is_absolute() {
            at = PathBuf::from("/");
        }
        for name in names(&target).collect::<Vec<_>>().into_iter().rev() {
            left.push_front(name);
        }
    }
    None
}

/// The names in a path, with `..`.
fn names(path: &Path) -> impl Iterator<Item = OsString> + '_ {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_directory_that_everybody_may_write_is_found_on_every_way() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        let make = |name: &str, mode: u32| {
            let path = root.join(name);
            fs::create_dir_all(path.join("in")).unwrap();
            fs::write(path.join("in/file"), "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        let (safe, loose) = (make("safe", 0o700), make("loose", 0o777));
        make("sticky", 0o1777);
        make("group", 0o775);
        symlink(loose.join("in/file"), safe.join("to-loose")).unwrap();
        symlink("../safe/in", loose.join("to-safe")).unwrap();
        symlink("../sticky/in/file", safe.join("to-sticky")).unwrap();
        symlink("itself", safe.join("itself")).unwrap();
        let table = [
            ("safe/in/file", None),
            ("group/in/file", None),
            ("sticky/in/file", None),
            ("loose/in/file", Some(&loose)),
            ("safe/to-loose", Some(&loose)),
            ("loose/to-safe/file", Some(&loose)),
            ("safe/to-sticky", None),
            ("safe/in/../../loose/in", Some(&loose)),
            ("safe/itself", None),
            ("safe/none/file", None),
        ];
        for (path, want) in table {
            assert_eq!(loose_directory(&root.join(path)).as_ref(), want, "{path}");
        }
    }
}
