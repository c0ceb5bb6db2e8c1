//! Terminals shown as text.

use std::time::Instant;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::tool_calls::{SESSION, ToolCallSession, embedded, shown, text};

fn session() -> ToolCallSession {
    ToolCallSession::start(&[], &json!({}))
}

fn is_status(update: &Value, status: &str) -> bool {
    update["status"] == status
}

#[test]
fn a_terminal_among_other_content_is_live_and_tells_its_end() {
    let mut session = session();
    let mut printer = session.printer("exit 3");
    let terminal = printer.terminal.clone();
    let diff = json!({ "type": "diff", "path": "/a", "oldText": null, "newText": "b" });
    session.send_update(
        "tool_call",
        "c",
        &json!({
            "title": "run",
            "status": "in_progress",
            "content": [text("before"), embedded(&terminal), diff],
            "_meta": { "mine": [1.50] },
        }),
    );
    let sent = session.next();
    assert_eq!(sent["title"], "run");
    assert_eq!(sent["_meta"], json!({ "mine": [1.5] }));
    assert_eq!(sent["content"][0], text("before"));
    assert_eq!(sent["content"][2], diff);
    let empty = shown(&sent, 1);
    assert!(empty.starts_with("```\n$ /bin/sh -c "), "{empty}");
    assert!(empty.ends_with("\n```"), "{empty}");
    printer.print("one\n");
    let updates = session.until(|update| shown(update, 1).contains("\none\n"));
    let update = updates.last().unwrap();
    assert_eq!(update["sessionUpdate"], "tool_call_update");
    assert_eq!(update["toolCallId"], "c");
    assert_eq!(update["content"][0], text("before"));
    assert_eq!(update["content"][2], diff);
    assert!(update.get("status").is_none() && update.get("title").is_none());
    printer.print("two");
    session.until(|update| shown(update, 1).ends_with("\none\ntwo\n```"));
    printer.end();
    let want = "\none\ntwo\n```\nExit code 3.";
    session.until(|update| shown(update, 1).ends_with(want));
    session.terminal("release", &terminal);
    session.send_update("tool_call_update", "c", &json!({ "status": "failed" }));
    let last = session.until(|update| is_status(update, "failed"));
    assert_eq!(last.len(), 1, "nothing has changed: {last:#?}");
    // The terminal is kept, because the agent may show it again.
    session.send_update(
        "tool_call_update",
        "c",
        &json!({ "content": [embedded(&terminal)] }),
    );
    assert!(shown(&session.next(), 0).ends_with(want));
}

#[test]
fn the_last_state_goes_before_completed() {
    let mut session = session();
    for round in 0..5 {
        let call = format!("c-{round}");
        let mut printer = session.printer("exit 0");
        let terminal = printer.terminal.clone();
        session.send_update(
            "tool_call",
            &call,
            &json!({ "title": "run", "content": [embedded(&terminal)] }),
        );
        session.next();
        printer.print(&"line\n".repeat(1000));
        printer.print("the last\n");
        printer.end();
        session.terminal("wait_for_exit", &terminal);
        session.terminal("release", &terminal);
        session.send_update("tool_call_update", &call, &json!({ "status": "completed" }));
        let updates = session.until(|update| is_status(update, "completed"));
        let before = &updates[updates.len() - 2];
        let last = shown(before, 0);
        assert!(last.ends_with("line\nthe last\n```"), "{last}");
    }
    assert_eq!(session.until_now(), Vec::<Value>::new());
}

#[test]
fn the_last_state_is_in_an_update_that_has_content() {
    let mut session = session();
    let terminal = session.sh("echo done; kill -TERM $$");
    session.terminal("wait_for_exit", &terminal);
    session.send_update(
        "tool_call_update",
        "c",
        &json!({ "status": "completed", "content": [embedded(&terminal)] }),
    );
    let update = session.next();
    assert!(is_status(&update, "completed"));
    assert!(shown(&update, 0).ends_with("\ndone\n```\nEnded by SIGTERM."));
}

#[test]
fn a_command_that_still_runs_in_a_completed_call_stays_as_it_is() {
    let mut session = session();
    let mut printer = session.printer("exit 3");
    let terminal = printer.terminal.clone();
    session.send_update(
        "tool_call",
        "c",
        &json!({ "title": "serve", "content": [embedded(&terminal)] }),
    );
    session.next();
    printer.print("ready\n");
    session.printed(&terminal, "ready");
    session.send_update("tool_call_update", "c", &json!({ "status": "completed" }));
    let updates = session.until(|update| is_status(update, "completed"));
    assert!(shown(&updates[updates.len() - 2], 0).ends_with("\nready\n```"));
    printer.print("a request\n");
    session.printed(&terminal, "a request");
    printer.end();
    session.terminal("wait_for_exit", &terminal);
    assert_eq!(session.until_now(), Vec::<Value>::new());
}

#[test]
fn a_flood_is_shown_ten_times_a_second_at_the_most_and_in_part() {
    let mut session = session();
    let terminal = session.sh("yes | head -c 4000000; exit 3");
    let since = Instant::now();
    session.send_update(
        "tool_call",
        "c",
        &json!({ "title": "flood", "content": [embedded(&terminal)] }),
    );
    let updates = session.until(|update| shown(update, 0).ends_with("\nExit code 3."));
    // Ten updates a second, one at once and a last one.
    let most = since.elapsed().as_millis() / 100 + 2;
    assert!(updates.len() as u128 <= most, "{} > {most}", updates.len());
    let last = shown(updates.last().unwrap(), 0);
    let mut lines = last.lines().skip(2);
    let left_out = lines.next().unwrap();
    let left_out = left_out.strip_prefix("[about ").unwrap().split(' ').next();
    let left_out: usize = left_out.unwrap().parse().unwrap();
    let kept = lines.filter(|line| *line == "y").count();
    assert!((60 << 10..=64 << 10).contains(&(kept * 2)), "{kept}");
    // A line is three bytes on the tty.
    assert!((5_800_000..6_000_000).contains(&left_out), "{left_out}");
}

