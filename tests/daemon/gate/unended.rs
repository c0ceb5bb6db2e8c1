//! What was typed and not ended is a part of the next line only where the shell holds it.

use std::fs;

use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon};

use super::judgement::shell;
use crate::shell::marked_shell::MarkedShell;

/// A script that reads one key.
const ASKS: &str = "read -n1 -p 'sure? ' a; echo; echo re''ad $a";

fn type_text(client: &mut RawClient, id: &str, text: &str) {
    client.ok(
        "session.type",
        &json!({ "id": id, "input": { "text": text } }),
    );
}

fn removal(id: &str) -> Value {
    json!({ "id": id, "input": { "text": "rm -rf x", "enter": true } })
}

#[test]
fn a_key_that_a_program_has_read_is_no_part_of_the_next_line() {
    let daemon = TestDaemon::start();
    for key in ["y", "#"] {
        let mut client = daemon.client();
        let id = shell(&mut client);
        client.send_text(&id, &format!("{ASKS}\r"));
        client.wait_for_text(&id, "sure? ");
        type_text(&mut client, &id, key);
        client.wait_for_text(&id, &format!("read {key}"));
        let error = client.err("session.type", &removal(&id));
        assert_eq!(error.kind(), "confirmation_required", "{error:?}");
        assert_eq!(error.data["command"], "rm -rf x");
    }
}

#[test]
fn a_script_may_read_a_key_of_a_line_that_is_typed_ahead() {
    let daemon = TestDaemon::start();
    let home = daemon.user_home();
    fs::write(home.join("ask.sh"), ASKS).unwrap();
    let mut client = daemon.client();
    let id = shell(&mut client);
    client.send_text(&id, &format!("cd {}\r", home.display()));
    let both = json!({ "id": id, "text": "bash ask.sh\ryrm -rf x\r" });
    let error = client.err("session.send", &both);
    assert_eq!(error.data["command"], "bash ask.sh\nrm -rf x", "{error:?}");
    client.send_text(&id, "bash ask.sh\r");
    client.wait_for_text(&id, "sure? ");
    let next = json!({ "id": id, "text": "yrm -rf x\r" });
    let error = client.err("session.send", &next);
    assert_eq!(error.data["command"], "rm -rf x", "{error:?}");
    client.send_text(&id, "y\rgit rm -r x\r");
}

#[test]
fn it_is_so_where_the_shell_marks_its_prompts() {
    let daemon = TestDaemon::start();
    let mut shell = MarkedShell::start(&daemon, &["bash"]);
    shell.wait_for_prompts(1);
    let id = shell.id.clone();
    shell.client.send_text(&id, &format!("{ASKS}\r"));
    shell.client.wait_for_text(&id, "sure? ");
    type_text(&mut shell.client, &id, "y");
    shell.wait_for_prompts(2);
    let error = shell.client.err("session.type", &removal(&id));
    assert_eq!(error.data["command"], "rm -rf x", "{error:?}");
}

#[test]
fn at_one_prompt_a_line_is_only_the_whole_of_its_pieces() {
    let daemon = TestDaemon::start();
    let home = daemon.user_home();
    fs::create_dir_all(home.join("x")).unwrap();
    let create = json!({ "command": "bash", "cwd": home });
    let mut shell = MarkedShell::start_with(&daemon, &create);
    shell.wait_for_prompts(1);
    let id = shell.id.clone();
    type_text(&mut shell.client, &id, "echo ");
    shell.client.wait_for_text(&id, "echo ");
    shell.client.ok("session.type", &removal(&id));
    shell.wait_for_prompts(2);
    assert!(home.join("x").is_dir());
}

#[test]
fn a_no_holds_for_the_same_line_in_another_terminal_of_the_agent() {
    let daemon = TestDaemon::start();
    let mut person = daemon.client();
    let mut agent = daemon.client();
    let hello = json!({ "client": "an agent", "front": "mcp" });
    agent.ok("daemon.hello", &hello);
    let id = shell(&mut agent);
    let error = agent.err("session.type", &removal(&id));
    let approval = &error.data["approval"];
    person.ok(
        "approval.answer",
        &json!({ "id": approval, "decision": "deny" }),
    );
    let mut other = daemon.client();
    let mut hello = hello;
    hello["settings"] = json!({ "gate": { "enabled": false } });
    other.ok("daemon.hello", &hello);
    let id = shell(&mut other);
    let error = other.err("session.type", &removal(&id));
    assert_eq!(error.kind(), "rejected", "{error:?}");
}
