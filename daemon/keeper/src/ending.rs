//! Ending one terminal's processes: the state machine, pure, all times given.
//!
//! ```text
//! Asking ── everything gone, a scan finds nothing ──▶ Over
//!    └── the grace is over ──▶ Killing ── a scan finds nothing ──▶ Over
//!                                 └── too long, too many passes ──▶ GivenUp
//! ```
//! A pass is a scan and the signals that follow it. Each process is asked once and killed as often
//! as it is found; what forks between scan and signal is found by the next.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use crate::protocol::message::ProcessId;

/// SIGKILL takes effect at once but for a process in the kernel's depths; after this long it is
/// stuck there, or another user's.
const KILL_LIMIT: Duration = Duration::from_secs(5);
/// Something that forks faster than it can be killed is given up after so many passes.
const MAX_KILL_PASSES: u32 = 200;
/// While killed processes linger, and where a process cannot be waited for, this often is
/// looked again.
const RESCAN_INTERVAL: Duration = Duration::from_millis(100);

/// How far the ending is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Asking { signal: i32, kill_at: Instant },
    Killing { give_up_at: Instant, passes: u32 },
}

/// What a pass has to do with what it found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pass {
    /// Nothing was found: it is over.
    Over,
    /// These are still there, and no signal helps.
    GivenUp(usize),
    /// Send the signal to these, and wait for them.
    Signal {
        /// The signal.
        signal: i32,
        /// To whom.
        targets: Vec<ProcessId>,
        /// Whether the root's process group has to be told as a whole, while it can be.
        group_too: bool,
    },
}

/// One terminal's ending.
#[derive(Debug)]
pub(super) struct Ending {
    phase: Phase,
    /// Those that were sent the first signal.
    asked: HashSet<ProcessId>,
    /// Those whose end is waited for.
    awaited: HashSet<ProcessId>,
    /// When to scan next, if not at somebody's end.
    scan_at: Option<Instant>,
}

impl Ending {
    /// Begins with this signal; SIGKILL follows after the grace.
    pub(super) fn new(signal: i32, grace: Duration, now: Instant) -> Self {
        Self {
            phase: Phase::Asking {
                signal,
                kill_at: after(now, grace),
            },
            asked: HashSet::new(),
            awaited: HashSet::new(),
            scan_at: Some(now),
        }
    }

    /// Somebody else asks for it: the earlier SIGKILL wins.
    pub(super) fn join(&mut self, grace: Duration, now: Instant) {
        if let Phase::Asking { kill_at, .. } = &mut self.phase {
            *kill_at = after(now, grace).min(*kill_at);
        }
    }

    /// Whether SIGKILL is what is sent now.
    pub(super) fn is_killing(&self) -> bool {
        matches!(self.phase, Phase::Killing { .. })
    }

    /// When something is due though nobody ends.
    pub(super) fn deadline(&self) -> Instant {
        let phase = match self.phase {
            Phase::Asking { kill_at, .. } => kill_at,
            Phase::Killing { give_up_at, .. } => give_up_at,
        };
        self.scan_at.map_or(phase, |scan_at| scan_at.min(phase))
    }

    /// Whether a scan is due.
    pub(super) fn scan_due(&mut self, now: Instant) -> bool {
        if let Phase::Asking { kill_at, .. } = self.phase
            && now >= kill_at
        {
            self.phase = Phase::Killing {
                give_up_at: now + KILL_LIMIT,
                passes: 0,
            };
            self.scan_at = Some(now);
        }
        now >= self.deadline()
    }

    /// The root has exited: there may be something that only a scan finds.
    pub(super) fn root_exited(&mut self, now: Instant) {
        self.scan_at = Some(now);
    }

    /// One that was waited for has ended.
    pub(super) fn gone(&mut self, process: ProcessId, now: Instant) {
        self.awaited.remove(&process);
        if self.awaited.is_empty() {
            self.scan_at = Some(now);
        }
    }

    /// One that was found cannot be waited for: look again soon.
    pub(super) fn cannot_wait_for(&mut self, now: Instant) {
        self.scan_at = Some(now + RESCAN_INTERVAL);
    }

    /// What to do after a scan found these alive.
    pub(super) fn pass(&mut self, found: &[ProcessId], now: Instant) -> Pass {
        self.scan_at = None;
        self.awaited = found.iter().copied().collect();
        if found.is_empty() {
            return Pass::Over;
        }
        match &mut self.phase {
            Phase::Asking { signal, .. } => {
                let first = self.asked.is_empty();
                let asked = &mut self.asked;
                Pass::Signal {
                    signal: *signal,
                    targets: found
                        .iter()
                        .copied()
                        .filter(|&id| asked.insert(id))
                        .collect(),
                    group_too: first,
                }
            }
            Phase::Killing { give_up_at, passes } => {
                *passes += 1;
                if now >= *give_up_at || *passes > MAX_KILL_PASSES {
                    return Pass::GivenUp(found.len());
                }
                self.scan_at = Some(now + RESCAN_INTERVAL);
                Pass::Signal {
                    signal: nix::libc::SIGKILL,
                    targets: found.to_vec(),
                    group_too: true,
                }
            }
        }
    }
}

