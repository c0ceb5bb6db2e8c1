//! `session/request_permission`: the gate's questions go to the client.

use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::{Value, json};
use termd_test_support::{RpcError, TestDaemon, assert_members, merged};

use crate::harness::proxy::AcpProxy;
use crate::harness::proxy::{SESSION, listed, named, records, wait_until_nothing_is_left};

/// A file, and the create that would remove it.
fn dangerous(daemon: &TestDaemon, name: &str) -> (PathBuf, Value) {
    let victim = daemon.user_home().join(name);
    std::fs::write(&victim, "").unwrap();
    let params = json!({ "sessionId": SESSION, "command": "rm", "args": ["-f", victim] });
    (victim, params)
}

/// The question that the client receives.
#[track_caller]
fn question(proxy: &mut AcpProxy) -> Value {
    proxy.client.wait("a question", |line| {
        line["method"] == "session/request_permission"
    })
}

fn outcome(option: &str) -> Value {
    json!({ "outcome": { "outcome": "selected", "optionId": option } })
}

/// Checks that the tool call of a question ends with this status.
#[track_caller]
fn assert_tool_call_ends(proxy: &mut AcpProxy, question: &Value, status: &str) {
    let tool_call = &question["params"]["toolCall"]["toolCallId"];
    let update = proxy.client.wait("the tool call's end", |line| {
        line["params"]["update"]["toolCallId"] == *tool_call
    });
    assert_eq!(
        update,
        json!({ "jsonrpc": "2.0", "method": "session/update", "params": {
            "sessionId": SESSION, "update": { "sessionUpdate": "tool_call_update",
                "toolCallId": tool_call, "status": status } } })
    );
}

/// Waits for the end of an allowed command, which removes the file.
#[track_caller]
fn wait_for_removal(proxy: &mut AcpProxy, answer: &Value, victim: &Path) {
    let id = answer["result"]["terminalId"].as_str();
    let id = id.unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(proxy.exit(id)["exitCode"], 0);
    assert!(!victim.exists());
}

#[test]
fn a_question_says_what_and_why_and_once_is_once() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::with_session(&daemon, &[]);
    let (victim, params) = dangerous(&daemon, "victim");
    for _ in 0..2 {
        std::fs::write(&victim, "").unwrap();
        let create = proxy.agent.request("terminal/create", &params);
        let request = question(&mut proxy);
        let tool_call = &request["params"]["toolCall"];
        let line = format!("rm -f {}", victim.display());
        assert_eq!(request["params"]["sessionId"], SESSION);
        assert_eq!(tool_call["title"], json!(line));
        assert_members(
            tool_call,
            &json!({ "kind": "execute", "status": "pending" }),
        );
        assert_eq!(tool_call["rawInput"]["command"], "rm");
        assert_eq!(tool_call["rawInput"]["args"], params["args"]);
        assert_eq!(tool_call["rawInput"]["cwd"], json!(daemon.user_home()));
        let text = tool_call["content"][0]["content"]["text"].as_str().unwrap();
        assert!(text.contains("rm -f") && text.contains(&line), "{text}");
        let options = request["params"]["options"].as_array().unwrap();
        let kinds: Vec<_> = options.iter().map(|option| &option["kind"]).collect();
        assert_eq!(kinds, ["allow_once", "allow_always", "reject_once"]);
        assert_eq!(options[1]["name"], "Allow this command for this session");
        // Everything else passes while the question is open.
        proxy.script("true");
        let other = proxy.client.request("_x/y", &json!({}));
        let passed = proxy
            .agent
            .wait("the request", |line| line["method"] == "_x/y");
        proxy.agent.answer(&passed, &json!({}));
        proxy.client.answer_to(other);
        assert!(victim.exists());
        proxy.client.answer(&request, &outcome("allow_once"));
        assert_tool_call_ends(&mut proxy, &request, "completed");
        let answer = proxy.agent.answer_to(create);
        wait_for_removal(&mut proxy, &answer, &victim);
    }
    let created = records(&daemon, "terminal.create");
    let outcomes: Vec<_> = created
        .iter()
        .filter(|record| record["detail"]["verdict"] == "dangerous")
        .map(|record| {
            (
                record["outcome"].as_str().unwrap(),
                &record["detail"]["confirmed"],
            )
        })
        .collect();
    assert_eq!(outcomes.len(), 4, "{created:#?}");
    assert_eq!(outcomes[0], ("ok", &json!(true)));
    assert_eq!(outcomes[1].0, "refused: not confirmed");
}

