//! A flood of output: the transcript holds exactly the bytes that the child wrote.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon, merged, sh, wait_until};

use crate::flood_faults::{output_end, strike_during_output};
use crate::{Fault, rounds};

/// The number of lines: about 16 MB of pseudo-random lengths. Less can be over before the first
/// fault.
const LINES: u32 = 100_000;
/// The number of faults during one flood.
const STRIKES: u32 = 3;
/// The least output between two faults, in bytes.
const BETWEEN: u64 = 200_000;

/// A script that prints numbered lines of pseudo-random length with a checksum, to the terminal and
/// to a file. It waits for a newline first, so that it does not end before the test looks.
fn writer(seed: u32, copy: &Path, exit_code: u32) -> String {
    format!(
        "stty raw -echo; echo ready; head -c 1 >/dev/null; \
         awk -v s={seed} -v n={LINES} 'BEGIN {{ \
           x = \"abcdefghijklmnopqrstuvwxyz0123456789\"; while (length(x) < 512) x = x x; \
           for (i = 0; i < n; i++) {{ \
             s = (s * 69069 + 1) % 4294967296; l = int(s / 65536) % 300; \
             printf \"%d:%d:%d:%s\\n\", i, l, (i * 31 + l) % 65521, substr(x, 1 + s % 36, l) }} }}' \
         | tee '{}'; exit {exit_code}",
        copy.display()
    )
}

/// The whole transcript of a terminal, by a new connection.
fn transcript(daemon: &TestDaemon, id: &str) -> Vec<u8> {
    let mut client: RawClient = daemon.client();
    client.transcript(id)
}

/// Compares two byte strings, and shows where they differ.
#[track_caller]
fn assert_same(transcript: &[u8], copy: &[u8], context: &str) {
    if transcript == copy {
        return;
    }
    let at = transcript
        .iter()
        .zip(copy)
        .take_while(|(a, b)| a == b)
        .count();
    let show = |bytes: &[u8]| {
        let window = &bytes[at.min(bytes.len())..(at + 60).min(bytes.len())];
        String::from_utf8_lossy(window).into_owned()
    };
    panic!(
        "{context}: {} bytes in the transcript, {} written; they part at {at}: {:?} and {:?}",
        transcript.len(),
        copy.len(),
        show(transcript),
        show(copy)
    );
}

fn flood(fault: Fault) {
    for round in 0..rounds() {
        let daemon = TestDaemon::start();
        let copy = daemon.path("copy");
        let exit_code = 1 + round % 100;
        let mut client = daemon.client();
        let script = writer(round * 7919 + 1, &copy, exit_code);
        let params = merged(&sh(&script), &json!({ "output_byte_limit": 65_536 }));
        let id = client.create_terminal(&params);
        client.wait_for_text(&id, "ready\n");
        client.send_text(&id, "\n");
        let strikes = strike_during_output(&daemon, &id, fault, STRIKES, BETWEEN);
        let context = format!("round {round}, {strikes} × {fault:?}");
        let result = daemon.client().ok("session.wait", &json!({ "id": id }));
        let expected = json!({ "exit_code": exit_code, "signal": null });
        assert_eq!(result["exit_status"], expected, "{context}");
        let written = [b"ready\n".to_vec(), fs::read(&copy).unwrap()].concat();
        assert_same(&transcript(&daemon, &id), &written, &context);
        // The next server has none of the output in memory.
        fault.strike(&daemon);
        assert_same(&transcript(&daemon, &id), &written, &context);
        let verdict = daemon.client().ok("audit.verify", &Value::Null);
        assert_eq!(verdict["first_bad"], Value::Null, "{context}");
    }
}

#[test]
fn no_byte_is_lost_when_the_server_is_killed_under_flood() {
    flood(Fault::Kill);
}

#[test]
fn no_byte_is_lost_when_the_server_is_replaced_under_flood() {
    flood(Fault::Replace);
}

/// Several terminals at once, and a restart of the whole daemon at the end.
#[test]
fn many_floods_at_once_survive_too() {
    const TERMINALS: u32 = 6;
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let terminals: Vec<(String, Vec<u8>)> = (0..TERMINALS)
        .map(|number| {
            let script =
                format!("stty raw -echo; head -c 1 >/dev/null; seq {number}000000 {number}200000");
            let info = client.ok("session.create", &sh(&script));
            let first = u64::from(number) * 1_000_000;
            // seq(1) reads 000000 as 0.
            let lines: String = (first..=first + 200_000).fold(String::new(), |mut all, n| {
                all += &n.to_string();
                all.push('\n');
                all
            });
            (info["id"].as_str().unwrap().to_owned(), lines.into_bytes())
        })
        .collect();
    for (id, _) in &terminals {
        client.send_text(id, "\n");
    }
    for _ in 0..3 {
        Fault::Kill.strike(&daemon);
        let mut last = 0;
        wait_until("output comes again", || {
            let end: u64 = terminals
                .iter()
                .map(|(id, _)| output_end(&daemon, id).0)
                .sum();
            let all: usize = terminals.iter().map(|(_, lines)| lines.len()).sum();
            let moved = last > 0 && end > last || end == all as u64;
            last = end;
            moved
        });
    }
    let mut client = daemon.client();
    for (id, lines) in &terminals {
        let result = client.ok("session.wait", &json!({ "id": id }));
        assert_eq!(result["exit_status"]["exit_code"], 0);
        assert_same(&client.transcript(id), lines, id);
    }
    drop(client);
    let daemon = TestDaemon::start_in(daemon.stop());
    for (id, lines) in &terminals {
        assert_same(&transcript(&daemon, id), lines, id);
    }
}
