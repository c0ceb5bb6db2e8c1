//! What is held, stored and given up, by the clock that is handed in.

use super::*;

const KIB: u64 = 1024;
/// In which what comes is no burst.
const SLOW: Duration = Duration::from_secs(1);

fn flow(now: Instant) -> Flow {
    Flow::resume(Offset(0), Offset(0), Offset(0), 1024 * KIB, now)
}

#[test]
fn whole_blocks_go_at_once_and_tails_after_a_while() {
    let now = Instant::now();
    let mut flow = flow(now);
    assert_eq!(
        (flow.due(Spools::Ample, now), flow.next_due(Spools::Ample)),
        (None, None)
    );
    flow.grew(Offset(10), now);
    assert_eq!(flow.due(Spools::Ample, now), None);
    let due = flow
        .next_due(Spools::Ample)
        .expect("a tail is due some time");
    assert_eq!(
        flow.due(Spools::Ample, due),
        Some(Due {
            start: Offset(0),
            end: Offset(10)
        })
    );
    flow.queued(
        Due {
            start: Offset(0),
            end: Offset(10),
        },
        now,
    );
    assert_eq!(
        (flow.due(Spools::Ample, due), flow.next_due(Spools::Ample)),
        (None, None)
    );
    flow.grew(Offset(130 * KIB), now);
    let first = Due {
        start: Offset(0),
        end: Offset(64 * KIB),
    };
    assert_eq!(flow.due(Spools::Ample, now), Some(first));
    flow.queued(first, now);
    let second = Due {
        start: Offset(64 * KIB),
        end: Offset(128 * KIB),
    };
    assert_eq!(flow.due(Spools::Ample, now), Some(second));
    flow.queued(second, now);
    assert_eq!(flow.due(Spools::Ample, now), None);
    flow.finish();
    assert_eq!(
        flow.due(Spools::Ample, now),
        Some(Due {
            start: Offset(128 * KIB),
            end: Offset(130 * KIB)
        })
    );
}

#[test]
fn a_slow_store_stops_the_reading_and_a_commit_starts_it_again() {
    let now = Instant::now();
    let mut flow = flow(now);
    flow.grew(Offset(MAX_BACKLOG_BYTES), now + SLOW);
    assert!(!flow.may_read(Spools::Ample));
    flow.committed(Offset(64 * KIB));
    assert!(flow.may_read(Spools::Ample));
    assert_eq!(flow.unstored(), MAX_BACKLOG_BYTES - 64 * KIB);
}

/// A MiB each 20 ms.
fn flood(flow: &mut Flow, now: &mut Instant, mib: u64) {
    for _ in 0..mib {
        *now += Duration::from_millis(20);
        flow.grew(flow.end + 1024 * KIB, *now);
    }
}

#[test]
fn a_burst_waits_for_its_pause_or_its_end_or_for_others_room() {
    let mut now = Instant::now();
    let mut flow = flow(now);
    flood(&mut flow, &mut now, 64);
    assert_eq!(flow.due(Spools::Ample, now), None);
    assert!(flow.may_read(Spools::Ample));
    assert!(flow.due(Spools::Crowded, now).is_some());
    assert!(!flow.may_read(Spools::Crowded));
    let paused = flow
        .next_due(Spools::Ample)
        .expect("it is stored some time");
    assert!(flow.due(Spools::Ample, paused).is_some());
    flow.finish();
    assert!(flow.due(Spools::Ample, now).is_some());
}

#[test]
fn a_burst_has_a_bound() {
    let now = Instant::now();
    let mut flow = flow(now);
    flow.grew(Offset(2048 * KIB), now);
    flow.grew(Offset(MAX_BURST_BYTES - 1), now);
    assert_eq!(flow.due(Spools::Ample, now), None);
    flow.grew(Offset(MAX_BURST_BYTES), now);
    assert!(flow.due(Spools::Ample, now).is_some());
    assert!(flow.may_read(Spools::Ample));
    flow.grew(Offset(MAX_BURST_BYTES + MAX_BACKLOG_BYTES), now);
    assert!(!flow.may_read(Spools::Ample));
}

