//! What each connection has typed into a terminal: length, hash and, where config.toml says so, the text.
//! Input is summed up, so that a record is written each second and not for each key.
//!
//! **Invariant:** of a secret, and of input to a tty that reads a line without echo, neither text, hash
//! nor length is kept. Text is kept only of input that was echoed.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use termd_proto::terminal::Owner;

/// Most bytes of text in one record: a screenful. Length and hash cover the rest.
const MAX_TEXT_BYTES: usize = 4_096;
/// Connections that are summed up at once. With more, the first one's sum is written early.
const MAX_TYPISTS: usize = 256;

/// What the terminal's task found when it wrote a piece of input.
#[derive(Debug, Default)]
pub struct WriteFacts {
    hidden: AtomicBool,
    unechoed: AtomicBool,
    refused: AtomicBool,
}

impl WriteFacts {
    /// Some of the input was written to a tty like this.
    pub fn written(&self, echo: bool, awaits_secret: bool) {
        if !echo {
            self.unechoed.store(true, Ordering::Release);
        }
        if awaits_secret {
            self.hidden.store(true, Ordering::Release);
        }
    }

    /// None or no more of the input will be written.
    pub fn refused(&self) {
        self.refused.store(true, Ordering::Release);
    }
}

/// A piece of input on its way.
#[derive(Debug)]
pub struct AuditedInput {
    pub bytes: Vec<u8>,
    /// How many of the bytes the tty has taken.
    pub taken: Arc<AtomicU64>,
    pub facts: Arc<WriteFacts>,
    /// The caller says that it is a secret.
    pub secret: bool,
    /// In milliseconds since the epoch.
    pub at_ms: i64,
}

/// What the audit keeps of input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum InputLog {
    /// Length and hash.
    #[default]
    Sums,
    /// The text too, where the tty echoed it.
    Text,
}

/// One connection's input since its last record.
#[derive(Debug)]
struct ConnectionInput {
    actor: Owner,
    waiting: VecDeque<AuditedInput>,
    hasher: Sha256,
    bytes: u64,
    inputs: u64,
    hidden: u64,
    from_ms: Option<i64>,
    text: Vec<u8>,
}

/// A sum for the audit.
#[derive(Debug, Clone, PartialEq)]
pub struct InputSum {
    pub actor: Owner,
    /// `bytes`, `sha256`, `inputs`, `hidden`, `from_ms`, `text`.
    pub detail: Map<String, Value>,
}

/// The input of one terminal.
#[derive(Debug, Default)]
pub struct InputAudit {
    log: InputLog,
    by_connection: BTreeMap<u64, ConnectionInput>,
    /// Sums that are complete and not yet recorded, oldest first.
    unwritten: VecDeque<InputSum>,
    /// A task will record them.
    is_awaited: bool,
}

impl InputAudit {
    pub fn set_log(&mut self, log: InputLog) {
        self.log = log;
    }

    /// Counts input that is on its way. True if no task records the sums yet: the caller must start
    /// one.
    pub fn add(&mut self, connection: u64, actor: &Owner, piece: AuditedInput) -> bool {
        if self.by_connection.len() >= MAX_TYPISTS
            && !self.by_connection.contains_key(&connection)
            && let Some((_, first)) = self.by_connection.pop_first()
        {
            self.unwritten.extend(first.sum());
        }
        let input = self
            .by_connection
            .entry(connection)
            .or_insert_with(|| ConnectionInput::of(actor.clone()));
        input.waiting.push_back(piece);
        // Bytes that the tty has are not held longer than needed.
        input.fold(self.log, Fold::Settled);
        !std::mem::replace(&mut self.is_awaited, true)
    }

    /// Takes all sums that are to be recorded. With `last` the terminal takes no more input, and what
    /// waits counts as far as it was taken.
    pub fn take(&mut self, last: bool) -> VecDeque<InputSum> {
        let fold = if last { Fold::All } else { Fold::Settled };
        for input in self.by_connection.values_mut() {
            input.fold(self.log, fold);
        }
        let sums = self
            .by_connection
            .values_mut()
            .filter_map(ConnectionInput::take_sum);
        self.unwritten.extend(sums);
        self.by_connection
            .retain(|_, input| !input.waiting.is_empty());
        std::mem::take(&mut self.unwritten)
    }

