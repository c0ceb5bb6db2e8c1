//! `[attention] command`: the person's program, which is told what terminals want.

use std::fs;
use std::time::Instant;

use rustix::process::Signal;
use serde_json::{Value, json};
use termd_test_support::{Process, RawClient, TestDaemon, wait_until};

/// A daemon with this shell script as the program.
fn with_command(script: &str) -> TestDaemon {
    let argv = json!(["sh", "-c", script]);
    TestDaemon::configured(&format!("[attention]\ncommand = {argv}\n"))
}

/// What the program was told: a line for each time.
fn told(daemon: &TestDaemon) -> Vec<Value> {
    let text = fs::read_to_string(daemon.user_home().join("news")).unwrap_or_default();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

fn asking(client: &mut RawClient, label: &str) -> String {
    let script = "read -p 'Name: ' x; exec sleep 1000";
    let create = json!({ "command": "bash", "args": ["-c", script], "label": label });
    client.create_terminal(&create)
}

#[test]
fn the_program_is_told_what_is_news_and_when_it_is_over() {
    // Its output goes nowhere, however long it is.
    let daemon = with_command("head -c 1000000 /dev/zero; cat >> \"$HOME/news\"");
    let mut client = daemon.client();
    let id = asking(&mut client, "ask");
    wait_until("it is told", || told(&daemon).len() == 1);
    let first = told(&daemon).remove(0);
    assert_eq!((&first["id"], &first["label"]), (&json!(id), &json!("ask")));
    let attention = &first["attention"];
    assert_eq!(
        (&attention["state"], &attention["why"]),
        (&json!("input"), &json!("Name:"))
    );
    client.ok("session.attach", &json!({ "id": id }));
    wait_until("that it is seen is told", || told(&daemon).len() == 2);
    assert_eq!(told(&daemon)[1]["attention"]["seen"], true);
    // Who is attached sees the rest.
    client.send_text(&id, "me\n");
    wait_until("it goes on", || {
        client.ok("session.show", &json!({ "id": id }))["attention"]["state"] == "running"
    });
    client.ok("session.detach", &json!({ "id": id }));
    // What happens in the millisecond in which a person leaves, they have seen.
    let left = Instant::now();
    wait_until("a later millisecond", || left.elapsed().as_millis() > 1);
    let pid = client.ok("session.show", &json!({ "id": id }))["pid"].clone();
    Process::expect(pid.as_i64().unwrap()).signal(Signal::KILL);
    wait_until("its end is told", || told(&daemon).len() == 3);
    assert_eq!(told(&daemon)[2]["attention"]["state"], "failed");
    client.ok("session.close", &json!({ "id": id }));
    wait_until("the close is told", || told(&daemon).len() == 4);
    assert_eq!(told(&daemon)[3]["state"], "closed");
    // The program is no terminal.
    let all = client.ok("session.list", &json!({ "scope": "all" }));
    assert_eq!(all["terminals"].as_array().unwrap().len(), 1);
}

#[test]
fn programs_are_bounded_in_number_and_time() {
    const AT_ONCE: usize = 4;
    let daemon = with_command("touch \"$HOME/run-$$\"; trap '' HUP; sleep 1000 & wait; exit");
    let runs = || {
        let entries = fs::read_dir(daemon.user_home()).unwrap().flatten();
        let names = entries.map(|entry| entry.file_name().into_string().unwrap());
        names
            .filter(|name| name.starts_with("run-"))
            .collect::<Vec<_>>()
    };
    let mut client = daemon.client();
    for number in 0..AT_ONCE + 2 {
        asking(&mut client, &format!("ask-{number}"));
    }
    let says = |text: &str| daemon.log().matches(text).count();
    wait_until("two are not run", || {
        says("[attention] command is not run") == 2
    });
    wait_until("four run", || runs().len() == AT_ONCE);
    let lives = |name: &String| {
        let pid = name.strip_prefix("run-").unwrap();
        fs::exists(format!("/proc/{pid}")).unwrap()
    };
    assert!(runs().iter().all(lives));
    wait_until("they are ended", || !runs().iter().any(lives));
    wait_until("the log says so", || {
        says("[attention] command is ended") == AT_ONCE
    });
    // There is room again, and what this server finds was told before.
    daemon.replace_server();
    let mut client = daemon.client();
    for number in 0..AT_ONCE + 2 {
        let params = json!({ "id": format!("ask-{number}") });
        wait_until("it is looked at", || {
            client.ok("session.show", &params)["attention"]["state"] == "input"
        });
    }
    asking(&mut client, "one more");
    wait_until("it is told", || runs().len() > AT_ONCE);
    assert_eq!(runs().len(), AT_ONCE + 1);
}

#[test]
fn a_program_that_is_not_there_is_named_in_the_log() {
    let daemon = TestDaemon::configured("[attention]\ncommand = [\"no-such-program\"]\n");
    asking(&mut daemon.client(), "ask");
    wait_until("the log names it", || {
        daemon.log().contains("no-such-program")
    });
}
