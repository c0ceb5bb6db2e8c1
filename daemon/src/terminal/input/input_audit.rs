//! What each connection has typed into a terminal lately: how much, its hash, and where config.toml
//! says so the text. Summed up so that a record is written a second, and not one a key.
//!
//! Promises: of a secret, and of what is written while the tty reads a line without showing it,
//! neither text, hash nor length is kept; text only of what was echoed. Pure but for the flags that
//! the terminal's task sets when it writes.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use termd_proto::terminal::Owner;

/// The most text that one record holds, in bytes: a screenful. The rest is in its length and hash.
const MAX_TEXT_BYTES: usize = 4_096;
/// Connections summed up at once; with more of them the one that came first is written early.
const MAX_TYPISTS: usize = 256;

/// What the terminal's task saw when it wrote a piece of input.
#[derive(Debug, Default)]
pub struct Seen {
    hidden: AtomicBool,
    unechoed: AtomicBool,
    refused: AtomicBool,
}

impl Seen {
    /// Some of it was written to a tty like this.
    pub fn written(&self, echo: bool, awaits_secret: bool) {
        if !echo {
            self.unechoed.store(true, Ordering::Release);
        }
        if awaits_secret {
            self.hidden.store(true, Ordering::Release);
        }
    }

    /// None of it (or no more of it) will be written.
    pub fn refused(&self) {
        self.refused.store(true, Ordering::Release);
    }
}

/// Input on its way, as the tally knows it.
#[derive(Debug)]
pub struct Piece {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// How many of them the tty has.
    pub taken: Arc<AtomicU64>,
    /// What it was like when it took them.
    pub seen: Arc<Seen>,
    /// Whoever typed says that it is a secret.
    pub secret: bool,
    /// When, in milliseconds since the epoch.
    pub at_ms: i64,
}

/// Whether the text is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum InputLog {
    /// How much, and its hash.
    #[default]
    Sums,
    /// The text too, where it was echoed.
    Text,
}

/// One connection's sum.
#[derive(Debug)]
struct Tally {
    actor: Owner,
    waiting: VecDeque<Piece>,
    hasher: Sha256,
    bytes: u64,
    inputs: u64,
    hidden: u64,
    from_ms: Option<i64>,
    text: Vec<u8>,
}

/// A sum to be recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Sum {
    /// Who typed.
    pub actor: Owner,
    /// `bytes`, `sha256`, `inputs`, `hidden`, `from_ms`, `text`.
    pub detail: Map<String, Value>,
}

/// The sums of a terminal.
#[derive(Debug, Default)]
pub struct Tallies {
    log: InputLog,
    by_connection: BTreeMap<u64, Tally>,
    /// Sums that are complete and not yet on the disk, oldest first.
    unwritten: VecDeque<Sum>,
    /// Somebody will come for them.
    is_awaited: bool,
}

impl Tallies {
    /// From now on with the text or without.
    pub fn set_log(&mut self, log: InputLog) {
        self.log = log;
    }

    /// Input of a connection is on its way. Whether nobody will come for the sums yet: whoever is
    /// told so sees to it.
    pub fn add(&mut self, connection: u64, actor: &Owner, piece: Piece) -> bool {
        if self.by_connection.len() >= MAX_TYPISTS
            && !self.by_connection.contains_key(&connection)
            && let Some((_, first)) = self.by_connection.pop_first()
        {
            self.unwritten.extend(first.sum());
        }
        let tally = self
            .by_connection
            .entry(connection)
            .or_insert_with(|| Tally::of(actor.clone()));
        tally.waiting.push_back(piece);
        // What the tty has is not held any longer than it must be.
        tally.fold(self.log, Fold::Settled);
        !std::mem::replace(&mut self.is_awaited, true)
    }

    /// Completes the sums of what was written, and gives all that are to be recorded. `last`: the
    /// terminal takes nothing any more, so that what waits counts as far as it was taken.
    pub fn take(&mut self, last: bool) -> VecDeque<Sum> {
        let fold = if last { Fold::All } else { Fold::Settled };
        for tally in self.by_connection.values_mut() {
            tally.fold(self.log, fold);
        }
        let sums = self.by_connection.values_mut().filter_map(Tally::take_sum);
        self.unwritten.extend(sums);
        self.by_connection
            .retain(|_, tally| !tally.waiting.is_empty());
        std::mem::take(&mut self.unwritten)
    }

    /// These could not be recorded: they come first the next time.
    pub fn put_back(&mut self, sums: VecDeque<Sum>) {
        let later = std::mem::replace(&mut self.unwritten, sums);
        self.unwritten.extend(later);
    }

    /// Whether something could not be recorded.
    pub fn is_behind(&self) -> bool {
        !self.unwritten.is_empty()
    }

    /// Whoever came for the sums comes again only where something is left.
    pub fn is_done(&mut self) -> bool {
        self.is_awaited = !(self.by_connection.is_empty() && self.unwritten.is_empty());
        !self.is_awaited
    }
}

/// How much of what is on its way is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fold {
    /// What the tty has, or never will.
    Settled,
    /// Everything, as far as the tty has it.
    All,
}

impl Tally {
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
                taken >= piece.bytes.len() || piece.seen.refused.load(Ordering::Acquire);
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

