//! Terminals shown by `_meta`.

use std::time::Instant;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::tool_calls::{ToolCallSession, embedded};

fn session() -> ToolCallSession {
    ToolCallSession::start(&[], &json!({ "_meta": { "terminal_output": true } }))
}

/// The output of a terminal in these updates.
fn printed(updates: &[Value], terminal: &str) -> String {
    let outputs = updates
        .iter()
        .map(|update| &update["_meta"]["terminal_output"]);
    let of_it = outputs.filter(|output| output["terminal_id"] == terminal);
    of_it
        .map(|output| output["data"].as_str().unwrap())
        .collect()
}

fn has_exit(update: &Value) -> bool {
    !update["_meta"]["terminal_exit"].is_null()
}

#[test]
fn a_terminal_is_announced_and_told_of_line_by_line() {
    let mut session = session();
    let mut printer = session.printer("exit 3");
    let terminal = printer.terminal.clone();
    let content = json!([embedded(&terminal)]);
    session.send_update(
        "tool_call",
        "c",
        &json!({ "title": "run", "content": content, "_meta": { "mine": [1.50] } }),
    );
    let update = session.next();
    let cwd = session.daemon.user_home();
    assert_eq!(update["content"], content);
    assert_eq!(
        update["_meta"],
        json!({
            "mine": [1.5],
            "terminal_info": { "terminal_id": terminal, "cwd": cwd },
        })
    );
    printer.print("one\n");
    let mut all =
        session.until(|update| printed(std::slice::from_ref(update), &terminal) == "one\n");
    printer.print("tw");
    all.extend(session.until(|update| printed(std::slice::from_ref(update), &terminal) == "tw"));
    // A second announcement would make the client show an empty terminal.
    session.send_update(
        "tool_call",
        "c",
        &json!({ "title": "run", "content": content }),
    );
    let again = session.until(|update| update["sessionUpdate"] == "tool_call");
    assert!(again.last().unwrap().get("_meta").is_none(), "{again:#?}");
    all.extend(again);
    printer.print("o\n");
    printer.end();
    all.extend(session.until(has_exit));
    assert_eq!(printed(&all, &terminal), "one\ntwo\n");
    let exit = all.pop().unwrap();
    let want = json!({ "terminal_id": terminal, "exit_code": 3, "signal": null });
    assert_eq!(exit["_meta"]["terminal_exit"], want);
    assert_eq!(exit["toolCallId"], "c");
    assert_eq!(exit["sessionUpdate"], "tool_call_update");
    assert!(exit.get("status").is_none() && exit.get("content").is_none());
    session.terminal("release", &terminal);
    session.send_update("tool_call_update", "c", &json!({ "status": "completed" }));
    assert_eq!(session.next()["status"], "completed");
    assert_eq!(session.until_now(), Vec::<Value>::new());
}

#[test]
fn all_of_it_goes_before_completed() {
    let mut session = session();
    for round in 0..5 {
        let call = format!("c-{round}");
        let terminal = session.sh("seq 1 20000; kill -TERM $$");
        session.send_update(
            "tool_call",
            &call,
            &json!({ "title": "run", "content": [embedded(&terminal)] }),
        );
        session.terminal("wait_for_exit", &terminal);
        session.terminal("release", &terminal);
        session.send_update("tool_call_update", &call, &json!({ "status": "completed" }));
        let updates = session.until(|update| update["status"] == "completed");
        let printed_lines = printed(&updates, &terminal);
        assert!(printed_lines.ends_with('\n'));
        let lines = printed_lines
            .lines()
            .map(|line| line.parse::<u32>().unwrap());
        assert!(lines.eq(1..=20_000), "{printed_lines}");
        let exit = &updates[updates.len() - 2]["_meta"]["terminal_exit"];
        let signal = json!({ "terminal_id": terminal, "exit_code": null, "signal": "SIGTERM" });
        assert_eq!(*exit, signal);
    }
    assert_eq!(session.until_now(), Vec::<Value>::new());
}

