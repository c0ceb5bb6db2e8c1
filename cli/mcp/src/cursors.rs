//! How far this client has read each terminal, and where it last typed.
//!
//! Reads go on where the last one ended, so that no output is skipped in silence. Waits look at the
//! output since the last read or send, so that they match no old output. A terminal's label and its id
//! lead to the same cursor.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use termd_proto::{Offset, TerminalId};

/// Most cursors. The cursor that was used longest ago goes first.
const MAX_CURSORS: usize = 4_096;

/// The client's place in one terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// The start of the next read.
    pub(crate) read: Offset,
    /// The end of the output when the client typed last.
    pub(crate) sent: Offset,
    /// The end of the last match that was told without its output. No wait matches before it.
    matched: Offset,
    /// A hash of each row of the last screen that the client saw, for a diff.
    pub(crate) screen: Option<Arc<[u64]>>,
}

impl Cursor {
    /// The start of the next wait.
    pub(crate) fn wait_from(&self) -> Offset {
        self.read.max(self.sent).max(self.matched)
    }
}

/// The cursors of all terminals.
#[derive(Debug, Default)]
pub(crate) struct Cursors {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    cursors: HashMap<TerminalId, (u64, Cursor)>,
    /// The number of uses.
    clock: u64,
}

impl Cursors {
    /// The client's place; the start in a terminal that the client has not touched.
    pub(crate) fn of(&self, id: &TerminalId) -> Cursor {
        let known = self.lock();
        known
            .cursors
            .get(id)
            .map_or_else(Cursor::default, |(_, cursor)| cursor.clone())
    }

    /// The next read starts here.
    pub(crate) fn set_read(&self, id: &TerminalId, read: Offset) {
        self.change(id, |cursor| cursor.read = read);
    }

    /// The client typed when the output ended here.
    pub(crate) fn set_sent(&self, id: &TerminalId, sent: Offset) {
        self.change(id, |cursor| cursor.sent = sent);
    }

    /// The client knows of a match that ended here, and has not read its output.
    pub(crate) fn set_matched(&self, id: &TerminalId, matched: Offset) {
        self.change(id, |cursor| cursor.matched = matched);
    }

    /// The client saw this screen.
    pub(crate) fn set_screen(&self, id: &TerminalId, rows: Arc<[u64]>) {
        self.change(id, |cursor| cursor.screen = Some(rows));
    }

    fn change(&self, id: &TerminalId, change: impl FnOnce(&mut Cursor)) {
        let mut known = self.lock();
        known.clock += 1;
        let now = known.clock;
        let entry = known.cursors.entry(id.clone()).or_default();
        entry.0 = now;
        change(&mut entry.1);
        if known.cursors.len() > MAX_CURSORS
            && let Some(oldest) = known
                .cursors
                .iter()
                .min_by_key(|(_, (used, _))| *used)
                .map(|(id, _)| id.clone())
        {
            known.cursors.remove(&oldest);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // No holder of the lock can panic half way.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_begins_at_the_last_read_send_or_match() {
        let cursors = Cursors::default();
        let id = TerminalId::from_random(1);
        assert_eq!(cursors.of(&id), Cursor::default());
        cursors.set_read(&id, Offset(5));
        cursors.set_sent(&id, Offset(9));
        cursors.set_screen(&id, [3].into());
        assert_eq!(cursors.of(&id).wait_from(), Offset(9));
        cursors.set_read(&id, Offset(12));
        assert_eq!(cursors.of(&id).wait_from(), Offset(12));
        cursors.set_matched(&id, Offset(15));
        assert_eq!(cursors.of(&id).wait_from(), Offset(15));
        assert_eq!(cursors.of(&id).screen, Some([3].into()));
    }

    #[test]
    fn the_one_used_longest_ago_is_forgotten() {
        let cursors = Cursors::default();
        for number in 0..=MAX_CURSORS as u64 {
            cursors.set_read(&TerminalId::from_random(number), Offset(1));
            cursors.set_read(&TerminalId::from_random(0), Offset(2));
        }
        assert_eq!(cursors.of(&TerminalId::from_random(1)), Cursor::default());
        assert_eq!(cursors.of(&TerminalId::from_random(0)).read, Offset(2));
    }
}