/// A grace may come from a peer: one beyond what the clock can hold is a year.
fn after(now: Instant, grace: Duration) -> Instant {
    const LONGEST_GRACE: Duration = Duration::from_hours(366 * 24);
    now + grace.min(LONGEST_GRACE)
}

#[cfg(test)]
mod tests {
    use nix::libc::{SIGHUP, SIGKILL, SIGTERM};

    use super::*;

    const GRACE: Duration = Duration::from_millis(1500);

    fn process(pid: i32) -> ProcessId {
        ProcessId { pid, start_time: 1 }
    }

    fn signal(signal: i32, pids: &[i32], group_too: bool) -> Pass {
        Pass::Signal {
            signal,
            targets: pids.iter().copied().map(process).collect(),
            group_too,
        }
    }

    #[test]
    fn what_obeys_is_asked_once_and_never_killed() {
        let now = Instant::now();
        let mut ending = Ending::new(SIGTERM, GRACE, now);
        assert!(ending.scan_due(now));
        let found = [process(1), process(2)];
        assert_eq!(ending.pass(&found, now), signal(SIGTERM, &[1, 2], true));
        ending.gone(process(1), now);
        assert!(!ending.scan_due(now));
        ending.gone(process(2), now);
        assert!(ending.scan_due(now));
        assert_eq!(ending.pass(&[], now), Pass::Over);
    }

    #[test]
    fn what_forked_meanwhile_is_asked_too_and_the_rest_not_again() {
        let now = Instant::now();
        let mut ending = Ending::new(SIGHUP, GRACE, now);
        ending.pass(&[process(1), process(2)], now);
        ending.root_exited(now);
        assert!(ending.scan_due(now));
        let found = [process(2), process(3)];
        assert_eq!(ending.pass(&found, now), signal(SIGHUP, &[3], false));
    }

    #[test]
    fn what_ignores_the_signal_is_killed_after_the_grace_until_nothing_is_found() {
        let start = Instant::now();
        let mut ending = Ending::new(SIGTERM, GRACE, start);
        ending.pass(&[process(1)], start);
        assert_eq!(ending.deadline(), start + GRACE);
        assert!(!ending.scan_due(start + GRACE / 2));
        let late = start + GRACE;
        assert!(ending.scan_due(late));
        assert!(ending.is_killing());
        assert_eq!(
            ending.pass(&[process(1)], late),
            signal(SIGKILL, &[1], true)
        );
        ending.gone(process(1), late);
        assert!(ending.scan_due(late));
        // A child that it forked in its last moment.
        assert_eq!(
            ending.pass(&[process(9)], late),
            signal(SIGKILL, &[9], true)
        );
        ending.gone(process(9), late);
        assert_eq!(ending.pass(&[], late), Pass::Over);
    }

    #[test]
    fn the_shorter_grace_wins() {
        let now = Instant::now();
        let mut ending = Ending::new(SIGTERM, GRACE, now);
        ending.pass(&[process(1)], now);
        ending.join(Duration::MAX, now);
        assert_eq!(ending.deadline(), now + GRACE);
        ending.join(Duration::from_millis(10), now);
        assert_eq!(ending.deadline(), now + Duration::from_millis(10));
    }

    #[test]
    fn what_cannot_be_ended_is_given_up() {
        let now = Instant::now();
        let mut ending = Ending::new(SIGTERM, Duration::ZERO, now);
        assert!(ending.scan_due(now));
        assert!(ending.is_killing());
        assert_eq!(ending.pass(&[process(1)], now), signal(SIGKILL, &[1], true));
        assert!(ending.scan_due(now + KILL_LIMIT));
        assert_eq!(
            ending.pass(&[process(1)], now + KILL_LIMIT),
            Pass::GivenUp(1)
        );
    }

    #[test]
    fn what_forks_for_ever_is_given_up() {
        let now = Instant::now();
        let mut ending = Ending::new(SIGTERM, Duration::ZERO, now);
        assert!(ending.scan_due(now));
        let given_up = (0..=MAX_KILL_PASSES)
            .map(|n| ending.pass(&[process(n.cast_signed() + 1)], now))
            .find(|pass| matches!(pass, Pass::GivenUp(_)));
        assert_eq!(given_up, Some(Pass::GivenUp(1)));
    }
}
