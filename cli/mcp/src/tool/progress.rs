//! Progress notifications of a long call, once a second, to a client that gave a token.

use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use termd_client::escape::marked;
use termd_proto::TerminalRef;
use termd_proto::terminal::{Encoding, ReadFrom, ReadResult, ReadTerminal};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::backend::Backend;

/// The time between two notifications.
const PERIOD: Duration = Duration::from_secs(1);
/// The end of the output in which its last line is looked for, in bytes.
const TAIL_BYTES: u64 = 1_024;
/// Most characters of the last line: a row of a client's status.
const MAX_LINE_CHARS: usize = 120;

/// The notifications of one call.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    /// `None`: the client gave no token.
    receiver: Option<(Peer<RoleServer>, ProgressToken)>,
}

impl Progress {
    pub(crate) fn new(peer: Peer<RoleServer>, token: Option<ProgressToken>) -> Self {
        Self {
            receiver: token.map(|token| (peer, token)),
        }
    }

    /// Does the work. The client hears how long it has taken and how much the terminal has printed,
    /// with the last line of it.
    pub(crate) async fn during<T>(
        &self,
        backend: &Backend,
        terminal: &TerminalRef,
        work: impl Future<Output = T>,
    ) -> T {
        let Some((peer, token)) = &self.receiver else {
            return work.await;
        };
        let begun = Instant::now();
        let mut ticks = interval_at(begun + PERIOD, PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut before = None;
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                _ = ticks.tick() => {}
            }
            let tell = async {
                let read = read_tail(backend, terminal).await;
                let end = read.as_ref().map(|read| read.end);
                let seconds = begun.elapsed().as_secs_f64();
                let mut message = match (end, before) {
                    (Some(end), Some(before)) => {
                        format!("{seconds:.1} s, {} more bytes", end.since(before))
                    }
                    _ => format!("{seconds:.1} s"),
                };
                let text = read.and_then(|read| read.text).unwrap_or_default();
                if let Some(line) = last_line(&text) {
                    message.push_str(": ");
                    message.push_str(&line);
                }
                before = before.or(end);
                let param =
                    ProgressNotificationParam::new(token.clone(), seconds).with_message(message);
                // A client that is gone ends the process.
                let _ = peer.notify_progress(param).await;
            };
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = tell => {}
            }
        }
    }
}

/// The last line that a terminal has printed, if there is one.
pub(crate) async fn progress_line(backend: &Backend, terminal: &TerminalRef) -> Option<String> {
    let read = read_tail(backend, terminal).await?;
    last_line(&read.text.unwrap_or_default())
}

async fn read_tail(backend: &Backend, terminal: &TerminalRef) -> Option<ReadResult> {
    let request = ReadTerminal {
        max_bytes: Some(TAIL_BYTES),
        encoding: Some(Encoding::Text),
        ..ReadTerminal::new(terminal.clone(), ReadFrom::TailBytes(TAIL_BYTES))
    };
    backend.pool().repeat(&request).await.ok()
}

/// The last line that is not blank, as a client may show it: short, and with hidden characters marked.
fn last_line(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    let shown: String = line.chars().take(MAX_LINE_CHARS).collect();
    let cut = if shown.len() < line.len() { "…" } else { "" };
    Some(format!("{}{cut}", marked(&shown)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_short_and_hides_nothing() {
        let long = "x".repeat(MAX_LINE_CHARS + 1);
        let cut = format!("{}…", "x".repeat(MAX_LINE_CHARS));
        let table = [
            ("", None),
            (" \n\n", None),
            ("one\n  two \n \n", Some("two")),
            ("a\u{200b}b", Some("a\\u{200b}b")),
            (long.as_str(), Some(cut.as_str())),
        ];
        for (text, want) in table {
            assert_eq!(last_line(text).as_deref(), want, "{text:?}");
        }
    }
}