#[test]
fn a_tool_call_is_repeated_before_a_later_terminal() {
    let mut session = session();
    let terminal = session.sh("echo hello");
    session.terminal("wait_for_exit", &terminal);
    let call = json!({
        "title": "run",
        "kind": "execute",
        "status": "in_progress",
        "rawInput": { "command": "echo hello" },
        "_meta": { "mine": 1 },
    });
    session.send_update("tool_call", "c", &call);
    session.next();
    let content = json!([embedded(&terminal)]);
    let more = json!({ "status": "completed", "content": content, "_meta": { "x": 2 } });
    session.send_update("tool_call_update", "c", &more);
    let updates = session.until(|update| update["status"] == "completed");
    let info = json!({ "terminal_id": terminal, "cwd": session.daemon.user_home() });
    assert_eq!(
        updates[0],
        json!({
            "sessionUpdate": "tool_call",
            "toolCallId": "c",
            "title": "run",
            "kind": "execute",
            "status": "in_progress",
            "_meta": { "mine": 1, "terminal_info": info },
        })
    );
    assert_eq!(printed(&updates, &terminal), "hello\n");
    assert!(has_exit(&updates[2]), "{updates:#?}");
    assert_eq!(updates[3]["content"], content);
    assert_eq!(
        updates[3]["_meta"],
        json!({ "x": 2, "terminal_info": info })
    );
    assert_eq!(updates.len(), 4);
}

#[test]
fn two_terminals_of_one_call_are_both_announced() {
    let mut session = session();
    let (a, b) = (session.sh("echo a"), session.sh("echo b; exit 2"));
    let content = json!([embedded(&a), embedded(&b), embedded(&a)]);
    session.send_update(
        "tool_call",
        "c",
        &json!({ "title": "t", "content": content }),
    );
    let mut updates = session.until(has_exit);
    updates.extend(session.until(has_exit));
    let infos = updates.iter().filter_map(|update| {
        let info = update["_meta"]["terminal_info"]["terminal_id"].as_str()?;
        Some((update["sessionUpdate"].as_str()?, info))
    });
    let infos: Vec<_> = infos.collect();
    assert_eq!(
        infos,
        [("tool_call", b.as_str()), ("tool_call", a.as_str())]
    );
    assert_eq!(updates[1]["content"], content);
    assert_eq!(printed(&updates, &a), "a\n");
    assert_eq!(printed(&updates, &b), "b\n");
}

#[test]
fn a_flood_is_told_of_ten_times_a_second_at_the_most_and_in_part() {
    let mut session = session();
    let terminal = session.sh("yes | head -c 4000000; echo; echo the end");
    let since = Instant::now();
    session.send_update(
        "tool_call",
        "c",
        &json!({ "title": "flood", "content": [embedded(&terminal)] }),
    );
    let updates = session.until(has_exit);
    // The call itself, ten updates a second, and the rest at the end.
    let most = since.elapsed().as_millis() / 100 + 12;
    assert!(updates.len() as u128 <= most, "{} > {most}", updates.len());
    let all = printed(&updates, &terminal);
    assert!(all.ends_with("\ny\n\nthe end\n"));
    let mut left_out = 0;
    let mut lines = 0;
    for line in all.lines() {
        if let Some(omitted) = line.strip_prefix('[') {
            let bytes = omitted.split(' ').next().unwrap();
            left_out += bytes.parse::<usize>().unwrap();
        } else if line == "y" {
            lines += 1;
        }
    }
    // A line is three bytes on the tty. The line next to an omission may be cut.
    let told_of = left_out + lines * 3;
    assert!((5_900_000..6_000_100).contains(&told_of), "{told_of}");
    assert!(left_out > 0);
}

#[test]
fn updates_continue_after_a_change_of_the_server_without_repeated_lines() {
    let mut session = session();
    let mut printer = session.printer("exit 0");
    let terminal = printer.terminal.clone();
    session.send_update(
        "tool_call",
        "c",
        &json!({ "title": "t", "content": [embedded(&terminal)] }),
    );
    printer.print("before\n");
    let mut all = session.until(|update| !update["_meta"]["terminal_output"].is_null());
    session.daemon.server().signal(Signal::KILL);
    printer.print("after\n");
    printer.end();
    all.extend(session.until(has_exit));
    assert_eq!(printed(&all, &terminal), "before\nafter\n");
}

#[test]
fn a_command_that_still_runs_in_a_completed_call_goes_on_where_it_is_shown_again() {
    let mut session = session();
    let mut printer = session.printer("exit 0");
    let terminal = printer.terminal.clone();
    let call = json!({ "title": "t", "content": [embedded(&terminal)] });
    session.send_update("tool_call", "c", &call);
    printer.print("ready\n");
    session.printed(&terminal, "ready");
    session.send_update("tool_call_update", "c", &json!({ "status": "completed" }));
    let updates = session.until(|update| update["status"] == "completed");
    assert_eq!(printed(&updates, &terminal), "ready\n");
    printer.print("a request\n");
    session.printed(&terminal, "a request");
    assert_eq!(session.until_now(), Vec::<Value>::new());
    session.send_update("tool_call", "d", &call);
    printer.end();
    let updates = session.until(has_exit);
    assert!(updates.iter().all(|update| update["toolCallId"] == "d"));
    assert_eq!(printed(&updates, &terminal), "a request\n");
}
