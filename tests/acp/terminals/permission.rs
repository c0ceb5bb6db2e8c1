//! Where the gate says confirm, the client's person is asked.

use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::{Value, json};
use termd_test_support::{RpcError, TestDaemon, merged};

use crate::harness::proxy::AcpProxy;
use crate::harness::proxy::{SESSION, listed, named, nothing_is_left, records};

/// A file, and the create that would remove it.
fn dangerous(daemon: &TestDaemon, name: &str) -> (PathBuf, Value) {
    let victim = daemon.user_home().join(name);
    std::fs::write(&victim, "").unwrap();
    let params = json!({ "sessionId": SESSION, "command": "rm", "args": ["-f", victim] });
    (victim, params)
}

/// The question that has come to the client.
#[track_caller]
fn question(proxied: &mut AcpProxy) -> Value {
    proxied.client.wait("a question", |line| {
        line["method"] == "session/request_permission"
    })
}

fn outcome(option: &str) -> Value {
    json!({ "outcome": { "outcome": "selected", "optionId": option } })
}

/// The tool call of a question is closed in this way.
#[track_caller]
fn is_closed(proxied: &mut AcpProxy, question: &Value, status: &str) {
    let tool_call = &question["params"]["toolCall"]["toolCallId"];
    let update = proxied.client.wait("the tool call's end", |line| {
        line["params"]["update"]["toolCallId"] == *tool_call
    });
    assert_eq!(
        update,
        json!({ "jsonrpc": "2.0", "method": "session/update", "params": {
            "sessionId": SESSION, "update": { "sessionUpdate": "tool_call_update",
                "toolCallId": tool_call, "status": status } } })
    );
}

/// Runs a terminal that was allowed to its end.
#[track_caller]
fn ran(proxied: &mut AcpProxy, answer: &Value, victim: &Path) {
    let id = answer["result"]["terminalId"].as_str();
    let id = id.unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(proxied.exit(id)["exitCode"], 0);
    assert!(!victim.exists());
}