    /// Puts back sums that could not be recorded. They come first the next time.
    pub fn put_back(&mut self, sums: VecDeque<InputSum>) {
        let later = std::mem::replace(&mut self.unwritten, sums);
        self.unwritten.extend(later);
    }

    /// Whether sums could not be recorded.
    pub fn is_behind(&self) -> bool {
        !self.unwritten.is_empty()
    }

    /// Whether the task that records has nothing left to do, and ends.
    pub fn is_done(&mut self) -> bool {
        self.is_awaited = !(self.by_connection.is_empty() && self.unwritten.is_empty());
        !self.is_awaited
    }
}

/// How much of the input on its way is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fold {
    /// What the tty has taken, or will never take.
    Settled,
    /// Everything, as far as the tty has taken it.
    All,
}

impl ConnectionInput {
    fn of(actor: Owner) -> Self {
        Self {
            actor,
            waiting: VecDeque::new(),
            hasher: Sha256::new(),
            bytes: 0,
            inputs: 0,
            hidden: 0,
            from_ms: None,
            text: Vec::new(),
        }
    }

    fn fold(&mut self, log: InputLog, fold: Fold) {
        while let Some(piece) = self.waiting.front() {
            let taken = usize::try_from(piece.taken.load(Ordering::Acquire)).unwrap_or(usize::MAX);
            let is_settled =
                taken >= piece.bytes.len() || piece.facts.refused.load(Ordering::Acquire);
            if fold == Fold::Settled && !is_settled {
                return;
            }
            if let Some(piece) = self.waiting.pop_front() {
                let written = piece.bytes.get(..taken).unwrap_or(&piece.bytes);
                if !written.is_empty() {
                    self.count(&piece, written, log);
                }
            }
        }
    }

    fn count(&mut self, piece: &AuditedInput, written: &[u8], log: InputLog) {
        self.from_ms.get_or_insert(piece.at_ms);
        if piece.secret || piece.facts.hidden.load(Ordering::Acquire) {
            self.hidden += 1;
            return;
        }
        self.inputs += 1;
        self.bytes += written.len() as u64;
        self.hasher.update(written);
        if log == InputLog::Text && !piece.facts.unechoed.load(Ordering::Acquire) {
            let room = MAX_TEXT_BYTES
                .saturating_sub(self.text.len())
                .min(written.len());
            self.text
                .extend_from_slice(written.get(..room).unwrap_or_default());
        }
    }

    fn sum(mut self) -> Option<InputSum> {
        self.fold(InputLog::Sums, Fold::All);
        self.take_sum()
    }