#[test]
fn always_is_this_command_in_this_session() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::with_session(&daemon, &[]);
    proxy.session("sess_2", &daemon.user_home());
    let (victim, params) = dangerous(&daemon, "victim");
    let create = proxy.agent.request("terminal/create", &params);
    let request = question(&mut proxy);
    proxy.client.answer(&request, &outcome("allow_always"));
    let answer = proxy.agent.answer_to(create);
    wait_for_removal(&mut proxy, &answer, &victim);
    std::fs::write(&victim, "").unwrap();
    let answer = proxy.agent.ask("terminal/create", &params);
    wait_for_removal(&mut proxy, &answer, &victim);
    let env = json!({ "env": [{ "name": "A", "value": "1" }] });
    let create = proxy
        .agent
        .request("terminal/create", &merged(&params, &env));
    let request = question(&mut proxy);
    proxy.client.answer(&request, &outcome("allow_once"));
    let answer = proxy.agent.answer_to(create);
    wait_for_removal(&mut proxy, &answer, &victim);
    for more in [
        json!({ "args": ["-f", "another"] }),
        json!({ "cwd": daemon.path("state") }),
        json!({ "sessionId": "sess_2" }),
    ] {
        let create = proxy
            .agent
            .request("terminal/create", &merged(&params, &more));
        let request = question(&mut proxy);
        proxy.client.answer(&request, &outcome("reject_once"));
        assert_eq!(
            RpcError::of(&proxy.agent.answer_to(create)).code,
            -32012,
            "{more}"
        );
    }
}

#[test]
fn what_is_not_allowed_does_not_run() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::with_session(&daemon, &[]);
    for (at, (answer, reason)) in [
        (outcome("reject_once"), "the person rejected it"),
        (outcome("nonsense"), "the person rejected it"),
        (json!({}), "the person rejected it"),
        (
            json!({ "outcome": { "outcome": "cancelled" } }),
            "cancelled",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        // A rejection holds for ten minutes, so that each command is another one.
        let (victim, params) = dangerous(&daemon, &format!("victim{at}"));
        let line = format!("rm -f {}", victim.display());
        let create = proxy.agent.request("terminal/create", &params);
        let request = question(&mut proxy);
        proxy.client.answer(&request, &answer);
        let error = RpcError::of(&proxy.agent.answer_to(create));
        error.assert_is(-32012, "rejected");
        assert!(
            error.message.contains(reason) && error.message.contains(&line),
            "{error:?}"
        );
        assert_eq!(error.data["command"], json!(line));
        assert!(error.data["reason"].as_str().unwrap().contains("rm -f"));
        assert_tool_call_ends(&mut proxy, &request, "failed");
        // A late answer and a second answer are ignored.
        proxy.client.answer(&request, &outcome("allow_once"));
        assert!(victim.exists());
    }
    // A client that cannot ask gets the gate's error.
    let (victim, params) = dangerous(&daemon, "victim");
    let line = format!("rm -f {}", victim.display());
    let create = proxy.agent.request("terminal/create", &params);
    let request = question(&mut proxy);
    proxy
        .client
        .send(&json!({ "jsonrpc": "2.0", "id": request["id"],
        "error": { "code": -32601, "message": "Method not found" } }));
    let error = RpcError::of(&proxy.agent.answer_to(create));
    error.assert_is(-32011, "confirmation_required");
    assert!(error.message.contains("cannot ask"), "{error:?}");
    assert_eq!(error.data["command"], json!(line));
    assert_tool_call_ends(&mut proxy, &request, "failed");
    assert!(victim.exists() && listed(&daemon, "all").is_empty());
    // The agent gets none of the late answers: the next message is this one.
    proxy.client.notify("_x/after", &json!({}));
    let after = proxy.agent.wait("a message", |line| {
        assert!(!line["id"].is_string(), "not the agent's: {line}");
        line["method"] == "_x/after"
    });
    assert_eq!(after["params"], json!({}));
}

#[test]
fn an_agent_does_not_confirm_itself() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::with_session(&daemon, &[]);
    for (name, meta) in [
        ("first", json!({ "termd": { "confirmed": true } })),
        ("second", json!({ "termd": { "confirmed": "yes" } })),
    ] {
        let (victim, params) = dangerous(&daemon, name);
        let params = merged(&params, &json!({ "_meta": meta }));
        let create = proxy.agent.request("terminal/create", &params);
        let request = question(&mut proxy);
        proxy.client.answer(&request, &outcome("reject_once"));
        assert_eq!(
            RpcError::of(&proxy.agent.answer_to(create)).kind(),
            "rejected"
        );
        assert!(victim.exists());
    }
}

#[test]
fn a_rule_that_denies_is_not_asked_about() {
    let daemon =
        TestDaemon::configured("[[policy.rules]]\neffect = \"deny\"\nprogram = \"whoami\"\n");
    let mut proxy = AcpProxy::with_session(&daemon, &[]);
    let params = json!({ "sessionId": SESSION, "command": "whoami" });
    let error = proxy.err("terminal/create", &params);
    error.assert_is(-32012, "denied");
    assert_eq!(error.data["rule"], 1);
    let request = |line: &Value| line["method"] == "session/request_permission";
    proxy.agent.notify("_x/after", &json!({}));
    proxy.client.wait("what the agent said", |line| {
        assert!(!request(line), "{line}");
        line["method"] == "_x/after"
    });
}

