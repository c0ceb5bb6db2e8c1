//! Whether the files that SQLite has open are the ones that lie at their paths: a database that was
//! replaced or removed under termd would be written, and seen by nobody.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::StoreError;
use super::open::beside;

/// A file, whatever its name (stat(2)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    fn of(path: &Path) -> Option<Self> {
        let file = fs::symlink_metadata(path).ok()?;
        Some(Self {
            device: file.dev(),
            inode: file.ino(),
        })
    }
}

/// The files of an open database.
#[derive(Debug)]
pub(super) struct Files {
    known: Vec<(PathBuf, Identity)>,
}

impl Files {
    /// Those that are there now: the database, and its log while it is open.
    pub(super) fn of(database: &Path) -> Self {
        let paths = [database.to_owned(), beside(database, "-wal")];
        let known = paths.into_iter().filter_map(|path| {
            let identity = Identity::of(&path)?;
            Some((path, identity))
        });
        Self {
            known: known.collect(),
        }
    }

    /// Fails where one of them was replaced or is gone.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        let changed = self
            .known
            .iter()
            .find(|(path, identity)| Identity::of(path) != Some(*identity));
        match changed {
            None => Ok(()),
            Some((path, _)) => Err(StoreError::Replaced { path: path.clone() }),
        }
    }
}
