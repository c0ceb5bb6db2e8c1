//! `session.*` and `daemon.*`: creating, finding and labelling terminals.

use serde_json::{Value, json};
use termd_test_support::{Home, RawClient, TestDaemon, assert_members, wait_until};

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
    let mut info = client.ok(
        "session.create",
        &json!({ "command": "sleep", "args": ["1000"], "label": "my label", "cols": 100,
                 "rows": 30, "output_byte_limit": 1000, "_meta": { "k": [1] } }),
    );
    let mut shown = client.ok("session.show", &json!({ "id": info["id"] }));
    // It is known a moment after the start.
    for known in [&mut info, &mut shown] {
        known.as_object_mut().unwrap().remove("attention");
    }
    assert_eq!(shown, info);
    assert_eq!(info["label"], "my label");
    assert_eq!(info["argv"], json!(["sleep", "1000"]));
    assert_eq!(
        info["cwd"],
        json!(daemon.path("state")),
        "the connection's default"
    );
    assert_members(&info, &json!({ "cols": 100, "rows": 30 }));
    assert_eq!(info["state"], "running");
    assert_eq!(info["exit_status"], Value::Null);
    assert_members(&info, &json!({ "start": 0, "end": 0 }));
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
    let id = client.create_terminal(&json!({ "env": { "PS1": "$ " } }));
    client.send_text(&id, "echo \"sh\"ell $0; exit 4\n");
    let result = client.ok("session.wait", &json!({ "id": id }));
    assert_eq!(result["exit_status"]["exit_code"], 4);
    let text = String::from_utf8(client.transcript(&id)).unwrap();
    assert!(text.contains("shell") && text.contains("bash"), "{text:?}");
}

#[test]
fn base_env_replaces_the_daemons_environment() {
    let daemon = TestDaemon::start_with(Home::create(), &[("OF_THE_DAEMON", "1")]);
    let mut client = daemon.client();
    let params = json!({ "command": "env", "args": ["-0"], "env": { "A": "over" },
                         "base_env": { "PATH": "/usr/bin:/bin", "A": "base", "B": "base" } });
    let id = client.create_terminal(&params);
    let text = String::from_utf8(client.transcript(&id)).unwrap();
    let entries: Vec<&str> = text.split('\0').collect();
    for entry in ["A=over", "B=base", "PATH=/usr/bin:/bin"] {
        assert!(entries.contains(&entry), "{entry} is not in {entries:?}");
    }
    assert!(!text.contains("OF_THE_DAEMON"));
}

#[test]
fn pagers_are_an_agents_and_not_a_persons() {
    let daemon = TestDaemon::start();
    let params = json!({ "command": "env", "env": { "GH_PAGER": "more" },
                         "base_env": { "PATH": "/usr/bin:/bin", "PAGER": "less" } });
    let printed = |client: &mut RawClient| {
        let id = client.create_terminal(&params);
        let text = String::from_utf8(client.transcript(&id)).unwrap();
        let lines = text.lines().map(|line| line.trim_end().to_owned());
        let mut pagers: Vec<String> = lines
            .filter(|line| line.contains("PAGER=") || line.starts_with("GIT_TERMINAL_"))
            .collect();
        pagers.sort();
        pagers
    };
    let mut person = daemon.client();
    assert_eq!(printed(&mut person), ["GH_PAGER=more", "PAGER=less"]);
    let mut agent = daemon.client();
    agent.ok("daemon.hello", &json!({ "front": "mcp" }));
    let presets = [
        "GH_PAGER=more",
        "GIT_PAGER=cat",
        "GIT_TERMINAL_PROMPT=0",
        "MANPAGER=cat",
        "PAGER=cat",
        "SYSTEMD_PAGER=cat",
    ];
    assert_eq!(printed(&mut agent), presets);
}

#[test]
fn list_pages_oldest_first() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let created: Vec<String> = (0..7)
        .map(|_| client.create_terminal(&json!({ "command": "sleep", "args": ["1000"] })))
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
    error.assert_invalid("cursor");
}

#[test]
fn list_scopes_follow_the_state() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let running = client.create_terminal(&json!({ "command": "sleep", "args": ["1000"] }));
    let exited = client.create_terminal(&json!({ "command": "true" }));
    client.ok("session.wait", &json!({ "id": exited }));
    let closed = client.create_terminal(&json!({ "command": "true" }));
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
    let id = client.create_terminal(&json!({ "command": "true", "label": "web" }));
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
        error.assert_is_in(format_args!("{name:?}"), -32002, "terminal_not_found");
    }
    // There are 32 characters, so two of 33 ids begin with the same one.
    let ids: Vec<String> = (0..33)
        .map(|_| client.create_terminal(&json!({ "command": "true" })))
        .collect();
    let of_several = (ids.iter().map(|id| &id[..6]))
        .find(|prefix| ids.iter().filter(|id| id.starts_with(prefix)).count() > 1)
        .expect("two share a prefix");
    for name in [of_several, &of_several["term_".len()..]] {
        let error = client.err("session.show", &json!({ "id": name }));
        error.assert_is(-32006, "terminal_ambiguous");
        let matches = error.data["matches"].as_array().expect("matches");
        assert!(matches.len() > 1, "{error:?}");
    }
}

#[test]
fn labels_are_unique_among_the_open_and_plain() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let params = json!({ "command": "true", "label": "one" });
    let first = client.create_terminal(&params);
    let error = client.err("session.create", &params);
    error.assert_is(-32006, "label_taken");
    client.ok("session.close", &json!({ "id": first }));
    let second = client.create_terminal(&params);
    let info = client.ok("session.show", &json!({ "id": "one" }));
    assert_eq!(info["id"], *second, "the open one has it now");
    for label in ["", "a/b", "a\nb", "\u{1b}[31m", "term_x", &"x".repeat(65)] {
        let error = client.err(
            "session.create",
            &json!({ "command": "true", "label": label }),
        );
        error.assert_invalid_in(format_args!("{label:?}"), "label");
    }
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
    client.create_terminal(&json!({ "command": "sleep", "args": ["1000"] }));
    let exited = client.create_terminal(&json!({ "command": "true" }));
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
