//! `import`: a recording that was made elsewhere becomes a closed terminal.

use std::fs;

use serde_json::{Value, json};
use termd_test_support::TestDaemon;

use crate::termctl::{ok, termctl};

const DEMO: &str = concat!(
    "{\"version\":2,\"width\":40,\"height\":5,\"timestamp\":1500000000,\"command\":\"make -j 'a b'\",",
    "\"title\":\"Demo\"}\n",
    "[0.5,\"o\",\"\\u001b[1mhello\\u001b[0m w\\u00f6rld\\r\\n\"]\n",
    "[1.0,\"m\",\"second\"]\n",
    "[1.25,\"r\",\"50x6\"]\n",
    "[2.0,\"i\",\"typed\"]\n",
    "[3.0,\"o\",\"bye\"]\n",
);

#[test]
fn an_imported_terminal_is_closed_and_marked_and_can_be_read_and_shown() {
    let daemon = TestDaemon::start();
    let file = daemon.path("demo.cast");
    fs::write(&file, DEMO).unwrap();
    let id = ok(
        &daemon,
        &["import", file.to_str().unwrap(), "--label", "demo"],
    );
    let info = termctl(&daemon, &["show", "demo", "--json"]).json();
    assert_eq!(info["id"], id.trim());
    assert_eq!(info["state"], "closed");
    assert_eq!(info["argv"], json!(["make", "-j", "a b"]));
    assert_eq!(info["created_at_ms"], json!(1_500_000_000_000_i64));
    assert_eq!(info["exited_at_ms"], json!(1_500_000_003_000_i64));
    assert!(
        info["imported_at_ms"].as_i64() > Some(1_700_000_000_000),
        "{info}"
    );
    assert_eq!((&info["cols"], &info["rows"]), (&json!(50), &json!(6)));
    assert_eq!(
        info["_meta"]["asciicast"],
        json!({ "title": "Demo", "version": 2 })
    );
    assert_eq!(ok(&daemon, &["read", "demo"]), "hello wörld\nbye");
    assert_eq!(
        ok(&daemon, &["screen", "demo", "--format", "text"]),
        "hello wörld\nbye"
    );
    let shown = ok(&daemon, &["show", "demo"]);
    assert!(shown.contains("imported"), "{shown}");
    for unknown in ["directory", "pid"] {
        let line = shown.lines().find(|line| line.starts_with(unknown));
        assert!(line.is_some_and(|line| line.ends_with(" -")), "{shown}");
    }
    let listed = ok(&daemon, &["list", "--all"]);
    assert!(listed.contains("imported"), "{listed}");
    let open = ok(&daemon, &["list"]);
    assert!(!open.contains("demo"), "{open}");

    let mut client = daemon.client();
    let read = client.ok(
        "session.read",
        &json!({ "id": "demo", "encoding": "base64", "times": true }),
    );
    let at_ms = |place: usize| read["times"][place]["at_ms"].as_i64().unwrap() - 1_500_000_000_000;
    assert_eq!((at_ms(0), at_ms(1)), (500, 3_000), "{read}");
    assert_eq!(
        read["sizes"][1],
        json!({ "at": 22, "cols": 50, "rows": 6, "at_ms": 1_500_000_001_250_i64 })
    );
    let records = client.audit_records(&json!({ "action": "terminal.import" }));
    assert_eq!(records.len(), 1);
    assert_eq!(records[0]["terminal"], id.trim());
    assert_eq!(records[0]["detail"]["bytes"], 25);

    let commands = termctl(&daemon, &["export", "demo", "--format", "json"]).json();
    assert_eq!(commands[1]["text"], "second");
    assert_eq!(commands[1]["imported"], true);
    let own = ok(&daemon, &["history", "demo"]);
    for (text, words) in [
        (own.clone(), "imported  -          make -j 'a b'"),
        (own, "imported  -          second"),
        (ok(&daemon, &["search", "bye"]), "[1] imported second"),
    ] {
        assert!(text.contains(words), "{text}");
    }
    let history = ok(&daemon, &["history"]);
    assert!(
        !history.contains("second"),
        "it was not run here: {history}"
    );
    let verdict = client.ok("audit.verify", &Value::Null);
    assert_eq!(verdict["first_bad"], Value::Null);
}

