//! What a person has refused does not run, whatever an agent says.

use std::os::unix::fs::symlink;

use serde_json::{Map, Value, json};
use termd_test_support::{McpClient, Pty, RawClient, TestDaemon, wait_until};

use crate::Attack;
use crate::agents::{client, question, state, victim};

pub(crate) const ATTACKS: &[Attack] = &[
    (
        "consent_is_asked_for_although_the_model_confirms",
        elicitation_before_confirmed,
    ),
    ("consent_is_a_yes_in_the_forms_content", empty_forms_are_no),
    (
        "consent_after_a_denial_is_none_for_ten_minutes",
        denied_and_confirmed,
    ),
    (
        "consent_denied_holds_with_the_gate_switched_off",
        denied_and_switched_off,
    ),
    (
        "consent_of_the_model_counts_alone",
        confirmed_where_a_person_is_there,
    ),
    ("consent_of_the_model_by_config", confirmed_by_config),
    ("consent_to_its_own_question_is_none", own_question),
    (
        "consent_at_a_prompt_comes_too_late_after_a_denial",
        prompt_after_a_denial,
    ),
    ("consent_refused_at_a_prompt_holds", no_at_a_prompt),
    (
        "consent_denied_outlives_the_server",
        denied_by_an_earlier_server,
    ),
    ("consent_denied_is_lifted_by_a_person_alone", lifted_denial),
    (
        "consent_of_the_model_is_none_after_a_persons_answer",
        confirmed_after_an_answer,
    ),
    (
        "consent_of_the_model_is_none_after_a_watcher_has_left",
        confirmed_after_a_watch,
    ),
    (
        "consent_is_asked_before_a_watcher_is_signalled",
        signal_to_a_watcher,
    ),
    (
        "consent_denied_holds_for_the_command_in_other_texts",
        denied_in_other_texts,
    ),
    (
        "consent_is_asked_for_with_all_lines_of_a_call",
        question_with_all_lines,
    ),
    (
        "consent_is_for_the_directory_and_not_its_name",
        link_after_consent,
    ),
    (
        "consent_is_for_the_environment_that_a_front_hands_on",
        handed_on_environment,
    ),
    (
        "consent_to_a_typed_line_is_void_behind_another",
        variables_after_consent,
    ),
];

const TERMCTL: &str = env!("CARGO_BIN_EXE_termctl");

fn forms() -> Value {
    json!({ "elicitation": {} })
}

/// Answers the client's next form.
fn reply(mcp: &mut McpClient, result: &Value) {
    let form = mcp.wait("a form", |message| {
        message["method"] == "elicitation/create"
    });
    let schema = &form["params"]["requestedSchema"];
    assert_eq!(schema["required"], json!(["confirm"]), "{schema}");
    assert_eq!(
        schema["properties"]["confirm"]["type"], "boolean",
        "{schema}"
    );
    let answer = json!({ "jsonrpc": "2.0", "id": form["id"], "result": result });
    mcp.send_line(&answer.to_string());
}

fn elicitation_before_confirmed() {
    let daemon = TestDaemon::start();
    let mut mcp = McpClient::start_with(&daemon, &[], &forms());
    let (victim, _) = victim(&daemon);
    let run = json!({ "exec": format!("rm -r {}", victim.display()), "confirmed": true });
    let call = mcp.begin("session_exec", &run);
    reply(&mut mcp, &json!({ "action": "decline" }));
    let answer = mcp.answer(call)["result"].clone();
    assert_eq!(
        answer["structuredContent"]["error"]["type"], "declined",
        "{answer}"
    );
    // The no holds: nobody is asked again.
    for _ in 0..3 {
        let (kind, message) = mcp.refused("session_exec", &run);
        assert_eq!(kind, "denied", "{message}");
    }
    assert!(victim.exists());
}

