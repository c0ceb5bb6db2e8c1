//! `audit.*`: who did what.

use jsonrpsee::core::RpcResult;
use jsonrpsee::proc_macros::rpc;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::TerminalId;
use crate::terminal::Owner;

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
    /// Not before this time, in milliseconds since the epoch.
    pub since_ms: Option<i64>,
    /// Before this time, in milliseconds since the epoch.
    pub until_ms: Option<i64>,
}

/// One page of `audit.list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditPage {
    /// Newest first.
    pub records: Vec<AuditRecord>,
    /// Give it back to get the next page; absent on the last one.
    pub next_cursor: Option<String>,
}

/// Answer to `audit.verify`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditVerdict {
    /// Rows checked.
    pub checked: u64,
    /// The first row whose hash, number or link is wrong; absent: the chain is whole.
    pub first_bad: Option<BadRecord>,
    /// The last good row's hash: the chain's head, if nothing is wrong.
    pub head: Option<String>,
}

/// A row that breaks the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadRecord {
    /// Its number.
    pub seq: i64,
    /// What is wrong with it, for a person.
    pub reason: String,
}

/// `audit.*`: who did what.
#[rpc(server, client, namespace = "audit", namespace_separator = ".")]
pub trait Audit {
    /// Lists audit records, newest first, `limit` a page (default 100, at the most 1,000).
    #[method(name = "list", param_kind = map)]
    async fn list(
        &self,
        filter: Option<AuditFilter>,
        cursor: Option<String>,
        limit: Option<u32>,
    ) -> RpcResult<AuditPage>;

    /// Checks the whole chain.
    #[method(name = "verify")]
    async fn verify(&self) -> RpcResult<AuditVerdict>;
}
