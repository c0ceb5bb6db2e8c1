//! Lines on standard error, which a client logs beside the agent's own: what happened here, and what
//! an agent printed on its standard output that is no message.
//!
//! It promises: a client that does not read them, or has closed that end, holds up no message.

use std::io::Write as _;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use termd_client::escape::escaped;
use tokio::time::{Instant, sleep};

/// Most bytes that are looked at of a line that is no message.
const LOGGED_BYTES: usize = 1_024;
/// Most bytes that are written of it: what a pipe that is writable takes without blocking
/// (`PIPE_BUF`), less the words around it.
const WRITTEN_BYTES: usize = 3_800;
/// So long an agent that prints such lines waits for whoever reads them; then they are dropped.
const STRAY_LIMIT: Duration = Duration::from_millis(500);
/// A pipe is asked so often whether it is writable: it is shared, and gets no flags of ours.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Writes a line on standard error; one that would have to wait for its reader is dropped.
pub(crate) fn log(line: &str) {
    if is_writable() {
        // One write: the agent's own lines come between two. A client that has closed it reads no log.
        let line = format!("termctl acp: {line}\n");
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}

/// Logs what an agent prints on its standard output that is no message: for whoever looks for it.
pub(super) async fn log_stray(line: &str) {
    let line = line.trim();
    if line.is_empty() {
        return;
    }
    let begun = Instant::now();
    while !is_writable() && begun.elapsed() < STRAY_LIMIT {
        sleep(LOOK_AGAIN).await;
    }
    log(&format!(
        "not a message on the agent's standard output: {}",
        shown(line)
    ));
}

/// The beginning of a line of unknown origin.
fn shown(line: &str) -> String {
    let end = line.floor_char_boundary(LOGGED_BYTES);
    let mut shown = escaped(line.get(..end).unwrap_or_default());
    shown.truncate(shown.floor_char_boundary(WRITTEN_BYTES));
    shown
}

fn is_writable() -> bool {
    let stderr = std::io::stderr();
    let mut ends = [PollFd::new(&stderr, PollFlags::OUT)];
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    matches!(poll(&mut ends, Some(&now)), Ok(1..))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_prints_and_has_an_end() {
        assert_eq!(shown("a\u{1b}[2J"), "a\\x1b[2J");
        for line in [
            "\u{1b}".repeat(5_000),
            "\u{e0001}".repeat(5_000),
            "é".repeat(999),
        ] {
            let shown = shown(&line);
            assert!(shown.len() <= WRITTEN_BYTES && !shown.is_empty());
        }
    }
}
