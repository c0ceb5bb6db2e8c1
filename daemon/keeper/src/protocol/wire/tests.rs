use termd_proto::TerminalId;
use termd_proto::terminal::{Inherited, ResourceLimit, Stderr, Stdin, Stdio};

use super::*;
use crate::protocol::confinement::{
    Access, Builder, Confinement, Enforced, Enforcement, FileId, IfAbsent, MAX_SANDBOX_PATHS,
    MissingRestriction, ProcessLimits, Processes, ProtectedPath, RESTRICTIONS, Restriction,
    Sandbox, Temporary,
};
use crate::protocol::file_operation::{FileAction, FileOperation, Target};
use crate::protocol::message::{
    ExecRelease, ListedProcess, PausePoint, ProcessId, ProcessList, Refusal, SpawnFailure,
    SpawnStep, WaitStatus,
};
use crate::protocol::spawn_step::STEPS;

fn id() -> TerminalId {
    TerminalId::from_random(0x0123_4567_89ab_cdef)
}

fn process() -> ProcessId {
    ProcessId {
        pid: 4711,
        start_time: u64::MAX - 3,
    }
}

fn confinement() -> Confinement {
    let protect = |path: &[u8], if_absent| ProtectedPath {
        path: path.to_vec(),
        if_absent,
    };
    Confinement {
        limits: ProcessLimits {
            cpu_seconds: Some(u64::MAX),
            open_files: Some(0),
            core_bytes: None,
            ..ProcessLimits::default()
        },
        sandbox: Some(Sandbox {
            writable: vec![b"/w".to_vec(), vec![0xff]],
            writable_ids: vec![
                FileId {
                    device: 1,
                    inode: u64::MAX,
                },
                FileId {
                    device: 0,
                    inode: 2,
                },
            ],
            protected: vec![
                protect(b"/w/a", IfAbsent::Leave),
                protect(b"/w/b", IfAbsent::MakeDirectory),
                protect(b"/w/c", IfAbsent::MakeFile),
                protect(b"/w/d", IfAbsent::PinLink),
                protect(b"/w/e", IfAbsent::PinDirectory),
            ],
            hidden: vec![b"/h".to_vec()],
            visible: vec![b"/h/v".to_vec()],
            network: Access::Denied,
            daemon_socket: Access::Allowed,
            enforcement: Enforcement::BestEffort,
            temporary: Temporary::Private,
            processes: Processes::Private,
            builder: Builder::Bubblewrap,
        }),
    }
}

fn enforced() -> Enforced {
    Enforced {
        active: RESTRICTIONS.to_vec(),
        missing: vec![MissingRestriction {
            restriction: Restriction::Scopes,
            errno: 38,
        }],
    }
}

fn every_message_to_the_keeper() -> Vec<ToKeeper> {
    vec![
        ToKeeper::Hello {
            version: 7,
            level: 3,
        },
        ToKeeper::Spawn(Box::new(SpawnRequest {
            id: id(),
            program: b"/bin/sh".to_vec(),
            argv: vec![b"sh".to_vec(), Vec::new(), vec![0xff; 300]],
            env: vec![b"A=b".to_vec()],
            cwd: b"/tmp".to_vec(),
            cols: 80,
            rows: 65535,
            notes: vec![1, 2, 3],
            stdio: Stdio::Pipes,
            confinement: confinement(),
            pause: Some(PausePoint::BeforeExec),
            file: Some(FileOperation {
                action: FileAction::Resolve(Target::NoLink),
                path: b"/w/f".to_vec(),
                excluded: vec![b"/state".to_vec()],
            }),
            stdin: Stdin::Inherited,
            stderr: Stderr::Stdout,
            inherited: Inherited {
                umask: Some(0o27),
                nice: Some(-5),
                limits: vec![ResourceLimit {
                    resource: 7,
                    soft: Some(500),
                    hard: None,
                }],
                ignored_signals: vec![1],
                blocked_signals: vec![2, 3],
                fds: vec![0, 7],
            },
        })),
        ToKeeper::ReleaseExec {
            id: id(),
            release: ExecRelease::Run {
                cgroup: b"/sys/fs/cgroup/x.scope".to_vec(),
            },
        },
        ToKeeper::ReleaseExec {
            id: id(),
            release: ExecRelease::Cancel,
        },
        ToKeeper::EndTree {
            id: id(),
            end: EndTree {
                signal: 15,
                grace: Duration::from_millis(1500),
            },
        },
        ToKeeper::SignalTree {
            id: id(),
            signal: 2,
        },
        ToKeeper::SetNotes {
            id: id(),
            notes: vec![9; 70],
        },
        ToKeeper::ReleaseFds { id: id() },
        ToKeeper::CloseStdin { id: id() },
        ToKeeper::Forget { id: id() },
        ToKeeper::ListOrphans,
        ToKeeper::ListTree { id: id() },
        ToKeeper::SetAuditHead { head: vec![7; 70] },
        ToKeeper::Ready,
        ToKeeper::Pong,
    ]
}

