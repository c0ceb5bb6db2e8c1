//! The chain's heads in the journal, compared with the chain. Pure.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use termd_proto::audit::{ANCHOR_MESSAGE_ID, AuditHashes};

/// A head of a chain, from the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Anchor {
    pub(super) seq: i64,
    pub(super) hash: String,
    pub(super) database: String,
    /// The journal's own time of the entry, in milliseconds since the epoch.
    pub(super) at_ms: i64,
}

/// One line of `journalctl -o json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    /// A head, sent by termd.
    Anchor(Anchor),
    /// The same fields, sent by another program or user.
    Foreign,
    /// Another entry, or an unreadable one.
    Other,
}

/// The result of the comparison.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    /// Heads that were compared with the chain.
    pub(super) compared: u64,
    /// Heads of records that retention has dropped since.
    pub(super) dropped: u64,
    /// Heads of other databases.
    pub(super) elsewhere: u64,
    /// Entries that termd did not write.
    pub(super) foreign: u64,
    /// The newest record that was compared.
    pub(super) newest: Option<i64>,
    /// The journal's time of that head, in milliseconds since the epoch.
    pub(super) newest_at_ms: Option<i64>,
    /// The first records that differ, at most [`MAX_NAMED`].
    pub(super) bad: Vec<BadAnchor>,
    /// How many records differ.
    pub(super) bad_count: u64,
}

/// Most bad records in a report.
pub(super) const MAX_NAMED: usize = 20;

/// A record that differs from the journal.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct BadAnchor {
    pub(super) seq: i64,
    pub(super) at_ms: i64,
    pub(super) reason: String,
}

/// Reads a line. Only the journal itself sets fields that begin with `_` (systemd.journal-fields(7));
/// a sender can choose all others.
pub(super) fn entry(line: &str, own_uid: u32) -> Entry {
    let Ok(Value::Object(fields)) = serde_json::from_str(line) else {
        return Entry::Other;
    };
    let field = |name: &str| fields.get(name).and_then(text_of);
    if field("MESSAGE_ID").as_deref() != Some(ANCHOR_MESSAGE_ID) {
        return Entry::Other;
    }
    let is_own = field("_UID").is_some_and(|uid| uid == own_uid.to_string());
    let is_termd = field("_EXE").is_some_and(|exe| {
        let name = exe.rsplit('/').next().unwrap_or_default();
        // The binary was replaced while it ran.
        name.strip_suffix(" (deleted)").unwrap_or(name) == "termd"
    });
    let is_native = field("_TRANSPORT").is_none_or(|transport| transport == "journal");
    if !(is_own && is_termd && is_native) {
        return Entry::Foreign;
    }
    let anchor = || {
        let micros: i64 = field("__REALTIME_TIMESTAMP")?.parse().ok()?;
        Some(Anchor {
            seq: field("TERMD_AUDIT_SEQ")?.parse().ok()?,
            hash: field("TERMD_AUDIT_HASH")?,
            database: field("TERMD_DATABASE")?,
            at_ms: micros / 1_000,
        })
    };
    anchor().map_or(Entry::Other, Entry::Anchor)
}

/// A field's text. In JSON, a field that is not UTF-8 is a list of bytes.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(bytes) => {
            let bytes = bytes.iter().map(|byte| u8::try_from(byte.as_u64()?).ok());
            String::from_utf8(bytes.collect::<Option<_>>()?).ok()
        }
        _ => None,
    }
}

