//! What terminals want of a person: real programs in real states, what they say of themselves, and what a
//! person has seen.

use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon, is_installed, wait_until};

/// A program and its arguments.
type Argv<'a> = (&'a str, Vec<&'a str>);

/// What a terminal wants now: the state and why.
fn attention(client: &mut RawClient, id: &str) -> (String, String) {
    let info = client.ok("session.show", &json!({ "id": id }));
    let text = |name: &str| {
        info["attention"][name]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    (text("state"), text("why"))
}

#[track_caller]
fn wait_for_state(client: &mut RawClient, id: &str, state: &str) -> String {
    let mut why = String::new();
    wait_until(&format!("{id} is {state}"), || {
        let now = attention(client, id);
        why = now.1;
        now.0 == state
    });
    why
}

/// A daemon, a person, and an agent that can open terminals without being asked.
fn with_agent(daemon: &TestDaemon) -> (RawClient, RawClient) {
    let person = daemon.client();
    let mut agent = daemon.client();
    let hello = json!({ "client": "robot", "front": "mcp" });
    agent.ok("daemon.hello", &hello);
    (person, agent)
}

#[test]
fn programs_that_wait_run_or_have_ended() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let raw = "process.stdin.setRawMode(true); process.stdin.resume(); \
               process.stdout.write('\\x1b[?25l? Pick one:\\n> react\\n  vue\\n')";
    let asks = "require('readline').createInterface({input: process.stdin, output: process.stdout})\
                .question('Project name? (app) ', () => process.exit())";
    let bash = |script: &'static str| ("bash", vec!["-c", script]);
    let cases: Vec<(Argv<'_>, &str, &str)> = vec![
        (bash("read -p 'Name: ' x"), "input", "Name:"),
        (
            bash("printf 'Continue? [Y/n] '; read a"),
            "input",
            "Continue? [Y/n]",
        ),
        (bash("select x in a b; do :; done"), "input", "#?"),
        (
            bash("read -n1 -p 'Press any key '"),
            "input",
            "Press any key",
        ),
        (
            bash("read -t 1000 -p 'Abort in 1,000 s? '"),
            "input",
            "Abort in 1,000 s?",
        ),
        (bash("seq 100 | less"), "input", "less"),
        (bash("seq 100 | fzf"), "input", "fzf"),
        (("watch", vec!["-n", "1", "date"]), "running", ""),
        (bash("read -s -p 'Password: ' x"), "secret", "Password:"),
        (
            ("python3", vec!["-c", "input('Your name: ')"]),
            "input",
            "Your name:",
        ),
        (
            ("python3", vec!["-c", "import getpass; getpass.getpass()"]),
            "secret",
            "Password:",
        ),
        (("cat", vec![]), "input", ""),
        (("vim", vec!["-u", "NONE", "x"]), "input", "vim"),
        (("less", vec!["/etc/passwd", "/etc/group"]), "input", ""),
        (("node", vec!["-e", asks]), "input", "Project name? (app)"),
        (("node", vec!["-e", raw]), "input", "node"),
        (("htop", vec![]), "running", ""),
        (("top", vec![]), "running", ""),
        (
            bash("while :; do echo Compiling; sleep 0.1; done"),
            "running",
            "",
        ),
        (("sleep", vec!["1000"]), "running", "sleep 1000"),
        (
            bash("printf '\\e]9;4;1;40\\a'; sleep 1000"),
            "running",
            "40 %",
        ),
        (("python3", vec!["-q"]), "idle", ""),
        (("gdb", vec!["-q"]), "idle", ""),
        (("zsh", vec!["-f"]), "idle", ""),
        (("fish", vec!["-N"]), "idle", ""),
        (bash("printf 'ding\\a'; exit 3"), "failed", "bash -c"),
        (bash("exit 3"), "failed", "bash -c 'exit 3'"),
        (bash("kill -TERM $$"), "failed", ""),
        (("true", vec![]), "done", "true"),
    ];
    let mut started = Vec::new();
    for ((program, args), state, why) in cases {
        if is_installed(program, "attention") {
            let id = client.create_terminal(&json!({ "command": program, "args": args }));
            started.push((id, program, state, why));
        }
    }
    for (id, program, state, why) in &started {
        wait_until(&format!("{program} is {state} {why}"), || {
            let now = attention(&mut client, id);
            now.0 == *state && now.1.starts_with(why)
        });
    }
    // It stays so: what was looked at again and again is no other thing.
    for (id, program, state, _) in &started {
        assert_eq!(attention(&mut client, id).0, *state, "{program}");
    }
}

