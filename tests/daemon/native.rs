//! `session.*` and `daemon.*`: finding, naming, sizing and ending terminals.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Deadline, Home, RawClient, TestDaemon, merged, sh, wait_until};

/// `session.create`: the id.
#[track_caller]
fn create(client: &mut RawClient, params: &Value) -> String {
    let info = client.ok("session.create", params);
    info["id"].as_str().expect("an id").to_owned()
}

fn ids(page: &Value) -> Vec<String> {
    let terminals = page["terminals"].as_array().expect("terminals");
    (terminals.iter())
        .map(|info| info["id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn create_tells_all_that_is_known() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    client.ok(
        "daemon.hello",
        &json!({ "client": "a test", "cwd": daemon.path("state") }),
    );
    let info = client.ok(
        "session.create",
        &json!({ "command": "sleep", "args": ["1000"], "label": "my label", "cols": 100,
                 "rows": 30, "output_byte_limit": 1000, "_meta": { "k": [1] } }),
    );
    let shown = client.ok("session.show", &json!({ "id": info["id"] }));
    assert_eq!(shown, info);
    assert_eq!(info["label"], "my label");
    assert_eq!(info["argv"], json!(["sleep", "1000"]));
    assert_eq!(
        info["cwd"],
        json!(daemon.path("state")),
        "the connection's default"
    );
    assert_eq!((&info["cols"], &info["rows"]), (&json!(100), &json!(30)));
    assert_eq!(info["state"], "running");
    assert_eq!(info["exit_status"], Value::Null);
    assert_eq!((&info["start"], &info["end"]), (&json!(0), &json!(0)));
    assert_eq!(info["output_byte_limit"], 1000);
    assert_eq!(info["_meta"], json!({ "k": [1] }));
    let owner = &info["owner"];
    assert_eq!(owner["front"], "cli");
    assert_eq!(owner["client"], "a test");
    assert_eq!(owner["pid"], std::process::id());
    assert_eq!(owner["uid"], rustix::process::getuid().as_raw());
    assert_eq!(owner["exe"], json!(std::env::current_exe().unwrap()));
    let pid = info["pid"].as_i64().unwrap();
    let cmdline = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap();
    assert_eq!(cmdline, b"sleep\x001000\0");
}

#[test]
fn without_a_command_the_users_shell_runs() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = create(&mut client, &json!({ "env": { "PS1": "$ " } }));
    client.ok(
        "session.send",
        &json!({ "id": id, "text": "echo \"sh\"ell $0; exit 4\n" }),
    );
    let result = client.ok("session.wait", &json!({ "id": id }));
    assert_eq!(result["exit_status"]["exit_code"], 4);
    let text = String::from_utf8(client.transcript(&id)).unwrap();
    assert!(text.contains("shell") && text.contains("bash"), "{text:?}");
}

#[test]
fn base_env_replaces_the_daemons_environment() {
    let daemon = TestDaemon::start_with(Home::new(), &[("OF_THE_DAEMON", "1")]);
    let mut client = daemon.client();
    let params = json!({ "command": "env", "args": ["-0"], "env": { "A": "over" },
                         "base_env": { "PATH": "/usr/bin:/bin", "A": "base", "B": "base" } });
    let id = create(&mut client, &params);
    let text = String::from_utf8(client.transcript(&id)).unwrap();
    let entries: Vec<&str> = text.split('\0').collect();
    for entry in ["A=over", "B=base", "PATH=/usr/bin:/bin", "PAGER=cat"] {
        assert!(entries.contains(&entry), "{entry} is not in {entries:?}");
    }
    assert!(!text.contains("OF_THE_DAEMON"));
}

#[test]
fn list_pages_oldest_first() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let created: Vec<String> = (0..7)
        .map(|_| {
            create(
                &mut client,
                &json!({ "command": "sleep", "args": ["1000"] }),
            )
        })
        .collect();
    for scope in [Value::Null, json!("open"), json!("running"), json!("all")] {
        let (mut listed, mut cursor, mut pages) = (Vec::new(), Value::Null, 0);
        loop {
            let params = json!({ "scope": scope, "limit": 3, "cursor": cursor });
            let page = client.ok("session.list", &params);
            listed.extend(ids(&page));
            pages += 1;
            cursor = page["next_cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(listed, created, "{scope}");
        assert_eq!(pages, 3, "{scope}");
    }
    let error = client.err("session.list", &json!({ "cursor": "not one of yours" }));
    assert_eq!(
        (error.code, &error.data["field"]),
        (-32602, &json!("cursor")),
        "{error:?}"
    );
}

#[test]
fn list_scopes_follow_the_state() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let running = create(
        &mut client,
        &json!({ "command": "sleep", "args": ["1000"] }),
    );
    let exited = create(&mut client, &json!({ "command": "true" }));
    client.ok("session.wait", &json!({ "id": exited }));
    let closed = create(&mut client, &json!({ "command": "true" }));
    client.ok("session.close", &json!({ "id": closed }));
    for (scope, expected) in [
        ("running", vec![&running]),
        ("open", vec![&running, &exited]),
        ("all", vec![&running, &exited, &closed]),
    ] {
        let page = client.ok("session.list", &json!({ "scope": scope }));
        let listed = ids(&page);
        assert_eq!(listed.iter().collect::<Vec<_>>(), expected, "{scope}");
    }
}

