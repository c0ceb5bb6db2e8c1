//! The meaning of each Ctrl-C to `termctl run`.
//!
//! Pure. The first Ctrl-C is typed into the terminal, so that its tty's rules apply. A second one soon
//! after is also sent as a signal, for programs that have switched those rules off. The third ends the
//! terminal, the fourth ends termctl.

use std::time::{Duration, Instant};

/// Presses within this time of each other are counted together.
const TOGETHER: Duration = Duration::from_secs(2);

/// The action for a press.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// Type 0x03.
    Type,
    /// Type 0x03 and send SIGINT to all of the terminal's processes.
    Signal,
    /// End the terminal's processes: SIGTERM, a grace, SIGKILL.
    End,
    /// End termctl. The daemon ends the terminal, unless it is kept.
    Abandon,
}

/// Counts presses.
#[derive(Debug, Default)]
pub(crate) struct Interrupts {
    last: Option<(Instant, Interrupt)>,
}

impl Interrupts {
    /// Counts a press.
    pub(crate) fn press(&mut self, now: Instant) -> Interrupt {
        let recent = self
            .last
            .filter(|(at, _)| now.saturating_duration_since(*at) <= TOGETHER);
        let next = match recent.map(|(_, interrupt)| interrupt) {
            None => Interrupt::Type,
            Some(Interrupt::Type) => Interrupt::Signal,
            Some(Interrupt::Signal) => Interrupt::End,
            Some(Interrupt::End | Interrupt::Abandon) => Interrupt::Abandon,
        };
        self.last = Some((now, next));
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presses_close_together_escalate() {
        let start = Instant::now();
        let mut interrupts = Interrupts::default();
        let table = [
            (0, Interrupt::Type),
            (1_900, Interrupt::Signal),
            (2_000, Interrupt::End),
            (2_100, Interrupt::Abandon),
            (2_200, Interrupt::Abandon),
            (4_300, Interrupt::Type),
            (7_000, Interrupt::Type),
        ];
        for (at_ms, want) in table {
            let now = start + Duration::from_millis(at_ms);
            assert_eq!(interrupts.press(now), want, "at {at_ms} ms");
        }
    }
}