fn empty_forms_are_no() {
    let daemon = TestDaemon::start();
    let mut person = daemon.client();
    for (at, content) in [
        None,
        Some(json!({})),
        Some(json!({ "confirm": false })),
        Some(json!({ "confirm": "true" })),
        Some(json!({ "confirmed": true })),
        Some(json!([true])),
    ]
    .into_iter()
    .enumerate()
    {
        let mut mcp = McpClient::start_with(&daemon, &[], &forms());
        let victim = daemon.path("state").join(format!("victim{at}"));
        std::fs::create_dir_all(&victim).unwrap();
        let run = json!({ "exec": format!("rm -r {}", victim.display()) });
        let call = mcp.begin("session_exec", &run);
        let mut result = json!({ "action": "accept" });
        if let Some(content) = content {
            result["content"] = content;
        }
        reply(&mut mcp, &result);
        let answer = mcp.answer(call)["result"].clone();
        assert_eq!(answer["isError"], true, "{result} {answer}");
        assert!(victim.exists(), "{result}");
    }
    let mut mcp = McpClient::start_with(&daemon, &[], &forms());
    let (victim, _) = victim(&daemon);
    let call = mcp.begin(
        "session_exec",
        &json!({ "exec": format!("rm -r {}", victim.display()) }),
    );
    reply(
        &mut mcp,
        &json!({ "action": "accept", "content": { "confirm": true } }),
    );
    let answer = mcp.answer(call)["result"].clone();
    assert_eq!(answer["isError"], false, "{answer}");
    assert!(!victim.exists());
    let records = person.audit_records(&json!({}));
    let ran = records.iter().any(|record| {
        record["detail"]["agreed_by"] == "a person, by elicitation" && record["outcome"] == "ok"
    });
    assert!(ran, "{records:#?}");
}

fn denied_and_confirmed() {
    let daemon = TestDaemon::configured("[policy.fronts.mcp]\nconfirmed = \"always\"\n");
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut person = client(&daemon, "cli", "a person");
    let (victim, params) = victim(&daemon);
    let id = question(&mut agent, &params);
    person.ok("approval.answer", &json!({ "id": id, "decision": "deny" }));
    let mut confirmed = params.clone();
    confirmed["confirmed"] = json!(true);
    for _ in 0..3 {
        agent
            .err("session.create", &params)
            .assert_is(-32012, "rejected");
        agent
            .err("session.create", &confirmed)
            .assert_is(-32012, "rejected");
    }
    // Nor under another name, nor through another front.
    let mut renamed = client(&daemon, "mcp", "another agent");
    renamed
        .err("session.create", &confirmed)
        .assert_is(-32012, "rejected");
    let acp = json!({
        "sessionId": "s", "command": "rm", "args": ["-r", victim],
        "_meta": { "termd": { "confirmed": true } },
    });
    agent
        .err("terminal/create", &acp)
        .assert_is(-32012, "rejected");
    assert!(victim.exists());
}

fn denied_and_switched_off() {
    let daemon = TestDaemon::start();
    let (victim, _) = victim(&daemon);
    let call = json!({ "exec": format!("rm -r {}", victim.display()) });
    let mut mcp = McpClient::start_with(&daemon, &[], &json!({}));
    let asked = mcp.call("session_exec", &call);
    assert_eq!(asked["requires_confirmation"], true, "{asked}");
    let mut person = client(&daemon, "cli", "a person");
    let listed = person.ok("approval.list", &json!({}));
    let id = &listed["approvals"][0]["id"];
    person.ok("approval.answer", &json!({ "id": id, "decision": "deny" }));
    let off = [("TERMINAL_MCP_SAFETY_GATE", "off")];
    let mut mcp = McpClient::start_with(&daemon, &off, &json!({}));
    let (kind, message) = mcp.refused("session_exec", &call);
    assert_eq!(kind, "denied", "{message}");
    assert!(victim.exists());
    // Anything else runs there.
    let other = json!({ "exec": "rm -rf nowhere; echo ran" });
    assert_eq!(mcp.call("session_exec", &other)["output"], "ran\n");
}

