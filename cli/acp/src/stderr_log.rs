//! Lines on standard error: the proxy's own, and what an agent printed on standard output that is no
//! message. A client usually logs them.
//!
//! A client that does not read standard error, or has closed it, holds up no message.

use std::io::Write as _;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use termd_client::escape::escaped;
use tokio::time::{Instant, sleep};

/// Most bytes of a foreign line that are escaped.
const LOGGED_BYTES: usize = 1_024;
/// Most bytes of an escaped line that are written: what a writable pipe takes without blocking
/// (`PIPE_BUF`), less the words around it.
const WRITTEN_BYTES: usize = 3_800;
/// Longest wait of a foreign line for a reader; then the line is dropped.
const FOREIGN_LINE_LIMIT: Duration = Duration::from_millis(500);
/// Pause between two checks of the pipe. The pipe is shared, so it is not made non-blocking.
const CHECK_INTERVAL: Duration = Duration::from_millis(5);

/// Writes a line to standard error, or drops the line if it would have to wait for a reader.
pub(crate) fn log(line: &str) {
    if is_writable() {
        // One write, since the agent writes there too. A failure means that the reader is gone.
        let line = format!("termctl acp: {line}\n");
        let _ = std::io::stderr().write_all(line.as_bytes());
    }
}

/// Logs a line of the agent's standard output that is no message.
pub(crate) async fn log_foreign_line(line: &str) {
    let line = line.trim();
    if line.is_empty() {
        return;
    }
    let begun = Instant::now();
    while !is_writable() && begun.elapsed() < FOREIGN_LINE_LIMIT {
        sleep(CHECK_INTERVAL).await;
    }
    log(&format!(
        "not a message on the agent's standard output: {}",
        shown(line)
    ));
}

/// Escapes the beginning of a foreign line.
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