#[test]
fn a_unique_prefix_or_a_label_names_a_terminal() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = create(&mut client, &json!({ "command": "true", "label": "web" }));
    for name in [
        id.as_str(),
        &id[..10],
        &id["term_".len()..],
        &id["term_".len()..9],
        "web",
    ] {
        let info = client.ok("session.show", &json!({ "id": name }));
        assert_eq!(info["id"], *id, "{name}");
    }
    for name in ["nothing", "WEB", "we", "", "term_1", "web "] {
        let error = client.err("session.show", &json!({ "id": name }));
        assert_eq!(
            (error.code, error.kind()),
            (-32002, "terminal_not_found"),
            "{name:?}"
        );
    }
    create(&mut client, &json!({ "command": "true" }));
    let error = client.err("session.show", &json!({ "id": "term_" }));
    assert_eq!(
        (error.code, error.kind()),
        (-32006, "terminal_ambiguous"),
        "{error:?}"
    );
    assert_eq!(
        error.data["matches"].as_array().map(Vec::len),
        Some(2),
        "{error:?}"
    );
}

#[test]
fn labels_are_unique_among_the_open_and_plain() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let params = json!({ "command": "true", "label": "one" });
    let first = create(&mut client, &params);
    let error = client.err("session.create", &params);
    assert_eq!(
        (error.code, error.kind()),
        (-32006, "label_taken"),
        "{error:?}"
    );
    client.ok("session.close", &json!({ "id": first }));
    let second = create(&mut client, &params);
    let info = client.ok("session.show", &json!({ "id": "one" }));
    assert_eq!(info["id"], *second, "the open one has it now");
    for label in ["", "a/b", "a\nb", "\u{1b}[31m", "term_x", &"x".repeat(65)] {
        let error = client.err(
            "session.create",
            &json!({ "command": "true", "label": label }),
        );
        assert_eq!(
            (error.code, &error.data["field"]),
            (-32602, &json!("label")),
            "{label:?}"
        );
    }
}

#[test]
fn a_resize_is_told_to_the_program() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = "trap 'stty size' WINCH; echo ready; while :; do sleep 0.02; done";
    let id = create(
        &mut client,
        &merged(&sh(script), &json!({ "cols": 90, "rows": 20 })),
    );
    client.wait_for_text(&id, "ready");
    client.ok(
        "session.resize",
        &json!({ "id": id, "cols": 132, "rows": 43 }),
    );
    client.wait_for_text(&id, "43 132");
    let info = client.ok("session.show", &json!({ "id": id }));
    assert_eq!((&info["cols"], &info["rows"]), (&json!(132), &json!(43)));
    for (cols, rows, field) in [
        (1, 24, "cols"),
        (0, 24, "cols"),
        (80, 0, "rows"),
        (5000, 24, "cols"),
        (80, 5000, "rows"),
        (65536, 24, "cols"),
        (-1, 24, "cols"),
    ] {
        let error = client.err(
            "session.resize",
            &json!({ "id": id, "cols": cols, "rows": rows }),
        );
        assert_eq!(
            (error.code, &error.data["field"]),
            (-32602, &json!(field)),
            "{cols}x{rows}"
        );
        let params = json!({ "command": "true", "cols": cols, "rows": rows });
        let error = client.err("session.create", &params);
        assert_eq!(
            (error.code, &error.data["field"]),
            (-32602, &json!(field)),
            "{cols}x{rows}"
        );
    }
    client.ok("session.kill", &json!({ "id": id }));
    client.ok(
        "session.resize",
        &json!({ "id": id, "cols": 80, "rows": 24 }),
    );
}

#[test]
fn kill_sends_one_signal_or_ends_it_all() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script =
        "trap 'echo usr' USR1; trap 'exit 9' INT; echo ready; while :; do sleep 0.02; done";
    let id = create(&mut client, &sh(script));
    client.wait_for_text(&id, "ready");
    client.ok("session.kill", &json!({ "id": id, "signal": "SIGUSR1" }));
    client.wait_for_text(&id, "usr");
    for signal in ["SIGFOO", "", "9 9", "-1"] {
        let error = client.err("session.kill", &json!({ "id": id, "signal": signal }));
        assert_eq!(
            (error.code, &error.data["field"]),
            (-32602, &json!("signal")),
            "{signal:?}"
        );
    }
    client.ok("session.kill", &json!({ "id": id, "signal": "SIGINT" }));
    let result = client.ok("session.wait", &json!({ "id": id }));
    assert_eq!(
        result["exit_status"],
        json!({ "exit_code": 9, "signal": null })
    );

    let id = create(
        &mut client,
        &json!({ "command": "sleep", "args": ["1000"] }),
    );
    let result = client.ok("session.kill", &json!({ "id": id }));
    let ended = json!({ "exit_code": null, "signal": "SIGTERM" });
    assert_eq!(
        (&result["exited"], &result["exit_status"]),
        (&json!(true), &ended)
    );
}

