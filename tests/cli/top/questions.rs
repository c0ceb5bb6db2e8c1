//! Questions of the gate in `top`: a person answers them, and an agent cannot.

use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon, merged, sh, wait_until};

use super::top_tty::TopTty;
use crate::termctl::{ok, termctl};

/// An agent that wants to remove a directory, and the id of the question.
fn asking(daemon: &TestDaemon) -> (RawClient, Value, String) {
    let mut agent = daemon.client();
    agent.ok(
        "daemon.hello",
        &json!({ "client": "an\u{1b}[31m agent", "front": "mcp" }),
    );
    let victim = daemon.path("state").join("victim");
    std::fs::create_dir_all(&victim).unwrap();
    let params = json!({ "command": "rm", "args": ["-r", victim] });
    let id = ask(&mut agent, &params);
    (agent, params, id)
}

fn ask(agent: &mut RawClient, params: &Value) -> String {
    let error = agent.err("session.create", params);
    error.data["approval"].as_str().unwrap().to_owned()
}

fn state_of(daemon: &TestDaemon, id: &str) -> String {
    let all = termctl(daemon, &["approvals", "--all", "--json"]).json();
    let mut all = all.as_array().unwrap().iter();
    let info = all.find(|info| info["id"] == id).unwrap();
    info["state"].as_str().unwrap().to_owned()
}

#[test]
fn a_person_reads_a_question_and_answers_it() {
    let daemon = TestDaemon::start();
    ok(
        &daemon,
        &["create", "--label", "other", "--", "sleep", "1000"],
    );
    let mut top = TopTty::new(&daemon, (80, 24), &["top"]);
    top.wait_for_text("running other");
    let (mut agent, params, id) = asking(&daemon);
    let shown = top.wait_for_text(&format!("{id}: asks you"));
    for part in [
        "agent wants to run",
        "    rm -r /",
        "because ",
        "y once  a always  n no",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
    assert!(!top.written.contains("\x1b[31m agent"));
    top.press_until("y", &format!("{id}: once"));
    agent.ok("session.create", &params);

    let id = ask(&mut agent, &params);
    top.wait_for_text(&format!("{id}: asks you"));
    top.press_until("n", &format!("{id}: no"));
    assert_eq!(state_of(&daemon, &id), "denied");
    top.press("q");
    assert_eq!(top.wait_restored(), Some(0));
}

#[test]
fn a_question_is_read_to_its_end_before_it_is_agreed_to() {
    let daemon = TestDaemon::start();
    let mut top = TopTty::new(&daemon, (40, 12), &["top"]);
    top.wait_for_text("no terminals");
    let (mut agent, params, _) = asking(&daemon);
    let hidden = format!("-r{}x", " ".repeat(1_500));
    let id = ask(
        &mut agent,
        &merged(&params, &json!({ "args": [hidden, "/the/end"] })),
    );
    // The older one first.
    let first = top.wait_for_text("asks you");
    assert!(!first.contains(&id), "{first}");
    top.press_until("n", &format!("{id}: asks you"));
    let shown = top.wait_for_text(" more  y ");
    assert!(!shown.contains("/the/end"), "{shown}");
    top.press_until("y", "arrows");
    top.press("y");
    top.wait_for_text("arrows");
    assert_eq!(state_of(&daemon, &id), "pending");
    top.press("\x1b[F");
    top.wait_for_text("/the/end");
    top.press("y");
    wait_until("it is approved", || state_of(&daemon, &id) == "approved");
    top.wait_for_text("no terminals");
    top.press("q");
    assert_eq!(top.wait_restored(), Some(0));
}

/// The daemon decides by descent: what runs in an agent's terminal is the agent's.
#[test]
fn an_agent_that_runs_it_gets_no_persons_rights() {
    let daemon = TestDaemon::start();
    let (mut agent, _, id) = asking(&daemon);
    let persons = ok(&daemon, &["create", "--label", "persons", "--", "sh"]);
    let victim = daemon.path("state").join("victim");
    let termctl_path = env!("CARGO_BIN_EXE_termctl");
    let mut params = sh(&format!("exec {termctl_path} top"));
    params["env"] = json!({ "TERMD_SOCKET": daemon.socket() });
    let terminal = agent.create_terminal(&params);
    let press = |agent: &mut RawClient, keys: &str| {
        agent.ok(
            "session.send",
            &json!({ "id": terminal, "text": keys, "confirmed": true }),
        );
    };
    let shows = |agent: &mut RawClient, text: &str| {
        let screen = agent.ok(
            "session.screen",
            &json!({ "id": terminal, "format": "text" }),
        );
        screen["rendering"].as_str().unwrap().contains(text)
    };
    wait_until("it is drawn", || shows(&mut agent, "asks you"));
    wait_until("it is told", || shows(&mut agent, "an agent's"));
    wait_until("the daemon refuses", || {
        press(&mut agent, "y");
        shows(&mut agent, "agent") && !shows(&mut agent, "? help")
    });
    assert_eq!(state_of(&daemon, &id), "pending");
    press(&mut agent, &format!("irm -r {}\r", victim.display()));
    press(&mut agent, "xy");
    press(&mut agent, "ky");
    // Other keys are taken after those.
    press(&mut agent, "?");
    wait_until("its help", || shows(&mut agent, "attach; ctrl-] d"));
    assert!(victim.exists());
    assert_eq!(state_of(&daemon, &id), "pending");
    let info = termctl(&daemon, &["show", "--json", &persons]).json();
    assert_eq!(info["state"], "running");
}
