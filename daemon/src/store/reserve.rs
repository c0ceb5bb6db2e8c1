//! The disk's last mebibyte: kept for saying that the disk is full.
//!
//! A file of that size lies beside the database. When a record does not fit any more, it is
//! removed, and what it leaves is for records of refusals alone: until it can be made again,
//! nothing else is written. **Invariant:** nothing here knows SQLite.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FallocateFlags, OFlags, fallocate};
use rustix::io::Errno;
use tokio::time::Instant;

use super::open::beside;

/// Its size in bytes: room for more records of refusals than [`MAX_RECORDED`], each of which takes
/// some pages of the log.
pub(super) const RESERVE_BYTES: u64 = 1 << 20;
/// Refusals that have a record each while the disk is full; those after them are counted.
pub(super) const MAX_RECORDED: u32 = 32;
/// Between two attempts to make it again: each is a system call that a full disk answers at once.
const RETRY_PAUSE: Duration = Duration::from_millis(200);
/// Beside the database.
const SUFFIX: &str = "-reserve";

/// The reserve, and what was refused since it was needed.
#[derive(Debug)]
pub(super) struct Reserve {
    path: PathBuf,
    state: State,
}

#[derive(Debug)]
enum State {
    /// It is there.
    Whole,
    /// It was never there: the disk had no room for it at the start.
    Absent(Refusals),
    /// It was given up.
    Spent(Refusals),
}

/// What was refused while the disk was full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refusals {
    /// So many records of things that then were not done.
    pub(super) refused: u64,
    /// So many of them have a record.
    pub(super) recorded: u32,
    /// When the last one was, in milliseconds since the epoch.
    pub(super) last_ms: i64,
    try_at: Instant,
}

impl Refusals {
    fn none() -> Self {
        Self {
            refused: 0,
            recorded: 0,
            last_ms: 0,
            try_at: Instant::now(),
        }
    }
}

/// Whether the disk takes what is not about its being full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// It does.
    Enough,
    /// It does again, and this is what was refused meanwhile.
    Again(Refusals),
    /// It does not.
    None,
}

impl Reserve {
    /// The reserve of this database, made where there is none.
    pub(super) fn beside(database: &Path) -> Self {
        let path = beside(database, SUFFIX);
        let state = match make(&path) {
            Ok(()) => State::Whole,
            Err(error) => {
                tracing::warn!(%error, "no room is kept for saying that the disk is full");
                State::Absent(Refusals::none())
            }
        };
        Self { path, state }
    }

    /// Whether there is room. Makes the reserve again where it was given up and can be.
    pub(super) fn room(&mut self) -> Room {
        let (refusals, was_spent) = match &mut self.state {
            State::Whole => return Room::Enough,
            State::Absent(refusals) => (refusals, false),
            State::Spent(refusals) => (refusals, true),
        };
        let now = Instant::now();
        let refused = *refusals;
        if now >= refusals.try_at {
            refusals.try_at = now + RETRY_PAUSE;
            if make(&self.path).is_ok() {
                self.state = State::Whole;
                return match refused.refused {
                    0 => Room::Enough,
                    _ => Room::Again(refused),
                };
            }
        }
        // Without a reserve there is nothing to keep for anything: the disk itself decides.
        if was_spent { Room::None } else { Room::Enough }
    }

    /// The disk is full: gives the reserve up, if it is there.
    pub(super) fn spend(&mut self) {
        if !matches!(self.state, State::Whole) {
            return;
        }
        tracing::error!("the disk is full: nothing is run until it is not");
        match fs::remove_file(&self.path) {
            Ok(()) => {}
            Err(error) => tracing::error!(%error, "the reserve cannot be given up"),
        }
        let mut refusals = Refusals::none();
        refusals.try_at += RETRY_PAUSE;
        self.state = State::Spent(refusals);
    }

    /// Counts a refusal; whether it is to have a record of its own.
    pub(super) fn refuse(&mut self, at_ms: i64) -> bool {
        match &mut self.state {
            State::Whole => false,
            State::Absent(refusals) | State::Spent(refusals) => {
                refusals.refused += 1;
                refusals.last_ms = at_ms;
                refusals.recorded < MAX_RECORDED
            }
        }
    }

    /// The record that [`refuse`](Self::refuse) wanted is written.
    pub(super) fn recorded(&mut self) {
        if let State::Absent(refusals) | State::Spent(refusals) = &mut self.state {
            refusals.recorded += 1;
        }
    }
}

/// Makes the file with all its blocks, or leaves none.
fn make(path: &Path) -> io::Result<()> {
    let existing = fs::symlink_metadata(path);
    if existing.is_ok_and(|file| {
        file.is_file() && file.len() == RESERVE_BYTES && file.blocks() * 512 >= RESERVE_BYTES
    }) {
        return Ok(());
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(path)?;
    let made = fill(&mut file);
    if made.is_err() {
        let _ = fs::remove_file(path);
    }
    made
}

fn fill(file: &mut File) -> io::Result<()> {
    match fallocate(&*file, FallocateFlags::empty(), 0, RESERVE_BYTES) {
        Ok(()) => Ok(()),
        // A file system without it: what is written has its blocks, where they are not shared.
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => {
            let chunk = [0xa5; 4096];
            for _ in 0..RESERVE_BYTES / 4096 {
                file.write_all(&chunk)?;
            }
            file.sync_all()
        }
        Err(errno) => Err(errno.into()),
    }
}