#[test]
fn what_a_program_says_of_itself_holds_until_it_is_seen_or_answered() {
    let daemon = TestDaemon::start();
    let (mut person, mut agent) = with_agent(&daemon);
    let script = "printf '\\e]9;Claude waits\\a'; read x; printf '\\e]777;notify;Codex;asks\\a'; read x; \
                  printf '\\a'; exec sleep 1000";
    let id = agent.create_terminal(&json!({ "command": "bash", "args": ["-c", script] }));
    assert_eq!(wait_for_state(&mut person, &id, "input"), "Claude waits");
    // The agent reads and waits, and that is not a person.
    agent.ok("session.read", &json!({ "id": id }));
    assert_eq!(attention(&mut person, &id).1, "Claude waits");
    agent.send_text(&id, "\n");
    wait_until("it asks", || attention(&mut person, &id).1 == "Codex: asks");
    agent.send_text(&id, "\n");
    wait_until("it rings", || attention(&mut person, &id).1 == "bell");
    person.ok("session.read", &json!({ "id": id }));
    wait_for_state(&mut person, &id, "running");
}

#[test]
fn a_bell_in_the_first_output_of_a_command_is_its_own() {
    let daemon = TestDaemon::start();
    let (mut person, mut agent) = with_agent(&daemon);
    let id = agent.create_terminal(&json!({ "command": "bash" }));
    wait_for_state(&mut person, &id, "idle");
    agent.send_text(&id, "printf 'ding\\a\\n'; sleep 1000\n");
    assert_eq!(wait_for_state(&mut person, &id, "input"), "bell");
}

#[test]
fn an_end_is_news_until_a_person_has_seen_it() {
    let daemon = TestDaemon::start();
    let (mut person, mut agent) = with_agent(&daemon);
    let id = agent.create_terminal(&json!({ "command": "false" }));
    wait_for_state(&mut person, &id, "failed");
    agent.ok("session.screen", &json!({ "id": id }));
    assert_eq!(attention(&mut person, &id).0, "failed");
    person.ok("session.screen", &json!({ "id": id }));
    wait_for_state(&mut person, &id, "idle");

    // A person who is attached sees what happens, and what happened while no person was is news.
    let id = agent.create_terminal(&json!({ "command": "bash" }));
    let mut attached = daemon.client();
    attached.ok("session.attach", &json!({ "id": id, "mode": "watch" }));
    let mut events = daemon.client();
    events.ok("session.subscribe", &json!({ "id": id }));
    let run = |agent: &mut RawClient, line: &str| {
        let params = json!({ "id": id, "input": { "text": line, "enter": true },
                             "until": { "done": true } });
        agent.ok("session.interact", &params);
    };
    run(&mut agent, "false");
    wait_for_state(&mut person, &id, "idle");
    attached.ok("session.detach", &json!({ "id": id }));
    run(&mut agent, "(exit 3)");
    assert_eq!(wait_for_state(&mut person, &id, "failed"), "(exit 3)");
    run(&mut agent, "true");
    assert_eq!(wait_for_state(&mut person, &id, "done"), "true");
    // Each change was told.
    loop {
        let event = events.wait_for_event("attention");
        if event["attention"]["state"] == "done" {
            break;
        }
    }
}

#[test]
fn a_question_of_the_gate_and_a_report_are_attention() {
    let daemon = TestDaemon::start();
    let (mut person, mut agent) = with_agent(&daemon);
    let id = agent.create_terminal(&json!({ "command": "bash" }));
    let typed = json!({ "id": id, "text": "rm -rf precious\n" });
    agent.err("session.send", &typed);
    assert_eq!(
        wait_for_state(&mut person, &id, "approval"),
        "rm -rf precious"
    );
    let waiting = person.ok("approval.list", &Value::Null);
    let question = waiting["approvals"][0]["id"].clone();
    person.ok(
        "approval.answer",
        &json!({ "id": question, "decision": "deny" }),
    );
    wait_for_state(&mut person, &id, "idle");

    let said = |state: &str, text: &str| json!({ "state": state, "text": text, "terminal": id });
    for state in ["input", "done", "failed"] {
        agent.ok("attention.report", &said(state, "tests"));
        assert_eq!(wait_for_state(&mut person, &id, state), "tests");
    }
    // An agent speaks for its own terminals alone.
    let other = person.create_terminal(&json!({ "command": "cat" }));
    let report = json!({ "state": "failed", "text": "x", "terminal": other });
    let refused = agent.err("attention.report", &report);
    assert_eq!(refused.kind(), "confirmation_required");
    assert_ne!(attention(&mut person, &other).0, "failed");
}

