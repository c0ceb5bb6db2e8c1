//! `session.wait_for` and `session.interact`: what a pattern matches, and that an echo is no match.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon, is_installed, sh};

use crate::shell::marked_shell::MarkedShell;

/// A line as input.
pub(crate) fn line(text: &str) -> Value {
    json!({ "text": text, "enter": true })
}

pub(crate) fn interact(client: &mut RawClient, id: &str, input: &Value, until: &Value) -> Value {
    let params = json!({ "id": id, "input": input, "until": until, "timeout_ms": 15_000 });
    client.ok("session.interact", &params)
}

fn wait_for(client: &mut RawClient, id: &str, since: u64, pattern: &str) -> Value {
    let until = json!({ "pattern": pattern });
    let params = json!({ "id": id, "since": since, "until": until, "timeout_ms": 15_000 });
    client.ok("session.wait_for", &params)
}

/// The output between two offsets of an answer.
pub(crate) fn text(client: &mut RawClient, id: &str, from: &Value, to: &Value) -> String {
    let params = json!({ "id": id, "since": from, "until": to });
    let page = client.ok("session.read", &params);
    page["text"].as_str().unwrap().to_owned()
}

/// `sleep 1; echo READY` matches after the sleep, in every shell, with marks and without.
#[test]
fn an_echo_is_no_match() {
    let daemon = TestDaemon::start();
    let shells: [&[&str]; 5] = [
        &["bash"],
        &["zsh"],
        &["fish"],
        &["dash", "-i"],
        &["bash", "--norc", "--noprofile", "+m"],
    ];
    for argv in shells {
        if !is_installed(argv[0], "an_echo_is_no_match") {
            continue;
        }
        let create = json!({ "command": argv[0], "args": argv[1..], "cols": 30 });
        let mut shell = MarkedShell::start_with(&daemon, &create);
        let id = shell.id.clone();
        let first = wait_for(&mut shell.client, &id, 0, r"[$#%>] ?$");
        assert_eq!(first["ended_by"], "matched", "{argv:?}: {first}");
        for command in [
            "sleep 1; echo READY",
            "sleep 1; true a line wider than its screen; echo READY",
        ] {
            let begun = Instant::now();
            let until = json!({ "pattern": "READY" });
            let found = interact(&mut shell.client, &id, &line(command), &until);
            assert_eq!(found["ended_by"], "matched", "{argv:?}: {found}");
            assert_eq!(found["matched"]["line"], "READY", "{argv:?}: {found}");
            assert!(
                begun.elapsed() >= Duration::from_millis(950),
                "{argv:?}: {found}"
            );
            // Output read from `output_start` holds no echo.
            let output = text(
                &mut shell.client,
                &id,
                &found["output_start"],
                &found["end"],
            );
            assert!(output.starts_with("READY"), "{argv:?}: {output:?} {found}");
            // The new prompt matches, not the old one.
            let prompt = wait_for(
                &mut shell.client,
                &id,
                found["matched"]["end"].as_u64().unwrap(),
                r"[$#%>]\s*$",
            );
            assert_eq!(prompt["ended_by"], "matched", "{argv:?}: {prompt}");
        }
    }
}

#[test]
fn output_before_the_call_counts() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = client.create_terminal(&sh("echo early; read x; echo got $x; read y"));
    client.wait_for_text(&id, "early");
    let begun = Instant::now();
    let found = wait_for(&mut client, &id, 0, "^early$");
    assert_eq!(found["matched"]["text"], "early");
    assert_eq!(found["matched"]["start"], 0);
    // Output of an earlier call's input counts as well, but not its echo.
    client.ok(
        "session.type",
        &json!({ "id": id, "input": line("got it") }),
    );
    let found = wait_for(&mut client, &id, found["end"].as_u64().unwrap(), "got");
    assert_eq!(found["matched"]["line"], "got got it");
    assert!(begun.elapsed() < Duration::from_secs(10));
    // Without `since` only later output counts.
    let params = json!({ "id": id, "until": { "pattern": "early" }, "timeout_ms": 100 });
    let nothing = client.ok("session.wait_for", &params);
    assert_eq!(nothing["ended_by"], "timeout");
    assert_eq!(nothing["activity"]["state"], "running");
}

#[test]
fn a_prompt_without_a_line_end_matches_and_a_secret_is_awaited() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = "printf 'login: '; read u; stty -echo; printf 'Password: '; read p; stty echo; \
                  echo; echo welcome $u";
    let id = client.create_terminal(&sh(script));
    let prompt = wait_for(&mut client, &id, 0, "^login: $");
    assert_eq!(prompt["ended_by"], "matched", "{prompt}");
    let until = json!({ "pattern": "^Password: $" });
    let prompt = interact(&mut client, &id, &line("me"), &until);
    assert_eq!(prompt["ended_by"], "matched", "{prompt}");
    let activity = &prompt["activity"];
    assert_eq!(activity["awaiting_secret"], true, "{activity}");
    assert_eq!(activity["prompt"]["by"], "prompt", "{activity}");
    assert!(activity["prompt"]["confidence"].as_f64().unwrap() < 1.0);
    let until = json!({ "pattern": "welcome me" });
    let found = interact(&mut client, &id, &line("x"), &until);
    assert_eq!(found["ended_by"], "matched", "{found}");
}

