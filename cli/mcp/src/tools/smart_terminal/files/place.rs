//! The place of a file that a tool writes.
//!
//! A file is replaced whole or not at all: it is written beside its place and renamed. No file of
//! termd's own (database, socket, configuration) is written. This is no wall against programs of the
//! same user, which can write those files anyway.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use directories::BaseDirs;
use termd_client::socket_path::socket_path;

use crate::tool::ToolError;
use crate::tools::smart_terminal::results::bad;

/// The mode of a new file. A terminal's output is private to its user.
const PRIVATE: u32 = 0o600;
/// termd's own directory below each of XDG's.
const OWN: &str = "termd";

/// The file that may be at the place already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    /// A file, or a link to one, which is followed.
    Followed,
    /// A file, and no link.
    NoLink,
}

/// A place where a file may be written.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    /// The mode of the file that is there.
    mode: Option<u32>,
}

/// A file that is being written beside its place.
#[derive(Debug)]
pub(crate) struct Replacement {
    place: PathBuf,
    beside: PathBuf,
    file: File,
    bytes: u64,
    done: bool,
}

impl Place {
    /// Checks a path, relative to `cwd`.
    pub(crate) fn check(cwd: &Path, path: &str, existing: Existing) -> Result<Self, ToolError> {
        if path.contains('\0') {
            return Err(bad("a path cannot hold a NUL character"));
        }
        let given = cwd.join(path);
        let (Some(parent), Some(name)) = (given.parent(), given.file_name()) else {
            return Err(bad(format!("Invalid path \"{path}\": it names no file")));
        };
        let parent = fs::canonicalize(parent).map_err(|error| match error.kind() {
            ErrorKind::NotFound => bad(format!(
                "Invalid path \"{path}\": Parent directory does not exist (ENOENT)"
            )),
            _ => bad(format!("Invalid path \"{path}\": {error}")),
        })?;
        let mut place = parent.join(name);
        let mut mode = None;
        if let Ok(metadata) = fs::symlink_metadata(&place) {
            if metadata.is_symlink() {
                if existing == Existing::NoLink {
                    return Err(bad(format!(
                        "Invalid path \"{path}\": it is a symbolic link; give a path of a file"
                    )));
                }
                place = fs::canonicalize(&place)
                    .map_err(|error| bad(format!("Invalid path \"{path}\": {error}")))?;
            }
            let metadata = fs::metadata(&place)
                .map_err(|error| bad(format!("Invalid path \"{path}\": {error}")))?;
            if !metadata.is_file() {
                return Err(bad(format!("Invalid path \"{path}\": it is not a file")));
            }
            mode = Some(metadata.permissions().mode() & 0o7777);
        }
        if own_directories().iter().any(|own| place.starts_with(own)) {
            return Err(bad(format!(
                "Invalid path \"{path}\": that directory is termd's own"
            )));
        }
        Ok(Self { path: place, mode })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a file that replaces the one at the place.
    pub(crate) fn replace(self) -> Result<Replacement, ToolError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".termctl-{}-{count}.tmp", std::process::id());
        let beside = self.path.with_file_name(name);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(PRIVATE)
            .open(&beside)
            .map_err(|error| cannot_write(&self.path, &error))?;
        let mut replacement = Replacement {
            place: self.path,
            beside,
            file,
            bytes: 0,
            done: false,
        };
        if let Some(mode) = self.mode {
            let kept = replacement
                .file
                .set_permissions(Permissions::from_mode(mode));
            kept.map_err(|error| replacement.failed(&error))?;
        }
        replacement.bytes = 0;
        Ok(replacement)
    }

    /// Appends to the file at the place. Returns the file's new size.
    pub(crate) fn append(&self, bytes: &[u8]) -> Result<u64, ToolError> {
        let append = || {
            let mut file = OpenOptions::new()
                .append(true)
                .create(true)
                .mode(PRIVATE)
                .open(&self.path)?;
            file.write_all(bytes)?;
            Ok(file.metadata()?.len())
        };
        append().map_err(|error| cannot_write(&self.path, &error))
    }
}

impl Replacement {
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), ToolError> {
        self.file
            .write_all(bytes)
            .map_err(|error| self.failed(&error))?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Puts the file in its place. Returns the path and the size.
    pub(crate) fn finish(mut self) -> Result<(PathBuf, u64), ToolError> {
        self.file
            .sync_data()
            .and_then(|()| fs::rename(&self.beside, &self.place))
            .map_err(|error| self.failed(&error))?;
        self.done = true;
        Ok((self.place.clone(), self.bytes))
    }

    fn failed(&self, error: &std::io::Error) -> ToolError {
        cannot_write(&self.place, error)
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if !self.done {
            // The file did not get to its place, so the copy beside it goes.
            let _ = fs::remove_file(&self.beside);
        }
    }
}

fn cannot_write(path: &Path, error: &std::io::Error) -> ToolError {
    bad(format!("cannot write {}: {error}", path.display()))
}

/// The directories of termd's socket, state and configuration, as they are and as they are named.
fn own_directories() -> Vec<PathBuf> {
    let mut named: Vec<PathBuf> = Vec::new();
    if let Ok(socket) = socket_path() {
        named.extend(socket.parent().map(Path::to_owned));
    }
    if let Some(base) = BaseDirs::new() {
        let state = base
            .state_dir()
            .map_or_else(|| base.home_dir().join(".local/state"), Path::to_owned);
        named.push(state.join(OWN));
        named.push(base.config_dir().join(OWN));
    }
    let real: Vec<_> = named
        .iter()
        .filter_map(|path| fs::canonicalize(path).ok())
        .collect();
    named.extend(real);
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let place = Place::check(folder.path(), "a", Existing::Followed).unwrap();
        let mut file = place.replace().unwrap();
        file.write(b"one").unwrap();
        assert!(!path.exists(), "it is there before it is whole");
        assert_eq!(file.finish().unwrap().1, 3);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let place = Place::check(folder.path(), "a", Existing::NoLink).unwrap();
        let mut file = place.replace().unwrap();
        file.write(b"two!").unwrap();
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two!");
        assert_eq!(mode(&path), 0o640);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_is_given_up_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::check(folder.path(), "a", Existing::Followed).unwrap();
        place.replace().unwrap().write(b"half").unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_is_no_place_for_a_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("target", folder.path().join("dangling")).unwrap();
        fs::write(folder.path().join("real"), "").unwrap();
        std::os::unix::fs::symlink("real", folder.path().join("link")).unwrap();
        let check = |path: &str, existing| {
            let outcome = Place::check(folder.path(), path, existing);
            outcome
                .map(|place| place.path)
                .map_err(|error| error.to_string())
        };
        for (path, existing, want) in [
            (
                "no/file",
                Existing::Followed,
                "Parent directory does not exist (ENOENT)",
            ),
            ("link", Existing::NoLink, "symbolic link"),
            ("dangling", Existing::NoLink, "symbolic link"),
            ("dangling", Existing::Followed, "No such file"),
            (".", Existing::Followed, "not a file"),
            ("/", Existing::Followed, "names no file"),
            ("a\0b", Existing::Followed, "NUL"),
        ] {
            let error = check(path, existing).unwrap_err();
            assert!(error.contains(want), "{path:?}: {error}");
        }
        let followed = check("link", Existing::Followed).unwrap();
        assert!(followed.ends_with("real"), "{followed:?}");
    }
}
