//! What the audit tells a new server of its predecessors' questions.

use std::collections::HashSet;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use termd_proto::approval::{ApprovalId, ApprovalInfo, ApprovalState};
use termd_proto::audit::{AuditFilter, AuditOrder, AuditRecord};
use termd_proto::policy::Verdict;
use termd_proto::terminal::Owner;

use crate::approval::{PastDenial, SubjectHashes};
use crate::clock::now_ms;
use crate::store::{AuditAction, AuditOutcome, Store, StoreError};

/// How long a denial and an answer count.
const COUNTS_FOR_MS: i64 = 10 * 60 * 1_000;
/// The field of `approval.watch` that says whether somebody watches.
pub(super) const WATCHED: &str = "watched";
/// Records that are read at once.
const PAGE: u32 = 256;

/// Answers of the last ten minutes, and when somebody has last watched.
#[derive(Debug, Default)]
pub(super) struct PastAnswers {
    pub(super) denials: Vec<PastDenial>,
    /// How long ago a person has last answered.
    pub(super) answered: Option<Duration>,
    /// How long ago somebody has last watched.
    pub(super) watched: Option<Duration>,
    /// Whether the earlier server ended while somebody watched.
    pub(super) is_watch_open: bool,
}

/// What the record of a denial says of the question.
#[derive(Debug, Deserialize)]
struct DenialDetail {
    approval: ApprovalId,
    command: String,
    cwd: String,
    asked_by: Owner,
    #[serde(default)]
    program: Option<String>,
    #[serde(default)]
    reason: Option<String>,
    act: String,
    #[serde(default)]
    parts: Vec<String>,
    subject: String,
}

impl PastAnswers {
    /// Reads the records.
    pub(super) async fn read(store: &Store) -> Result<Self, StoreError> {
        let since = now_ms().saturating_sub(COUNTS_FOR_MS);
        let mut approvals = answers(store, AuditOutcome::Approved, since).await?;
        approvals.extend(answers(store, AuditOutcome::ApprovedForAlways, since).await?);
        let denied = answers(store, AuditOutcome::Denied, since).await?;
        let answered = approvals.iter().chain(&denied);
        let answered = answered.map(|record| record.at_ms).max();
        let lifted: HashSet<&str> = approvals.iter().filter_map(approval).collect();
        let denials = denied.iter().filter(|record| {
            let id = approval(record);
            id.is_none_or(|id| !lifted.contains(id))
        });
        let watch = last_watch(store).await?;
        let is_begun = |watch: &AuditRecord| watch.detail.get(WATCHED) == Some(&Value::Bool(true));
        let is_watch_open = watch.as_ref().is_some_and(is_begun);
        Ok(Self {
            denials: denials.filter_map(past_denial).collect(),
            answered: answered.map(ago),
            // Who watched when the earlier server ended has watched until now.
            watched: watch.map(|watch| {
                if is_watch_open {
                    Duration::ZERO
                } else {
                    ago(watch.at_ms)
                }
            }),
            is_watch_open,
        })
    }
}

fn ago(at_ms: i64) -> Duration {
    let age = now_ms().saturating_sub(at_ms);
    Duration::from_millis(u64::try_from(age).unwrap_or(0))
}

fn approval(record: &AuditRecord) -> Option<&str> {
    record.detail.get("approval")?.as_str()
}

/// The answers of one kind since then.
async fn answers(
    store: &Store,
    outcome: AuditOutcome,
    since_ms: i64,
) -> Result<Vec<AuditRecord>, StoreError> {
    let filter = AuditFilter {
        action: Some(AuditAction::ApprovalAnswer.as_str().to_owned()),
        outcome: Some(outcome.to_string()),
        since_ms: Some(since_ms),
        ..AuditFilter::default()
    };
    let (mut records, mut cursor) = (Vec::new(), None);
    loop {
        let order = AuditOrder::Newest;
        let page = store.list_audit(&filter, cursor.as_deref(), PAGE, order);
        let page = page.await?;
        records.extend(page.records);
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(records);
        }
    }
}

/// The last record of a watch.
async fn last_watch(store: &Store) -> Result<Option<AuditRecord>, StoreError> {
    let filter = AuditFilter {
        action: Some(AuditAction::ApprovalWatch.as_str().to_owned()),
        ..AuditFilter::default()
    };
    let page = store.list_audit(&filter, None, 1, AuditOrder::Newest);
    Ok(page.await?.records.into_iter().next())
}

/// The denial that a record tells of; `None` for a record of an older server, which has no hashes.
fn past_denial(record: &AuditRecord) -> Option<PastDenial> {
    let detail = Value::Object(record.detail.clone());
    let detail: DenialDetail = serde_json::from_value(detail).ok()?;
    Some(PastDenial {
        subject: SubjectHashes {
            act: detail.act,
            parts: detail.parts,
            whole: detail.subject,
        },
        info: ApprovalInfo {
            id: detail.approval,
            state: ApprovalState::Denied,
            command: detail.command,
            agent_line: None,
            after: String::new(),
            cwd: detail.cwd,
            env: Vec::new(),
            terminal: record.terminal.clone(),
            program: detail.program,
            asked_by: detail.asked_by,
            verdict: Verdict::Unknown,
            reason: detail.reason,
            asked_at_ms: record.at_ms,
            expires_at_ms: record.at_ms.saturating_add(COUNTS_FOR_MS),
            answered_by: Some(record.actor.clone()),
            answered_way: None,
            answered_at_ms: Some(record.at_ms),
            only_once: Some("it was denied before this server started".to_owned()),
            rule_at: None,
        },
        denied_at_ms: record.at_ms,
    })
}
