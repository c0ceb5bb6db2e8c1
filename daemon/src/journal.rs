//! The head of the audit chain, sent to the journal: a process that writes the database cannot change
//! it there.
//!
//! An entry is one datagram of `FIELD=value` lines
//! (<https://systemd.io/JOURNAL_NATIVE_PROTOCOL/>). The journal itself adds `_UID`, `_PID` and `_EXE`,
//! so a sender cannot choose them.

use std::convert::Infallible;
use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::Duration;

use termd_proto::audit::{ANCHOR_MESSAGE_ID, RecordHash};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::store::AuditHead;

/// The socket of journald.
const JOURNAL_SOCKET: &str = "/run/systemd/journal/socket";
/// The pause between two entries while the chain grows. The records of one pause can be cut off
/// unnoticed.
const ANCHOR_PERIOD: Duration = Duration::from_mins(1);

/// Sends the head each minute, and by [`AnchorKeeper::last`] at the end.
#[derive(Debug)]
pub struct AnchorKeeper {
    socket: PathBuf,
    head: AuditHead,
    sent: Option<RecordHash>,
    is_failing: bool,
}

impl AnchorKeeper {
    /// A keeper for this chain and this machine's journal.
    pub fn new(head: AuditHead) -> Self {
        Self {
            socket: PathBuf::from(JOURNAL_SOCKET),
            head,
            sent: None,
            is_failing: false,
        }
    }

    /// Sends the head now and then each minute, until the future is dropped.
    /// [`last`](Self::last) is to be called after that.
    pub async fn run(&mut self) -> Infallible {
        let mut ticks = interval_at(Instant::now() + ANCHOR_PERIOD, ANCHOR_PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            self.send_head();
            ticks.tick().await;
        }
    }

    /// Sends the last head of a store that is closed.
    pub fn last(mut self) {
        self.send_head();
    }

    fn send_head(&mut self) {
        let newest = self.head.newest();
        if newest.seq == 0 || self.sent.as_ref() == Some(&newest) {
            return;
        }
        let entry = anchor_entry(self.head.database(), &newest);
        match send(&self.socket, &entry) {
            Ok(()) => {
                self.sent = Some(newest);
                self.is_failing = false;
            }
            Err(error) if !self.is_failing && error.kind() == io::ErrorKind::NotFound => {
                self.is_failing = true;
                tracing::info!(
                    "there is no journal: the audit chain's head is in the database alone"
                );
            }
            Err(error) if !self.is_failing => {
                self.is_failing = true;
                tracing::warn!(%error, "the audit chain's head is not in the journal: what is cut off its end will not be missed");
            }
            Err(_) => {}
        }
    }
}

fn send(socket: &Path, entry: &[u8]) -> io::Result<()> {
    let sender = UnixDatagram::unbound()?;
    // A full socket is an error, not a wait: the next entry follows in a minute.
    sender.set_nonblocking(true)?;
    sender.send_to(entry, socket).map(|_| ())
}

/// The journal entry for the head of a chain.
fn anchor_entry(database: &Path, head: &RecordHash) -> Vec<u8> {
    let message = format!("the audit chain is at record {}, {}", head.seq, head.hash);
    let database = database.to_string_lossy();
    let fields = [
        ("MESSAGE", message.as_str()),
        ("MESSAGE_ID", ANCHOR_MESSAGE_ID),
        // sd-daemon(3): 5 is notice.
        ("PRIORITY", "5"),
        ("SYSLOG_IDENTIFIER", "termd"),
        ("TERMD_AUDIT_SEQ", &head.seq.to_string()),
        ("TERMD_AUDIT_HASH", &head.hash),
        ("TERMD_DATABASE", &database),
    ];
    let mut entry = Vec::new();
    for (name, value) in fields {
        put_field(&mut entry, name, value);
    }
    entry
}

/// Adds a field. A value with a line end is written with its length.
fn put_field(entry: &mut Vec<u8>, name: &str, value: &str) {
    entry.extend_from_slice(name.as_bytes());
    if value.contains('\n') {
        entry.push(b'\n');
        entry.extend_from_slice(&(value.len() as u64).to_le_bytes());
    } else {
        entry.push(b'=');
    }
    entry.extend_from_slice(value.as_bytes());
    entry.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> RecordHash {
        RecordHash {
            seq: 12,
            hash: "ab".repeat(32),
        }
    }

    #[test]
    fn an_entry_has_its_fields_and_no_name_can_forge_another() {
        let entry = anchor_entry(Path::new("/a/b.sqlite"), &head());
        let text = String::from_utf8(entry).unwrap();
        assert!(text.contains("\nTERMD_AUDIT_SEQ=12\n"), "{text}");
        assert!(text.contains(&format!("\nTERMD_AUDIT_HASH={}\n", "ab".repeat(32))));
        assert!(text.contains("\nTERMD_DATABASE=/a/b.sqlite\n"), "{text}");
        let entry = anchor_entry(Path::new("/a\nTERMD_AUDIT_SEQ=99"), &head());
        let forged = b"\nTERMD_DATABASE\n\x15\0\0\0\0\0\0\0/a\nTERMD_AUDIT_SEQ=99\n";
        assert!(
            entry.ends_with(forged),
            "{:?}",
            String::from_utf8_lossy(&entry)
        );
    }

    #[tokio::test]
    async fn the_head_is_told_once_and_again_when_it_has_moved() {
        let place = tempfile::tempdir().unwrap();
        let socket = place.path().join("journal");
        let journal = UnixDatagram::bind(&socket).unwrap();
        journal.set_nonblocking(true).unwrap();
        let store = crate::store::Store::open(place.path().join("termd.db"))
            .await
            .unwrap();
        let mut keeper = AnchorKeeper::new(store.watch_audit());
        keeper.socket = socket;
        let received = || {
            let mut buffer = vec![0; 4096];
            let length = journal.recv(&mut buffer).ok()?;
            let text = String::from_utf8_lossy(&buffer[..length]).into_owned();
            Some(
                text.split("TERMD_AUDIT_SEQ=")
                    .nth(1)?
                    .lines()
                    .next()?
                    .to_owned(),
            )
        };
        keeper.send_head();
        assert_eq!(received(), None, "there is no record yet");
        store.audit(entry()).await.unwrap();
        keeper.send_head();
        keeper.send_head();
        assert_eq!((received().as_deref(), received()), (Some("1"), None));
        store.audit(entry()).await.unwrap();
        store.close().await.unwrap();
        keeper.last();
        assert_eq!(received().as_deref(), Some("2"));
    }

    fn entry() -> crate::store::AuditEntry {
        crate::store::AuditEntry {
            at_ms: 1,
            action: crate::store::AuditAction::TerminalCreate,
            outcome: crate::store::AuditOutcome::Ok,
            actor: crate::store::own_actor(),
            terminal: None,
            detail: serde_json::Map::new(),
        }
    }
}
