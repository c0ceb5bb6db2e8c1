//! The audit chain: its rows, its hash, appending and listing.
//!
//! Every record holds the hash of the one before it, so that a change, a gap or an insertion
//! anywhere but at the end shows. docs/database.md defines the hash for whoever wants to check it
//! with other tools.
//!
//! **Invariant:** one place computes the hash, for writing and for verifying alike.

use std::fmt::Write as _;

use serde_json::Value;
use sha2::{Digest, Sha256};
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{QueryBuilder, Row, Sqlite};
use termd_proto::audit::{AuditFilter, AuditOrder, AuditPage, AuditRecord};
use termd_proto::policy::Verdict;

use super::StoreError;
use super::model::AuditEntry;
use super::rows::{decode_error, owner_of};

/// The hash "before" the first record.
pub(super) const NO_HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// Names the encoding that the hash is over, so that a later one cannot be taken for it.
const ENCODING: &str = "termd-audit-1";

/// The columns of [`Row`](AuditRow), in its order.
const COLUMNS: &str = "seq, at_ms, action, outcome, front, uid, pid, exe, session, client, \
                       terminal, detail, prev_hash, hash";

/// The newest record: what the next one is chained to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) seq: i64,
    pub(super) hash: String,
}

/// One row, as it is stored.
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
    /// The row that records this entry after that head.
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

    /// The hash that these fields, `hash` aside, must have.
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
                // A netstring: no field's text can pass for the end of it.
                Some(text) => {
                    hasher.update(text.len().to_string());
                    hasher.update(b":");
                    hasher.update(text);
                    hasher.update(b",");
                }
                None => hasher.update(b"-,"),
            }
        }
        hasher
            .finalize()
            .iter()
            .fold(String::new(), |mut hex, byte| {
                let _ = write!(hex, "{byte:02x}");
                hex
            })
    }

    /// Reads a row of [`COLUMNS`].
    pub(super) fn from_row(row: &SqliteRow) -> Result<Self, sqlx::Error> {
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

    fn into_record(self) -> Result<AuditRecord, sqlx::Error> {
        Ok(AuditRecord {
            seq: self.seq,
            at_ms: self.at_ms,
            action: self.action,
            outcome: self.outcome,
            actor: owner_of(
                &self.front,
                self.uid,
                self.pid,
                self.exe,
                self.session,
                self.client,
            )?,
            terminal: self
                .terminal
                .map(|id| id.parse())
                .transpose()
                .map_err(decode_error)?,
            detail: serde_json::from_str(&self.detail).map_err(decode_error)?,
            previous_hash: self.prev_hash,
            hash: self.hash,
        })
    }
}

/// Where the chain begins: the last record that retention dropped.
pub(super) async fn anchor(connection: &mut SqliteConnection) -> Result<Head, sqlx::Error> {
    let row = sqlx::query("SELECT seq, hash FROM audit_anchor")
        .fetch_one(connection)
        .await?;
    Ok(Head {
        seq: row.try_get(0)?,
        hash: row.try_get(1)?,
    })
}

/// Where the chain ends now.
pub(super) async fn head(connection: &mut SqliteConnection) -> Result<Head, sqlx::Error> {
    let newest = sqlx::query("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1")
        .fetch_optional(&mut *connection)
        .await?;
    match newest {
        Some(row) => Ok(Head {
            seq: row.try_get(0)?,
            hash: row.try_get(1)?,
        }),
        None => anchor(connection).await,
    }
}