/// A way to end the question.
type End = fn(&mut AcpProxy, u64);

#[test]
fn a_question_is_withdrawn_when_nobody_waits_for_it() {
    let daemon = TestDaemon::start();
    let ends: [(&str, End); 4] = [
        ("the agent cancels", |proxy, create| {
            proxy
                .agent
                .notify("$/cancel_request", &json!({ "requestId": create }));
            let answer = RpcError::of(&proxy.agent.answer_to(create));
            assert_eq!(answer.code, -32800, "{answer:?}");
        }),
        ("the session is closed", |proxy, create| {
            let params = json!({ "sessionId": SESSION });
            proxy.client.request("session/close", &params);
            let request = proxy
                .agent
                .wait("close", |line| line["method"] == "session/close");
            proxy.agent.answer(&request, &json!({}));
            let answer = RpcError::of(&proxy.agent.answer_to(create));
            assert_eq!(answer.code, -32800, "{answer:?}");
        }),
        ("the agent ends", |proxy, _| proxy.agent.close()),
        ("SIGTERM", |proxy, _| {
            proxy.process().signal(Signal::TERM);
        }),
    ];
    let (victim, params) = dangerous(&daemon, "victim");
    for (what, end) in ends {
        let mut proxy = AcpProxy::with_session(&daemon, &[]);
        let create = proxy.agent.request("terminal/create", &params);
        let request = question(&mut proxy);
        end(&mut proxy, create);
        eprintln!("withdrawn: {what}");
        let withdrawn = proxy.client.wait("the withdrawal", |line| {
            line["method"] == "$/cancel_request"
        });
        assert_eq!(
            withdrawn["params"],
            json!({ "requestId": request["id"] }),
            "{what}"
        );
        assert_tool_call_ends(&mut proxy, &request, "failed");
    }
    assert!(victim.exists());
    wait_until_nothing_is_left(&daemon);
}

#[test]
fn session_cancel_passes_and_the_clients_cancelled_is_a_no() {
    let daemon = TestDaemon::start();
    let mut proxy = AcpProxy::with_session(&daemon, &[]);
    let (victim, params) = dangerous(&daemon, "victim");
    let create = proxy.agent.request("terminal/create", &params);
    let request = question(&mut proxy);
    proxy
        .client
        .notify("session/cancel", &json!({ "sessionId": SESSION }));
    proxy
        .client
        .answer(&request, &json!({ "outcome": { "outcome": "cancelled" } }));
    proxy
        .agent
        .wait("the cancel", |line| line["method"] == "session/cancel");
    assert_eq!(
        RpcError::of(&proxy.agent.answer_to(create)).kind(),
        "rejected"
    );
    assert!(victim.exists());
    // The question no longer counts, and the session goes on.
    let id = proxy.script("true");
    proxy.ok("terminal/release", &named(&id));
}

#[test]
fn a_person_may_answer_through_termd() {
    let daemon = TestDaemon::start();
    let mut person = daemon.client();
    let mut proxy = AcpProxy::with_session(&daemon, &[]);
    let (victim, params) = dangerous(&daemon, "victim");
    let mut pending = || {
        let listed = person.ok("approval.list", &json!({}));
        let listed = listed["approvals"].as_array().unwrap().clone();
        let is_pending = |info: &&Value| info["state"] == "pending";
        listed.iter().find(is_pending).unwrap()["id"].clone()
    };
    // An approval elsewhere withdraws the question, and the terminal is created.
    let create = proxy.agent.request("terminal/create", &params);
    let request = question(&mut proxy);
    let id = pending();
    let answer = json!({ "id": id, "decision": "approve" });
    daemon.client().ok("approval.answer", &answer);
    let answer = proxy.agent.answer_to(create);
    wait_for_removal(&mut proxy, &answer, &victim);
    proxy.client.wait("the question is withdrawn", |line| {
        line["method"] == "$/cancel_request" && line["params"]["requestId"] == request["id"]
    });
    assert_tool_call_ends(&mut proxy, &request, "completed");
    // A rejection here denies the daemon's question.
    std::fs::write(&victim, "").unwrap();
    let create = proxy.agent.request("terminal/create", &params);
    let request = question(&mut proxy);
    let id = pending();
    proxy.client.answer(&request, &outcome("reject_once"));
    let rejected = RpcError::of(&proxy.agent.answer_to(create));
    assert_eq!(rejected.kind(), "rejected", "{rejected:?}");
    assert_tool_call_ends(&mut proxy, &request, "failed");
    let known = daemon.client().ok("approval.wait", &json!({ "id": id }));
    assert_eq!(known["state"], "denied");
    assert!(victim.exists());
}
