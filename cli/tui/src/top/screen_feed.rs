//! The screen of the terminal at hand, as it changes: what is in sight of it, thirty times a second at the
//! most.

use std::sync::Arc;
use std::time::Duration;

use termd_client::{ClientError, Link};
use termd_proto::TerminalRef;
use termd_proto::screen::{ReadScreen, Screen};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::effect::Followed;
use super::news::{News, ScreenRowsKind};
use super::silence;
use crate::screen_view::first_row;

/// The shortest time between two looks.
const PAUSE: Duration = Duration::from_millis(33);
/// How long one call waits for a change, in milliseconds: less than the call's own deadline.
const WAIT_MS: u64 = 60_000;

/// Says each change until the terminal has ended, or its reader has gone.
pub(super) async fn follow(link: Arc<Link>, followed: Followed, news: mpsc::Sender<News>) {
    // What the terminal has become is told by its events.
    let _ = show(&link, &followed, &news).await;
}

async fn show(
    link: &Link,
    followed: &Followed,
    news: &mpsc::Sender<News>,
) -> Result<(), ClientError> {
    let id = TerminalRef::from(&followed.id);
    // Where the cursor is.
    let whole = rows(&id, 0, 0);
    let first = silence::watched(link, news, link.repeat(&whole));
    let mut seen: Screen = first.await?.screen;
    let mut shown: Option<(i64, u64)> = None;
    loop {
        let began = Instant::now();
        let from_row = i64::from(first_row(&seen, followed.rows)) - i64::from(followed.scrolled);
        let since = shown
            .filter(|(row, _)| *row == from_row)
            .map(|(_, seq)| seq);
        let last_row = from_row + i64::from(followed.rows.max(1)) - 1;
        let request = ReadScreen {
            since,
            changed_after: since,
            timeout_ms: since.map(|_| WAIT_MS),
            ..rows(&id, from_row, last_row)
        };
        let screen = link.repeat(&request).await?.screen;
        let is_other_size = (screen.cols, screen.rows) != (seen.cols, seen.rows);
        let is_unchanged = since == Some(screen.seq);
        if is_unchanged && began.elapsed() < Duration::from_millis(WAIT_MS) {
            // It has ended: nothing changes any more.
            return Ok(());
        }
        let is_part = since.is_some();
        shown = (!(is_part && is_other_size)).then_some((from_row, screen.seq));
        seen = Screen {
            lines: Vec::new(),
            ..screen.clone()
        };
        if !is_unchanged && shown.is_some() {
            let what = News::Screen {
                id: followed.id.clone(),
                screen: Box::new(screen),
                from_row,
                rows: if is_part {
                    ScreenRowsKind::Changed
                } else {
                    ScreenRowsKind::All
                },
            };
            if news.send(what).await.is_err() || followed.scrolled > 0 {
                return Ok(());
            }
        }
        sleep_until(began + PAUSE).await;
    }
}

fn rows(id: &TerminalRef, from_row: i64, to_row: i64) -> ReadScreen {
    ReadScreen {
        from_row: Some(from_row),
        to_row: Some(to_row),
        ..ReadScreen::of(id.clone())
    }
}
