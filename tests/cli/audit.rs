//! `termctl audit`: export, follow, and the comparison of the chain with the journal.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};
use termd_test_support::{Pty, TestDaemon, wait_until};

use crate::termctl::{command, ok, termctl};

/// A daemon with several audit records.
fn with_records() -> TestDaemon {
    let daemon = TestDaemon::start();
    for words in ["=1+1", "two, \"quoted\"", "three\u{1b}[31m\nlines"] {
        let id = ok(&daemon, &["create", "--", "echo", words]);
        termctl(&daemon, &["wait", &id]);
    }
    daemon
}

fn records(daemon: &TestDaemon) -> Vec<Value> {
    let lines = ok(daemon, &["audit", "export"]);
    (lines.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn an_export_has_every_record_once_oldest_first() {
    let daemon = with_records();
    let mut found = Vec::new();
    wait_until("the exits are recorded", || {
        found = records(&daemon);
        let exits = found
            .iter()
            .filter(|record| record["action"] == "terminal.exit");
        exits.count() == 3
    });
    for (record, wanted) in found.iter().zip(1..) {
        assert_eq!(record["seq"], wanted, "{record}");
    }
    let echoes = ok(
        &daemon,
        &["audit", "export", "--program", "echo", "--front", "cli"],
    );
    assert_eq!(echoes.lines().count(), 3, "{echoes}");
    let none = ok(&daemon, &["audit", "export", "--front", "mcp"]);
    assert_eq!(none, "");

    let csv = termctl(&daemon, &["audit", "export", "--csv", "--program", "echo"]);
    assert_eq!(csv.code, Some(0), "{csv:?}");
    assert_eq!(
        csv.out.matches("\r\n").count(),
        4,
        "a header and a line each: {}",
        csv.out
    );
    assert_eq!(csv.out.matches('\n').count(), 4);
    assert!(csv.out.starts_with("seq,time,"), "{}", csv.out);
    assert!(!csv.out.contains('\u{1b}'), "{}", csv.out);
    let both = termctl(&daemon, &["audit", "export", "--csv", "--json"]);
    assert_eq!(both.code, Some(2), "{both:?}");
}

/// The follower ends when its pipe is closed.
#[test]
fn following_prints_what_is_there_and_what_comes() {
    let daemon = with_records();
    let mut following = command(
        &daemon,
        &[
            "audit",
            "--follow",
            "-n",
            "1",
            "--json",
            "--action",
            "terminal.create",
        ],
    );
    let mut following = following.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(following.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let first = next();
    assert!(
        first["detail"]["argv"].to_string().contains("three"),
        "{first}"
    );
    for word in ["four", "five"] {
        ok(&daemon, &["create", "--", "echo", word]);
        let record = next();
        assert!(
            record["detail"]["argv"].to_string().contains(word),
            "{record}"
        );
    }
    following.kill().unwrap();
    following.wait().unwrap();
}

/// The journal's lines about these heads of the chain, as `journalctl -o json` prints them.
fn journal(heads: &[(i64, &str)], database: &str) -> String {
    let uid = rustix::process::getuid().as_raw().to_string();
    let lines = heads.iter().map(|(seq, hash)| {
        json!({
            "MESSAGE_ID": termd_proto::audit::ANCHOR_MESSAGE_ID, "_UID": uid,
            "_EXE": "/usr/bin/termd", "_TRANSPORT": "journal",
            "__REALTIME_TIMESTAMP": "1700000000000000", "TERMD_AUDIT_SEQ": seq.to_string(),
            "TERMD_AUDIT_HASH": hash, "TERMD_DATABASE": database,
        })
    });
    lines.fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "{line}");
        text
    })
}

#[test]
fn a_difference_from_the_journal_is_named() {
    let daemon = with_records();
    let found = records(&daemon);
    let database = daemon.client().ok("daemon.info", &Value::Null)["database"].clone();
    let database = database.as_str().unwrap().to_owned();
    let hash = |seq: usize| found[seq - 1]["hash"].as_str().unwrap();
    let file = daemon.path("journal.json");
    let verify = |text: String| {
        fs::write(&file, text).unwrap();
        let file = file.to_str().unwrap();
        termctl(&daemon, &["audit", "verify", "--anchors", file])
    };
    let good = verify(journal(&[(1, hash(1)), (3, hash(3))], &database));
    assert_eq!(good.code, Some(0), "{good:?}");
    assert!(
        good.out.contains("2 heads in the journal, all agree"),
        "{good:?}"
    );

    let wrong = "ab".repeat(32);
    let rewritten = verify(journal(&[(1, hash(1)), (2, &wrong)], &database));
    assert_eq!(rewritten.code, Some(1), "{rewritten:?}");
    assert!(
        rewritten.out.contains("record 2 of 2023-11-14"),
        "{rewritten:?}"
    );

    let cut = verify(journal(&[(9_999, &wrong)], &database));
    assert_eq!(cut.code, Some(1), "{cut:?}");
    assert!(
        cut.out.contains("record 9999") && cut.out.contains("gone"),
        "{cut:?}"
    );

    for nothing in [
        String::new(),
        journal(&[(1, hash(1))], "/another/database"),
        journal(&[(2, &wrong)], &database).replace("/usr/bin/termd", "/usr/bin/forger"),
        "not json\n{}\n".to_owned(),
    ] {
        let output = verify(nothing);
        assert_eq!(output.code, Some(5), "{output:?}");
        assert!(output.out.contains("nothing shows"), "{output:?}");
    }
    let json = termctl(
        &daemon,
        &[
            "audit",
            "verify",
            "--json",
            "--anchors",
            file.to_str().unwrap(),
        ],
    );
    assert_eq!(json.json()["journal"]["compared"], 0, "{json:?}");
}

#[test]
fn who_attaches_is_recorded() {
    let daemon = TestDaemon::start();
    let id = ok(&daemon, &["create", "--", "sleep", "1000"]);
    let mut person = Pty::open(80, 24);
    let mut child = person.spawn(&command(&daemon, &["attach", &id]));
    wait_until("the attaching is recorded", || {
        ok(&daemon, &["audit", "--action", "terminal.attach"]).contains("mode=type")
    });
    person.read_until("ctrl-]");
    let attached = ok(&daemon, &["audit", "--action", "terminal.attach", "--json"]);
    assert!(attached.contains("\"client\":\"termctl\""), "{attached}");
    person.write("\x1dd");
    assert_eq!(person.wait(&mut child).code(), Some(0));
    wait_until("the detaching is recorded", || {
        ok(&daemon, &["audit", "--action", "terminal.detach"]).contains("ms=")
    });
}
