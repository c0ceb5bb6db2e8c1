//! Limits of one process, client and front, and that others are served meanwhile.

use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use termd_test_support::{TestDaemon, sh};

/// The path of the socket, for this program when it runs again as the greedy process.
const SOCKET_VARIABLE: &str = "TERMD_TEST_GREEDY_SOCKET";
/// How many connections and requests the greedy process tries.
const TRIES: usize = 10_000;
/// How long another client may wait for `daemon.info` meanwhile.
const SOON: Duration = Duration::from_secs(1);

/// The tests below run this as another process. It is no test by itself. It connects 10,000 times,
/// reports the refusals, sends 10,000 requests on each of eight connections without reading an
/// answer, and goes on connecting until it is killed.
#[test]
fn greedy() {
    let Some(socket) = env::var_os(SOCKET_VARIABLE) else {
        return;
    };
    let mut kept = Vec::new();
    let mut limits = std::collections::BTreeMap::<String, usize>::new();
    for _ in 0..TRIES {
        let stream = UnixStream::connect(&socket).unwrap();
        stream.set_nonblocking(true).unwrap();
        kept.push(stream);
        // A refused connection gets an error at once and is closed, which frees its descriptor.
        if kept.len() >= 512 {
            kept.retain(|stream| !was_refused(stream, &mut limits));
        }
    }
    // Accepted connections stay silent.
    while kept.len() > 256 {
        kept.retain(|stream| !was_refused(stream, &mut limits));
    }
    println!("GREEDY {} {limits:?}", kept.len());
    let wait = json!({ "jsonrpc": "2.0", "id": 1, "method": "approval.wait",
                       "params": { "timeout_ms": 60_000 } });
    let line = format!("{wait}\n").repeat(TRIES / 100);
    for mut stream in kept.iter().take(8) {
        for _ in 0..100 {
            // The connection is full or closed.
            if stream.write_all(line.as_bytes()).is_err() {
                break;
            }
        }
    }
    println!("GREEDY asked");
    loop {
        if let Ok(mut stream) = UnixStream::connect(&socket) {
            let _ = stream.read(&mut [0; 512]);
        }
    }
}

/// Whether this connection was refused.
fn was_refused(
    mut stream: &UnixStream,
    limits: &mut std::collections::BTreeMap<String, usize>,
) -> bool {
    let mut line = [0; 512];
    let Ok(length @ 1..) = stream.read(&mut line) else {
        return false;
    };
    let answer: Value = serde_json::from_slice(&line[..length]).unwrap();
    let limit = answer["error"]["data"]["limit"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(answer["error"]["data"]["kind"], "overloaded");
    *limits.entry(limit).or_default() += 1;
    true
}

struct GreedyProcess(Child, BufReader<std::process::ChildStdout>);

impl GreedyProcess {
    fn start(daemon: &TestDaemon) -> Self {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "socket::peer_limits::greedy", "--nocapture"])
            .env(SOCKET_VARIABLE, daemon.socket())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let words = BufReader::new(child.stdout.take().unwrap());
        Self(child, words)
    }

    /// The next report of the greedy process.
    fn next_report(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert!(self.1.read_line(&mut line).unwrap() > 0, "it has ended");
            if let Some((_, words)) = line.split_once("GREEDY ") {
                return words.trim_end().to_owned();
            }
        }
    }
}