fn every_step() -> impl Iterator<Item = SpawnStep> {
    STEPS
        .into_iter()
        .chain(RESTRICTIONS.map(SpawnStep::Confine))
}

fn every_message_to_the_server() -> Vec<ToServer> {
    let mut all = vec![
        ToServer::Hello {
            version: 1,
            level: 2,
        },
        ToServer::Inventory {
            id: id(),
            process: process(),
            status: None,
            notes: Vec::new(),
            stdio: Stdio::Pty,
        },
        ToServer::Inventory {
            id: id(),
            process: process(),
            status: Some(WaitStatus::CpuTimeUp),
            notes: vec![0; 9],
            stdio: Stdio::Pipes,
        },
        ToServer::AuditHead { head: vec![7; 70] },
        ToServer::Recovery,
        ToServer::InventoryEnd,
        ToServer::Done,
        ToServer::Spawned {
            process: process(),
            enforced: enforced(),
        },
        ToServer::Paused { process: process() },
        ToServer::Processes(ProcessList {
            count: u32::MAX,
            listed: vec![ListedProcess {
                process: process(),
                name: b"sleep".to_vec(),
            }],
        }),
        ToServer::Refused(Refusal::UnknownTerminal),
        ToServer::Refused(Refusal::Stopping),
        ToServer::Refused(Refusal::Survivors(3)),
        ToServer::Refused(Refusal::Invalid),
        ToServer::Event(KeeperEvent::Exited {
            id: id(),
            status: WaitStatus::Exited(255),
        }),
        ToServer::Event(KeeperEvent::Exited {
            id: id(),
            status: WaitStatus::CpuTimeUp,
        }),
        ToServer::Event(KeeperEvent::Reloading),
        ToServer::Event(KeeperEvent::ReloadFailed {
            reason: "it exited with 1".to_owned(),
        }),
        ToServer::Event(KeeperEvent::BuilderFailed {
            id: id(),
            stderr: b"bwrap: no\n".to_vec(),
        }),
        ToServer::Event(KeeperEvent::HandOver),
        ToServer::Event(KeeperEvent::Stopping),
        ToServer::Event(KeeperEvent::Finish),
        ToServer::Ping,
    ];
    all.extend(
        every_step().map(|step| ToServer::Refused(Refusal::Spawn(SpawnFailure { step, errno: 2 }))),
    );
    all
}

#[test]
fn every_message_survives_the_wire() {
    for message in every_message_to_the_keeper() {
        let (kind, body) = message.encode();
        assert_eq!(ToKeeper::decode(kind, &body), Ok(Some(message)));
    }
    for message in every_message_to_the_server() {
        let (kind, body) = message.encode();
        assert_eq!(ToServer::decode(kind, &body), Ok(Some(message)));
    }
}

#[test]
fn a_longer_body_is_read_and_a_shorter_one_is_malformed() {
    for message in every_message_to_the_keeper() {
        let (kind, mut body) = message.encode();
        let old = lengths_of_old(&message, body.len());
        for cut in (0..body.len()).filter(|cut| !old.contains(cut)) {
            assert_eq!(ToKeeper::decode(kind, &body[..cut]), Err(Malformed));
        }
        body.extend_from_slice(b"a field of the future");
        assert_eq!(ToKeeper::decode(kind, &body), Ok(Some(message)));
    }
    for message in every_message_to_the_server() {
        let (kind, body) = message.encode();
        let old = match message {
            ToServer::Hello { .. } => vec![4],
            ToServer::Inventory { .. } => vec![body.len() - 2, body.len() - 1],
            ToServer::Event(KeeperEvent::Exited { .. }) => vec![body.len() - 1],
            // A pid and a start time.
            ToServer::Spawned { .. } => vec![12],
            _ => Vec::new(),
        };
        for cut in (0..body.len()).filter(|cut| !old.contains(cut)) {
            assert_eq!(ToServer::decode(kind, &body[..cut]), Err(Malformed));
        }
    }
}

/// Without the fields that were added at their end later.
fn lengths_of_old(message: &ToKeeper, length: usize) -> Vec<usize> {
    match message {
        ToKeeper::Hello { .. } => vec![4],
        ToKeeper::Spawn(request) => {
            let mut confinement = Writer::default();
            confinement.confinement(&request.confinement);
            let mut file = Writer::default();
            file.file(request.file.as_ref());
            let mut inherited = Writer::default();
            inherited.inherited(&request.inherited);
            let before_inherited = length - inherited.0.len();
            let before_stderr = before_inherited - 1;
            let before_stdin = before_stderr - 1;
            let before_file = before_stdin - file.0.len();
            let before_pause = before_file - 1;
            let before = before_pause - confinement.0.len();
            vec![
                before_inherited,
                before_stderr,
                before_stdin,
                before_file,
                before_pause,
                before,
                before - 1,
            ]
        }
        _ => Vec::new(),
    }
}

