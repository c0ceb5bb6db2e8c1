//! When a person who runs a command on a tty is told the key that leaves it.
//!
//! Not at entry: a command is used as if it ran here. Who presses Ctrl-C again, or Ctrl-Z, and has the
//! command before them still, looks for a way out.

use std::time::Duration;

use termd_client::Link;
use termd_proto::TerminalRef;
use tokio::time::sleep;

use crate::attach::detach::DetachKey;
use crate::cmd::attach::input_queue::{Reader, reader};

/// VINTR and VSUSP, as ttys have them at first.
const INTERRUPT: u8 = 0x03;
const SUSPEND: u8 = 0x1a;
/// How long a command has to end by the key.
const PATIENCE: Duration = Duration::from_millis(500);

/// The line that names the key, which is shown once.
#[derive(Debug)]
pub(super) struct WayOut {
    line: Option<String>,
    /// Interrupts with no other key between them.
    interrupts: usize,
}

impl WayOut {
    pub(super) fn by(key: DetachKey) -> Self {
        Self {
            line: key.leaving_hint(),
            interrupts: 0,
        }
    }

    /// Whether these keys are those of somebody who wants to leave, and has not been told how.
    pub(super) fn is_searched(&mut self, typed: &[u8]) -> bool {
        let mut is_searched = false;
        for key in typed {
            self.interrupts = if *key == INTERRUPT {
                self.interrupts + 1
            } else {
                0
            };
            is_searched |= *key == SUSPEND || self.interrupts > 1;
        }
        is_searched && self.line.is_some()
    }

    /// The line, the first time.
    pub(super) fn take(&mut self) -> Option<String> {
        self.line.take()
    }
}

/// Whether the command is there still after a moment, and prints lines: a full-screen program would draw
/// over the line, or be spoilt by it.
pub(super) async fn stuck(link: &Link, id: &TerminalRef) -> bool {
    sleep(PATIENCE).await;
    reader(link, id).await == Reader::Lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_interrupts_again_or_suspends_looks_for_the_way_out() {
        let table: [(&str, &[&str], bool); 7] = [
            ("ctrl-]", &["\x03"], false),
            ("ctrl-]", &["\x03", "\x03"], true),
            ("ctrl-]", &["\x03\x03"], true),
            ("ctrl-]", &["\x03", "ls\r", "\x03"], false),
            ("ctrl-]", &["\x1a"], true),
            ("ctrl-]", &["x\r"], false),
            ("none", &["\x1a"], false),
        ];
        for (key, typed, want) in table {
            let mut way_out = WayOut::by(key.parse().unwrap());
            let searched = typed
                .iter()
                .map(|keys| way_out.is_searched(keys.as_bytes()));
            assert_eq!(searched.last(), Some(want), "{key} {typed:?}");
        }
        let mut way_out = WayOut::by("ctrl-]".parse().unwrap());
        assert!(way_out.take().is_some_and(|line| line.contains("ctrl-]")));
        assert!(!way_out.is_searched(b"\x1a"), "once");
    }
}
