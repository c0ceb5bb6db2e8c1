//! When the writer does not even try: the database is not the one at its path, or the disk is full
//! and what room is left is for saying so. And the record of what was refused.

use std::sync::Arc;

use serde_json::{Map, Value};
use sqlx::error::DatabaseError;
use termd_proto::terminal::{Front, Owner};

use super::StoreError;
use super::audit;
use super::audit_words::{AuditAction, AuditOutcome};
use super::files::Files;
use super::model::AuditEntry;
use super::reserve::{Refusals, Reserve, Room};
use super::writer::Writer;

/// The longest details of what was refused that its record repeats, in bytes of JSON.
const MAX_REPEATED_BYTES: usize = 2_048;

/// What is looked at before anything is written.
#[derive(Debug)]
pub(super) struct Guard {
    files: Arc<Files>,
    reserve: Reserve,
}

impl Guard {
    pub(super) fn new(files: Arc<Files>, reserve: Reserve) -> Self {
        Self { files, reserve }
    }
}

impl Writer {
    /// Whether the files are still the ones that are open.
    pub(super) fn check_files(&self) -> Result<(), StoreError> {
        self.guard.files.check()
    }

    /// Whether anything but a refusal may be written now. The first time that there is room again
    /// says so in the chain.
    pub(super) async fn may_write(&mut self) -> Result<(), StoreError> {
        self.guard.files.check()?;
        match self.guard.reserve.room() {
            Room::Enough => Ok(()),
            Room::None => Err(StoreError::DiskFull),
            Room::Again(refusals) => {
                tracing::info!(
                    refused = refusals.refused,
                    "there is room on the disk again"
                );
                if let Err(error) = self.append_own(&recovered(&refusals)).await {
                    tracing::error!(%error, "cannot record that there is room again");
                }
                Ok(())
            }
        }
    }

    /// A record could not be written: where that is for want of room, the reserve is given up, and
    /// the refusal recorded in it. Gives the error that whoever asked is to see.
    pub(super) async fn refuse(&mut self, entry: &AuditEntry, error: StoreError) -> StoreError {
        let error = classified(error);
        if !matches!(error, StoreError::DiskFull) {
            return error;
        }
        self.guard.reserve.spend();
        if entry.action.is_of_the_past() || !self.guard.reserve.refuse(entry.at_ms) {
            return error;
        }
        match self.append_own(&refused(entry)).await {
            Ok(()) => self.guard.reserve.recorded(),
            Err(error) => tracing::error!(%error, "cannot even record a refusal"),
        }
        error
    }

    async fn append_own(&mut self, entry: &AuditEntry) -> Result<(), sqlx::Error> {
        let appended = async {
            let head = self.current_head().await?;
            audit::append(&mut self.connection, &head, entry).await
        };
        match appended.await {
            Ok(head) => {
                self.publish(Some(head));
                Ok(())
            }
            Err(error) => {
                self.roll_back().await;
                Err(error)
            }
        }
    }
}

/// What SQLite's result codes mean to a caller (<https://www.sqlite.org/rescode.html>): `SQLITE_BUSY`
/// (5), `SQLITE_FULL` (13), and the two that a full disk or a quota gives in the log and its index:
/// `SQLITE_IOERR_WRITE` (778), `SQLITE_IOERR_SHMSIZE` (4874).
pub(super) fn classified(error: StoreError) -> StoreError {
    let StoreError::Database(sqlx::Error::Database(database)) = &error else {
        return error;
    };
    match result_code(database.as_ref()) {
        Some(code) if code & 0xff == 5 => StoreError::Locked,
        Some(code) if code & 0xff == 13 || code == 778 || code == 4_874 => StoreError::DiskFull,
        _ => error,
    }
}

fn result_code(error: &dyn DatabaseError) -> Option<i32> {
    error.code()?.parse().ok()
}

fn refused(entry: &AuditEntry) -> AuditEntry {
    let mut detail = Map::from_iter([
        ("action".to_owned(), Value::from(entry.action.as_str())),
        ("reason".to_owned(), "the disk is full".into()),
    ]);
    let repeated = Value::Object(entry.detail.clone());
    if repeated.to_string().len() <= MAX_REPEATED_BYTES {
        detail.insert("detail".to_owned(), repeated);
    }
    AuditEntry {
        action: AuditAction::AuditRefused,
        outcome: AuditOutcome::Refused,
        detail,
        ..entry.clone()
    }
}

fn recovered(refusals: &Refusals) -> AuditEntry {
    let detail = [
        ("refused", Value::from(refusals.refused)),
        ("recorded", Value::from(refusals.recorded)),
    ];
    AuditEntry {
        at_ms: refusals.last_ms,
        action: AuditAction::AuditRecovered,
        outcome: AuditOutcome::Ok,
        actor: own_actor(),
        terminal: None,
        detail: (detail.into_iter())
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    }
}

/// What the daemon does by itself.
pub fn own_actor() -> Owner {
    Owner {
        front: Front::Daemon,
        uid: rustix::process::getuid().as_raw(),
        pid: rustix::process::getpid().as_raw_nonzero().get(),
        exe: None,
        session: None,
        client: None,
    }
}
