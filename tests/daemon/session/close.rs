//! `session.close` and its `eof_ms`, what a closed terminal still answers, `max_running` and
//! `scrollback_lines`.

use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon, assert_members, merged, sh, skip};

fn sleeping() -> Value {
    json!({ "command": "sleep", "args": ["1000"] })
}

#[track_caller]
fn screen(client: &mut RawClient, id: &str) -> Value {
    let params = json!({ "id": id, "from_row": -100_000 });
    let mut screen = client.ok("session.screen", &params);
    // Sequence numbers go on above the old server's, and an exited terminal has no tty to query.
    for of_a_server in ["seq", "echo", "canonical", "settled"] {
        screen.as_object_mut().unwrap().remove(of_a_server);
    }
    for line in screen["lines"].as_array_mut().into_iter().flatten() {
        line.as_object_mut().unwrap().remove("seq");
    }
    screen
}

#[test]
fn eof_ms_lets_a_command_exit_by_itself() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let code = |code: u32| json!({ "exit_code": code, "signal": null });
    let hung_up = json!({ "exit_code": null, "signal": "SIGHUP" });
    let other_key = "stty eof ^X; echo ready; cat; exit 3";
    for (script, eof_ms, exit) in [
        ("echo ready; cat; exit 7", 10_000, code(7)),
        (other_key, 10_000, code(3)),
        ("echo ready; exec sleep 1000", 50, hung_up.clone()),
        ("echo ready; exec sleep 1000", 0, hung_up),
    ] {
        // The gate asks about another key for the end of file.
        let create = merged(&sh(script), &json!({ "confirmed": true }));
        let id = client.create_terminal(&create);
        client.wait_for_text(&id, "ready");
        let params = json!({ "id": id, "eof_ms": eof_ms });
        let result = client.ok("session.close", &params);
        assert_eq!(result["exited"], true, "{script}");
        assert_eq!(result["exit_status"], exit, "{script}");
        assert_eq!(client.ok("session.close", &params), result, "{script}");
        let info = client.ok("session.show", &json!({ "id": id }));
        assert_eq!(info["state"], "closed");
        assert!(info.get("close_cause").is_none(), "somebody asked: {info}");
    }
    let id = client.create_terminal(&sleeping());
    let error = client.err("session.close", &json!({ "id": id, "eof_ms": 10_001 }));
    error.assert_invalid("eof_ms");
}

#[test]
fn a_shell_at_its_prompt_ends_with_0() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    for argv in [&["bash", "--norc"][..], &["sh"]] {
        let args = [&argv[1..], &["-i"]].concat();
        let params = json!({
            "command": argv[0], "args": args,
            "env": { "PS1": "prompt> " }
        });
        let Ok(info) = client.request("session.create", &params) else {
            skip(argv[0], "is not installed");
            continue;
        };
        let id = info["id"].as_str().unwrap();
        client.wait_for_text(id, "prompt> ");
        let result = client.ok("session.close", &json!({ "id": id, "eof_ms": 10_000 }));
        let exit = json!({ "exit_code": 0, "signal": null });
        assert_eq!(result["exit_status"], exit, "{argv:?}");
    }
}

#[test]
fn a_closed_terminal_answers_as_before_also_from_the_next_server() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    // A character in the last of 20 columns stays there when there are 40.
    let script = "printf 'one\\033[5;99HX'; read go; printf '\\033[7;99HY'; read go; exit 6";
    let size = json!({ "cols": 20, "rows": 10 });
    let id = client.create_terminal(&merged(&sh(script), &size));
    client.wait_for_text(&id, "X");
    let wider = json!({ "id": id, "cols": 40, "rows": 10 });
    client.ok("session.resize", &wider);
    client.send_text(&id, "\n");
    client.wait_for_text(&id, "Y");
    client.send_text(&id, "\n");
    client.ok("session.wait", &json!({ "id": id }));
    let shown = screen(&mut client, &id);
    let text = client.ok("session.screen", &json!({ "id": id, "format": "text" }));
    let text = text["rendering"].as_str().unwrap().to_owned();
    let columns = ["X", "Y"].map(|letter| text.lines().find_map(|line| line.find(letter)));
    assert_eq!(columns, [Some(19), Some(39)], "{text}");
    client.ok("session.close", &json!({ "id": id }));

    let check = |client: &mut RawClient| {
        assert_eq!(screen(client, &id), shown);
        let waited = client.ok("session.wait", &json!({ "id": id, "timeout_ms": 60_000 }));
        assert_eq!(waited["exit_status"]["exit_code"], 6);
        let changed = json!({ "id": id, "changed_after": u32::MAX, "settle_ms": 60_000, "timeout_ms": 60_000 });
        assert_eq!(client.ok("session.screen", &changed)["settled"], true);
        let page = client.ok("session.read", &json!({ "id": id, "wait_ms": 60_000 }));
        assert_members(&page, &json!({ "state": "closed", "at_end": true }));
        assert!(page["text"].as_str().unwrap().starts_with("one"));
        client.ok(
            "session.resize",
            &json!({ "id": id, "cols": 99, "rows": 9 }),
        );
        assert_eq!(client.ok("session.close", &json!({ "id": id })), waited);
        client.ok("session.kill", &json!({ "id": id }));
        assert_eq!(screen(client, &id), shown, "nothing has changed it");
        let info = client.ok("session.show", &json!({ "id": id }));
        assert_members(&info, &json!({ "state": "closed", "cols": 40 }));
    };
    check(&mut client);
    drop(client);
    let daemon = TestDaemon::start_in(daemon.stop());
    check(&mut daemon.client());
}

