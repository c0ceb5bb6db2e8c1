//! Checking the audit chain, record by record, in constant memory.

use std::mem;

use futures_util::TryStreamExt;
use serde_json::Value;
use sqlx::sqlite::SqliteConnection;
use sqlx::{FromRow, Row};
use termd_proto::audit::{AuditVerdict, BadRecord, MAX_BAD_RECORDS};

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
        match AuditRow::from_row(&row) {
            Ok(row) => checker.check(&row),
            Err(_) => checker.pass_unreadable(row.try_get(0)?),
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

/// What the records so far have shown. It goes on after what is wrong, so that what a person knows of hides
/// nothing else.
#[derive(Debug)]
struct Checker {
    /// The record before the next one.
    last_seq: i64,
    /// Its hash, if it could be read.
    last_hash: Option<String>,
    /// Heads that were written.
    written: Vec<Head>,
    checked: u64,
    bad: Vec<BadRecord>,
    bad_count: u64,
    /// The hash of the last record that nothing is wrong with.
    good_hash: String,
    /// The last record that retention dropped, by its newest `audit.pruned` record: number and hash.
    pruned: Option<(i64, String)>,
}

impl Checker {
    fn new(anchor: Head, written: Vec<Head>) -> Self {
        Self {
            last_seq: anchor.seq,
            last_hash: Some(anchor.hash.clone()),
            written,
            checked: 0,
            bad: Vec::new(),
            bad_count: 0,
            good_hash: anchor.hash,
            pruned: None,
        }
    }

    fn check(&mut self, row: &AuditRow) {
        let before = self.bad_count;
        self.check_number(row.seq);
        // After a gap the link says nothing more.
        let is_next = self.bad_count == before;
        if is_next
            && self
                .last_hash
                .as_ref()
                .is_some_and(|hash| *hash != row.prev_hash)
        {
            self.note(row.seq, &Fault::NotLinked);
        }
        if row.hash != row.computed_hash() {
            self.note(row.seq, &Fault::WrongHash);
        }
        let is_other = |head: &Head| row.seq == head.seq && row.hash != head.hash;
        if self.written.iter().any(is_other) {
            self.note(row.seq, &Fault::Rewritten);
        }
        if row.action == FORGED {
            let forged = forged_range(&row.detail).unwrap_or(Fault::Unreadable);
            self.note(row.seq, &forged);
        }
        if row.action == PRUNED {
            self.pruned = dropped_range(&row.detail);
        }
        if self.bad_count == before {
            self.good_hash.clone_from(&row.hash);
        }
        self.pass(row.seq, Some(row.hash.clone()));
    }

    fn pass_unreadable(&mut self, seq: i64) {
        self.check_number(seq);
        self.note(seq, &Fault::Unreadable);
        self.pass(seq, None);
    }

    fn check_number(&mut self, seq: i64) {
        let first = self.last_seq + 1;
        if seq == first {
            return;
        }
        let fault = match seq - 1 {
            last if last == first => Fault::Missing(first),
            last => Fault::MissingRange { first, last },
        };
        self.note(seq, &fault);
    }

    fn pass(&mut self, seq: i64, hash: Option<String>) {
        self.last_seq = seq;
        self.last_hash = hash;
        self.checked += 1;
    }

    /// Notes a fault of a record, by name while there is room.
    fn note(&mut self, seq: i64, fault: &Fault) {
        self.bad_count += 1;
        if self.bad.len() < MAX_BAD_RECORDS {
            self.bad.push(bad_record(seq, fault));
        }
    }

    fn finish(mut self, anchor: &Head) -> AuditVerdict {
        let recorded = match &self.pruned {
            Some((through, hash)) => *through == anchor.seq && *hash == anchor.hash,
            None => anchor.seq == 0 && anchor.hash == chain::NO_HASH,
        };
        // Retention may have dropped the newest record too: the anchor is the head.
        let is_other = |head: &Head| anchor.seq == head.seq && anchor.hash != head.hash;
        let is_rewritten = self.written.iter().any(is_other);
        let at_begin = (!recorded)
            .then(|| bad_record(anchor.seq + 1, &Fault::BeginningGone(anchor.seq)))
            .into_iter()
            .chain(is_rewritten.then(|| bad_record(anchor.seq, &Fault::Rewritten)));
        // The snapshot is younger than `written`, so it may hold more, and never less.
        let written = self.written.iter().map(|head| head.seq).max();
        let written = written.unwrap_or_default();
        let at_end = (self.last_seq < written)
            .then(|| bad_record(self.last_seq + 1, &Fault::EndGone(written)));
        let named = self.bad.len();
        let bad: Vec<_> = at_begin
            .chain(mem::take(&mut self.bad))
            .chain(at_end)
            .collect();
        AuditVerdict {
            checked: self.checked,
            first_bad: bad.first().cloned(),
            bad_count: self.bad_count + (bad.len() - named) as u64,
            bad,
            head: Some(self.good_hash),
            database_fault: None,
        }
    }
}

fn bad_record(seq: i64, fault: &Fault) -> BadRecord {
    BadRecord {
        seq,
        reason: fault.to_string(),
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