    fn take_sum(&mut self) -> Option<InputSum> {
        let from_ms = self.from_ms.take()?;
        let mut detail = Map::new();
        detail.insert("from_ms".to_owned(), from_ms.into());
        if self.inputs > 0 {
            let hash = format!("{:x}", std::mem::take(&mut self.hasher).finalize());
            detail.insert("inputs".to_owned(), self.inputs.into());
            detail.insert("bytes".to_owned(), self.bytes.into());
            detail.insert("sha256".to_owned(), hash.into());
        }
        if self.hidden > 0 {
            detail.insert("hidden".to_owned(), self.hidden.into());
        }
        if !self.text.is_empty() {
            let text = String::from_utf8_lossy(&self.text).into_owned();
            detail.insert("text".to_owned(), text.into());
        }
        *self = Self {
            waiting: std::mem::take(&mut self.waiting),
            ..Self::of(self.actor.clone())
        };
        Some(InputSum {
            actor: self.actor.clone(),
            detail,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::own_actor;

    fn with_log(log: InputLog) -> InputAudit {
        let mut audit = InputAudit::default();
        audit.set_log(log);
        audit
    }

    fn piece(text: &str) -> AuditedInput {
        AuditedInput {
            bytes: text.as_bytes().to_vec(),
            taken: Arc::new(AtomicU64::new(text.len() as u64)),
            facts: Arc::default(),
            secret: false,
            at_ms: 7,
        }
    }

    fn sha256(text: &str) -> String {
        format!("{:x}", Sha256::digest(text.as_bytes()))
    }

    #[test]
    fn keys_are_summed_up_in_order_a_connection_each() {
        let mut audit = with_log(InputLog::Text);
        assert!(audit.add(1, &own_actor(), piece("l")), "nobody comes yet");
        assert!(!audit.add(1, &own_actor(), piece("s\r")));
        audit.add(2, &own_actor(), piece("x"));
        let sums = audit.take(false);
        assert_eq!(sums.len(), 2);
        assert_eq!(sums[0].detail["bytes"], 3);
        assert_eq!(sums[0].detail["inputs"], 2);
        assert_eq!(sums[0].detail["sha256"], sha256("ls\r"));
        assert_eq!(sums[0].detail["text"], "ls\r");
        assert!(audit.is_done() && audit.take(false).is_empty());
        assert!(
            audit.add(1, &own_actor(), piece("again")),
            "nobody comes again"
        );
        assert_eq!(audit.take(false)[0].detail["sha256"], sha256("again"));
    }

    #[test]
    fn nothing_is_kept_of_a_secret_and_no_text_of_what_was_not_echoed() {
        let mut audit = with_log(InputLog::Text);
        let secret = AuditedInput {
            secret: true,
            ..piece("hunter2")
        };
        let hidden = piece("hunter3");
        hidden.facts.written(false, true);
        let unechoed = piece("raw");
        unechoed.facts.written(false, false);
        for piece in [secret, hidden, unechoed, piece("seen")] {
            audit.add(1, &own_actor(), piece);
        }
        let sums = audit.take(false);
        let detail = Value::from(sums[0].detail.clone());
        assert_eq!(
            (&detail["hidden"], &detail["bytes"]),
            (&2.into(), &7.into())
        );
        assert_eq!(detail["sha256"], sha256("rawseen"));
        assert_eq!(detail["text"], "seen");
        let mut audit = with_log(InputLog::Sums);
        audit.add(1, &own_actor(), piece("seen"));
        assert_eq!(audit.take(false)[0].detail.get("text"), None);
    }

    #[test]
    fn what_waits_counts_when_it_was_taken_and_what_was_refused_never() {
        let mut audit = InputAudit::default();
        let waiting = AuditedInput {
            taken: Arc::default(),
            ..piece("abc")
        };
        let taken = Arc::clone(&waiting.taken);
        let refused = AuditedInput {
            taken: Arc::default(),
            ..piece("no")
        };
        refused.facts.refused();
        audit.add(1, &own_actor(), refused);
        audit.add(1, &own_actor(), waiting);
        assert!(audit.take(false).is_empty() && !audit.is_done());
        taken.store(2, Ordering::Release);
        assert!(audit.take(false).is_empty());
        let last = audit.take(true);
        assert_eq!(last[0].detail["sha256"], sha256("ab"));
        assert!(audit.is_done());
    }

    #[test]
    fn what_could_not_be_recorded_comes_again_and_all_of_it_is_bounded() {
        let mut audit = with_log(InputLog::Text);
        for connection in 0..600 {
            audit.add(connection, &own_actor(), piece("x"));
        }
        assert!(audit.by_connection.len() <= MAX_TYPISTS);
        let sums = audit.take(false);
        assert_eq!(sums.len(), 600);
        audit.put_back(sums);
        assert!(audit.is_behind() && !audit.is_done());
        assert_eq!(audit.take(false).len(), 600);
        audit.add(1, &own_actor(), piece(&"x".repeat(100_000)));
        let sums = audit.take(false);
        assert_eq!(sums[0].detail["bytes"], 100_000);
        assert_eq!(
            sums[0].detail["text"].as_str().map(str::len),
            Some(MAX_TEXT_BYTES)
        );
    }
}
