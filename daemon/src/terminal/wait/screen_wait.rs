//! Waits for a screen to change and to settle.

use std::time::{Duration, Instant};

use tokio::time::{sleep_until, timeout_at};

use crate::terminal::handle::Terminal;
use crate::terminal::lifecycle::progress::ScreenState;

/// How long synchronized output (mode 2026) keeps a screen from counting as settled. A program that dies
/// in the middle of a frame never ends it.
const MAX_FRAME: Duration = Duration::from_secs(1);

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScreenWait {
    /// A change after this count of changes.
    pub changed_after: Option<u64>,
    /// No change for this long.
    pub settle: Option<Duration>,
}

/// Waits until the screen is as requested, the terminal has exited, or it is `until`. False if it is
/// `until`: after the exit nothing changes any more, so the screen counts as settled.
pub async fn wait_for_screen(terminal: &Terminal, wait: ScreenWait, until: Instant) -> bool {
    let mut watch = terminal.watch();
    if let Some(seq) = wait.changed_after {
        let changed = watch.wait_for(|now| now.screen.seq > seq || now.exit.is_some());
        if timeout_at(until.into(), changed).await.is_err() {
            return false;
        }
    }
    let Some(settle) = wait.settle else {
        return true;
    };
    loop {
        let (screen, exited) = {
            let now = watch.borrow_and_update();
            (now.screen, now.exit.is_some())
        };
        let settled = settles_at(screen, settle);
        if exited || settled <= Instant::now() {
            return true;
        }
        tokio::select! {
            changed = watch.changed() => if changed.is_err() { return true },
            () = sleep_until(settled.min(until).into()) => {
                if settled > until { return false }
            }
        }
    }
}

/// When the screen counts as settled if nothing more happens.
pub(super) fn settles_at(screen: ScreenState, settle: Duration) -> Instant {
    let wanted = if screen.drawing {
        settle.max(MAX_FRAME)
    } else {
        settle
    };
    screen.changed_at + wanted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_that_is_being_drawn_settles_later_and_not_never() {
        let changed_at = Instant::now();
        let screen = |drawing| ScreenState {
            seq: 1,
            drawing,
            changed_at,
        };
        let after =
            |drawing, ms| settles_at(screen(drawing), Duration::from_millis(ms)) - changed_at;
        assert_eq!(after(false, 50), Duration::from_millis(50));
        assert_eq!(after(true, 50), MAX_FRAME);
        assert_eq!(after(true, 5_000), Duration::from_secs(5));
    }
}