#[test]
fn a_size_is_in_force_from_its_time_on() {
    let daemon = TestDaemon::start();
    let file = daemon.path("demo.cast");
    fs::write(&file, DEMO).unwrap();
    ok(
        &daemon,
        &["import", file.to_str().unwrap(), "--label", "demo"],
    );
    let exported = ok(&daemon, &["export", "demo", "--format", "asciicast-v2"]);
    assert!(exported.contains("[1.250, \"r\", \"50x6\"]"), "{exported}");
    // 22 bytes had come when the size was changed.
    for (at, cols) in [
        ("2017-07-14T02:40:01Z", 40),
        ("2017-07-14T02:40:02Z", 50),
        ("22", 50),
        ("21", 40),
    ] {
        let screen = termctl(&daemon, &["screen", "demo", "--at", at, "--json"]).json();
        assert_eq!(screen["cols"], cols, "{at}");
        assert_eq!(screen["end"], if at == "21" { 21 } else { 22 }, "{at}");
    }
    let early = termctl(&daemon, &["screen", "demo", "--at", "2017-07-14"]);
    early.assert_one_line();
    assert!(
        early.err.contains("before the terminal's start"),
        "{early:?}"
    );
    let picture = daemon.path("demo.png");
    let args = ["screenshot", "demo", "--animate", "--json", "-o"];
    let args = [&args[..], &[picture.to_str().unwrap()]].concat();
    // The greeting, the same in a larger size, and the end.
    assert_eq!(termctl(&daemon, &args).json()["frames"], 3);
}

#[test]
fn a_recording_that_is_exported_again_is_the_same() {
    let daemon = TestDaemon::start();
    ok(&daemon, &["create", "--label", "shell", "--", "bash"]);
    ok(
        &daemon,
        &["exec", "shell", "--", "seq 30000; printf 'ä\\033[31m€\\n'"],
    );
    ok(&daemon, &["resize", "shell", "90x30"]);
    ok(&daemon, &["exec", "shell", "--", "echo done"]);
    ok(&daemon, &["send", "shell", "exit 3", "--enter"]);
    termctl(&daemon, &["wait", "shell"]);
    let first = daemon.path("first.cast");
    ok(&daemon, &["export", "shell", "-o", first.to_str().unwrap()]);
    let again = ok(&daemon, &["import", first.to_str().unwrap()]);
    let id = again.trim();
    let of = |cast: &str| -> Vec<Value> {
        let lines = cast.lines().skip(1);
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let exported = of(&ok(&daemon, &["export", id]));
    let original = of(&fs::read_to_string(&first).unwrap());
    let joined = |events: &[Value], code: &str| -> String {
        let of = events.iter().filter(|event| event[1] == code);
        of.map(|event| event[2].as_str().unwrap()).collect()
    };
    for code in ["o", "r", "m", "x"] {
        assert_eq!(joined(&exported, code), joined(&original, code), "{code}");
    }
    let length =
        |events: &[Value]| -> f64 { events.iter().map(|event| event[0].as_f64().unwrap()).sum() };
    assert!((length(&exported) - length(&original)).abs() < 0.0005);
    let screen = |id: &str| ok(&daemon, &["screen", id, "--format", "text"]);
    assert_eq!(screen(id), screen("shell"));
}

#[test]
fn a_title_and_a_markers_time_come_back() {
    let daemon = TestDaemon::start();
    let file = daemon.path("marked.cast");
    let header = "{\"version\":3,\"term\":{\"cols\":80,\"rows\":24},\"title\":\"A demo\"}\n";
    let events = "[0.1,\"o\",\"a\"]\n[1.0,\"m\",\"M\"]\n[1.0,\"o\",\"b\"]\n";
    // With a BOM, as programs on Windows write it.
    fs::write(&file, format!("\u{feff}{header}{events}")).unwrap();
    let id = ok(&daemon, &["import", file.to_str().unwrap()]);
    let exported = ok(&daemon, &["export", &id]);
    let lines: Vec<Value> = (exported.lines())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["title"], "A demo");
    let want = [
        json!([0.1, "o", "a"]),
        json!([1.0, "m", "M"]),
        json!([1.0, "o", "b"]),
    ];
    assert_eq!(lines[1..], want, "{exported}");
    // It has no date: its end is when the file was written.
    let shown = termctl(&daemon, &["show", "--json", &id]).json();
    let written = fs::metadata(&file).unwrap().modified().unwrap();
    let written_ms = written
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_millis();
    assert_eq!(
        shown["exited_at_ms"].as_u64().map(u128::from),
        Some(written_ms)
    );
}