fn confirm(agent: &mut RawClient, params: &Value) -> Result<Value, String> {
    let mut confirmed = params.clone();
    confirmed["confirmed"] = json!(true);
    let answer = agent.request("session.create", &confirmed);
    answer.map_err(|error| {
        assert_eq!(error.data["needs_person"], true, "{error:?}");
        error.kind().to_owned()
    })
}

fn agreed_by(person: &mut RawClient) -> Vec<String> {
    let records = person.audit_records(&json!({}));
    let agreed = records
        .iter()
        .filter_map(|record| record["detail"]["agreed_by"].as_str());
    agreed.map(str::to_owned).collect()
}

fn confirmed_where_a_person_is_there() {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let (_, params) = victim(&daemon);
    let created = confirm(&mut agent, &params).unwrap();
    agent.ok(
        "session.wait",
        &json!({ "id": created["id"], "timeout_ms": 20_000 }),
    );
    let mut person = client(&daemon, "cli", "a person");
    assert_eq!(agreed_by(&mut person), ["the model's word"]);
    // `termctl approvals --watch` and `--notify` do this.
    let mut watch = client(&daemon, "cli", "a watch");
    watch.ok("approval.list", &json!({ "after": 0, "wait_ms": 0 }));
    let (victim, params) = victim(&daemon);
    let refused = confirm(&mut agent, &params).unwrap_err();
    assert_eq!(refused, "confirmation_required");
    // A client that can ask its own person asks.
    drop(watch);
    let mut asking = daemon.client();
    asking.ok(
        "daemon.hello",
        &json!({ "client": "asks", "front": "mcp", "asks": true }),
    );
    assert!(confirm(&mut asking, &params).is_err());
    // Somebody who has just answered is there.
    let id = question(
        &mut agent,
        &json!({ "command": "rm", "args": ["-r", "/nowhere"] }),
    );
    person.ok("approval.answer", &json!({ "id": id, "decision": "deny" }));
    assert!(confirm(&mut agent, &params).is_err());
    assert!(victim.exists());
}

fn confirmed_by_config() {
    for (word, counts) in [("never", false), ("always", true)] {
        let config = format!("[policy.fronts.mcp]\nconfirmed = \"{word}\"\n");
        let daemon = TestDaemon::configured(&config);
        let mut agent = client(&daemon, "mcp", "an agent");
        let mut person = client(&daemon, "cli", "a person");
        if counts {
            person.ok("approval.list", &json!({ "after": 0, "wait_ms": 0 }));
        }
        let (_, params) = victim(&daemon);
        assert_eq!(confirm(&mut agent, &params).is_ok(), counts, "{word}");
    }
}

fn own_question() {
    let daemon = TestDaemon::start();
    for front in ["mcp", "cli"] {
        let mut agent = client(&daemon, front, "an agent");
        let (victim, params) = victim(&daemon);
        let id = question(&mut agent, &params);
        for decision in ["approve", "always"] {
            let answer = json!({ "id": id, "decision": decision });
            let refused = agent.err("approval.answer", &answer);
            refused.assert_is_in(front, -32012, "approver_refused");
            // Another connection of the same process is no other person.
            let mut again = client(&daemon, front, "another name");
            again
                .err("approval.answer", &answer)
                .assert_is_in(front, -32012, "approver_refused");
        }
        let mut person = client(&daemon, "mcp", "somebody");
        assert_eq!(state(&mut person, &id), "pending");
        assert!(victim.exists());
    }
}

