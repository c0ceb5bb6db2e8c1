//! A mebibyte of the disk, kept for recording that the disk is full.
//!
//! A file of that size lies beside the database. When a record does not fit any more, all but its first
//! block is given up, and that space is for records of refusals and endings alone: nothing else is
//! written until the file can have its size again. The first block stays: it takes a note of what no
//! record tells of yet, which needs no space, for a server that is killed meanwhile. **Invariant:**
//! nothing here knows SQLite.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FallocateFlags, OFlags, fallocate};
use rustix::io::Errno;
use tokio::time::Instant;

use super::unrecorded::Unrecorded;
use crate::store::file::open::beside;

/// Size of the file in bytes: enough for more than [`MAX_RECORDS`](super::unrecorded::MAX_RECORDS)
/// records, each of which takes some pages of the log.
pub(crate) const RESERVE_BYTES: u64 = 1 << 20;
/// What stays of the file, in bytes: a block of most file systems.
const KEPT_BLOCK: usize = 4_096;
const KEPT_BYTES: u64 = KEPT_BLOCK as u64;
/// The length of the note in bytes, with the zeros after it: a sector, which a disk writes whole.
const NOTE_BYTES: usize = 512;
/// The pause between two attempts to give the file its size. A full disk refuses each at once.
const RETRY_PAUSE: Duration = Duration::from_millis(200);
/// Follows the name of the database.
const SUFFIX: &str = "-reserve";

/// The reserve.
#[derive(Debug)]
pub(crate) struct Reserve {
    path: PathBuf,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The file has its size.
    Whole,
    /// The file never existed: the disk had no space for it at the start.
    Absent { retry_at: Instant },
    /// The file was given up when the disk was full.
    Spent { retry_at: Instant },
}

impl Reserve {
    /// The reserve of this database, created where there is none, and what an earlier server has noted.
    pub(crate) fn beside(database: &Path) -> (Self, Unrecorded) {
        let path = beside(database, SUFFIX);
        let unrecorded = noted(&path).unwrap_or_default();
        let retry_at = Instant::now() + RETRY_PAUSE;
        let state = match fill(&path) {
            Ok(()) => State::Whole,
            Err(error) => {
                tracing::warn!(%error, "no room is kept for saying that the disk is full");
                if path.exists() {
                    State::Spent { retry_at }
                } else {
                    State::Absent { retry_at }
                }
            }
        };
        (Self { path, state }, unrecorded)
    }

    /// Gives the file its size again, where it has lost it and there is space. False: there is no space
    /// for anything but records of refusals and endings.
    pub(crate) fn refill(&mut self) -> bool {
        let retry_at = match &mut self.state {
            State::Whole => return true,
            State::Absent { retry_at } | State::Spent { retry_at } => retry_at,
        };
        if *retry_at <= Instant::now() {
            *retry_at = Instant::now() + RETRY_PAUSE;
            if fill(&self.path).is_ok() {
                self.state = State::Whole;
            }
        }
        // Where there never was a reserve, no space is kept: the disk itself decides.
        !self.is_spent()
    }

    pub(crate) fn is_spent(&self) -> bool {
        matches!(self.state, State::Spent { .. })
    }

    /// The disk is full: gives the file's space up, if it has any.
    pub(crate) fn spend(&mut self) {
        if self.state != State::Whole {
            return;
        }
        tracing::error!("the disk is full: nothing is run until it is not");
        let given_up = open(&self.path).and_then(|file| file.set_len(KEPT_BYTES));
        if let Err(error) = given_up {
            tracing::error!(%error, "the reserve cannot be given up");
        }
        self.state = State::Spent {
            retry_at: Instant::now() + RETRY_PAUSE,
        };
    }

    /// Notes what no record tells of yet, for the next server.
    pub(crate) fn note(&self, unrecorded: &Unrecorded) {
        if matches!(self.state, State::Absent { .. }) {
            return;
        }
        let mut note = match serde_json::to_vec(unrecorded) {
            Ok(note) if !unrecorded.is_empty() => note,
            Ok(_) | Err(_) => Vec::new(),
        };
        note.resize(NOTE_BYTES, 0);
        let written = open(&self.path).and_then(|file| {
            file.write_all_at(&note, 0)?;
            file.sync_data()
        });
        if let Err(error) = written {
            tracing::error!(%error, "the reserve does not say what is not recorded yet");
        }
    }
}

/// What is noted in the file at this path.
fn noted(path: &Path) -> Option<Unrecorded> {
    let mut note = [0; NOTE_BYTES];
    let file = fs::symlink_metadata(path).ok()?;
    if !file.is_file() {
        return None;
    }
    open(path).ok()?.read_exact_at(&mut note, 0).ok()?;
    let text = note.split(|byte| *byte == 0).next()?;
    serde_json::from_slice(text).ok()
}

fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
}

/// Gives the file its size with all its blocks. Where there is no space, a new file is removed again,
/// and an old one keeps its first block.
fn fill(path: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(path).ok();
    if found.as_ref().is_some_and(|found| !found.is_file()) {
        fs::remove_file(path)?;
    }
    let length = found.filter(fs::Metadata::is_file).map(|found| found.len());
    let file = open(path)?;
    let filled = fill_file(&file, length.unwrap_or_default());
    if filled.is_err() {
        let _ = match length {
            Some(length) if length >= KEPT_BYTES => file.set_len(KEPT_BYTES),
            Some(_) | None => fs::remove_file(path),
        };
    }
    filled
}

fn fill_file(file: &File, length: u64) -> io::Result<()> {
    if length < KEPT_BYTES {
        // Written, so that a later note only writes over it.
        file.write_all_at(&[0; KEPT_BLOCK], 0)?;
    }
    let found = file.metadata()?;
    if found.len() != RESERVE_BYTES {
        file.set_len(KEPT_BYTES)?;
    } else if found.blocks() * 512 >= RESERVE_BYTES {
        return Ok(());
    }
    match fallocate(file, FallocateFlags::empty(), 0, RESERVE_BYTES) {
        Ok(()) => Ok(()),
        // A file system without fallocate: written bytes have their blocks, where none are shared.
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
            let chunk = [0xa5; KEPT_BLOCK];
            for block in 1..RESERVE_BYTES / KEPT_BYTES {
                file.write_all_at(&chunk, block * KEPT_BYTES)?;
            }
            file.sync_all()
        }
        Err(errno) => Err(errno.into()),
    }
}