/// A sandbox that is not understood to the letter is none that the server asked for.
#[test]
fn a_confinement_that_makes_no_sense_is_no_confinement() {
    let mut without_ids = confinement();
    without_ids.sandbox.as_mut().unwrap().writable_ids.clear();
    let mut encoded = Writer::default();
    encoded.confinement(&without_ids);
    let whole = encoded.0;
    let last = whole.len() - 1;
    // From the end: enforcement and temporary files, daemon's socket, network.
    for at in last - 2..=last {
        let mut damaged = whole.clone();
        damaged[at] = 128;
        assert_eq!(Reader(&damaged).confinement(), Err(Malformed));
    }
    assert_eq!(Reader(&whole[..last]).confinement(), Err(Malformed));
    let mut many = confinement();
    let path = || b"/h".to_vec();
    let sandbox = many.sandbox.as_mut().unwrap();
    sandbox.hidden = std::iter::repeat_with(path)
        .take(MAX_SANDBOX_PATHS + 1)
        .collect();
    let mut encoded = Writer::default();
    encoded.confinement(&many);
    assert_eq!(Reader(&encoded.0).confinement(), Err(Malformed));
}

/// A peer from before pipes says neither a level nor what a command has for its three.
#[test]
fn what_an_older_peer_does_not_say_is_a_terminal_and_level_0() {
    let old = ToServer::decode(101, &1_u32.to_le_bytes());
    let (version, level) = (1, 0);
    assert_eq!(old, Ok(Some(ToServer::Hello { version, level })));
    let inventory = ToServer::Inventory {
        id: id(),
        process: process(),
        status: None,
        notes: vec![7],
        stdio: Stdio::Pty,
    };
    let (kind, mut body) = inventory.encode();
    body.truncate(body.len() - 2);
    assert_eq!(ToServer::decode(kind, &body), Ok(Some(inventory)));
    // One from before the cause of a kill says that much, and tells a kill.
    let (id, status) = (id(), WaitStatus::CpuTimeUp);
    let (kind, mut body) = ToServer::Event(KeeperEvent::Exited { id, status }).encode();
    body.pop();
    let Ok(Some(ToServer::Event(KeeperEvent::Exited { status, .. }))) =
        ToServer::decode(kind, &body)
    else {
        panic!("no exit");
    };
    assert_eq!(status, WaitStatus::Signaled(9));
}

#[test]
fn unknown_kinds_are_left_to_newer_peers() {
    assert_eq!(ToKeeper::decode(999, b"whatever"), Ok(None));
    assert_eq!(ToServer::decode(999, b"whatever"), Ok(None));
}

#[test]
fn step_numbers_are_both_ways_the_same() {
    for step in every_step() {
        assert_eq!(SpawnStep::from_number(step.number()), Some(step));
        assert!(step.number() < 128, "the upper half is the error pipe's");
    }
    assert_eq!(SpawnStep::from_number(8), None);
    assert_eq!(SpawnStep::from_number(63), None);
    assert_eq!(SpawnStep::from_number(64 + 22), None);
}

/// A small generator: the test needs spread, not quality.
struct XorShift(u64);

impl XorShift {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

#[test]
fn random_bytes_never_panic_and_never_grow() {
    let mut random = XorShift(0x9e37_79b9_7f4a_7c15);
    let mut understood = 0;
    for _ in 0..20_000 {
        let length = usize::try_from(random.next() % 64).unwrap();
        let body: Vec<u8> = (0..length)
            .map(|_| random.next().to_le_bytes()[0])
            .collect();
        for kind in 0..16 {
            understood += usize::from(matches!(ToKeeper::decode(kind, &body), Ok(Some(_))));
            let _ = ToServer::decode(kind + 100, &body);
        }
    }
    assert!(understood > 0, "some random bytes are a bodiless message");
}

#[test]
fn damaged_messages_never_panic() {
    let mut random = XorShift(42);
    for message in every_message_to_the_keeper() {
        let (kind, body) = message.encode();
        for _ in 0..2_000 {
            let mut damaged = body.clone();
            if let Some(at) = usize::try_from(random.next())
                .unwrap()
                .checked_rem(damaged.len())
            {
                damaged[at] ^= random.next().to_le_bytes()[0];
            }
            let _ = ToKeeper::decode(kind, &damaged);
        }
    }
}