fn prompt_after_a_denial() {
    let daemon = TestDaemon::start();
    let mut person = client(&daemon, "cli", "a person");
    let (victim, _) = victim(&daemon);
    let mut pty = Pty::open(80, 24);
    let mut command = daemon.command(TERMCTL);
    command.args(["run", "--", "rm", "-r"]).arg(&victim);
    let mut child = pty.spawn(&command);
    pty.read_until("[y/N");
    let listed = person.ok("approval.list", &json!({}));
    let id = listed["approvals"][0]["id"].as_str().unwrap();
    person.ok("approval.answer", &json!({ "id": id, "decision": "deny" }));
    pty.write("y\r");
    assert!(!pty.wait(&mut child).success());
    let mut command = daemon.command(TERMCTL);
    command
        .args(["run", "--confirmed", "--", "rm", "-r"])
        .arg(&victim);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("rejected"), "{said}");
    assert!(victim.exists());
}

fn no_at_a_prompt() {
    let daemon = TestDaemon::start();
    let (victim, _) = victim(&daemon);
    let run = |confirmed: &[&str]| {
        let mut command = daemon.command(TERMCTL);
        command
            .arg("run")
            .args(confirmed)
            .args(["--", "rm", "-r"])
            .arg(&victim);
        command
    };
    let mut pty = Pty::open(80, 24);
    let mut child = pty.spawn(&run(&[]));
    pty.read_until("[y/N");
    pty.write("n\r");
    assert!(!pty.wait(&mut child).success());
    let output = run(&["--confirmed"]).output().unwrap();
    assert!(!output.status.success(), "{output:?}");
    assert!(victim.exists());
}

fn denied_by_an_earlier_server() {
    let daemon = TestDaemon::configured("[policy.fronts.mcp]\nconfirmed = \"always\"\n");
    let (victim, params) = victim(&daemon);
    let mut confirmed = params.clone();
    confirmed["confirmed"] = json!(true);
    // More than a record shows, so that only a hash can tell it.
    let long = json!({ "command": "rm", "args": ["-r", &victim, "x".repeat(5_000)] });
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut person = client(&daemon, "cli", "a person");
    for params in [&params, &long] {
        let id = question(&mut agent, params);
        person.ok("approval.answer", &json!({ "id": id, "decision": "deny" }));
    }
    let waiting = json!({ "command": "rm", "args": ["-r", "/nowhere"] });
    let lost = question(&mut agent, &waiting);
    person.ok(
        "approval.answer",
        &json!({ "id": lost, "decision": "approve" }),
    );
    for replace in [TestDaemon::replace_server, TestDaemon::kill_server] {
        replace(&daemon);
        let mut agent = client(&daemon, "mcp", "another name");
        for params in [&params, &confirmed, &long] {
            agent
                .err("session.create", params)
                .assert_is(-32012, "rejected");
        }
        // An approval is not kept: it is asked for anew.
        assert_ne!(question(&mut agent, &waiting), lost);
    }
    assert!(victim.exists());
}

fn lifted_denial() {
    let daemon = TestDaemon::start();
    let (victim, params) = victim(&daemon);
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut person = client(&daemon, "cli", "a person");
    let id = question(&mut agent, &params);
    person.ok("approval.answer", &json!({ "id": id, "decision": "deny" }));
    let approve = |way: &str| json!({ "id": id, "decision": "approve", "way": way });
    for way in ["elicitation", "permission", "command", "prompt"] {
        assert!(agent.request("approval.answer", &approve(way)).is_err());
    }
    // A prompt that was there before the denial.
    for way in ["prompt", "notification"] {
        let late = person.err("approval.answer", &approve(way));
        assert_eq!(late.kind(), "approval_answered");
    }
    daemon.replace_server();
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut person = client(&daemon, "cli", "a person");
    let refused = agent.err("session.create", &params);
    refused.assert_is(-32012, "rejected");
    let lift = format!("termctl approve {id}");
    assert!(refused.message.contains(&lift), "{}", refused.message);
    person.ok("approval.answer", &approve("command"));
    let created = agent.ok("session.create", &params);
    agent.ok(
        "session.wait",
        &json!({ "id": created["id"], "timeout_ms": 20_000 }),
    );
    assert!(!victim.exists());
    // What was lifted is not denied under the next server.
    daemon.kill_server();
    let mut agent = client(&daemon, "mcp", "an agent");
    question(&mut agent, &params);
}