impl Drop for GreedyProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_greedy_process_keeps_nobody_from_being_served() {
    let daemon = TestDaemon::start();
    let mut old = daemon.client();
    let mut watcher = daemon.client();
    watcher.ok("session.subscribe", &json!({}));
    let mut greedy = GreedyProcess::start(&daemon);
    let pid = greedy.0.id();
    let mut longest = Duration::ZERO;
    let mut serve = |times: usize| {
        for _ in 0..times {
            for is_new in [false, true] {
                let begin = Instant::now();
                if is_new {
                    daemon.client().ok("daemon.info", &Value::Null);
                } else {
                    old.ok("daemon.info", &Value::Null);
                }
                longest = longest.max(begin.elapsed());
            }
        }
    };
    serve(50);
    let refused = TRIES - 256;
    let expected = format!("256 {{\"connections_of_peer\": {refused}}}");
    assert_eq!(greedy.next_report(), expected);
    serve(50);
    assert_eq!(greedy.next_report(), "asked");
    serve(50);
    eprintln!("daemon.info beside a greedy process: {longest:?} at the longest");
    assert!(longest < SOON, "{longest:?}");
    // The refusals are reported once, in the log and as an event.
    let event = watcher.wait_for_event("peer_limit_reached");
    let of_connections = json!({ "type": "peer_limit_reached", "pid": pid,
                                 "limit": "connections_of_peer", "value": 256 });
    assert_eq!(event, of_connections);
    let log = daemon.log();
    let warnings = log
        .lines()
        .filter(|line| line.contains("connections_of_peer"));
    assert_eq!(warnings.count(), 1, "{log}");

    // A new server finds all connections in the backlog and still answers.
    daemon.kill_server();
    daemon.client().ok("daemon.info", &Value::Null);
}

#[test]
fn a_client_and_a_front_have_limits_of_their_own() {
    let daemon = TestDaemon::configured(
        "kill_grace_ms = 300\n[limits]\nterminals = 4\nterminals_of_client = 2\nterminals_of_front = 3\n",
    );
    let mut watcher = daemon.client();
    watcher.ok("session.subscribe", &json!({}));
    let mut clients = ["one", "two", "three"].map(|name| {
        let mut client = daemon.client();
        let front = if name == "three" { "mcp" } else { "cli" };
        client.ok("daemon.hello", &json!({ "client": name, "front": front }));
        client
    });
    let long = sh("exec sleep 1000");
    for (client, limit) in [
        (0, None),
        (0, None),
        (0, Some(("terminals_of_client", 2))),
        (0, Some(("terminals_of_client", 2))),
        (1, None),
        (1, Some(("terminals_of_front", 3))),
        (2, None),
        (2, Some(("terminals", 4))),
    ] {
        match limit {
            None => {
                clients[client].ok("session.create", &long);
            }
            Some((name, max)) => {
                let error = clients[client].err("session.create", &long);
                assert_eq!(error.kind(), "overloaded", "{error:?}");
                assert_eq!(error.data["limit"], name, "{error:?}");
                assert_eq!(error.data["max"], max, "{error:?}");
            }
        }
    }
    let mut limits = Vec::new();
    while limits.len() < 3 {
        let event = watcher.wait_for_event("peer_limit_reached");
        limits.push(event["limit"].as_str().unwrap().to_owned());
    }
    assert_eq!(
        limits,
        ["terminals_of_client", "terminals_of_front", "terminals"]
    );
}

/// Calls whose commands wait to be judged end with their connection.
#[test]
fn who_hangs_up_has_no_more_commands_judged() {
    const SENT: usize = 40;
    let daemon = TestDaemon::start();
    let mut gone = daemon.client();
    gone.ok("daemon.hello", &json!({ "client": "gone" }));
    // Long to judge, and asked about, with no person to ask.
    let heavy = format!(
        r#"a=(x y);{}rm -rf "${{a[@]}}""#,
        r#"a+=("${a[@]}");"#.repeat(100)
    );
    let first = gone.send("session.create", &sh(&heavy));
    for _ in 1..SENT {
        gone.send("session.create", &sh(&heavy));
    }
    gone.answer(first);
    drop(gone);

    let mut other = daemon.client();
    for _ in 0..8 {
        let refused = other.err("session.create", &sh(&heavy));
        assert_eq!(refused.kind(), "confirmation_required");
    }
    let judged = other.audit_records(&json!({ "client": "gone" })).len();
    assert!((1..SENT / 2).contains(&judged), "{judged} were judged");
}
