//! The gate's questions reach the person: by elicitation where the client supports it, else in the
//! result.

use serde_json::{Value, json};
use termd_test_support::{McpClient, RawClient, TestDaemon};

const DANGEROUS: &str = "rm -rf ./never-there";

fn forms() -> Value {
    json!({ "elicitation": {} })
}

fn run() -> Value {
    json!({ "exec": format!("{DANGEROUS}; echo ran") })
}

#[test]
fn a_client_without_elicitation_is_told_to_ask() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start(&daemon);
    let result = client.call("session_exec", &run());
    assert_eq!(result["requires_confirmation"], true, "{result}");
    assert_eq!(result["success"], false);
    assert!(
        result["command"].as_str().unwrap().contains(DANGEROUS),
        "{result}"
    );
    let mut confirmed = run();
    confirmed["confirmed"] = true.into();
    let result = client.call("session_exec", &confirmed);
    assert_eq!(result["output"], "ran\n", "{result}");
}

#[test]
fn the_gate_can_be_switched_off_and_patterns_be_added() {
    let daemon = TestDaemon::start();
    let off = [("TERMINAL_MCP_SAFETY_GATE", "off")];
    let mut client = McpClient::start_with(&daemon, &off, &json!({}));
    assert_eq!(client.call("session_exec", &run())["output"], "ran\n");
    let more = [("TERMINAL_MCP_DANGEROUS_PATTERNS", r"\bdeploy\b")];
    let mut client = McpClient::start_with(&daemon, &more, &json!({}));
    let result = client.call("session_exec", &json!({ "exec": "echo deploy" }));
    assert_eq!(result["requires_confirmation"], true, "{result}");
}

#[test]
fn a_client_with_elicitation_is_asked_by_it() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::start_with(&daemon, &[], &forms());
    for (action, ran) in [("accept", true), ("decline", false)] {
        let call = client.begin("session_exec", &run());
        let question = client.wait("a question", |message| {
            message["method"] == "elicitation/create"
        });
        assert!(
            question["params"]["message"]
                .as_str()
                .unwrap()
                .contains(DANGEROUS),
            "{question}"
        );
        let mut result = json!({ "action": action });
        if ran {
            result["content"] = json!({ "confirm": true });
        }
        client.send_line(
            &json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }).to_string(),
        );
        let answer = client.answer(call)["result"].clone();
        assert_eq!(answer["isError"], !ran, "{answer}");
        if !ran {
            assert_eq!(answer["structuredContent"]["error"]["type"], "declined");
        }
    }
}

/// The only pending question.
fn pending(person: &mut RawClient) -> Value {
    let listed = person.ok("approval.list", &json!({}));
    let listed = listed["approvals"].as_array().unwrap().clone();
    let mut pending = listed.iter().filter(|info| info["state"] == "pending");
    pending.next().expect("a question").clone()
}

#[test]
fn a_person_may_answer_through_termd() {
    let daemon = TestDaemon::start();
    let mut person = daemon.client();
    // A client without elicitation makes the call again.
    let mut client = McpClient::start(&daemon);
    let result = client.call("session_exec", &run());
    let id = pending(&mut person)["id"].as_str().unwrap().to_owned();
    let message = result["message"].as_str().unwrap();
    assert!(
        message.contains(&format!("termctl approve {id}")),
        "{result}"
    );
    person.ok(
        "approval.answer",
        &json!({ "id": id, "decision": "approve" }),
    );
    assert_eq!(client.call("session_exec", &run())["output"], "ran\n");
    // With elicitation the question is withdrawn and the call goes on.
    let mut client = McpClient::start_with(&daemon, &[], &forms());
    let call = client.begin("session_exec", &run());
    let question = client.wait("a question", |message| {
        message["method"] == "elicitation/create"
    });
    let id = pending(&mut person)["id"].clone();
    person.ok(
        "approval.answer",
        &json!({ "id": id, "decision": "approve" }),
    );
    let answer = client.answer(call)["result"].clone();
    assert_eq!(answer["structuredContent"]["output"], "ran\n", "{answer}");
    client.wait("the question is withdrawn", |message| {
        message["method"] == "notifications/cancelled"
            && message["params"]["requestId"] == question["id"]
    });
}

#[test]
fn what_is_declined_here_is_denied_there() {
    let daemon = TestDaemon::start();
    let mut person = daemon.client();
    let mut client = McpClient::start_with(&daemon, &[], &forms());
    let call = client.begin("session_exec", &run());
    let question = client.wait("a question", |message| {
        message["method"] == "elicitation/create"
    });
    let id = pending(&mut person)["id"].clone();
    let result = json!({ "action": "decline" });
    client.send_line(
        &json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }).to_string(),
    );
    assert_eq!(client.answer(call)["result"]["isError"], true);
    let known = person.ok("approval.wait", &json!({ "id": id }));
    assert_eq!(known["state"], "denied");
}

#[test]
fn a_stateless_client_is_asked_for_input_and_calls_again() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::stateless(&daemon, &forms());
    let call = json!({ "name": "session_exec", "arguments": run() });
    for (action, ran) in [("accept", true), ("decline", false)] {
        let result = client.ask("tools/call", &call)["result"].clone();
        assert_eq!(result["resultType"], "input_required", "{result}");
        let requests = result["inputRequests"].as_object().unwrap();
        let (key, _) = requests.iter().next().unwrap();
        let mut again = call.clone();
        let content = json!({ "confirm": ran });
        again["inputResponses"] = json!({ key: { "action": action, "content": content } });
        again["requestState"] = result["requestState"].clone();
        let answer = client.ask("tools/call", &again)["result"].clone();
        assert_eq!(answer["isError"], !ran, "{answer}");
    }
}

#[test]
fn a_file_of_the_system_is_written_only_when_the_person_agrees() {
    let daemon = TestDaemon::start();
    let terminal_set = [("TERMCTL_MCP_TOOLS", "terminal")];
    let mut client = McpClient::start_with(&daemon, &terminal_set, &forms());
    let session = client.call("terminal_start", &json!({}))["sessionId"].clone();
    std::os::unix::fs::symlink("/etc", daemon.user_home().join("innocent")).unwrap();
    let path = "innocent/termd-was-never-here";
    for (tool, arguments) in [
        (
            "terminal_write_file",
            json!({ "sessionId": session, "path": path, "content": "x" }),
        ),
        (
            "terminal_stop",
            json!({ "sessionId": session, "transcriptPath": path }),
        ),
    ] {
        let call = client.begin(tool, &arguments);
        let question = client.wait("a question", |message| {
            message["method"] == "elicitation/create"
        });
        let message = question["params"]["message"].as_str().unwrap();
        assert!(message.contains("/etc/termd-was-never-here"), "{message}");
        let decline = json!({ "action": "decline" });
        client.send_line(
            &json!({ "jsonrpc": "2.0", "id": question["id"], "result": decline }).to_string(),
        );
        let answer = client.answer(call)["result"].clone();
        assert_eq!(answer["isError"], true, "{tool}: {answer}");
        assert!(!std::path::Path::new("/etc/termd-was-never-here").exists());
    }
    // It was not stopped either.
    assert_eq!(client.call("terminal_list", &json!({}))["count"], 1);
}