/// Another spelling of what a person has denied.
fn respelled() -> Value {
    json!({ "command": "bash", "args": ["-c", "rm -r ./nowhere"] })
}

fn confirmed_after_an_answer() {
    for (front, way) in [
        ("mcp", "elicitation"),
        ("acp", "permission"),
        ("cli", "command"),
        ("cli", "prompt"),
        ("cli", "notification"),
    ] {
        for decision in ["deny", "approve"] {
            let daemon = TestDaemon::start();
            let (_, params) = victim(&daemon);
            let asking = if front == "cli" { "mcp" } else { front };
            let mut agent = client(&daemon, asking, "an agent");
            let id = question(&mut agent, &params);
            let answer = json!({ "id": id, "decision": decision, "way": way });
            if front == "cli" {
                client(&daemon, "cli", "a person").ok("approval.answer", &answer);
            } else {
                agent.ok("approval.answer", &answer);
            }
            assert!(confirm(&mut agent, &respelled()).is_err(), "{front} {way}");
            daemon.replace_server();
            let mut agent = client(&daemon, asking, "an agent");
            assert!(confirm(&mut agent, &respelled()).is_err(), "{front} {way}");
        }
    }
}

fn confirmed_after_a_watch() {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut watch = client(&daemon, "cli", "a watch");
    let listed = json!({ "after": 0, "wait_ms": 0 });
    watch.ok("approval.list", &listed);
    // `pkill -f 'approvals --watch'`
    drop(watch);
    assert!(confirm(&mut agent, &respelled()).is_err());
    for replace in [TestDaemon::replace_server, TestDaemon::kill_server] {
        replace(&daemon);
        let mut agent = client(&daemon, "mcp", "an agent");
        assert!(confirm(&mut agent, &respelled()).is_err());
    }
    // A watch that the next server has not heard of yet.
    let mut watch = client(&daemon, "cli", "a watch");
    watch.ok("approval.list", &listed);
    daemon.kill_server();
    let mut agent = client(&daemon, "mcp", "an agent");
    assert!(confirm(&mut agent, &respelled()).is_err());
}

fn signal_to_a_watcher() {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut watch = client(&daemon, "cli", "a watch");
    let watcher = std::process::id();
    let mut needs_person = |line: String| {
        let judgement = agent.ok("policy.check", &json!({ "line": line }));
        judgement["needs_person"] == json!(true)
    };
    assert!(!needs_person(format!("kill {watcher}")));
    watch.ok("approval.list", &json!({ "after": 0, "wait_ms": 0 }));
    for line in [
        format!("kill {watcher}"),
        format!("kill -STOP {watcher}"),
        format!("python3 -c 'import os; os.kill({watcher}, 15)'"),
        "ps aux | awk '/approvals/ {print $2}' | xargs kill".to_owned(),
    ] {
        assert!(needs_person(line.clone()), "{line}");
    }
    drop(watch);
    wait_until("it has left", || !needs_person(format!("kill {watcher}")));
}