#[test]
fn a_question_says_what_and_why_and_once_is_once() {
    let daemon = TestDaemon::start();
    let mut proxied = AcpProxy::with_session(&daemon, &[]);
    let (victim, params) = dangerous(&daemon, "victim");
    for _ in 0..2 {
        std::fs::write(&victim, "").unwrap();
        let create = proxied.agent.request("terminal/create", &params);
        let asked = question(&mut proxied);
        let tool_call = &asked["params"]["toolCall"];
        let line = format!("rm -f {}", victim.display());
        assert_eq!(asked["params"]["sessionId"], SESSION);
        assert_eq!(tool_call["title"], json!(line));
        assert_eq!(
            (&tool_call["kind"], &tool_call["status"]),
            (&json!("execute"), &json!("pending"))
        );
        assert_eq!(tool_call["rawInput"]["command"], "rm");
        assert_eq!(tool_call["rawInput"]["args"], params["args"]);
        assert_eq!(tool_call["rawInput"]["cwd"], json!(daemon.user_home()));
        let text = tool_call["content"][0]["content"]["text"].as_str().unwrap();
        assert!(text.contains("rm -f") && text.contains(&line), "{text}");
        let options = asked["params"]["options"].as_array().unwrap();
        let kinds: Vec<_> = options.iter().map(|option| &option["kind"]).collect();
        assert_eq!(kinds, ["allow_once", "allow_always", "reject_once"]);
        assert_eq!(options[1]["name"], "Allow this command for this session");
        // While the person thinks, everything else passes.
        proxied.script("true");
        let other = proxied.client.request("_x/y", &json!({}));
        let passed = proxied
            .agent
            .wait("the request", |line| line["method"] == "_x/y");
        proxied.agent.answer(&passed, &json!({}));
        proxied.client.answer_to(other);
        assert!(victim.exists());
        proxied.client.answer(&asked, &outcome("allow_once"));
        is_closed(&mut proxied, &asked, "completed");
        let answer = proxied.agent.answer_to(create);
        ran(&mut proxied, &answer, &victim);
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
    let mut proxied = AcpProxy::with_session(&daemon, &[]);
    proxied.session("sess_2", &daemon.user_home());
    let (victim, params) = dangerous(&daemon, "victim");
    let create = proxied.agent.request("terminal/create", &params);
    let asked = question(&mut proxied);
    proxied.client.answer(&asked, &outcome("allow_always"));
    let answer = proxied.agent.answer_to(create);
    ran(&mut proxied, &answer, &victim);
    std::fs::write(&victim, "").unwrap();
    let answer = proxied.agent.ask("terminal/create", &params);
    ran(&mut proxied, &answer, &victim);
    for more in [
        json!({ "args": ["-f", "another"] }),
        json!({ "cwd": daemon.path("state") }),
        json!({ "env": [{ "name": "A", "value": "1" }] }),
        json!({ "sessionId": "sess_2" }),
    ] {
        let create = proxied
            .agent
            .request("terminal/create", &merged(&params, &more));
        let asked = question(&mut proxied);
        proxied.client.answer(&asked, &outcome("reject_once"));
        assert_eq!(
            RpcError::of(&proxied.agent.answer_to(create)).code,
            -32012,
            "{more}"
        );
    }
}

#[test]
fn what_is_not_allowed_does_not_run() {
    let daemon = TestDaemon::start();
    let mut proxied = AcpProxy::with_session(&daemon, &[]);
    let (victim, params) = dangerous(&daemon, "victim");
    let line = format!("rm -f {}", victim.display());
    for (answer, said) in [
        (outcome("reject_once"), "the person rejected it"),
        (outcome("nonsense"), "the person rejected it"),
        (json!({}), "the person rejected it"),
        (
            json!({ "outcome": { "outcome": "cancelled" } }),
            "cancelled",
        ),
    ] {
        let create = proxied.agent.request("terminal/create", &params);
        let asked = question(&mut proxied);
        proxied.client.answer(&asked, &answer);
        let error = RpcError::of(&proxied.agent.answer_to(create));
        error.assert_is(-32012, "rejected");
        assert!(
            error.message.contains(said) && error.message.contains(&line),
            "{error:?}"
        );
        assert_eq!(error.data["command"], json!(line));
        assert!(error.data["reason"].as_str().unwrap().contains("rm -f"));
        is_closed(&mut proxied, &asked, "failed");
        // Late, and once more: nobody's.
        proxied.client.answer(&asked, &outcome("allow_once"));
    }
    // A client that cannot ask: the gate's own error.
    let create = proxied.agent.request("terminal/create", &params);
    let asked = question(&mut proxied);
    proxied
        .client
        .say(&json!({ "jsonrpc": "2.0", "id": asked["id"],
        "error": { "code": -32601, "message": "Method not found" } }));
    let error = RpcError::of(&proxied.agent.answer_to(create));
    error.assert_is(-32011, "confirmation_required");
    assert!(error.message.contains("cannot ask"), "{error:?}");
    assert_eq!(error.data["command"], json!(line));
    is_closed(&mut proxied, &asked, "failed");
    assert!(victim.exists() && listed(&daemon, "all").is_empty());
    // The late answers have not come to the agent: the next that comes is the answer to this.
    proxied.client.notify("_x/after", &json!({}));
    let after = proxied.agent.wait("a message", |line| {
        assert!(!line["id"].is_string(), "not the agent's: {line}");
        line["method"] == "_x/after"
    });
    assert_eq!(after["params"], json!({}));
}

#[test]
fn an_agent_does_not_confirm_itself() {
    let daemon = TestDaemon::start();
    let mut proxied = AcpProxy::with_session(&daemon, &[]);
    let (victim, params) = dangerous(&daemon, "victim");
    for meta in [
        json!({ "termd": { "confirmed": true } }),
        json!({ "termd": { "confirmed": "yes" } }),
    ] {
        let params = merged(&params, &json!({ "_meta": meta }));
        let create = proxied.agent.request("terminal/create", &params);
        let asked = question(&mut proxied);
        proxied.client.answer(&asked, &outcome("reject_once"));
        assert_eq!(
            RpcError::of(&proxied.agent.answer_to(create)).kind(),
            "rejected"
        );
    }
    assert!(victim.exists());
}

#[test]
fn a_rule_that_denies_is_not_asked_about() {
    let daemon =
        TestDaemon::configured("[[policy.rules]]\neffect = \"deny\"\nprogram = \"whoami\"\n");
    let mut proxied = AcpProxy::with_session(&daemon, &[]);
    let params = json!({ "sessionId": SESSION, "command": "whoami" });
    let error = proxied.err("terminal/create", &params);
    error.assert_is(-32012, "denied");
    assert_eq!(error.data["rule"], 1);
    let asked = |line: &Value| line["method"] == "session/request_permission";
    proxied.agent.notify("_x/after", &json!({}));
    proxied.client.wait("what the agent said", |line| {
        assert!(!asked(line), "{line}");
        line["method"] == "_x/after"
    });
}

/// One way to end it.
type End = fn(&mut AcpProxy, u64);

#[test]
fn a_question_is_withdrawn_when_nobody_waits_for_it() {
    let daemon = TestDaemon::start();
    let ends: [(&str, End); 4] = [
        ("the agent cancels", |proxied, create| {
            proxied
                .agent
                .notify("$/cancel_request", &json!({ "requestId": create }));
            let answer = RpcError::of(&proxied.agent.answer_to(create));
            assert_eq!(answer.code, -32800, "{answer:?}");
        }),
        ("the session is closed", |proxied, create| {
            let params = json!({ "sessionId": SESSION });
            proxied.client.request("session/close", &params);
            let asked = proxied
                .agent
                .wait("close", |line| line["method"] == "session/close");
            proxied.agent.answer(&asked, &json!({}));
            let answer = RpcError::of(&proxied.agent.answer_to(create));
            assert_eq!(answer.code, -32800, "{answer:?}");
        }),
        ("the agent ends", |proxied, _| proxied.agent.close()),
        ("SIGTERM", |proxied, _| {
            proxied.process().signal(Signal::TERM);
        }),
    ];
    let (victim, params) = dangerous(&daemon, "victim");
    for (what, end) in ends {
        let mut proxied = AcpProxy::with_session(&daemon, &[]);
        let create = proxied.agent.request("terminal/create", &params);
        let asked = question(&mut proxied);
        end(&mut proxied, create);
        eprintln!("withdrawn: {what}");
        let withdrawn = proxied.client.wait("the withdrawal", |line| {
            line["method"] == "$/cancel_request"
        });
        assert_eq!(
            withdrawn["params"],
            json!({ "requestId": asked["id"] }),
            "{what}"
        );
        is_closed(&mut proxied, &asked, "failed");
    }
    assert!(victim.exists());
    nothing_is_left(&daemon);
}

#[test]
fn session_cancel_passes_and_the_clients_cancelled_is_a_no() {
    let daemon = TestDaemon::start();
    let mut proxied = AcpProxy::with_session(&daemon, &[]);
    let (victim, params) = dangerous(&daemon, "victim");
    let create = proxied.agent.request("terminal/create", &params);
    let asked = question(&mut proxied);
    proxied
        .client
        .notify("session/cancel", &json!({ "sessionId": SESSION }));
    proxied
        .client
        .answer(&asked, &json!({ "outcome": { "outcome": "cancelled" } }));
    proxied
        .agent
        .wait("the cancel", |line| line["method"] == "session/cancel");
    assert_eq!(
        RpcError::of(&proxied.agent.answer_to(create)).kind(),
        "rejected"
    );
    assert!(victim.exists());
    // Its place is free, and the session goes on.
    let id = proxied.script("true");
    proxied.ok("terminal/release", &named(&id));
}

#[test]
fn a_person_may_answer_through_termd() {
    let daemon = TestDaemon::start();
    let mut person = daemon.client();
    let mut proxied = AcpProxy::with_session(&daemon, &[]);
    let (victim, params) = dangerous(&daemon, "victim");
    let mut pending = || {
        let listed = person.ok("approval.list", &json!({}));
        let listed = listed["approvals"].as_array().unwrap().clone();
        let is_pending = |info: &&Value| info["state"] == "pending";
        listed.iter().find(is_pending).unwrap()["id"].clone()
    };
    // Approved there: the question here is withdrawn, and the terminal is made.
    let create = proxied.agent.request("terminal/create", &params);
    let asked = question(&mut proxied);
    let id = pending();
    let answer = json!({ "id": id, "decision": "approve" });
    daemon.client().ok("approval.answer", &answer);
    let answer = proxied.agent.answer_to(create);
    ran(&mut proxied, &answer, &victim);
    proxied.client.wait("the question is withdrawn", |line| {
        line["method"] == "$/cancel_request" && line["params"]["requestId"] == asked["id"]
    });
    is_closed(&mut proxied, &asked, "completed");
    // Rejected here: denied there.
    std::fs::write(&victim, "").unwrap();
    let create = proxied.agent.request("terminal/create", &params);
    let asked = question(&mut proxied);
    let id = pending();
    proxied.client.answer(&asked, &outcome("reject_once"));
    let rejected = RpcError::of(&proxied.agent.answer_to(create));
    assert_eq!(rejected.kind(), "rejected", "{rejected:?}");
    is_closed(&mut proxied, &asked, "failed");
    let known = daemon.client().ok("approval.wait", &json!({ "id": id }));
    assert_eq!(known["state"], "denied");
    assert!(victim.exists());
}