    fn count(&mut self, piece: &Piece, written: &[u8], log: InputLog) {
        self.from_ms.get_or_insert(piece.at_ms);
        if piece.secret || piece.seen.hidden.load(Ordering::Acquire) {
            self.hidden += 1;
            return;
        }
        self.inputs += 1;
        self.bytes += written.len() as u64;
        self.hasher.update(written);
        if log == InputLog::Text && !piece.seen.unechoed.load(Ordering::Acquire) {
            let room = MAX_TEXT_BYTES
                .saturating_sub(self.text.len())
                .min(written.len());
            self.text
                .extend_from_slice(written.get(..room).unwrap_or_default());
        }
    }

    fn sum(mut self) -> Option<Sum> {
        self.fold(InputLog::Sums, Fold::All);
        self.take_sum()
    }

    fn take_sum(&mut self) -> Option<Sum> {
        let from_ms = self.from_ms.take()?;
        let mut detail = Map::new();
        detail.insert("from_ms".to_owned(), from_ms.into());
        if self.inputs > 0 {
            let hash = hexadecimal(&std::mem::take(&mut self.hasher).finalize());
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
        Some(Sum {
            actor: self.actor.clone(),
            detail,
        })
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::own_actor;

    fn with_log(log: InputLog) -> Tallies {
        let mut tallies = Tallies::default();
        tallies.set_log(log);
        tallies
    }

    fn piece(text: &str) -> Piece {
        Piece {
            bytes: text.as_bytes().to_vec(),
            taken: Arc::new(AtomicU64::new(text.len() as u64)),
            seen: Arc::default(),
            secret: false,
            at_ms: 7,
        }
    }

    fn sha256(text: &str) -> String {
        hexadecimal(&Sha256::digest(text.as_bytes()))
    }

    #[test]
    fn keys_are_summed_up_in_order_a_connection_each() {
        let mut tallies = with_log(InputLog::Text);
        assert!(tallies.add(1, &own_actor(), piece("l")), "nobody comes yet");
        assert!(!tallies.add(1, &own_actor(), piece("s\r")));
        tallies.add(2, &own_actor(), piece("x"));
        let sums = tallies.take(false);
        assert_eq!(sums.len(), 2);
        assert_eq!(sums[0].detail["bytes"], 3);
        assert_eq!(sums[0].detail["inputs"], 2);
        assert_eq!(sums[0].detail["sha256"], sha256("ls\r"));
        assert_eq!(sums[0].detail["text"], "ls\r");
        assert!(tallies.is_done() && tallies.take(false).is_empty());
        assert!(
            tallies.add(1, &own_actor(), piece("again")),
            "nobody comes again"
        );
        assert_eq!(tallies.take(false)[0].detail["sha256"], sha256("again"));
    }

    #[test]
    fn nothing_is_kept_of_a_secret_and_no_text_of_what_was_not_echoed() {
        let mut tallies = with_log(InputLog::Text);
        let secret = Piece {
            secret: true,
            ..piece("hunter2")
        };
        let hidden = piece("hunter3");
        hidden.seen.written(false, true);
        let unechoed = piece("raw");
        unechoed.seen.written(false, false);
        for piece in [secret, hidden, unechoed, piece("seen")] {
            tallies.add(1, &own_actor(), piece);
        }
        let sums = tallies.take(false);
        let detail = Value::from(sums[0].detail.clone());
        assert_eq!(
            (&detail["hidden"], &detail["bytes"]),
            (&2.into(), &7.into())
        );
        assert_eq!(detail["sha256"], sha256("rawseen"));
        assert_eq!(detail["text"], "seen");
        let mut tallies = with_log(InputLog::Sums);
        tallies.add(1, &own_actor(), piece("seen"));
        assert_eq!(tallies.take(false)[0].detail.get("text"), None);
    }

    #[test]
    fn what_waits_counts_when_it_was_taken_and_what_was_refused_never() {
        let mut tallies = Tallies::default();
        let waiting = Piece {
            taken: Arc::default(),
            ..piece("abc")
        };
        let taken = Arc::clone(&waiting.taken);
        let refused = Piece {
            taken: Arc::default(),
            ..piece("no")
        };
        refused.seen.refused();
        tallies.add(1, &own_actor(), refused);
        tallies.add(1, &own_actor(), waiting);
        assert!(tallies.take(false).is_empty() && !tallies.is_done());
        taken.store(2, Ordering::Release);
        assert!(tallies.take(false).is_empty());
        let last = tallies.take(true);
        assert_eq!(last[0].detail["sha256"], sha256("ab"));
        assert!(tallies.is_done());
    }

    #[test]
    fn what_could_not_be_recorded_comes_again_and_all_of_it_is_bounded() {
        let mut tallies = with_log(InputLog::Text);
        for connection in 0..600 {
            tallies.add(connection, &own_actor(), piece("x"));
        }
        assert!(tallies.by_connection.len() <= MAX_TYPISTS);
        let sums = tallies.take(false);
        assert_eq!(sums.len(), 600);
        tallies.put_back(sums);
        assert!(tallies.is_behind() && !tallies.is_done());
        assert_eq!(tallies.take(false).len(), 600);
        tallies.add(1, &own_actor(), piece(&"x".repeat(100_000)));
        let sums = tallies.take(false);
        assert_eq!(sums[0].detail["bytes"], 100_000);
        assert_eq!(
            sums[0].detail["text"].as_str().map(str::len),
            Some(MAX_TEXT_BYTES)
        );
    }
}