/// Appends a record to the chain that ends in `head`, in the transaction that is open, or in one
/// of its own where none is; gives the new head.
pub(super) async fn append(
    connection: &mut SqliteConnection,
    head: &Head,
    entry: &AuditEntry,
) -> Result<Head, sqlx::Error> {
    let row = AuditRow::chained(head, entry);
    let next = Head {
        seq: row.seq,
        hash: row.hash.clone(),
    };
    sqlx::query(
        "INSERT INTO audit (seq, at_ms, action, outcome, front, uid, pid, exe, session, client, \
         terminal, detail, prev_hash, hash) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )
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
    Ok(next)
}

/// One page of the records that the filter lets through. The cursor is the number of the last
/// record on the page before. Reads of one snapshot.
pub(super) async fn list(
    connection: &mut SqliteConnection,
    filter: &AuditFilter,
    cursor: Option<&str>,
    limit: u32,
    order: AuditOrder,
) -> Result<AuditPage, StoreError> {
    let newest = head(&mut *connection).await?;
    let mut query = QueryBuilder::<Sqlite>::new("SELECT ");
    query.push(COLUMNS);
    // What the anchor has passed is dropped, even where a row of it is still there.
    query.push(" FROM audit WHERE seq > (SELECT seq FROM audit_anchor)");
    if let Some(cursor) = cursor {
        let last: i64 = cursor.parse().map_err(|_| StoreError::BadCursor)?;
        query.push(match order {
            AuditOrder::Newest => " AND seq < ",
            AuditOrder::Oldest => " AND seq > ",
        });
        query.push_bind(last);
    }
    if let Some(terminal) = &filter.terminal {
        query.push(" AND terminal = ").push_bind(terminal);
    }
    if let Some(action) = &filter.action {
        let group = format!("{action}.");
        query.push(" AND (action = ").push_bind(action);
        query
            .push(" OR substr(action, 1, length(")
            .push_bind(group.clone());
        query.push(")) = ").push_bind(group).push(")");
    }
    if let Some(client) = &filter.client {
        query.push(" AND (client = ").push_bind(client);
        query.push(" OR session = ").push_bind(client).push(")");
    }
    if let Some(front) = filter.front {
        query.push(" AND front = ").push_bind(front.as_str());
    }
    if let Some(program) = &filter.program {
        query.push(" AND program = ").push_bind(program);
    }
    if let Some(verdict) = filter.verdict {
        // Said again as the index says it: the planner proves nothing of a bound value.
        if verdict != Verdict::Safe {
            query.push(" AND verdict IS NOT NULL AND verdict <> 'safe'");
        }
        query.push(" AND verdict = ").push_bind(verdict.as_str());
    }
    if let Some(outcome) = &filter.outcome {
        let kind = format!("{outcome}:");
        query.push(" AND (outcome = ").push_bind(outcome);
        query
            .push(" OR substr(outcome, 1, length(")
            .push_bind(kind.clone());
        query.push(")) = ").push_bind(kind).push(")");
    }
    if let Some(since) = filter.since_ms {
        query.push(" AND at_ms >= ").push_bind(since);
    }
    if let Some(until) = filter.until_ms {
        query.push(" AND at_ms < ").push_bind(until);
    }
    // One more than asked for tells whether there is a next page.
    query
        .push(match order {
            AuditOrder::Newest => " ORDER BY seq DESC LIMIT ",
            AuditOrder::Oldest => " ORDER BY seq LIMIT ",
        })
        .push_bind(i64::from(limit) + 1);
    let rows = query.build().fetch_all(connection).await?;
    let mut records = Vec::with_capacity(rows.len());
    for row in rows.iter().take(limit as usize) {
        records.push(AuditRow::from_row(row)?.into_record()?);
    }
    let more = rows.len() > records.len();
    let last = records.last().map(|record| record.seq.to_string());
    Ok(AuditPage {
        records,
        next_cursor: last.filter(|_| more),
        through: newest.seq,
    })
}

/// The hashes of those of these records that are there, in order.
pub(super) async fn hashes(
    connection: &mut SqliteConnection,
    records: &[i64],
) -> Result<Vec<Head>, sqlx::Error> {
    let mut query = QueryBuilder::<Sqlite>::new(
        "SELECT seq, hash FROM audit WHERE seq > (SELECT seq FROM audit_anchor) AND seq IN (",
    );
    let mut numbers = query.separated(", ");
    for record in records {
        numbers.push_bind(*record);
    }
    query.push(") ORDER BY seq");
    let rows = query.build().fetch_all(connection).await?;
    let heads = rows.iter().map(|row| {
        Ok(Head {
            seq: row.try_get(0)?,
            hash: row.try_get(1)?,
        })
    });
    heads.collect()
}