#[test]
fn after_a_burst_less_and_less_waits_while_the_program_goes_on() {
    let mut now = Instant::now();
    let mut flow = flow(now);
    flood(&mut flow, &mut now, 100);
    let most = flow.unstored() + MAX_BACKLOG_BYTES;
    flood(&mut flow, &mut now, 4);
    assert!(flow.may_read(Spools::Ample), "{flow:?}");
    while let Some(due) = flow.due(Spools::Ample, now) {
        flow.queued(due, now);
    }
    let mut stored = Offset(0);
    let mut let_in = 0;
    let mut waited = flow.unstored();
    while waited > MAX_BACKLOG_BYTES {
        stored = stored + 1024 * KIB;
        flow.committed(stored);
        while flow.may_read(Spools::Ample) {
            flow.grew(flow.end + 64 * KIB, now);
            let_in += 64 * KIB;
        }
        assert!(flow.unstored() <= waited.max(most), "{flow:?}");
        waited = flow.unstored();
    }
    assert!(let_in > 64 << 20, "the program stood still: {let_in}");
}

#[test]
fn nothing_leaves_that_is_not_stored_or_in_the_window() {
    let now = Instant::now();
    let mut flow = flow(now);
    flow.grew(Offset(4096 * KIB), now + SLOW);
    assert_eq!(flow.expendable(), Offset(0));
    while let Some(due) = flow.due(Spools::Ample, now) {
        flow.queued(due, now);
    }
    assert_eq!(flow.expendable(), Offset(0), "queued is not stored");
    flow.committed(Offset(512 * KIB));
    assert_eq!(flow.expendable(), Offset(512 * KIB));
    flow.committed(Offset(4096 * KIB));
    assert_eq!(flow.expendable(), Offset(3072 * KIB));
}

#[test]
fn what_is_given_up_is_the_oldest_and_counts_once_it_is_committed() {
    let now = Instant::now();
    let mut flow = flow(now);
    flow.grew(Offset(10 * KIB), now);
    let begun = Due {
        start: Offset(0),
        end: Offset(10 * KIB),
    };
    flow.queued(begun, now);
    flow.committed(Offset(10 * KIB));
    flow.grew(Offset(1000 * KIB), now);
    assert_eq!(flow.expendable_unstored(1000 * KIB), None);
    let end = flow.expendable_unstored(300 * KIB).expect("there is more");
    assert_eq!(
        (flow.waiting_from(), end),
        (Offset(10 * KIB), Offset(640 * KIB))
    );
    flow.give_up(end, now);
    assert_eq!(flow.unstored(), 990 * KIB, "it is not recorded yet");
    flow.committed(end);
    assert_eq!(flow.unstored(), 360 * KIB);
    let due = flow.due(Spools::Ample, now).expect("the rest is stored");
    assert_eq!((due.start, due.end), (end, Offset(704 * KIB)));
    flow.finish();
    assert_eq!(flow.expendable_unstored(0), Some(Offset(1000 * KIB)));
    flow.give_up(Offset(1000 * KIB), now);
    assert_eq!(
        (flow.due(Spools::Ample, now), flow.expendable_unstored(0)),
        (None, None)
    );
}

#[test]
fn a_new_server_goes_on_with_the_block_that_the_last_one_was_filling() {
    let now = Instant::now();
    let k = |n: u64| Offset(n * KIB);
    let table = [
        // stored, first, end → what is due in the end
        (
            k(0),
            k(0),
            k(10),
            Some(Due {
                start: k(0),
                end: k(10),
            }),
        ),
        (
            k(70),
            k(64),
            k(90),
            Some(Due {
                start: k(64),
                end: k(90),
            }),
        ),
        (k(90), k(64), k(90), None),
        (
            k(0),
            k(100),
            k(130),
            Some(Due {
                start: k(128),
                end: k(130),
            }),
        ),
    ];
    for (stored, first, end, expected) in table {
        let mut flow = Flow::resume(stored, first, end, 0, now);
        flow.finish();
        assert_eq!(
            flow.due(Spools::Ample, now),
            expected,
            "{stored} {first} {end}"
        );
    }
}

/// What a tty and two pipes hold is read at the exit, however slow the store is, and no more.
#[test]
fn a_stopped_store_holds_up_no_exit() {
    let now = Instant::now();
    let mut flow = flow(now);
    let mut later = now + SLOW;
    flow.grew(Offset(MAX_BACKLOG_BYTES), later);
    while flow.may_read(Spools::Crowded) {
        later += SLOW;
        flow.grew(flow.end + 64 * KIB, later);
    }
    let waiting = flow.unstored();
    flow.drain();
    while flow.may_read(Spools::Crowded) {
        flow.grew(flow.end + 64 * KIB, later);
    }
    assert_eq!(flow.unstored() - waiting, MAX_DRAINED_BYTES);
}
