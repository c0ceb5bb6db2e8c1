//! `audit.*`: who did what.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::TerminalId;
use crate::policy::Verdict;
use crate::terminal::{Front, Owner};

/// The actions that records are about.
pub const ACTIONS: &[&str] = &[
    "approval.answer",
    "approval.watch",
    "audit.forged",
    "audit.pruned",
    "audit.recovered",
    "audit.refused",
    "daemon.start",
    "file.done",
    "file.read",
    "file.write",
    "limit.left",
    "limit.reached",
    "output.search",
    "policy.changed",
    "secret.answer",
    "secret.ask",
    "shell.in_place",
    "terminal.attach",
    "terminal.close",
    "terminal.confined",
    "terminal.create",
    "terminal.delete",
    "terminal.detach",
    "terminal.exit",
    "terminal.import",
    "terminal.input",
    "terminal.interrupt",
    "terminal.kill",
    "terminal.release",
    "terminal.rename",
    "terminal.signal",
    "terminal.tag",
    "terminal.typed",
    "terminal.use",
];

/// One append-only row, chained to the row before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditRecord {
    /// Its number, from 1, without gaps.
    pub seq: i64,
    /// When it was written.
    pub at_ms: i64,
    /// What was done: `terminal.create`, `terminal.exit`, `terminal.input`, …
    pub action: String,
    /// `ok`, or what went wrong in a word.
    pub outcome: String,
    /// Who did it.
    pub actor: Owner,
    /// To which terminal.
    pub terminal: Option<TerminalId>,
    /// What else: `argv`, `cwd`, `env` (names only), `step`, `errno`, …
    pub detail: Map<String, Value>,
    /// The hash of the row before, 64 hexadecimal digits.
    pub previous_hash: String,
    /// SHA-256 of the row before's hash and this row's fields, 64 hexadecimal digits.
    pub hash: String,
}

/// Which records `audit.list` lists; an absent field does not restrict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditFilter {
    /// Of this terminal, by its whole id.
    pub terminal: Option<String>,
    /// Of this action, or of all that begin with it and a dot.
    pub action: Option<String>,
    /// By this client or ACP session.
    pub client: Option<String>,
    /// Through this front.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub front: Option<Front>,
    /// About this program: the base name of what was run, or of what was typed into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Of what the gate found so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// That went so: the outcome itself, or what it begins with before a colon (`refused`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Not before this time, in milliseconds since the epoch.
    pub since_ms: Option<i64>,
    /// Before this time, in milliseconds since the epoch.
    pub until_ms: Option<i64>,
}

/// `MESSAGE_ID` of the journal's entries that name the head of an audit chain, in the fields
/// `TERMD_AUDIT_SEQ`, `TERMD_AUDIT_HASH` and `TERMD_DATABASE`.
pub const ANCHOR_MESSAGE_ID: &str = "c0b1f1b7a3d84f2e9d5e7a4c6b8e2f13";
/// The longest text of an [`AuditFilter`], in bytes: longer than any that is recorded.
pub const MAX_FILTER_BYTES: usize = 4_096;
/// The most records that `audit.hashes` is asked for at once.
pub const MAX_HASHES: usize = 1_000;

/// In which order `audit.list` gives its pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditOrder {
    /// The newest record first.
    #[default]
    Newest,
    /// The oldest record first: for an export, and for following.
    Oldest,
}

/// One page of `audit.list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditPage {
    /// In the order that was asked for.
    pub records: Vec<AuditRecord>,
    /// Give it back to get the next page; absent on the last one.
    pub next_cursor: Option<String>,
    /// Up to which record the page was looked for, whatever the filter let through. As a cursor
    /// with the oldest first: goes on with what is written after it.
    #[serde(default)]
    pub through: i64,
}

/// Answer to `audit.hashes`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditHashes {
    /// Of those that are there: number and hash, in order.
    pub records: Vec<RecordHash>,
    /// Records up to this one were dropped by retention (0: none).
    pub dropped_through: i64,
    /// The newest record.
    pub head: RecordHash,
    /// The database that they are in, as an absolute path.
    pub database: String,
}

/// A record's place in the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordHash {
    /// Its number.
    pub seq: i64,
    /// Its hash, 64 hexadecimal digits.
    pub hash: String,
}

/// Answer to `audit.verify`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditVerdict {
    /// Rows checked.
    pub checked: u64,
    /// The first row whose hash, number or link is wrong; absent: the chain is whole.
    pub first_bad: Option<BadRecord>,
    /// What is wrong, in order: at most [`MAX_BAD_RECORDS`] of the rows, and what is missing at either end. A
    /// row is here once for each thing that is wrong with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bad: Vec<BadRecord>,
    /// How much is wrong, with what `bad` has no room for.
    #[serde(default)]
    pub bad_count: u64,
    /// The last good row's hash: the chain's head, if nothing is wrong.
    pub head: Option<String>,
    /// What is wrong with the database beside the rows, for a person: its schema is not termd's, or an
    /// index or a page is damaged. Listings may then leave records out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database_fault: Option<String>,
}

/// Most faults of rows that an answer names: a chain that was changed throughout has one for each row.
pub const MAX_BAD_RECORDS: usize = 100;

/// A row that breaks the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadRecord {
    /// Its number.
    pub seq: i64,
    /// What is wrong with it, for a person.
    pub reason: String,
}

/// Params of `audit.list`: a page of records.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListAudit {
    /// Which records; absent: all.
    pub filter: Option<AuditFilter>,
    /// From an earlier page.
    pub cursor: Option<String>,
    /// Records a page, 1 to 1,000; absent: 100.
    pub limit: Option<u32>,
    /// Absent: the newest first.
    pub order: Option<AuditOrder>,
    /// With the oldest first: how long a page that would be empty waits for a record that the filter
    /// lets through, in milliseconds, at most a minute; absent: 0.
    pub wait_ms: Option<u64>,
}

/// Params of `audit.hashes`: the hashes of records, to compare with the anchors in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadAuditHashes {
    /// The records' numbers, at most [`MAX_HASHES`].
    pub records: Vec<i64>,
}

/// Params of `audit.verify`: checks the whole chain.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyAudit {}