impl Report {
    /// Compares anchors of the chain's database with the hashes of their records.
    pub(super) fn compare(&mut self, anchors: &[Anchor], chain: &AuditHashes) {
        let known: BTreeMap<i64, &str> = (chain.records.iter())
            .map(|record| (record.seq, record.hash.as_str()))
            .collect();
        for anchor in anchors {
            if anchor.database != chain.database {
                self.elsewhere += 1;
                continue;
            }
            if anchor.seq <= chain.dropped_through {
                self.dropped += 1;
                continue;
            }
            self.compared += 1;
            if self.newest.is_none_or(|newest| newest <= anchor.seq) {
                self.newest = Some(anchor.seq);
                self.newest_at_ms = Some(anchor.at_ms);
            }
            let reason = match known.get(&anchor.seq) {
                Some(hash) if *hash == anchor.hash => continue,
                Some(_) => "it is not the one that the journal was told of".to_owned(),
                None => format!(
                    "the journal was told of it, and it is gone: the chain ends at record {}",
                    chain.head.seq
                ),
            };
            self.bad_count += 1;
            if self.bad.len() < MAX_NAMED {
                self.bad.push(BadAnchor {
                    seq: anchor.seq,
                    at_ms: anchor.at_ms,
                    reason,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use termd_proto::audit::RecordHash;

    use super::*;

    fn line(change: impl FnOnce(&mut serde_json::Map<String, Value>)) -> String {
        let Value::Object(mut fields) = json!({
            "MESSAGE_ID": ANCHOR_MESSAGE_ID, "TERMD_AUDIT_SEQ": "7", "TERMD_AUDIT_HASH": "aa",
            "TERMD_DATABASE": "/d", "_UID": "1000", "_EXE": "/usr/bin/termd",
            "_TRANSPORT": "journal", "__REALTIME_TIMESTAMP": "5000000",
        }) else {
            unreachable!()
        };
        change(&mut fields);
        Value::Object(fields).to_string()
    }

    #[test]
    fn only_what_the_journal_says_termd_wrote_counts() {
        let anchor = Anchor {
            seq: 7,
            hash: "aa".to_owned(),
            database: "/d".to_owned(),
            at_ms: 5_000,
        };
        let ours = Entry::Anchor(anchor);
        let set = |name: &str, value: Value| {
            let name = name.to_owned();
            line(move |fields| {
                fields.insert(name, value);
            })
        };
        let table = [
            (line(|_| {}), ours.clone()),
            (set("_EXE", json!("/x/termd (deleted)")), ours.clone()),
            (set("TERMD_DATABASE", json!([47, 100])), ours),
            (set("_UID", json!("1001")), Entry::Foreign),
            (set("_EXE", json!("/usr/bin/logger")), Entry::Foreign),
            (set("_EXE", json!("/usr/bin/not-termd")), Entry::Foreign),
            (set("_EXE", Value::Null), Entry::Foreign),
            (set("_TRANSPORT", json!("stdout")), Entry::Foreign),
            (set("TERMD_AUDIT_SEQ", json!("x")), Entry::Other),
            (set("TERMD_AUDIT_SEQ", json!([300])), Entry::Other),
            (set("MESSAGE_ID", json!("other")), Entry::Other),
            ("{".to_owned(), Entry::Other),
            ("[1]".to_owned(), Entry::Other),
        ];
        for (line, wanted) in table {
            assert_eq!(entry(&line, 1000), wanted, "{line}");
        }
    }

    #[test]
    fn what_is_missing_or_differs_is_named() {
        let anchor = |seq: i64, hash: &str, database: &str| Anchor {
            seq,
            hash: hash.to_owned(),
            database: database.to_owned(),
            at_ms: seq,
        };
        let chain = AuditHashes {
            records: vec![
                RecordHash {
                    seq: 5,
                    hash: "e".to_owned(),
                },
                RecordHash {
                    seq: 6,
                    hash: "f".to_owned(),
                },
            ],
            dropped_through: 2,
            head: RecordHash {
                seq: 6,
                hash: "f".to_owned(),
            },
            database: "/d".to_owned(),
        };
        let mut report = Report::default();
        report.compare(
            &[
                anchor(2, "b", "/d"),
                anchor(5, "e", "/d"),
                anchor(6, "x", "/d"),
                anchor(9, "i", "/d"),
                anchor(9, "i", "/other"),
            ],
            &chain,
        );
        let counts = (
            report.compared,
            report.dropped,
            report.elsewhere,
            report.bad_count,
        );
        assert_eq!(counts, (3, 1, 1, 2));
        assert_eq!((report.bad[0].seq, report.bad[1].seq), (6, 9));
        assert!(report.bad[1].reason.contains("ends at record 6"));
        assert_eq!(report.newest, Some(9));
    }
}