fn link_after_consent() {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut person = client(&daemon, "cli", "a person");
    let state = daemon.path("state");
    let (first, second, link) = (state.join("a"), state.join("b"), state.join("link"));
    for directory in [&first, &second] {
        std::fs::create_dir_all(directory.join("sub/x")).unwrap();
    }
    for (cwd, at) in [
        ("link", "."),
        ("link/sub", "sub"),
        ("link/sub/../sub", "sub"),
    ] {
        let _ = std::fs::remove_file(&link);
        symlink(&first, &link).unwrap();
        let params = json!({ "command": "rm", "args": ["-r", "x"], "cwd": state.join(cwd) });
        let id = question(&mut agent, &params);
        let real = first.join(at).canonicalize().unwrap();
        let listed = person.ok("approval.wait", &json!({ "id": id, "timeout_ms": 0 }));
        assert_eq!(listed["cwd"], json!(real));
        let approve = json!({ "id": id, "decision": "approve" });
        person.ok("approval.answer", &approve);
        std::fs::remove_file(&link).unwrap();
        symlink(&second, &link).unwrap();
        assert_ne!(question(&mut agent, &params), id, "{cwd}");
        // What was approved runs where it was approved, by whatever name.
        let mut direct = params.clone();
        direct["cwd"] = json!(real);
        std::fs::create_dir_all(real.join("x")).unwrap();
        let created = agent.ok("session.create", &direct);
        assert_eq!(created["cwd"], json!(real), "{created}");
    }
    assert!(second.join("sub/x").exists());
    let records = person.audit_records(&json!({ "action": "terminal.create" }));
    let is_resolved = |record: &Value| {
        let cwd = record["detail"]["cwd"].as_str().unwrap_or_default();
        !cwd.contains("link")
    };
    assert!(records.iter().all(is_resolved), "{records:#?}");
}

fn handed_on_environment() {
    let daemon = TestDaemon::start();
    for front in ["mcp", "acp"] {
        let mut agent = client(&daemon, front, "an agent");
        let mut person = client(&daemon, "cli", "a person");
        let with = |command: &str, argument: &str, pairs: &[(&str, &str)]| {
            let mut base_env: Map<String, Value> = std::env::vars()
                .map(|(name, value)| (name, value.into()))
                .collect();
            for (name, value) in pairs {
                base_env.insert((*name).to_owned(), (*value).into());
            }
            json!({ "command": command, "args": ["-c", argument], "base_env": base_env })
        };
        // What makes programs run others is judged as if the call had set it.
        for variable in ["BASH_ENV", "GIT_SSH_COMMAND", "LD_PRELOAD"] {
            question(&mut agent, &with("bash", ":", &[(variable, "./frob")]));
        }
        for (variable, line) in [
            ("TERMD_WHERE", "rm -r \"$TERMD_WHERE\""),
            ("_", "rm -r \"$_\""),
        ] {
            let id = question(&mut agent, &with("dash", line, &[(variable, "one")]));
            person.ok(
                "approval.answer",
                &json!({ "id": id, "decision": "approve" }),
            );
            let other = with("dash", line, &[(variable, "two")]);
            assert_ne!(question(&mut agent, &other), id, "{variable}");
        }
        let line = "rm -r \"$WHERE\"";
        let params = with(
            "bash",
            line,
            &[("WHERE", "one"), ("PWD", "/a"), ("SHLVL", "1")],
        );
        let id = question(&mut agent, &params);
        person.ok(
            "approval.answer",
            &json!({ "id": id, "decision": "approve" }),
        );
        let other = with("bash", line, &[("WHERE", "two")]);
        assert_ne!(question(&mut agent, &other), id);
        // A shell's own variables make no difference.
        let again = with(
            "bash",
            line,
            &[("WHERE", "one"), ("PWD", "/b"), ("SHLVL", "2")],
        );
        agent.ok("session.create", &again);
    }
}

