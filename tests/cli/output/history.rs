//! `history` and `read --command`: commands and their output.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use termd_test_support::{TestDaemon, assert_members, wait_until};

use crate::termctl::{command, ok, termctl};

#[test]
fn history_lists_and_searches_and_read_prints_one() {
    let daemon = TestDaemon::start();
    let good = ok(&daemon, &["create", "--", "printf", "one\\ntwo\\n"]);
    ok(&daemon, &["wait", &good]);
    let bad = ok(
        &daemon,
        &["create", "--label", "bad", "--", "sh", "-c", "exit 3"],
    );
    termctl(&daemon, &["wait", &bad]);
    let runs = ok(&daemon, &["create", "--", "sleep", "1000"]);

    let numbers = |args: &[&str]| -> Vec<(String, Value, Value)> {
        let output = termctl(&daemon, &[&["history", "--json"], args].concat()).json();
        let commands = output.as_array().unwrap();
        let row_of = |it: &Value| {
            let terminal = it["terminal"].as_str().unwrap().to_owned();
            (terminal, it["number"].clone(), it["exit_code"].clone())
        };
        commands.iter().map(row_of).collect()
    };
    let row = |id: &str, code: Value| (id.to_owned(), json!(0), code);
    let (first, second, third) = (
        row(&runs, Value::Null),
        row(&bad, json!(3)),
        row(&good, json!(0)),
    );
    let (newest, older) = (vec![first.clone()], vec![second.clone()]);
    wait_until("their ends are in the database", || {
        let ended = numbers(&[]);
        ended.iter().filter(|command| command.2.is_i64()).count() == 2
    });
    for (args, expected) in [
        (&[][..], vec![first.clone(), second.clone(), third.clone()]),
        (&["--limit", "1"], newest.clone()),
        (&["-n", "0"], vec![]),
        (&["--failed"], older.clone()),
        (&["bad"], older.clone()),
        (&["--search", "SLEEP 10"], newest),
        (&["--search", "nothing"], vec![]),
        (&["--search", "10 sLeEp"], vec![first.clone()]),
        (&["--search", "sleep 10", "-F"], vec![first.clone()]),
        (&["--search", "10 sleep", "-F"], vec![]),
        (&["--search", "SLEEP 1(0+)$", "-ei"], vec![first.clone()]),
        (&["--search", "SLEEP", "-e"], vec![]),
        (&["--failed", "--search", "sh", "bad"], older),
    ] {
        assert_eq!(numbers(args), expected, "{args:?}");
    }
    let meant = termctl(&daemon, &["history", "-e"]);
    assert_eq!(meant.code, Some(2), "{meant:?}");
    meant.assert_one_line();
    let table = ok(&daemon, &["history"]);
    assert!(
        table.starts_with("TERMINAL") && table.contains("sleep 1000"),
        "{table}"
    );

    for number in ["0", "-1"] {
        let output = termctl(&daemon, &["read", &good, "--command", number]);
        assert_eq!((output.code, output.out.as_str()), (Some(0), "one\ntwo\n"));
    }
    let bytes = termctl(&daemon, &["read", &good, "--command", "0", "--bytes", "4"]);
    assert_eq!(bytes.out, "one\n");
    let empty = termctl(&daemon, &["read", &bad, "--command", "0", "--json"]).json();
    assert_members(&empty, &json!({ "start": 0, "text": "" }));

    let none = termctl(&daemon, &["read", &good, "--command", "7"]);
    assert_eq!(none.code, Some(3), "{none:?}");
    none.assert_one_line();
    let nobody = termctl(&daemon, &["history", "nobody"]);
    assert_eq!(nobody.code, Some(3), "{nobody:?}");
    let both = termctl(&daemon, &["read", &good, "--command", "0", "--tail", "1"]);
    assert_eq!(both.code, Some(2), "{both:?}");
}

#[test]
fn times_are_written_as_people_write_them() {
    let daemon = TestDaemon::start();
    let id = ok(&daemon, &["create", "--", "true"]);
    ok(&daemon, &["wait", &id]);
    for verb in ["history", "audit"] {
        for since in ["yesterday", "1h30m", "@0", "2020-01-01 14:03"] {
            let found = termctl(&daemon, &[verb, "--json", "--since", since]).json();
            assert_ne!(found, json!([]), "{verb} --since {since}");
            let found = termctl(&daemon, &[verb, "--json", "--until", since]).json();
            assert_eq!(found, json!([]), "{verb} --until {since}");
        }
        let output = termctl(&daemon, &[verb, "--since", "lately"]);
        assert_eq!(output.code, Some(2), "{output:?}");
        for said in ["'lately'", "--since", "yesterday", "1h30m", "@SECONDS"] {
            assert!(output.err.contains(said), "{output:?}");
        }
    }
}

/// What sha256sum(1) says of these bytes.
fn sha256(bytes: &[u8]) -> String {
    let mut sum = Command::new("sha256sum")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    sum.stdin.take().unwrap().write_all(bytes).unwrap();
    let output = String::from_utf8(sum.wait_with_output().unwrap().stdout).unwrap();
    output[..64].to_owned()
}

fn exact_output(daemon: &TestDaemon, id: &str) -> Vec<u8> {
    command(daemon, &["read", "--raw", id])
        .output()
        .unwrap()
        .stdout
}

/// The hash of the output in the record of a terminal's own command, once it is known.
fn recorded_hash(daemon: &TestDaemon, id: &str) -> String {
    let mut hash = Value::Null;
    wait_until("the output is hashed", || {
        let commands = termctl(daemon, &["history", "--json", id]).json();
        hash = commands[0]["output_sha256"].clone();
        hash.is_string()
    });
    hash.as_str().unwrap().to_owned()
}

#[test]
fn a_command_is_recorded_with_the_hash_of_its_output() {
    let daemon = TestDaemon::start();
    for script in ["true", "seq 200000", "printf '\\0\\377'; echo err >&2"] {
        let id = ok(&daemon, &["create", "--pipes", "--", "sh", "-c", script]);
        ok(&daemon, &["wait", &id]);
        let output = exact_output(&daemon, &id);
        assert_eq!(recorded_hash(&daemon, &id), sha256(&output), "{script}");
        let exit = termctl(&daemon, &["audit", "--json", "--action", "terminal.exit"]).json();
        assert_eq!(
            exit[0]["detail"]["output_sha256"],
            sha256(&output),
            "{exit}"
        );
    }
    // Of what a killed server has read, the next one makes the same hash.
    let fifo = daemon.path("go");
    let script = format!(
        "seq 100000; mkfifo '{fifo}'; read x <'{fifo}'; echo end",
        fifo = fifo.display()
    );
    let id = ok(&daemon, &["create", "--pipes", "--", "sh", "-c", &script]);
    ok(&daemon, &["wait", "--for", "^100000$", &id]);
    daemon.kill_server();
    std::fs::write(&fifo, "go\n").unwrap();
    ok(&daemon, &["wait", &id]);
    let output = exact_output(&daemon, &id);
    assert!(output.ends_with(b"100000\nend\n"));
    assert_eq!(recorded_hash(&daemon, &id), sha256(&output));
}
