//! Clients that vanish, never read or send noise do not disturb others.

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use termd_test_support::{Agent, TestDaemon, open_descriptors, resident_kib, wait_until};

#[test]
fn a_client_that_vanishes_takes_its_waits_with_it_and_nothing_else() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let server = daemon.server().pid;
    let id = agent.script("read go; exit 5");
    agent.output(&id);
    wait_until("the server has closed what is over", || {
        agent.ok("daemon.stats", &Value::Null)["connections"] == 1
    });
    let before = open_descriptors(server).len();
    for _ in 0..20 {
        let mut other = daemon.agent();
        for _ in 0..100 {
            other.send("terminal/wait_for_exit", &Agent::named(&id));
        }
        other.send("session.read", &json!({ "id": id, "wait_ms": 60_000 }));
        other.ok("session.subscribe", &json!({}));
    }
    wait_until("the vanished connections are gone", || {
        agent.ok("daemon.stats", &Value::Null)["connections"] == 1
    });
    wait_until("and their descriptors", || {
        open_descriptors(server).len() <= before
    });
    assert!(
        agent.output(&id)["exitStatus"].is_null(),
        "the terminal lives on"
    );
    agent.send_text(&id, "\n");
    assert_eq!(agent.wait(&id), (Some(5), None));
}

/// A create whose client is gone before the answer leaves a terminal that is listed, or none.
#[test]
fn a_create_whose_asker_vanished_is_done_or_not_but_never_half() {
    let daemon = TestDaemon::start();
    for _ in 0..20 {
        let mut agent = daemon.agent();
        agent.send(
            "terminal/create",
            &json!({ "sessionId": "s", "command": "sleep", "args": ["1000"] }),
        );
    }
    let mut client = daemon.client();
    wait_until("all connections are over", || {
        client.ok("daemon.stats", &Value::Null)["connections"] == 1
    });
    let listed = || {
        let page = daemon
            .client()
            .ok("session.list", &json!({ "scope": "running" }));
        page["terminals"].as_array().unwrap().clone()
    };
    wait_until("every sleep that runs is listed", || {
        let sleeps = daemon.processes().into_iter().filter(|pid| {
            std::fs::read(format!("/proc/{pid}/cmdline"))
                .is_ok_and(|line| line == b"sleep\x001000\0")
        });
        sleeps.count() == listed().len()
    });
    for info in listed() {
        client.ok("session.close", &json!({ "id": info["id"] }));
    }
}

#[test]
fn a_client_that_never_reads_delays_nobody_and_its_answers_are_bounded() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.script("head -c 1000000 /dev/zero | tr '\\0' x");
    agent.wait(&id);
    let server = daemon.server().pid;
    let mut deaf = daemon.agent();
    // 500 answers of 1 MB each for small requests.
    for _ in 0..500 {
        if deaf
            .try_send("terminal/output", &Agent::named(&id))
            .is_err()
        {
            break;
        }
    }
    let mut slowest = Duration::ZERO;
    for _ in 0..20 {
        let begin = Instant::now();
        agent.ok("daemon.info", &Value::Null);
        slowest = slowest.max(begin.elapsed());
        let (code, _) = agent.run(&json!({ "command": "true" }));
        assert_eq!(code, Some(0));
    }
    assert!(
        slowest < Duration::from_secs(2),
        "an answer took {slowest:?}"
    );
    let resident = resident_kib(server).unwrap();
    assert!(
        resident < 400 << 10,
        "the server holds {resident} KiB for one deaf client"
    );
}

#[test]
fn noise_harms_nobody() {
    let daemon = TestDaemon::start();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for _ in 0..30 {
        let client = daemon.client();
        let noise: Vec<u8> = (0..20_000).map(|_| random().to_le_bytes()[0]).collect();
        // The daemon may close the connection meanwhile.
        let _ = client.stream().write_all(&noise);
    }
    assert_eq!(
        daemon.agent().run(&json!({ "command": "echo fine" })).1,
        "fine\n"
    );
}

#[test]
fn two_hundred_connections_are_served() {
    let daemon = TestDaemon::start();
    let mut clients: Vec<_> = (0..200).map(|_| daemon.client()).collect();
    for client in &mut clients {
        client.ok("daemon.info", &Value::Null);
    }
}
