//! Checking the audit chain, record by record, in constant memory.

use futures_util::TryStreamExt;
use serde_json::Value;
use sqlx::sqlite::SqliteConnection;
use sqlx::{FromRow, Row};
use termd_proto::audit::{AuditVerdict, BadRecord};

use super::action::AuditAction;
use super::chain::{self, AuditRow, audit_columns};
use super::head::Head;

/// The record that says which records another process wrote.
const FORGED: &str = AuditAction::AuditForged.as_str();
/// The record that says which records retention dropped.
const PRUNED: &str = AuditAction::AuditPruned.as_str();

/// Checks the chain from its anchor to its end. `written` are heads that are known to have been written:
/// the last one of the server before, and the one that this process read when it opened the database, or
/// wrote last. They show records that were cut off the end, and a chain that was computed anew.
///
/// `connection` reads one snapshot: records written meanwhile are not seen.
pub(crate) async fn verify(
    connection: &mut SqliteConnection,
    written: Vec<Head>,
) -> Result<AuditVerdict, sqlx::Error> {
    let anchor = chain::anchor(&mut *connection).await?;
    let mut checker = Checker::new(anchor.clone(), written);
    let mut rows = sqlx::query(concat!(
        "SELECT ",
        audit_columns!(),
        " FROM audit WHERE seq > ?1 ORDER BY seq"
    ))
    .bind(anchor.seq)
    .fetch(connection);
    while let Some(row) = rows.try_next().await? {
        let seq: i64 = row.try_get(0)?;
        let Ok(row) = AuditRow::from_row(&row) else {
            return Ok(checker.broken(seq, &Fault::Unreadable));
        };
        if let Err(fault) = checker.check(&row) {
            return Ok(checker.broken(seq, &fault));
        }
    }
    Ok(checker.finish(&anchor))
}

/// What is wrong with a record, or with the chain at its place.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error("a field of it cannot be read")]
    Unreadable,
    #[error("record {0} before it is missing")]
    Missing(i64),
    #[error("records {first} to {last} before it are missing")]
    MissingRange { first: i64, last: i64 },
    #[error("it is not linked to the record before it")]
    NotLinked,
    #[error("its fields do not have its hash")]
    WrongHash,
    #[error(
        "the records up to {0} are gone, and no {PRUNED} record says that retention dropped them"
    )]
    BeginningGone(i64),
    #[error("records from here to {0} were written and are gone")]
    EndGone(i64),
    #[error(
        "its hash is not the one that was written: it or a record before it was changed, and the chain computed anew"
    )]
    Rewritten,
    #[error("it says that another process wrote the records {from} to {through}")]
    Forged { from: i64, through: i64 },
}

/// What the records so far have shown.
#[derive(Debug)]
struct Checker {
    last: Head,
    /// Heads that were written.
    written: Vec<Head>,
    checked: u64,
    /// The last record that retention dropped, by its newest `audit.pruned` record: number and hash.
    pruned: Option<(i64, String)>,
}

impl Checker {
    fn new(anchor: Head, written: Vec<Head>) -> Self {
        Self {
            last: anchor,
            written,
            checked: 0,
            pruned: None,
        }
    }

    fn check(&mut self, row: &AuditRow) -> Result<(), Fault> {
        let first = self.last.seq + 1;
        if row.seq != first {
            return Err(match row.seq - 1 {
                last if last == first => Fault::Missing(first),
                last => Fault::MissingRange { first, last },
            });
        }
        if row.prev_hash != self.last.hash {
            return Err(Fault::NotLinked);
        }
        if row.hash != row.computed_hash() {
            return Err(Fault::WrongHash);
        }
        let is_other = |head: &Head| row.seq == head.seq && row.hash != head.hash;
        if self.written.iter().any(is_other) {
            return Err(Fault::Rewritten);
        }
        if row.action == FORGED {
            return Err(forged_range(&row.detail).unwrap_or(Fault::Unreadable));
        }
        if row.action == PRUNED {
            self.pruned = dropped_range(&row.detail);
        }
        self.last = Head {
            seq: row.seq,
            hash: row.hash.clone(),
        };
        self.checked += 1;
        Ok(())
    }

    fn finish(self, anchor: &Head) -> AuditVerdict {
        let recorded = match &self.pruned {
            Some((through, hash)) => *through == anchor.seq && *hash == anchor.hash,
            None => anchor.seq == 0 && anchor.hash == chain::NO_HASH,
        };
        if !recorded {
            return self.broken(anchor.seq + 1, &Fault::BeginningGone(anchor.seq));
        }
        // The snapshot is younger than `written`, so it may hold more, and never less.
        let written = self.written.iter().map(|head| head.seq).max();
        let written = written.unwrap_or_default();
        if self.last.seq < written {
            let first_missing = self.last.seq + 1;
            return self.broken(first_missing, &Fault::EndGone(written));
        }
        // Retention has dropped the newest record too: the anchor is the head.
        let is_other = |head: &Head| anchor.seq == head.seq && anchor.hash != head.hash;
        if self.written.iter().any(is_other) {
            return self.broken(anchor.seq, &Fault::Rewritten);
        }
        AuditVerdict {
            checked: self.checked,
            first_bad: None,
            head: Some(self.last.hash),
            database_fault: None,
        }
    }

    fn broken(self, seq: i64, fault: &Fault) -> AuditVerdict {
        let reason = fault.to_string();
        AuditVerdict {
            checked: self.checked,
            first_bad: Some(BadRecord { seq, reason }),
            head: Some(self.last.hash),
            database_fault: None,
        }
    }
}

/// What the details of an `audit.forged` record say.
fn forged_range(detail: &str) -> Option<Fault> {
    let detail: Value = serde_json::from_str(detail).ok()?;
    let from = detail.get("from")?.as_i64()?;
    let through = detail.get("through")?.as_i64()?;
    Some(Fault::Forged { from, through })
}

/// The number and hash of the last dropped record, from the details of an `audit.pruned` record.
fn dropped_range(detail: &str) -> Option<(i64, String)> {
    let detail: Value = serde_json::from_str(detail).ok()?;
    let through = detail.get("through")?.as_i64()?;
    let hash = detail.get("hash")?.as_str()?;
    Some((through, hash.to_owned()))
}