#[test]
fn wait_has_a_timeout() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = create(&mut client, &sh("printf 123; read go"));
    client.wait_for_text(&id, "123");
    let begin = Instant::now();
    let result = client.ok("session.wait", &json!({ "id": id, "timeout_ms": 150 }));
    assert!(begin.elapsed() >= Duration::from_millis(150));
    assert_eq!(
        result,
        json!({ "exited": false, "exit_status": null, "end": 3 })
    );
    let result = client.ok("session.wait", &json!({ "id": id, "timeout_ms": 0 }));
    assert_eq!(result["exited"], false);
}

#[test]
fn close_ends_the_terminal_and_may_be_said_again() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let script = "setsid sleep 1000 & echo \"pid $!;\"; echo \"pid $$;\"; sleep 1001";
    let id = create(
        &mut agent,
        &merged(&sh(script), &json!({ "label": "gone" })),
    );
    agent.wait_for_text(&id, "pid");
    // The native front has no `terminal/output`; its pids come from the transcript.
    let mut pids = Vec::new();
    wait_until("both pids are printed", || {
        let page = agent.ok("session.read", &json!({ "id": id }));
        let text = page["text"].as_str().unwrap().to_owned();
        pids = (text.split("pid ").skip(1))
            .filter_map(|rest| rest.split_once(';')?.0.parse().ok())
            .collect();
        pids.len() == 2
    });
    let processes: Vec<_> = pids
        .into_iter()
        .map(crate::support::Process::must)
        .collect();
    let first = agent.ok("session.close", &json!({ "id": id }));
    assert_eq!(first["exited"], true);
    assert_eq!(
        first["exit_status"],
        json!({ "exit_code": null, "signal": "SIGHUP" })
    );
    for process in processes {
        assert!(
            process.ends_by(Deadline::after(Duration::from_secs(5))),
            "{}",
            process.pid
        );
    }
    assert_eq!(agent.ok("session.close", &json!({ "id": id })), first);
    assert_eq!(
        agent.ok("session.show", &json!({ "id": id }))["state"],
        "closed"
    );
    let error = agent.err("session.send", &json!({ "id": id, "text": "x" }));
    assert_eq!(
        (error.code, error.kind()),
        (-32004, "terminal_exited"),
        "{error:?}"
    );
}

#[test]
fn a_terminal_lives_on_when_its_creators_connection_ends_unless_tied_to_it() {
    let daemon = TestDaemon::start();
    let mut watcher = daemon.client();
    let mut creator = daemon.client();
    let sleep = json!({ "command": "sleep", "args": ["1000"] });
    let free = create(&mut creator, &sleep);
    let tied = create(
        &mut creator,
        &merged(&sleep, &json!({ "close_on_disconnect": true })),
    );
    let held = create(&mut watcher, &sleep);
    creator.ok("session.hold", &json!({ "id": held }));
    drop(creator);
    let state = |client: &mut RawClient, id: &str| {
        let info = client.ok("session.show", &json!({ "id": id }));
        info["state"].as_str().unwrap().to_owned()
    };
    wait_until("the tied ones are closed", || {
        state(&mut watcher, &tied) == "closed" && state(&mut watcher, &held) == "closed"
    });
    assert_eq!(state(&mut watcher, &free), "running");
}

#[test]
fn the_daemon_tells_what_it_is_and_holds() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let info = client.ok("daemon.info", &Value::Null);
    assert_eq!(info["keeper_pid"], daemon.keeper_pid());
    assert_eq!(info["socket"], json!(daemon.socket()));
    assert_eq!(info["api_version"], 1);
    let database = info["database"].as_str().unwrap();
    assert!(
        database.starts_with(daemon.state_dir().to_str().unwrap()),
        "{database}"
    );
    create(
        &mut client,
        &json!({ "command": "sleep", "args": ["1000"] }),
    );
    let exited = create(&mut client, &json!({ "command": "true" }));
    client.ok("session.wait", &json!({ "id": exited }));
    let _other = daemon.client();
    wait_until("the other connection is counted", || {
        client.ok("daemon.stats", &Value::Null)["connections"] == 2
    });
    let stats = client.ok("daemon.stats", &Value::Null);
    assert_eq!(stats["terminals_running"], 1);
    assert_eq!(stats["terminals_exited"], 1);
    assert!(stats["server_rss_bytes"].as_u64().unwrap() > 1 << 20);
    assert!(stats["database_bytes"].as_u64().unwrap() > 0);
}