fn variables_after_consent() {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut person = client(&daemon, "cli", "a person");
    for (before, line, after) in [
        ("x=one", "rm -r \"$x\"", "x=two"),
        ("f() { echo one; }", "rm -r \"$(f)\"", "f() { echo two; }"),
        ("alias d='echo'", "d && rm -r one", "alias d='cd /;'"),
        ("set -- one", "rm -r \"$1\"", "set -- two"),
        ("a=(one)", "rm -r \"${a[@]}\"", "a+=(two)"),
        ("true", "rm -r ./nowhere", "source /dev/null"),
    ] {
        let params = json!({ "command": "bash", "args": ["--norc", "-i"] });
        let terminal = agent.create_terminal(&params);
        agent.wait_for_text(&terminal, "$");
        let send = |text: &str| json!({ "id": terminal, "text": format!("{text}\r") });
        agent.ok("session.send", &send(before));
        let asked = agent.err("session.send", &send(line));
        let id = asked.data["approval"].as_str().unwrap().to_owned();
        person.ok(
            "approval.answer",
            &json!({ "id": id, "decision": "approve" }),
        );
        agent.ok("session.send", &send(after));
        let again = agent.err("session.send", &send(line));
        again.assert_is_in(line, -32011, "confirmation_required");
        assert_ne!(again.data["approval"], json!(id), "{line}");
        // Enter alone makes no difference.
        let id = again.data["approval"].clone();
        person.ok(
            "approval.answer",
            &json!({ "id": id, "decision": "approve" }),
        );
        agent.ok("session.send", &send(""));
        agent.ok("session.send", &send(line));
        agent.ok("session.close", &json!({ "id": terminal }));
    }
}

/// An agent, a person, and a shell of the agent's at its prompt.
fn agent_at_a_shell(daemon: &TestDaemon) -> (RawClient, RawClient, String) {
    let mut agent = client(daemon, "mcp", "an agent");
    let person = client(daemon, "cli", "a person");
    let params = json!({ "command": "bash", "args": ["--norc", "-i"] });
    let terminal = agent.create_terminal(&params);
    agent.wait_for_text(&terminal, "$");
    (agent, person, terminal)
}

fn denied_in_other_texts() {
    let daemon = TestDaemon::start();
    let (mut agent, mut person, terminal) = agent_at_a_shell(&daemon);
    let send = |text: &str| json!({ "id": terminal, "text": format!("{text}\r") });
    let asked = agent.err("session.send", &send("rm -rf t"));
    let no = json!({ "id": asked.data["approval"], "decision": "deny" });
    person.ok("approval.answer", &no);
    for text in [
        "cd nosuch; rm -rf t",
        "read x <<< t; rm -rf $x",
        "x=t\rrm -rf $x",
        "python3 -c 'import os; os.system(\"rm -rf t\")'",
        "ed <<< '!rm -rf t'",
    ] {
        let refused = agent.err("session.send", &send(text));
        assert_eq!(refused.kind(), "rejected", "{text}: {refused:?}");
    }
    let other = agent.err("session.send", &send("rm -rf other"));
    assert_eq!(other.kind(), "confirmation_required", "{other:?}");
}

fn question_with_all_lines() {
    let daemon = TestDaemon::start();
    let (mut agent, mut person, terminal) = agent_at_a_shell(&daemon);
    let send = |text: &str| json!({ "id": terminal, "text": format!("{text}\r") });
    let asked = agent.err("session.send", &send("x=precious\rrm -rf $x\rls"));
    let listed = person.ok("approval.list", &json!({}));
    let question = &listed["approvals"][0];
    assert_eq!(question["command"], "x=precious\nrm -rf $x\nls");
    let no = json!({ "id": asked.data["approval"], "decision": "deny" });
    person.ok("approval.answer", &no);
    // With another value it is another command.
    let other = agent.err("session.send", &send("x=other\rrm -rf $x"));
    assert_eq!(other.kind(), "confirmation_required", "{other:?}");
    let same = agent.err("session.send", &send("x=precious\rrm -rf $x"));
    assert_eq!(same.kind(), "rejected", "{same:?}");
    // What an earlier call has set is in the question.
    agent.ok("session.send", &send("y=precious2"));
    let asked = agent.err("session.send", &send("rm -rf $y"));
    let id = asked.data["approval"].clone();
    let question = person.ok("approval.wait", &json!({ "id": id, "timeout_ms": 0 }));
    assert_eq!(question["command"], "rm -rf $y");
    let after = question["after"].as_str().unwrap();
    assert!(after.ends_with("y=precious2"), "{after}");
}
