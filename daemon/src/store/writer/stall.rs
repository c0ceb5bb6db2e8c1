//! What keeps writes from the disk.

use crate::store::error::StoreError;

/// What keeps writes from the disk. A caller that waits for a write can wait long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stall {
    /// The database is locked, or the disk fails: output and rows wait.
    Failing,
    /// The disk is full: output and rows wait. Records are small and may still fit.
    FullForOutput,
    /// The disk is full for records too.
    Full,
}

impl Stall {
    /// What keeps output and rows from the disk, by the error of the last attempt.
    pub(super) fn of(error: &StoreError) -> Self {
        match error {
            StoreError::DiskFull => Self::FullForOutput,
            _ => Self::Failing,
        }
    }
}