#[test]
fn a_broken_recording_names_its_line_and_imports_nothing() {
    let daemon = TestDaemon::start();
    let before = daemon
        .client()
        .ok("session.list", &json!({ "scope": "all" }));
    let file = daemon.path("broken.cast");
    let cut = &DEMO[..DEMO.len() - 5];
    for (text, line) in [("", 1), ("no recording\n", 1), (cut, 6)] {
        fs::write(&file, text).unwrap();
        let failed = termctl(&daemon, &["import", file.to_str().unwrap()]);
        assert_eq!(
            (failed.code, failed.err.lines().count()),
            (Some(2), 1),
            "{failed:?}"
        );
        assert!(
            failed.err.contains(&format!("broken.cast:{line}: ")),
            "{failed:?}"
        );
    }
    let absent = termctl(&daemon, &["import", "/nowhere.cast"]);
    assert_eq!(
        (absent.code, absent.err.lines().count()),
        (Some(2), 1),
        "{absent:?}"
    );
    let mut client = daemon.client();
    assert_eq!(
        client.ok("session.list", &json!({ "scope": "all" })),
        before
    );
    assert!(
        client
            .audit_records(&json!({ "action": "terminal.import" }))
            .is_empty()
    );
}

#[test]
fn an_import_is_its_connections_and_bounded() {
    let daemon = TestDaemon::configured("[store]\nterminal_quota = \"256KiB\"\n");
    let mut client = daemon.client();
    let begin = json!({ "cols": 80, "rows": 24 });
    let id = client.ok("import.begin", &begin)["id"].clone();
    let output = json!({ "at_ms": 1, "output": "x" });
    let add = json!({ "id": id, "events": [output] });
    client.ok("import.add", &add);
    let mut other = daemon.client();
    assert_eq!(other.err("import.add", &add).kind(), "invalid_params");
    assert_eq!(
        other.err("session.show", &json!({ "id": id })).kind(),
        "terminal_not_found"
    );
    let late = json!({ "at_ms": u64::MAX, "output": "x" });
    let late = json!({ "id": id, "events": [late] });
    assert_eq!(client.err("import.add", &late).kind(), "invalid_params");
    for _ in 1..4 {
        client.ok("import.begin", &begin);
    }
    assert_eq!(other.err("import.begin", &begin).kind(), "overloaded");
    let much = json!({ "at_ms": 1, "output": "y".repeat(200 << 10) });
    let much = json!({ "id": id, "events": [much] });
    client.ok("import.add", &much);
    assert_eq!(client.err("import.add", &much).kind(), "invalid_params");
    client.ok("import.finish", &json!({ "id": id }));
    assert_eq!(
        client.err("import.finish", &json!({ "id": id })).kind(),
        "invalid_params"
    );
    let info = other.ok("session.show", &json!({ "id": id }));
    assert_eq!(info["end"], 1 + (200 << 10));
    drop(client);
    termd_test_support::wait_until("the imports of a closed connection are gone", || {
        other.request("import.begin", &begin).is_ok()
    });
}
