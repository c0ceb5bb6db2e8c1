//! The audit chain: its rows, its hash, and appending.
//!
//! Every record holds the hash of the record before it, so that a change, a gap or an insertion
//! anywhere but at the end is found. docs/database.md defines the hash for checks with other tools.
//!
//! **Invariant:** one function computes the hash, for writing and for verifying.

use serde_json::Value;
use sha2::{Digest, Sha256};
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{FromRow, Row};
use termd_proto::audit::AuditRecord;
use termd_proto::terminal::Owner;

use super::entry::AuditEntry;
use super::head::Head;
use crate::store::sql::{decode_error, from_json, from_word};

/// The hash "before" the first record.
pub(super) const NO_HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// The error of a record that SQLite took and did not store.
const NOT_INSERTED: &str = "the record was not inserted: something in the database ignores it";
/// The name of the encoding that the hash is over. A later encoding gets another name.
const ENCODING: &str = "termd-audit-1";

/// One row as it is stored. The order of its columns is `audit_columns!`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AuditRow {
    pub(super) seq: i64,
    at_ms: i64,
    pub(super) action: String,
    outcome: String,
    front: String,
    uid: i64,
    pid: i64,
    exe: Option<String>,
    session: Option<String>,
    client: Option<String>,
    terminal: Option<String>,
    pub(super) detail: String,
    pub(super) prev_hash: String,
    pub(super) hash: String,
}

impl AuditRow {
    /// The row of an entry that follows this head.
    fn chained(head: &Head, entry: &AuditEntry) -> Self {
        let mut row = Self {
            seq: head.seq + 1,
            at_ms: entry.at_ms,
            action: entry.action.as_str().to_owned(),
            outcome: entry.outcome.to_string(),
            front: entry.actor.front.as_str().to_owned(),
            uid: i64::from(entry.actor.uid),
            pid: i64::from(entry.actor.pid),
            exe: entry.actor.exe.clone(),
            session: entry.actor.session.clone(),
            client: entry.actor.client.clone(),
            terminal: entry.terminal.as_ref().map(ToString::to_string),
            detail: Value::Object(entry.detail.clone()).to_string(),
            prev_hash: head.hash.clone(),
            hash: String::new(),
        };
        row.hash = row.computed_hash();
        row
    }

    /// The hash that the fields other than `hash` must have.
    pub(super) fn computed_hash(&self) -> String {
        let number = |number: i64| Some(number.to_string());
        let fields = [
            Some(ENCODING.to_owned()),
            Some(self.prev_hash.clone()),
            number(self.seq),
            number(self.at_ms),
            Some(self.action.clone()),
            Some(self.outcome.clone()),
            Some(self.front.clone()),
            number(self.uid),
            number(self.pid),
            self.exe.clone(),
            self.session.clone(),
            self.client.clone(),
            self.terminal.clone(),
            Some(self.detail.clone()),
        ];
        let mut hasher = Sha256::new();
        for field in fields {
            match field {
                // A netstring: no text of a field can be taken for its end.
                Some(text) => {
                    hasher.update(text.len().to_string());
                    hasher.update(b":");
                    hasher.update(text);
                    hasher.update(b",");
                }
                None => hasher.update(b"-,"),
            }
        }
        format!("{:x}", hasher.finalize())
    }

    pub(super) fn into_record(self) -> Result<AuditRecord, sqlx::Error> {
        let terminal = self.terminal.map(|id| id.parse());
        Ok(AuditRecord {
            seq: self.seq,
            at_ms: self.at_ms,
            action: self.action,
            outcome: self.outcome,
            actor: Owner {
                front: from_word(&self.front)?,
                uid: u32::try_from(self.uid).map_err(decode_error)?,
                pid: i32::try_from(self.pid).map_err(decode_error)?,
                exe: self.exe,
                session: self.session,
                client: self.client,
                agent: None,
                terminal: None,
            },
            terminal: terminal.transpose().map_err(decode_error)?,
            detail: from_json(&self.detail)?,
            previous_hash: self.prev_hash,
            hash: self.hash,
        })
    }
}

impl FromRow<'_, SqliteRow> for AuditRow {
    fn from_row(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            seq: row.try_get(0)?,
            at_ms: row.try_get(1)?,
            action: row.try_get(2)?,
            outcome: row.try_get(3)?,
            front: row.try_get(4)?,
            uid: row.try_get(5)?,
            pid: row.try_get(6)?,
            exe: row.try_get(7)?,
            session: row.try_get(8)?,
            client: row.try_get(9)?,
            terminal: row.try_get(10)?,
            detail: row.try_get(11)?,
            prev_hash: row.try_get(12)?,
            hash: row.try_get(13)?,
        })
    }
}

/// The columns of an [`AuditRow`], in its order.
macro_rules! audit_columns {
    () => {
        "seq, at_ms, action, outcome, front, uid, pid, exe, session, client, terminal, detail, \
         prev_hash, hash"
    };
}
pub(super) use audit_columns;

/// Where the chain begins: the last record that retention dropped.
pub(crate) async fn anchor(connection: &mut SqliteConnection) -> Result<Head, sqlx::Error> {
    sqlx::query_as("SELECT seq, hash FROM audit_anchor")
        .fetch_one(connection)
        .await
}

/// Where the chain ends now.
pub(crate) async fn head(connection: &mut SqliteConnection) -> Result<Head, sqlx::Error> {
    let newest = sqlx::query_as("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1")
        .fetch_optional(&mut *connection)
        .await?;
    match newest {
        Some(newest) => Ok(newest),
        None => anchor(connection).await,
    }
}

/// Appends a record to the chain that ends in `head`; returns the new head. The statement is a
/// transaction of its own where none is open.
pub(crate) async fn append(
    connection: &mut SqliteConnection,
    head: &Head,
    entry: &AuditEntry,
) -> Result<Head, sqlx::Error> {
    let row = AuditRow::chained(head, entry);
    let next = Head {
        seq: row.seq,
        hash: row.hash.clone(),
    };
    let inserted = sqlx::query(concat!(
        "INSERT INTO audit (",
        audit_columns!(),
        ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    ))
    .bind(row.seq)
    .bind(row.at_ms)
    .bind(row.action)
    .bind(row.outcome)
    .bind(row.front)
    .bind(row.uid)
    .bind(row.pid)
    .bind(row.exe)
    .bind(row.session)
    .bind(row.client)
    .bind(row.terminal)
    .bind(row.detail)
    .bind(row.prev_hash)
    .bind(row.hash)
    .execute(connection)
    .await?;
    // A trigger of another process may have had it ignored.
    if inserted.rows_affected() != 1 {
        return Err(sqlx::Error::Protocol(NOT_INSERTED.to_owned()));
    }
    Ok(next)
}
