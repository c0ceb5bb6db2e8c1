//! A mebibyte of the disk, kept for recording that the disk is full.
//!
//! A file of that size lies beside the database. It is removed when a record does not fit any more,
//! and its space is for records of refusals alone: nothing else is written until the file can be
//! created again. **Invariant:** nothing here knows SQLite.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FallocateFlags, OFlags, fallocate};
use rustix::io::Errno;
use tokio::time::Instant;

use crate::store::file::open::beside;

/// Size of the file in bytes: enough for more than [`MAX_RECORDED`] records of refusals, each of which
/// takes some pages of the log.
pub(crate) const RESERVE_BYTES: u64 = 1 << 20;
/// Refusals that get a record of their own while the disk is full; further ones are counted.
pub(crate) const MAX_RECORDED: u32 = 32;
/// The pause between two attempts to create the file again. A full disk refuses each at once.
const RETRY_PAUSE: Duration = Duration::from_millis(200);
/// Follows the name of the database.
const SUFFIX: &str = "-reserve";

/// The reserve, and the refusals since it was needed.
#[derive(Debug)]
pub(crate) struct Reserve {
    path: PathBuf,
    state: State,
}

#[derive(Debug)]
enum State {
    /// The file exists.
    Whole,
    /// The file never existed: the disk had no space for it at the start.
    Absent(Refusals),
    /// The file was removed when the disk was full.
    Spent(Refusals),
}

/// The records that were refused while the disk was full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refusals {
    /// Records that were refused. What they would have recorded was not done.
    pub(crate) refused: u64,
    /// Refusals that have a record of their own.
    pub(crate) recorded: u32,
    /// When the last one was refused, in milliseconds since the epoch.
    pub(crate) last_ms: i64,
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

/// Whether there is space for writes other than records of refusals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    Enough,
    /// There is space again, after these refusals.
    Recovered(Refusals),
    None,
}

impl Reserve {
    /// The reserve of this database; creates it where there is none.
    pub(crate) fn beside(database: &Path) -> Self {
        let path = beside(database, SUFFIX);
        let state = match create(&path) {
            Ok(()) => State::Whole,
            Err(error) => {
                tracing::warn!(%error, "no room is kept for saying that the disk is full");
                State::Absent(Refusals::none())
            }
        };
        Self { path, state }
    }

    /// Whether there is space. Creates the reserve again where it is missing and there is.
    pub(crate) fn space(&mut self) -> Space {
        let (refusals, was_spent) = match &mut self.state {
            State::Whole => return Space::Enough,
            State::Absent(refusals) => (refusals, false),
            State::Spent(refusals) => (refusals, true),
        };
        let now = Instant::now();
        let refused = *refusals;
        if now >= refusals.try_at {
            refusals.try_at = now + RETRY_PAUSE;
            if create(&self.path).is_ok() {
                self.state = State::Whole;
                return match refused.refused {
                    0 => Space::Enough,
                    _ => Space::Recovered(refused),
                };
            }
        }
        // Where there never was a reserve, no space is kept: the disk itself decides.
        if was_spent {
            Space::None
        } else {
            Space::Enough
        }
    }

    /// The disk is full: removes the reserve, if it exists.
    pub(crate) fn spend(&mut self) {
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

    /// Counts a refusal. True: it gets a record of its own.
    pub(crate) fn refuse(&mut self, at_ms: i64) -> bool {
        match &mut self.state {
            State::Whole => false,
            State::Absent(refusals) | State::Spent(refusals) => {
                refusals.refused += 1;
                refusals.last_ms = at_ms;
                refusals.recorded < MAX_RECORDED
            }
        }
    }

    /// Counts a record of a refusal that was written.
    pub(crate) fn recorded(&mut self) {
        if let State::Absent(refusals) | State::Spent(refusals) = &mut self.state {
            refusals.recorded += 1;
        }
    }
}

/// Creates the file with all its blocks, or leaves none.
fn create(path: &Path) -> io::Result<()> {
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
    let filled = fill(&mut file);
    if filled.is_err() {
        let _ = fs::remove_file(path);
    }
    filled
}

fn fill(file: &mut File) -> io::Result<()> {
    match fallocate(&*file, FallocateFlags::empty(), 0, RESERVE_BYTES) {
        Ok(()) => Ok(()),
        // A file system without fallocate: written bytes have their blocks, where none are shared.
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
