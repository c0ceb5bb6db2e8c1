//! Ending one terminal's processes: a pure state machine, all times given.
//!
//! ```text
//! Asking ── all ended, a scan finds nothing ──▶ Over
//!    └── the grace is over ──▶ Killing ── a scan finds nothing ──▶ Over
//!                                 └── too long, too many passes ──▶ GivenUp
//! ```
//! A pass is a scan and the signals that follow it. Each process gets the first signal once, and
//! SIGKILL as often as a scan finds it. What forks between scan and signal is found by the next.
//! A scan can miss a process: its parent ended, and it was forked after `/proc` was listed. Such a scan
//! is uncertain, and never the last.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use crate::protocol::message::ProcessId;

/// A process that survives SIGKILL for this long is stuck in a system call, or another user's.
const KILL_LIMIT: Duration = Duration::from_secs(5);
/// A tree that forks faster than it can be killed is given up after this many passes.
const MAX_KILL_PASSES: u32 = 200;
/// The interval of scans while killed processes linger, or where a process cannot be watched.
const RESCAN_INTERVAL: Duration = Duration::from_millis(100);

/// The time to the next scan after one that found nothing and is uncertain.
const CONFIRM_INTERVAL: Duration = Duration::from_millis(10);

/// How far the kill is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Asking { signal: i32, kill_at: Instant },
    Killing { give_up_at: Instant, passes: u32 },
}

/// What to do after a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pass {
    /// No process is left.
    Over,
    /// This many processes are left, and no signal helps.
    GivenUp(usize),
    /// Signal the targets, and wait for the end of all that were found.
    Signal {
        signal: i32,
        targets: Vec<ProcessId>,
        /// Whether the root's process group gets the signal as a whole, where the root is there.
        whole_group: bool,
    },
}

/// The kill of one terminal's processes.
#[derive(Debug)]
pub(super) struct TreeKill {
    phase: Phase,
    /// The processes that got the first signal.
    signalled: HashSet<ProcessId>,
    /// The processes whose end is awaited.
    awaited: HashSet<ProcessId>,
    /// When to scan, apart from the end of all awaited processes.
    scan_at: Option<Instant>,
}

impl TreeKill {
    /// Begins with this signal; SIGKILL follows after the grace.
    pub(super) fn new(signal: i32, grace: Duration, now: Instant) -> Self {
        Self {
            phase: Phase::Asking {
                signal,
                kill_at: after(now, grace),
            },
            signalled: HashSet::new(),
            awaited: HashSet::new(),
            scan_at: Some(now),
        }
    }

    /// A second request for the same tree: the earlier SIGKILL wins.
    pub(super) fn join(&mut self, grace: Duration, now: Instant) {
        if let Phase::Asking { kill_at, .. } = &mut self.phase {
            *kill_at = after(now, grace).min(*kill_at);
        }
    }

    /// Whether the grace is over.
    pub(super) fn is_killing(&self) -> bool {
        matches!(self.phase, Phase::Killing { .. })
    }

    /// When something is due though no process ends.
    pub(super) fn deadline(&self) -> Instant {
        let phase = match self.phase {
            Phase::Asking { kill_at, .. } => kill_at,
            Phase::Killing { give_up_at, .. } => give_up_at,
        };
        self.scan_at.map_or(phase, |scan_at| scan_at.min(phase))
    }

    /// Whether a scan is due.
    pub(super) fn is_scan_due(&mut self, now: Instant) -> bool {
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

    /// The root has exited: only a scan finds what is left.
    pub(super) fn root_exited(&mut self, now: Instant) {
        self.scan_at = Some(now);
    }

    /// An awaited process has ended.
    pub(super) fn process_gone(&mut self, process: ProcessId, now: Instant) {
        self.awaited.remove(&process);
        if self.awaited.is_empty() {
            self.scan_at = Some(now);
        }
    }

    /// A process cannot be watched: scan again soon.
    pub(super) fn cannot_wait_for_all(&mut self, now: Instant) {
        self.scan_at = Some(now + RESCAN_INTERVAL);
    }

    /// What to do after a scan found these processes alive. Where it is uncertain there may be more.
    pub(super) fn pass(&mut self, found: &[ProcessId], is_uncertain: bool, now: Instant) -> Pass {
        self.scan_at = None;
        self.awaited = found.iter().copied().collect();
        if found.is_empty() {
            if !is_uncertain {
                return Pass::Over;
            }
            self.scan_at = Some(now + CONFIRM_INTERVAL);
        }
        match &mut self.phase {
            Phase::Asking { signal, .. } => {
                let first = self.signalled.is_empty();
                let signalled = &mut self.signalled;
                Pass::Signal {
                    signal: *signal,
                    targets: found
                        .iter()
                        .copied()
                        .filter(|&id| signalled.insert(id))
                        .collect(),
                    whole_group: first,
                }
            }
            Phase::Killing { give_up_at, passes } => {
                *passes += 1;
                if now >= *give_up_at || *passes > MAX_KILL_PASSES {
                    return Pass::GivenUp(found.len().max(1));
                }
                self.scan_at.get_or_insert(now + RESCAN_INTERVAL);
                Pass::Signal {
                    signal: nix::libc::SIGKILL,
                    targets: found.to_vec(),
                    whole_group: true,
                }
            }
        }
    }
}

/// A grace comes from a peer. One of more than a year, which the clock might not hold, is a year.
fn after(now: Instant, grace: Duration) -> Instant {
    const MAX_GRACE: Duration = Duration::from_hours(366 * 24);
    now + grace.min(MAX_GRACE)
}

#[cfg(test)]
mod tests {
    use nix::libc::{SIGHUP, SIGKILL, SIGTERM};

