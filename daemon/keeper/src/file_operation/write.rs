//! Writing a file.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::place::{NEW_FILE_MODE, Place};
use super::system;
use crate::protocol::file_operation::{FileFailure, WriteMode};

/// Bytes that are copied at once.
const COPIED_BYTES: usize = 64 * 1024;
/// The rights of an old file that a new one in its place gets.
const PERMISSIONS: u32 = 0o777;

/// Writes a file. Returns its size.
pub(super) fn write(
    place: &Place,
    mode: WriteMode,
    content: BorrowedFd<'_>,
    new_name: &OsStr,
) -> Result<u64, FileFailure> {
    let existing = place.existing()?;
    match mode {
        WriteMode::Append => {
            let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
            let (file, _) = place.open_file(flags)?;
            copy(content, &file)?;
            Ok(file.metadata().map_err(system)?.len())
        }
        WriteMode::Create if existing.is_some() => Err(system(Errno::EXIST)),
        WriteMode::Replace | WriteMode::Create => {
            let permissions = existing.map(|stat| stat.st_mode & PERMISSIONS);
            let written = write_new(place, content, new_name, permissions);
            if written.is_err() {
                // The file did not get to its place. EEXIST: it is somebody else's.
                let is_others = matches!(&written, Err(failure) if failure.errno == Errno::EXIST.raw_os_error());
                if !is_others {
                    let _ = rustix::fs::unlinkat(place.directory(), new_name, AtFlags::empty());
                }
            }
            written
        }
    }
}

/// Writes a file beside the place, and renames it to its name.
fn write_new(
    place: &Place,
    content: BorrowedFd<'_>,
    new_name: &OsStr,
    permissions: Option<u32>,
) -> Result<u64, FileFailure> {
    let directory = place.directory();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file: File = rustix::fs::openat(directory, new_name, flags, NEW_FILE_MODE)
        .map_err(system)?
        .into();
    if let Some(permissions) = permissions {
        rustix::fs::fchmod(&file, Mode::from_bits_truncate(permissions)).map_err(system)?;
    }
    let bytes = copy(content, &file)?;
    file.sync_data().map_err(system)?;
    rustix::fs::renameat(directory, new_name, directory, &place.name).map_err(system)?;
    Ok(bytes)
}

/// Copies the whole content. Returns its length.
fn copy(content: BorrowedFd<'_>, mut file: &File) -> Result<u64, FileFailure> {
    let mut buffer = vec![0; COPIED_BYTES];
    let mut at = 0;
    loop {
        let read = rustix::io::retry_on_intr(|| rustix::io::pread(content, &mut buffer, at));
        let read = read.map_err(system)?;
        let Some(piece) = buffer.get(..read).filter(|piece| !piece.is_empty()) else {
            return Ok(at);
        };
        std::io::Write::write_all(&mut file, piece).map_err(system)?;
        at += piece.len() as u64;
    }
}
