//! What no record tells of yet: what was refused and what was done while records could not be written.
//! Pure.
//!
//! The records of what was done wait here, within a bound, and beyond it they are counted. The numbers
//! stand in the reserve too, so that a server's death costs the records, and not the fact.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::store::audit::action::AuditAction;
use crate::store::audit::entry::AuditEntry;
use crate::store::audit::outcome::AuditOutcome;

/// Records of refusals and endings that are written while the disk is full.
pub(crate) const MAX_RECORDS: u32 = 32;
/// Deferred records that wait. Each is about a kilobyte.
pub(crate) const MAX_DEFERRED: usize = 256;
/// The longest details that the record of a refusal repeats, in bytes of JSON.
const MAX_REPEATED_BYTES: usize = 2_048;

/// What no record tells of yet.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Unrecorded {
    /// Actions that were refused.
    refused: u64,
    /// Refusals that have a record of their own.
    refused_recorded: u32,
    /// Actions that were done without a record.
    deferred: u64,
    /// When the first of them was done, in milliseconds since the epoch.
    first_deferred_ms: i64,
    /// When the last one was done.
    last_deferred_ms: i64,
    /// Records of refusals and endings in the space of the reserve.
    #[serde(skip)]
    written: u32,
    /// The records that wait, oldest first.
    #[serde(skip)]
    entries: Vec<AuditEntry>,
}

impl Unrecorded {
    pub(crate) fn is_empty(&self) -> bool {
        self.refused == 0 && self.deferred == 0
    }

    /// Counts a refusal.
    pub(crate) fn refuse(&mut self) {
        self.refused += 1;
    }

    /// Whether one more record may be written while the disk is full.
    pub(crate) fn may_write(&self) -> bool {
        self.written < MAX_RECORDS
    }

    /// Counts a record that was written while the disk is full.
    pub(crate) fn written(&mut self, action: AuditAction) {
        self.written += 1;
        self.refused_recorded += u32::from(action == AuditAction::AuditRefused);
    }

    /// Whether the record of something that was done waits.
    pub(crate) fn has_deferred(&self) -> bool {
        self.deferred > 0
    }

    /// Something is done without a record, which is kept for later.
    pub(crate) fn defer(&mut self, entry: AuditEntry) {
        if self.deferred == 0 {
            self.first_deferred_ms = entry.at_ms;
        }
        self.deferred += 1;
        self.last_deferred_ms = entry.at_ms;
        if self.entries.len() < MAX_DEFERRED {
            self.entries.push(entry);
        }
    }

    /// The records to be written now: those that waited, and one that says how many there were.
    pub(crate) fn records(&self, now_ms: i64) -> Vec<AuditEntry> {
        let late = self.entries.iter().map(|entry| {
            let mut late = entry.clone();
            late.detail
                .insert("done_at_ms".to_owned(), entry.at_ms.into());
            AuditEntry {
                at_ms: now_ms,
                ..late
            }
        });
        late.chain([self.recovered(now_ms)]).collect()
    }

    fn recovered(&self, now_ms: i64) -> AuditEntry {
        let refused = [
            ("refused", Value::from(self.refused)),
            ("recorded", self.refused_recorded.into()),
        ];
        let mut entry = AuditEntry::own(now_ms, AuditAction::AuditRecovered, refused);
        if self.deferred > 0 {
            let deferred = [
                ("deferred", Value::from(self.deferred)),
                ("deferred_recorded", self.entries.len().into()),
                ("first_deferred_ms", self.first_deferred_ms.into()),
                ("last_deferred_ms", self.last_deferred_ms.into()),
            ];
            let deferred = deferred.map(|(name, value)| (name.to_owned(), value));
            entry.detail.extend(deferred);
        }
        entry
    }
}

/// The record that an action was refused for want of space.
pub(crate) fn refusal(entry: &AuditEntry) -> AuditEntry {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn kill(at_ms: i64) -> AuditEntry {
        AuditEntry::own(at_ms, AuditAction::TerminalKill, [])
    }

    #[test]
    fn what_waits_is_bounded_and_beyond_that_counted() {
        let mut unrecorded = Unrecorded::default();
        assert!(unrecorded.is_empty());
        let many = i64::try_from(MAX_DEFERRED).unwrap() + 44;
        for at_ms in 1..=many {
            unrecorded.defer(kill(at_ms));
        }
        unrecorded.refuse();
        let records = unrecorded.records(9_000);
        assert_eq!(records.len(), MAX_DEFERRED + 1);
        assert_eq!(records[1].detail["done_at_ms"], 2);
        assert!(records.iter().all(|record| record.at_ms == 9_000));
        let recovered = &records[MAX_DEFERRED];
        assert_eq!(recovered.action, AuditAction::AuditRecovered);
        let detail = &recovered.detail;
        assert_eq!(
            (&detail["refused"], &detail["recorded"]),
            (&1.into(), &0.into())
        );
        assert_eq!(detail["deferred"], many);
        assert_eq!(detail["deferred_recorded"], MAX_DEFERRED);
        assert_eq!(detail["first_deferred_ms"], 1);
        assert_eq!(detail["last_deferred_ms"], many);
    }

    #[test]
    fn the_next_server_knows_the_numbers() {
        let mut unrecorded = Unrecorded::default();
        unrecorded.defer(kill(7));
        let noted = serde_json::to_vec(&unrecorded).unwrap();
        let known: Unrecorded = serde_json::from_slice(&noted).unwrap();
        let records = known.records(9);
        assert_eq!(records.len(), 1, "the record itself is gone");
        assert_eq!(records[0].detail["deferred"], 1);
        assert_eq!(records[0].detail["deferred_recorded"], 0);
    }
}
