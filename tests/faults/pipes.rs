//! Commands on pipes: the server dies while both streams are flooded. No byte is lost, comes twice
//! or moves to the other stream.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use termd_test_support::{TestDaemon, merged, sh, wait_until};

use crate::flood_faults::strike_during_output;
use crate::{Fault, rounds};

/// The number of faults during one flood.
const STRIKES: u32 = 4;
/// The least output between two faults, in bytes.
const BETWEEN: u64 = 500_000;

/// Writes numbered lines to both streams at once, in writes of many lengths. Each line names its
/// stream.
const WRITER: &str = r#"
import sys, os, threading
gate = sys.argv[1]
open(gate).read()
def write(fd, name, seed):
    state, number, out = seed, 0, []
    while number < 200000:
        out = []
        state = (state * 69069 + 1) % 4294967296
        for _ in range(1 + (state >> 16) % 60):
            out.append("%s %d %s\n" % (name, number, "x" * ((state >> 8) % 40)))
            number += 1
        data = "".join(out).encode()
        while data:
            data = data[os.write(fd, data):]
threads = [threading.Thread(target=write, args=a) for a in ((1, "out", 1), (2, "err", 2))]
[t.start() for t in threads]
[t.join() for t in threads]
os._exit(9)
"#;

fn whole(daemon: &TestDaemon, id: &str, stream: &str) -> Vec<u8> {
    let mut client = daemon.client();
    let (mut all, mut since) = (Vec::new(), json!(0));
    loop {
        let page = client.ok("session.read", &json!({
            "id": id, "since": since, "stream": stream, "encoding": "base64", "max_bytes": 1 << 20,
        }));
        all.extend(STANDARD.decode(page["data"].as_str().unwrap()).unwrap());
        since = page["end"].clone();
        if page["at_end"] == true {
            return all;
        }
    }
}

/// Checks that each line of a stream is there, in order, and none of the other stream.
#[track_caller]
fn assert_whole(bytes: &[u8], name: &str, context: &str) {
    let mut expected = 0_u32;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let text = String::from_utf8_lossy(line);
        let mut words = text.split_whitespace();
        let found = (
            words.next(),
            words.next().and_then(|word| word.parse().ok()),
        );
        assert_eq!(found, (Some(name), Some(expected)), "{context}: {text:?}");
        expected += 1;
    }
    assert!(expected >= 200_000, "{context}: {expected} lines of {name}");
}

fn flood(fault: Fault) {
    for round in 0..rounds() {
        let daemon = TestDaemon::start();
        let (gate, writer) = (daemon.path("gate"), daemon.path("writer.py"));
        std::fs::write(&writer, WRITER).unwrap();
        let script = format!(
            "mkfifo '{0}'; exec python3 '{1}' '{0}'",
            gate.display(),
            writer.display()
        );
        let params = merged(
            &sh(&script),
            &json!({ "stdio": "pipes", "output_byte_limit": 65_536 }),
        );
        let id = daemon.client().create_terminal(&params);
        wait_until("the gate is there", || gate.exists());
        std::fs::write(&gate, "go").unwrap();
        let strikes = strike_during_output(&daemon, &id, fault, STRIKES, BETWEEN);
        let context = format!("round {round}, {strikes} × {fault:?}");
        let result = daemon.client().ok("session.wait", &json!({ "id": id }));
        let expected = json!({ "exit_code": 9, "signal": null });
        assert_eq!(result["exit_status"], expected, "{context}");
        for _ in 0..2 {
            let (out, err) = (whole(&daemon, &id, "stdout"), whole(&daemon, &id, "stderr"));
            assert_whole(&out, "out", &context);
            assert_whole(&err, "err", &context);
            assert_eq!((out.len() + err.len()) as u64, result["end"], "{context}");
            // The next server has none of the output in memory.
            fault.strike(&daemon);
        }
        let verdict = daemon.client().ok("audit.verify", &Value::Null);
        assert_eq!(verdict["first_bad"], Value::Null, "{context}");
    }
}

#[test]
fn both_streams_are_whole_and_apart_when_the_server_is_killed_under_flood() {
    flood(Fault::Kill);
}

#[test]
fn both_streams_are_whole_and_apart_when_the_server_is_replaced_under_flood() {
    flood(Fault::Replace);
}