#[test]
fn a_command_that_has_ended_wants_nothing_more() {
    let daemon = TestDaemon::start();
    let (mut person, _) = with_agent(&daemon);
    let id = person.create_terminal(&json!({ "command": "false" }));
    wait_for_state(&mut person, &id, "failed");
    let report = json!({ "state": "input", "text": "still there?", "terminal": id });
    person
        .err("attention.report", &report)
        .assert_invalid("terminal");
    assert_eq!(attention(&mut person, &id).0, "failed");
    person.ok("session.close", &json!({ "id": id }));
    person
        .err("attention.report", &report)
        .assert_invalid("terminal");
}

#[test]
fn what_is_wanted_says_whether_it_was_said_and_seen() {
    let daemon = TestDaemon::start();
    let (mut person, mut agent) = with_agent(&daemon);
    let script = "read -p 'Name: ' x; printf '\\e]9;done it\\a'; exec sleep 1000";
    let id = agent.create_terminal(&json!({ "command": "bash", "args": ["-c", script] }));
    let flags = |client: &mut RawClient| {
        let info = client.ok("session.show", &json!({ "id": id }));
        let is = |name: &str| info["attention"][name] == true;
        (is("said"), is("seen"))
    };
    assert_eq!(wait_for_state(&mut person, &id, "input"), "Name:");
    agent.ok("session.read", &json!({ "id": id }));
    assert_eq!(flags(&mut person), (false, false));
    // A person who reads it has seen it, and it waits all the same.
    person.ok("session.read", &json!({ "id": id }));
    wait_until("it is seen", || flags(&mut person) == (false, true));
    assert_eq!(attention(&mut person, &id).0, "input");
    agent.send_text(&id, "me\n");
    wait_until("it says so", || attention(&mut person, &id).1 == "done it");
    assert_eq!(flags(&mut person), (true, false));
}

#[test]
fn who_ends_a_command_has_seen_its_end() {
    let daemon = TestDaemon::start();
    let (mut person, mut agent) = with_agent(&daemon);
    for signal in [json!(null), json!("KILL")] {
        let sleep = json!({ "command": "sleep", "args": ["1000"] });
        let id = agent.create_terminal(&sleep);
        wait_for_state(&mut person, &id, "running");
        person.ok("session.kill", &json!({ "id": id, "signal": signal }));
        wait_until("it has exited", || {
            person.ok("session.show", &json!({ "id": id }))["state"] == "exited"
        });
        assert_eq!(attention(&mut person, &id).0, "idle");
    }
}

#[test]
fn the_next_server_knows_what_was_seen() {
    let daemon = TestDaemon::start();
    let (mut person, mut agent) = with_agent(&daemon);
    let seen = agent.create_terminal(&json!({ "command": "false" }));
    let news = agent.create_terminal(&json!({ "command": "false" }));
    let shell = agent.create_terminal(&json!({ "command": "bash" }));
    let attended = agent.create_terminal(&json!({ "command": "bash" }));
    let mut attached = daemon.client();
    attached.ok(
        "session.attach",
        &json!({ "id": attended, "mode": "watch" }),
    );
    let params = json!({ "id": attended, "input": { "text": "false", "enter": true },
                         "until": { "done": true } });
    agent.ok("session.interact", &params);
    wait_for_state(&mut person, &attended, "idle");
    attached.ok("session.detach", &json!({ "id": attended }));
    let params = json!({ "id": shell, "input": { "text": "(exit 3)", "enter": true },
                         "until": { "done": true } });
    agent.ok("session.interact", &params);
    for id in [&seen, &news, &shell] {
        wait_for_state(&mut person, id, "failed");
    }
    for id in [&seen, &shell] {
        person.ok("session.read", &json!({ "id": id }));
        wait_for_state(&mut person, id, "idle");
    }
    // Lists what is stored once the rows that wait are.
    person.ok("session.list", &json!({ "scope": "all" }));
    daemon.kill_server();

    let mut person = daemon.client();
    wait_for_state(&mut person, &news, "failed");
    wait_for_state(&mut person, &seen, "idle");
    wait_for_state(&mut person, &shell, "idle");
    wait_for_state(&mut person, &attended, "idle");
}