#[test]
fn scrollback_has_the_requested_length_also_in_the_next_server() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let lines = "seq 1 200; printf end; read go";
    // 201 lines, of which the screen shows 24.
    let terminals: Vec<(String, u64, Value)> = [
        (Some(0), 0),
        (Some(5), 5),
        (Some(100_000), 177),
        (None, 177),
    ]
    .into_iter()
    .map(|(requested, rows)| {
        let params = merged(&sh(lines), &json!({ "scrollback_lines": requested }));
        let id = client.create_terminal(&params);
        client.wait_for_text(&id, "end");
        let shown = screen(&mut client, &id);
        assert_eq!(shown["scrollback_rows"], rows, "{requested:?}");
        (id, rows, shown)
    })
    .collect();
    daemon.server().signal(rustix::process::Signal::KILL);
    let mut client = daemon.client();
    for (id, _, shown) in &terminals {
        assert_eq!(screen(&mut client, id), *shown, "after a server's death");
        client.ok("session.close", &json!({ "id": id }));
    }
    drop(client);
    let daemon = TestDaemon::start_in(daemon.stop());
    let mut client = daemon.client();
    for (id, rows, _) in &terminals {
        assert_eq!(screen(&mut client, id)["scrollback_rows"], *rows, "closed");
    }
    let params = merged(&sleeping(), &json!({ "scrollback_lines": 100_001 }));
    let error = client.err("session.create", &params);
    error.assert_invalid("scrollback_lines");
}

#[test]
fn max_running_limits_the_terminals_of_a_client() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let hello = json!({ "client": "greedy", "front": "mcp", "settings": { "max_running": 3 } });
    client.ok("daemon.hello", &hello);
    // The requests are pipelined, without waiting for answers.
    let requests: Vec<u64> = (0..8)
        .map(|_| client.send("session.create", &sleeping()))
        .collect();
    let answers: Vec<Value> = requests.into_iter().map(|id| client.answer(id)).collect();
    let created: Vec<&Value> = answers
        .iter()
        .filter_map(|answer| answer.get("result"))
        .collect();
    assert_eq!(created.len(), 3, "{answers:#?}");
    for refused in answers.iter().filter_map(|answer| answer.get("error")) {
        assert_eq!(refused["code"], -32009);
        assert_eq!(refused["data"]["kind"], "overloaded");
        assert_eq!(refused["data"]["limit"], "max_running of this client");
        assert_eq!(refused["data"]["max_running"], 3);
        assert!(refused["message"].as_str().unwrap().contains("close one"));
    }
    // Another connection of the same client counts as the same client.
    let mut again = daemon.client();
    again.ok("daemon.hello", &hello);
    assert_eq!(again.err("session.create", &sleeping()).code, -32009);
    let mut other = daemon.client();
    other.ok(
        "daemon.hello",
        &json!({ "client": "modest", "front": "mcp", "settings": { "max_running": 1 } }),
    );
    other.create_terminal(&sleeping());
    assert_eq!(other.err("session.create", &sleeping()).code, -32009);
    // Exited terminals that are still listed do not count, nor do commands that could not start.
    client.ok("session.kill", &json!({ "id": created[0]["id"] }));
    let nothing = json!({ "command": "/no/such/program", "args": ["x"] });
    assert_eq!(
        client.err("session.create", &nothing).kind(),
        "spawn_failed"
    );
    client.create_terminal(&sleeping());
    assert_eq!(client.err("session.create", &sleeping()).code, -32009);
    // Terminals that outlive a change of the server count as before.
    daemon.server().signal(rustix::process::Signal::KILL);
    let mut client = daemon.client();
    client.ok("daemon.hello", &hello);
    assert_eq!(client.err("session.create", &sleeping()).code, -32009);
}

#[test]
fn a_terminal_closed_by_a_disconnect_names_the_cause() {
    let daemon = TestDaemon::start();
    let mut watcher = daemon.client();
    let mut creator = daemon.client();
    let tied = merged(&sleeping(), &json!({ "close_on_disconnect": true }));
    let id = creator.create_terminal(&tied);
    let of_it = json!({ "id": id });
    watcher.ok("session.subscribe", &of_it);
    drop(creator);
    while watcher.next_message()["params"]["result"]["type"] != "closed" {}
    assert_eq!(
        watcher.ok("session.show", &of_it)["close_cause"],
        "disconnect"
    );
    let error = watcher.err("session.send", &json!({ "id": id, "text": "x" }));
    assert_eq!(error.data["cause"], "disconnect");
}