#[test]
fn the_exit_ends_a_wait_with_all_output_before_it() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = client.create_terminal(&sh("read x; seq 1 20000; printf last"));
    let until = json!({ "pattern": "^last$" });
    let found = interact(&mut client, &id, &line(""), &until);
    assert_eq!(found["ended_by"], "matched", "{found}");
    let id = client.create_terminal(&sh("read x; seq 1 2000; exit 3"));
    let until = json!({ "pattern": "never" });
    let ended = interact(&mut client, &id, &line(""), &until);
    assert_eq!(ended["ended_by"], "exited", "{ended}");
    assert_eq!(ended["activity"]["exit_status"]["exit_code"], 3, "{ended}");
    let all = text(&mut client, &id, &ended["output_start"], &ended["end"]);
    assert!(all.ends_with("1999\n2000\n"), "{all:?}");
    // A wait also works long after the exit, and where only the database has the output.
    let late = wait_for(&mut client, &id, 0, "^1234$");
    assert_eq!(late["ended_by"], "matched");
    client.ok("session.close", &json!({ "id": id }));
    let late = wait_for(&mut client, &id, 0, "never");
    assert_eq!(late["ended_by"], "exited");
}

/// A match inside a flood is found by the end of the flood.
#[test]
fn a_match_in_a_flood_is_found() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = client.create_terminal(&sh("read x; seq 1 2000000; echo the end; read y"));
    let begun = Instant::now();
    let until = json!({ "pattern": r"^1999999\n2000000\nthe end$" });
    let found = interact(&mut client, &id, &line(""), &until);
    assert_eq!(found["ended_by"], "matched", "{found}");
    eprintln!(
        "{} bytes looked through in {:?}",
        found["end"],
        begun.elapsed()
    );
    let matched = &found["matched"];
    assert_eq!(
        text(&mut client, &id, &matched["start"], &matched["end"]),
        "1999999\n2000000\nthe end\n"
    );
}

#[test]
fn quiet_is_counted_from_the_call_on() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = client.create_terminal(&sh(
        "echo ready; read x; echo one; sleep 0.1; echo two; read y",
    ));
    client.wait_for_text(&id, "ready");
    let begun = Instant::now();
    let params = json!({ "id": id, "until": { "settle_ms": 150 } });
    assert_eq!(
        client.ok("session.wait_for", &params)["ended_by"],
        "settled"
    );
    assert!(begun.elapsed() >= Duration::from_millis(150));
    let settled = interact(&mut client, &id, &line(""), &json!({ "settle_ms": 700 }));
    let all = text(&mut client, &id, &settled["start"], &settled["end"]);
    assert_eq!(all, "\none\ntwo\n");
}

#[test]
fn bad_patterns_are_refused_with_the_reason() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = client.create_terminal(&sh("read x"));
    for pattern in ["(", &"a".repeat(4_097), r"(\w{1000}){1000}"] {
        let params = json!({ "id": id, "until": { "pattern": pattern } });
        let error = client.err("session.wait_for", &params);
        error.assert_is(-32602, "invalid_params");
        assert_eq!(error.data["field"], "until.pattern", "{error:?}");
    }
}

/// A read up to an offset includes an unfinished line, and nothing behind the offset.
#[test]
fn a_read_ends_where_it_is_told_to() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = "i=0; while [ $i -lt 300 ]; do echo line $i; i=$((i+1)); done; printf 'more? '; \
                  read x; echo after";
    let id = client.create_terminal(&sh(script));
    let prompt = wait_for(&mut client, &id, 0, r"more\? $");
    let until = prompt["matched"]["end"].clone();
    client.ok("session.type", &json!({ "id": id, "input": line("y") }));
    client.ok("session.wait", &json!({ "id": id }));
    let expected: String = (0..300).map(|n| format!("line {n}\n")).collect();
    let expected = expected + "more? ";
    for (bound, value) in [("max_bytes", 1 << 16), ("max_bytes", 100), ("max_lines", 7)] {
        let (mut joined, mut since) = (String::new(), json!(0));
        loop {
            let params = json!({ "id": id, "since": since, "until": until, bound: value });
            let page = client.ok("session.read", &params);
            joined += page["text"].as_str().unwrap();
            assert!(page["end"].as_u64() > since.as_u64(), "{page}");
            since = page["end"].clone();
            if page["at_end"] == true {
                break;
            }
        }
        assert_eq!(joined, expected, "{bound} {value}");
        assert_eq!(since, until);
    }
    for encoding in ["raw", "base64"] {
        let params = json!({ "id": id, "until": until, "encoding": encoding });
        let page = client.ok("session.read", &params);
        assert_eq!((&page["end"], &page["at_end"]), (&until, &json!(true)));
    }
    let params = json!({ "id": id, "since": 50, "until": 40 });
    assert_eq!(client.err("session.read", &params).data["field"], "until");
}
