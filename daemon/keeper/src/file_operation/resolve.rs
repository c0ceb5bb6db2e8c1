//! Where a path leads.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::{failure, refusal, system};
use crate::protocol::file_operation::{FileFailure, FileProblem, Target};

/// Finds where a path leads: a path without links, and the size of the file that is there.
pub(super) fn resolve(path: &Path, target: Target) -> Result<(PathBuf, u64), FileFailure> {
    if target == Target::Existing {
        let real = fs::canonicalize(path).map_err(system)?;
        let metadata = fs::symlink_metadata(&real).map_err(system)?;
        return Ok((real, metadata.len()));
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(refusal(FileProblem::NoName));
    };
    // A path that ends in a slash or a dot names a directory, whatever its last name is.
    let bytes = path.as_os_str().as_bytes();
    if bytes.ends_with(b"/") || bytes.ends_with(b"/.") {
        return Err(refusal(FileProblem::NoName));
    }
    let parent = real_directory(parent).map_err(|error| failure(FileProblem::Directory, error))?;
    let place = parent.join(name);
    let metadata = match fs::symlink_metadata(&place) {
        Ok(metadata) => metadata,
        Err(error) if error.raw_os_error() == Some(Errno::NOENT.raw_os_error()) => {
            return Ok((place, 0));
        }
        Err(error) => return Err(system(error)),
    };
    if !metadata.is_symlink() {
        return if metadata.is_file() {
            Ok((place, metadata.len()))
        } else {
            Err(refusal(FileProblem::NoRegularFile))
        };
    }
    if target == Target::NoLink {
        return Err(refusal(FileProblem::Link));
    }
    let real = fs::canonicalize(&place).map_err(system)?;
    let metadata = fs::symlink_metadata(&real).map_err(system)?;
    if metadata.is_file() {
        Ok((real, metadata.len()))
    } else {
        Err(refusal(FileProblem::NoRegularFile))
    }
}

/// A directory's path without links. What is missing of it is as it is given.
fn real_directory(path: &Path) -> io::Result<PathBuf> {
    let real = fs::canonicalize(path);
    let is_missing = matches!(&real, Err(error) if error.kind() == io::ErrorKind::NotFound);
    // A link to nothing is not made a directory.
    if !is_missing || fs::symlink_metadata(path).is_ok() {
        return real;
    }
    match (path.parent(), path.file_name()) {
        (Some(above), Some(name)) => Ok(real_directory(above)?.join(name)),
        _ => real,
    }
}
