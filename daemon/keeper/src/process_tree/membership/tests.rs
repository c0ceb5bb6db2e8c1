use super::*;

const KEEPER: i32 = 100;
const SERVER: i32 = 101;

fn id(n: u64) -> TerminalId {
    TerminalId::from_random(n)
}

/// A process in its parent's group and session, unmarked, without a tty.
fn process(pid: i32, parent: i32, session: i32) -> Process {
    Process {
        id: ProcessId {
            pid,
            start_time: u64::from(pid.unsigned_abs()),
        },
        parent,
        group: session,
        session,
        tty: None,
        ended: false,
        mark: None,
        cgroup: None,
        lesser_evidence: None,
    }
}

fn started(mut process: Process, start_time: u64) -> Process {
    process.id.start_time = start_time;
    process
}

fn marked(mut process: Process, terminal: u64) -> Process {
    process.mark = Some(id(terminal));
    process
}

fn on_tty(mut process: Process, tty: u32) -> Process {
    process.tty = Some(tty);
    process
}

/// Two terminals: number 1 with root 200 on tty 1, number 2 with root 300 on tty 2.
fn check(processes: &[Process], expected: &[Option<u64>]) {
    let ids = [id(1), id(2)];
    let terminals: Vec<Identity<'_>> = [(200, 1), (300, 2)]
        .into_iter()
        .zip(&ids)
        .map(|((pid, tty), id)| Identity {
            id,
            root: process(pid, KEEPER, pid).id,
            init: Some(process(pid + 90, KEEPER, KEEPER).id),
            cgroup: Some(Path::new(if pid == 200 { "/unit/1" } else { "/unit/2" })),
            tty: Some(tty),
        })
        .collect();
    let found: Vec<Option<u64>> = owners(processes, &terminals)
        .into_iter()
        .map(|owner| owner.map(|index| index as u64 + 1))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn a_root_its_jobs_and_their_children_belong_together() {
    check(
        &[
            process(200, KEEPER, 200),
            process(201, 200, 200),
            process(202, 201, 200),
            process(300, KEEPER, 300),
        ],
        &[Some(1), Some(1), Some(1), Some(2)],
    );
}

#[test]
fn a_reaped_roots_session_is_still_its_own() {
    check(&[process(250, KEEPER, 200)], &[Some(1)]);
}

#[test]
fn what_double_forked_away_is_found_by_its_mark() {
    check(&[marked(process(250, KEEPER, 250), 1)], &[Some(1)]);
}

#[test]
fn a_child_that_cleaned_its_environment_is_found_by_its_parent() {
    check(
        &[
            marked(process(250, KEEPER, 250), 1),
            process(251, 250, 251),
            process(252, 251, 252),
        ],
        &[Some(1), Some(1), Some(1)],
    );
}

#[test]
fn a_child_without_mark_or_parent_is_found_by_its_tty() {
    check(&[on_tty(process(250, KEEPER, 249), 2)], &[Some(2)]);
}

#[test]
fn what_left_no_trace_belongs_to_nobody() {
    check(&[process(250, KEEPER, 250)], &[None]);
}

#[test]
fn another_daemons_mark_says_nothing_and_the_parent_decides() {
    check(
        &[
            process(200, KEEPER, 200),
            marked(process(210, 200, 210), 77),
            marked(process(400, KEEPER, 400), 77),
        ],
        &[Some(1), Some(1), None],
    );
}

#[test]
fn the_kernels_word_stands_above_a_mark() {
    check(
        &[
            marked(process(300, KEEPER, 300), 1),
            marked(process(301, 300, 300), 1),
        ],
        &[Some(2), Some(2)],
    );
}

/// A sandbox's own devpts counts from 0, as the host's does.
#[test]
fn a_mark_stands_above_a_tty() {
    check(
        &[
            marked(on_tty(process(250, KEEPER, 250), 2), 1),
            marked(on_tty(process(251, KEEPER, 251), 2), 77),
        ],
        &[Some(1), Some(2)],
    );
}

#[test]
fn a_mark_stands_above_the_parent() {
    check(
        &[
            process(200, KEEPER, 200),
            marked(process(210, 200, 210), 2),
            process(211, 210, 211),
        ],
        &[Some(1), Some(2), Some(2)],
    );
}

#[test]
fn a_reused_root_pid_is_not_the_root() {
    // Pid 200 belongs to somebody who started later; so does its session.
    check(
        &[
            started(process(200, KEEPER, 200), 9_000),
            started(process(201, 200, 200), 9_001),
        ],
        &[None, None],
    );
}

#[test]
fn a_process_older_than_the_root_is_not_of_its_session() {
    check(&[started(process(250, KEEPER, 200), 150)], &[None]);
}

#[test]
fn of_two_terminals_with_one_root_pid_the_later_one_has_the_session() {
    let ids = [id(1), id(2)];
    let root = |start_time| ProcessId {
        pid: 200,
        start_time,
    };
    let terminals = [
        Identity {
            id: &ids[0],
            root: root(5_000),
            init: None,
            cgroup: None,
            tty: None,
        },
        Identity {
            id: &ids[1],
            root: root(200),
            init: None,
            cgroup: None,
            tty: None,
        },
    ];
    let processes = [
        started(process(200, KEEPER, 200), 5_000),
        started(process(201, 200, 200), 5_001),
        marked(started(process(250, KEEPER, 250), 300), 2),
    ];
    let expected = [Some(0), Some(0), Some(1)];
    assert_eq!(owners(&processes, &terminals), expected);
}

#[test]
fn the_init_of_a_namespace_and_what_it_adopted_belong_to_the_terminal() {
    check(
        &[
            process(290, KEEPER, KEEPER),
            process(201, 290, 201),
            process(390, KEEPER, KEEPER),
            started(process(391, KEEPER, 391), 9_000),
        ],
        &[Some(1), Some(1), Some(2), None],
    );
    // Its pid may be another's by now.
    check(&[started(process(290, KEEPER, KEEPER), 9_000)], &[None]);
}

#[test]
fn what_an_earlier_scan_found_is_still_there_without_its_parent() {
    let mut orphan = process(250, KEEPER, 250);
    orphan.lesser_evidence = Some(id(2));
    check(
        &[orphan.clone(), process(251, 250, 251)],
        &[Some(2), Some(2)],
    );
    check(&[on_tty(orphan, 1)], &[Some(1)]);
}

#[test]
fn a_ring_of_parents_ends() {
    check(
        &[process(250, 251, 250), process(251, 250, 251)],
        &[None, None],
    );
}

#[test]
fn the_keepers_descendants_are_neither_the_server_nor_strangers() {
    let all: BTreeMap<i32, Process> = [
        process(1, 0, 1),
        process(50, 1, 50),
        process(KEEPER, 1, KEEPER),
        process(SERVER, KEEPER, KEEPER),
        process(102, SERVER, KEEPER),
        process(200, KEEPER, 200),
        process(201, 200, 200),
        started(process(90, 201, 200), 9_000),
        // The parents are hidden, ended, or younger: their pids were given again.
        process(260, 259, 260),
        started(process(261, 200, 261), 1),
    ]
    .into_iter()
    .map(|process| (process.id.pid, process))
    .collect();
    let pids = |server, tried, inherited: &[ProcessId]| {
        let excluded = Excluded {
            servers: [server, tried],
            inherited,
        };
        descendants(all.clone(), KEEPER, excluded)
            .iter()
            .map(|process| process.id.pid)
            .collect::<Vec<_>>()
    };
    assert_eq!(pids(Some(SERVER), None, &[]), [90, 200, 201]);
    assert!(pids(Some(SERVER), Some(200), &[]).is_empty());
    assert_eq!(pids(None, None, &[]), [90, SERVER, 102, 200, 201]);
    let inherited = process(200, KEEPER, 200).id;
    assert!(pids(Some(SERVER), None, &[inherited]).is_empty());
    let reused = started(process(200, KEEPER, 200), 9_000).id;
    assert_eq!(pids(Some(SERVER), None, &[reused]), [90, 200, 201]);
}

#[test]
fn device_numbers_are_the_kernels() {
    // /dev/pts/4 and /dev/pts/300, as /proc/PID/stat printed them.
    assert_eq!(encode_device(136, 4), 34_820);
    assert_eq!(encode_device(136, 300), 0x0010_882c);
}

fn in_cgroup(mut process: Process, cgroup: &str) -> Process {
    process.cgroup = Some(cgroup.into());
    process
}

/// A command can write what it likes into its environment.
#[test]
fn the_cgroup_counts_more_than_session_mark_and_parent() {
    check(
        &[
            process(200, KEEPER, 200),
            process(300, KEEPER, 300),
            in_cgroup(marked(process(400, KEEPER, 400), 2), "/unit/1"),
            in_cgroup(process(401, 300, 300), "/unit/1/below/it"),
            in_cgroup(marked(process(402, KEEPER, 402), 2), "/unit/daemon"),
            in_cgroup(process(403, KEEPER, 403), "/unit/11"),
            // A root whose server moved it elsewhere is still one.
            in_cgroup(process(301, 300, 300), "/"),
        ],
        &[Some(1), Some(2), Some(1), Some(1), Some(2), None, Some(2)],
    );
}