    use super::*;

    const GRACE: Duration = Duration::from_millis(1500);

    fn process(pid: i32) -> ProcessId {
        ProcessId { pid, start_time: 1 }
    }

    fn signal(signal: i32, pids: &[i32], whole_group: bool) -> Pass {
        Pass::Signal {
            signal,
            targets: pids.iter().copied().map(process).collect(),
            whole_group,
        }
    }

    #[test]
    fn what_obeys_is_signalled_once_and_never_killed() {
        let now = Instant::now();
        let mut kill = TreeKill::new(SIGTERM, GRACE, now);
        assert!(kill.is_scan_due(now));
        let found = [process(1), process(2)];
        assert_eq!(
            kill.pass(&found, false, now),
            signal(SIGTERM, &[1, 2], true)
        );
        kill.process_gone(process(1), now);
        assert!(!kill.is_scan_due(now));
        kill.process_gone(process(2), now);
        assert!(kill.is_scan_due(now));
        assert_eq!(kill.pass(&[], false, now), Pass::Over);
    }

    #[test]
    fn what_forked_meanwhile_is_signalled_too_and_the_rest_not_again() {
        let now = Instant::now();
        let mut kill = TreeKill::new(SIGHUP, GRACE, now);
        kill.pass(&[process(1), process(2)], false, now);
        kill.root_exited(now);
        assert!(kill.is_scan_due(now));
        let found = [process(2), process(3)];
        assert_eq!(kill.pass(&found, false, now), signal(SIGHUP, &[3], false));
    }

    #[test]
    fn what_ignores_the_signal_is_killed_after_the_grace_until_nothing_is_found() {
        let start = Instant::now();
        let mut kill = TreeKill::new(SIGTERM, GRACE, start);
        kill.pass(&[process(1)], false, start);
        assert_eq!(kill.deadline(), start + GRACE);
        assert!(!kill.is_scan_due(start + GRACE / 2));
        let late = start + GRACE;
        assert!(kill.is_scan_due(late));
        assert!(kill.is_killing());
        assert_eq!(
            kill.pass(&[process(1)], false, late),
            signal(SIGKILL, &[1], true)
        );
        kill.process_gone(process(1), late);
        assert!(kill.is_scan_due(late));
        // A child that it forked in its last moment.
        assert_eq!(
            kill.pass(&[process(9)], false, late),
            signal(SIGKILL, &[9], true)
        );
        kill.process_gone(process(9), late);
        assert_eq!(kill.pass(&[], false, late), Pass::Over);
    }

    #[test]
    fn an_uncertain_scan_is_not_the_last() {
        let start = Instant::now();
        let mut kill = TreeKill::new(SIGTERM, GRACE, start);
        kill.pass(&[process(1)], true, start);
        kill.process_gone(process(1), start);
        let nothing = signal(SIGTERM, &[], false);
        assert_eq!(kill.pass(&[], true, start), nothing);
        assert_eq!(kill.deadline(), start + CONFIRM_INTERVAL);
        assert_eq!(
            kill.pass(&[process(2)], false, start),
            signal(SIGTERM, &[2], false)
        );
        assert_eq!(kill.pass(&[], false, start), Pass::Over);
        // It ends even so.
        let mut kill = TreeKill::new(SIGTERM, Duration::ZERO, start);
        assert!(kill.is_scan_due(start));
        let given_up = (0..=MAX_KILL_PASSES).map(|_| kill.pass(&[], true, start));
        let last = given_up.last();
        assert_eq!(last, Some(Pass::GivenUp(1)));
    }

    #[test]
    fn the_shorter_grace_wins() {
        let now = Instant::now();
        let mut kill = TreeKill::new(SIGTERM, GRACE, now);
        kill.pass(&[process(1)], false, now);
        kill.join(Duration::MAX, now);
        assert_eq!(kill.deadline(), now + GRACE);
        kill.join(Duration::from_millis(10), now);
        assert_eq!(kill.deadline(), now + Duration::from_millis(10));
    }

    #[test]
    fn what_cannot_be_ended_is_given_up() {
        let now = Instant::now();
        let mut kill = TreeKill::new(SIGTERM, Duration::ZERO, now);
        assert!(kill.is_scan_due(now));
        assert!(kill.is_killing());
        assert_eq!(
            kill.pass(&[process(1)], false, now),
            signal(SIGKILL, &[1], true)
        );
        assert!(kill.is_scan_due(now + KILL_LIMIT));
        assert_eq!(
            kill.pass(&[process(1)], false, now + KILL_LIMIT),
            Pass::GivenUp(1)
        );
    }

    #[test]
    fn what_forks_for_ever_is_given_up() {
        let now = Instant::now();
        let mut kill = TreeKill::new(SIGTERM, Duration::ZERO, now);
        assert!(kill.is_scan_due(now));
        let given_up = (0..=MAX_KILL_PASSES)
            .map(|n| kill.pass(&[process(n.cast_signed() + 1)], false, now))
            .find(|pass| matches!(pass, Pass::GivenUp(_)));
        assert_eq!(given_up, Some(Pass::GivenUp(1)));
    }
}