#[test]
fn a_progress_bar_is_one_line() {
    let mut session = session();
    let mut printer = session.printer("exit 0");
    session.send_update(
        "tool_call",
        "c",
        &json!({ "title": "get", "content": [embedded(&printer.terminal)] }),
    );
    session.next();
    for percent in [10, 50, 100] {
        printer.print(&format!("\r\u{1b}[32m{percent} %\u{1b}[0m"));
        let want = format!("\n{percent} %\n```");
        let updates = session.until(|update| shown(update, 0).ends_with(&want));
        // The fences, the command and the progress bar.
        assert_eq!(shown(updates.last().unwrap(), 0).lines().count(), 4);
    }
}

#[test]
fn two_terminals_of_one_call_are_both_live() {
    let mut session = session();
    let mut a = session.printer("exit 1");
    let mut b = session.printer("exit 2");
    let content = json!([embedded(&a.terminal), text("-"), embedded(&b.terminal)]);
    session.send_update(
        "tool_call",
        "c",
        &json!({ "title": "t", "content": content }),
    );
    session.next();
    b.print("of b\n");
    session.until(|update| shown(update, 2).contains("of b"));
    a.print("of a\n");
    session.until(|update| shown(update, 0).contains("of a") && shown(update, 2).contains("of b"));
    a.end();
    session.until(|update| shown(update, 0).ends_with("Exit code 1."));
    b.print("more\n");
    session.until(|update| shown(update, 2).contains("more"));
    b.end();
    let last = session.until(|update| shown(update, 2).ends_with("Exit code 2."));
    assert_eq!(shown(last.last().unwrap(), 1), "-");
}

#[test]
fn a_command_to_be_permitted_is_shown_too() {
    let mut session = session();
    let terminal = session.sh("echo '```'");
    session.terminal("wait_for_exit", &terminal);
    let id = session.proxy.agent.request(
        "session/request_permission",
        &json!({
            "sessionId": SESSION,
            "toolCall": { "toolCallId": "c", "content": [embedded(&terminal)] },
            "options": [{ "optionId": "o", "name": "Yes", "kind": "allow_once" }],
        }),
    );
    let request = session.proxy.client.wait("the question", |line| {
        line["method"] == "session/request_permission"
    });
    assert_eq!(request["id"], id);
    assert_eq!(
        shown(&request["params"]["toolCall"], 0),
        "````\n$ /bin/sh -c \"echo '\\`\\`\\`'\"\n```\n````"
            .replace("\"echo '\\`\\`\\`'\"", shown_command(&request))
    );
    let result = json!({ "outcome": { "outcome": "cancelled" } });
    session.proxy.client.answer(&request, &result);
    session.proxy.agent.answer_to(id);
}

/// The last word of the shown command, as it is quoted.
fn shown_command(request: &Value) -> &str {
    let line = shown(&request["params"]["toolCall"], 0).lines().nth(1);
    line.unwrap().strip_prefix("$ /bin/sh -c ").unwrap()
}

#[test]
fn updates_continue_after_a_change_of_the_server() {
    let mut session = session();
    let mut printer = session.printer("exit 3");
    session.send_update(
        "tool_call",
        "c",
        &json!({ "title": "t", "content": [embedded(&printer.terminal)] }),
    );
    session.next();
    printer.print("before\n");
    session.until(|update| shown(update, 0).contains("before"));
    session.daemon.server().signal(Signal::KILL);
    printer.print("after\n");
    printer.end();
    let last = session.until(|update| shown(update, 0).ends_with("Exit code 3."));
    let last = shown(last.last().unwrap(), 0);
    assert!(last.contains("\nbefore\nafter\n```"), "{last}");
}

#[test]
fn a_replayed_tool_call_shows_what_the_daemon_still_knows() {
    let mut session = session();
    let terminal = session.sh("echo of yesterday; exit 4");
    session.terminal("wait_for_exit", &terminal);
    session.terminal("release", &terminal);
    let daemon = session.end();
    let mut session = ToolCallSession::start_on(daemon, &[], &json!({}));
    session.send_update(
        "tool_call",
        "c",
        &json!({
            "title": "t",
            "status": "completed",
            "content": [embedded(&terminal), embedded("term_aaaaaaaaaaaa"), embedded("theirs")],
        }),
    );
    let update = session.next();
    assert!(
        shown(&update, 0).ends_with("\nof yesterday\n```\nExit code 4."),
        "{update:#}"
    );
    assert_eq!(update["content"][1], embedded("term_aaaaaaaaaaaa"));
    assert_eq!(update["content"][2], embedded("theirs"));
}

#[test]
fn where_nothing_is_to_be_shown_lines_pass_as_they_are() {
    let mut session = ToolCallSession::start(&["--display", "off"], &json!({}));
    let terminal = session.sh("echo x");
    session.terminal("wait_for_exit", &terminal);
    let line = format!(
        "{{\"method\":\"session/update\" , \"params\":{{\"sessionId\":\"{SESSION}\",\"update\":\
         {{\"toolCallId\":\"c\",\"sessionUpdate\":\"tool_call\",\"title\":\"t\",\"content\":\
         [{{\"type\":\"terminal\",\"terminalId\":\"{terminal}\"}}]}}}}}}\r\n"
    );
    session.proxy.agent.write(line.as_bytes());
    assert_eq!(session.proxy.client.raw().unwrap(), line.as_bytes());
}
