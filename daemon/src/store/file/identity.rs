//! Whether the files that SQLite has open are still those at their paths. Records written into a
//! database that was replaced or removed could not be found again.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::open::beside;
use crate::store::error::StoreError;

/// What a file is known by, whatever its name (stat(2)).
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

/// The identities of the files of an open database.
#[derive(Debug)]
pub(crate) struct FileIdentities {
    known: Vec<(PathBuf, Identity)>,
}

impl FileIdentities {
    /// Takes the identities that the database and its log have now.
    pub(crate) fn of(database: &Path) -> Self {
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
    pub(crate) fn check(&self) -> Result<(), StoreError> {
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
