//! The gate judges every front, and its verdict is in the audit record.

use serde_json::{Value, json};
use termd_test_support::{Home, RawClient, RpcError, TestDaemon, sh};

const CONFIRMATION_REQUIRED: i64 = -32011;
const DENIED: i64 = -32012;

#[track_caller]
fn assert_asks(error: &RpcError) {
    error.assert_is(CONFIRMATION_REQUIRED, "confirmation_required");
}

/// A shell that is at its prompt and reads lines.
pub(crate) fn shell(client: &mut RawClient) -> String {
    let params = json!({ "command": "bash", "args": ["--norc", "--noprofile"] });
    let id = client.create_terminal(&params);
    client.send_text(&id, "echo re''ady\r");
    client.wait_for_text(&id, "ready\r\n");
    id
}

#[test]
fn create_asks_and_runs_once_confirmed() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let victim = daemon.path("state").join("victim");
    std::fs::write(&victim, "").unwrap();
    let line = format!("rm -f {}", victim.display());
    let argv = json!({ "command": "rm", "args": ["-f", victim] });
    for params in [json!({ "command": line }), argv.clone()] {
        let error = client.err("session.create", &params);
        assert_asks(&error);
        assert_eq!(error.data["verdict"], "dangerous");
        assert_eq!(error.data["command"], json!(line));
        assert_eq!(error.data["span"], json!({ "start": 0, "end": line.len() }));
        assert!(error.data["reason"].as_str().unwrap().contains("rm -f"));
    }
    assert!(victim.exists());
    let refused = &client.audit_records(&json!({ "action": "terminal.create" }))[0];
    assert_eq!(refused["outcome"], "refused: not confirmed", "{refused}");
    assert_eq!(refused["detail"]["verdict"], "dangerous");

    let mut params = argv;
    params["confirmed"] = json!(true);
    let id = client.create_terminal(&params);
    client.ok("session.wait", &json!({ "id": id }));
    assert!(!victim.exists());
    let ran = &client.audit_records(&json!({ "action": "terminal.create" }))[0];
    assert_eq!(ran["outcome"], "ok", "{ran}");
    assert_eq!(ran["detail"]["confirmed"], true);
    let safe = client.ok("session.create", &json!({ "command": "true" }));
    assert!(safe["id"].is_string());
    let safe = &client.audit_records(&json!({ "action": "terminal.create" }))[0];
    assert_eq!(safe["detail"]["verdict"], "safe");
}

#[test]
fn acp_asks_too() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let mut params = json!({ "sessionId": "s", "command": "sudo reboot now" });
    assert_asks(&agent.err("terminal/create", &params));
    params["_meta"] = json!({ "termd": { "confirmed": "yes" } });
    let error = agent.err("terminal/create", &params);
    assert_eq!(error.data["field"], "_meta.termd.confirmed", "{error:?}");
    let confirmed = json!({ "sessionId": "s", "command": "sh", "args": ["-c", "kill -9 $$"],
                            "_meta": { "termd": { "confirmed": true } } });
    agent.ok("terminal/create", &confirmed);
}

#[test]
fn a_line_in_two_sends_is_judged_before_it_runs() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let victim = daemon.path("state").join("victim");
    std::fs::write(&victim, "").unwrap();
    let id = shell(&mut client);
    client.send_text(&id, "rm -");
    let rest = format!("f {}\r", victim.display());
    let error = client.err("session.send", &json!({ "id": id, "text": rest }));
    assert_asks(&error);
    let whole = format!("rm -{}", rest.trim_end());
    assert_eq!(error.data["command"], json!(whole));
    // Nothing of the refused call was typed, so the line is the same as before.
    assert_asks(&client.err("session.send", &json!({ "id": id, "text": rest })));
    assert!(victim.exists());
    let refused = client.audit_records(&json!({ "action": "terminal.input" }));
    assert_eq!(
        refused[0]["outcome"], "refused: not confirmed",
        "{refused:?}"
    );
    assert_eq!(refused[0]["detail"]["command"], json!(whole));
    assert_eq!(refused[0]["detail"]["program"], "bash");

    client.send_text(&id, "\u{15}echo do''ne\r");
    client.wait_for_text(&id, "done\r\n");
    assert!(victim.exists());
    let text = format!("rm -f {}; echo go''ne\r", victim.display());
    client.ok(
        "session.send",
        &json!({ "id": id, "text": text, "confirmed": true }),
    );
    client.wait_for_text(&id, "gone\r\n");
    assert!(!victim.exists());
    let confirmed = &client.audit_records(&json!({ "action": "terminal.input" }))[0];
    assert_eq!(confirmed["outcome"], "ok", "{confirmed}");
    assert_eq!(confirmed["detail"]["confirmed"], true);
}

#[test]
fn what_is_typed_at_a_hidden_prompt_is_a_secret() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let asks_for_one = "import getpass; print('got', len(getpass.getpass('Secret? ')))";
    let params = json!({ "command": "python3", "args": ["-c", asks_for_one] });
    let id = &client.create_terminal(&params);
    client.wait_for_text(id, "Secret? ");
    client.send_text(id, "rm -rf /'\n");
    client.wait_for_text(id, "got 9");
    let page = client.ok("audit.list", &json!({}));
    assert!(!page.to_string().contains("rm -rf"), "{page}");
}

#[test]
fn a_connections_settings_are_its_own() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let hello = |gate: Value| json!({ "settings": { "gate": gate } });
    let error = client.err("daemon.hello", &hello(json!({ "patterns": ["a", "("] })));
    assert_eq!(error.data["field"], "settings.gate.patterns", "{error:?}");
    assert!(
        error.data["detail"]
            .as_str()
            .unwrap()
            .contains("pattern 2 (()")
    );

    client.ok(
        "daemon.hello",
        &hello(json!({ "patterns": ["\\bdeploy\\b"] })),
    );
    let error = client.err("session.create", &json!({ "command": "echo deploy" }));
    assert_asks(&error);
    daemon
        .client()
        .ok("session.create", &json!({ "command": "echo deploy" }));

    client.ok("daemon.hello", &hello(json!({ "enabled": false })));
    let off = sh("kill -9 $$");
    client.ok("session.create", &off);
    let ran = &client.audit_records(&json!({ "action": "terminal.create" }))[0];
    assert_eq!(ran["detail"]["verdict"], "dangerous", "{ran}");
    assert_asks(&daemon.client().err("session.create", &off));
}

#[test]
fn rules_deny_allow_and_confirm() {
    let daemon = TestDaemon::configured(
        "[[policy.rules]]\neffect = \"deny\"\nprogram = \"whoami\"\n\
         [[policy.rules]]\neffect = \"allow\"\nprogram = \"kill\"\nfront = \"cli\"\n\
         [[policy.rules]]\neffect = \"confirm\"\nprogram = \"true\"\narguments = \"^now$\"\n",
    );
    let mut client = daemon.client();
    let denied = json!({ "command": "sudo whoami", "confirmed": true });
    let error = client.err("session.create", &denied);
    error.assert_is(DENIED, "denied");
    assert_eq!(error.data["rule"], 1);
    client.ok("session.create", &sh("kill -9 $$"));
    client.ok(
        "session.create",
        &json!({ "command": "true", "args": ["later"] }),
    );
    assert_asks(&client.err(
        "session.create",
        &json!({ "command": "true", "args": ["now"] }),
    ));
    let check = json!({ "line": "ls; whoami" });
    let judgement = client.ok("policy.check", &check);
    assert_eq!(
        (
            &judgement["verdict"],
            &judgement["effect"],
            &judgement["rule"]
        ),
        (&json!("safe"), &json!("deny"), &json!(1))
    );
}

#[test]
fn check_runs_nothing_and_takes_one_of_two() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let judgement = client.ok("policy.check", &json!({ "argv": ["rm", "-rf", "a b"] }));
    assert_eq!(judgement["verdict"], "dangerous");
    assert_eq!(judgement["span"], json!({ "start": 0, "end": 12 }));
    let sql = json!({ "line": "DROP TABLE x;", "program": "psql" });
    assert_eq!(client.ok("policy.check", &sql)["verdict"], "dangerous");
    for params in [
        json!({}),
        json!({ "argv": [] }),
        json!({ "line": "x", "argv": ["x"] }),
    ] {
        assert_eq!(client.err("policy.check", &params).kind(), "invalid_params");
    }
    assert!(
        client
            .audit_records(&json!({ "action": "terminal.create" }))
            .is_empty()
    );
}

/// A daemon whose rules deny `touch` in a directory, and that directory.
fn daemon_denying_touch() -> (TestDaemon, String) {
    let home = Home::create();
    let live = home.path("live");
    std::fs::create_dir(&live).unwrap();
    let live = live.canonicalize().unwrap().display().to_string();
    home.configure(&format!(
        "[[policy.rules]]\neffect = 'deny'\nprogram = 'touch'\ncwd = '{live}'\n"
    ));
    (TestDaemon::start_with(home, &[]), live)
}

#[test]
fn a_typed_line_starts_where_its_shell_is_by_now() {
    let (daemon, live) = daemon_denying_touch();
    let mut client = daemon.client();
    let id = shell(&mut client);
    let touch = json!({ "id": id, "text": "touch --version | head -1\r" });
    let run = |client: &mut RawClient, text: &str, done: &str| {
        client.send_text(&id, &format!("{text}\r"));
        client.wait_for_text(&id, &format!("{done}\r\n"));
    };
    run(&mut client, &format!("cd {live}; echo wi''thin"), "within");
    let error = client.err("session.send", &touch);
    error.assert_is(DENIED, "denied");

    // A directory that a program prints does not count as the shell's directory.
    let printed = r"printf '\033]7;file:///tmp\007'; echo pri''nted";
    run(&mut client, printed, "printed");
    let error = client.err("session.send", &touch);
    assert_eq!(error.kind(), "denied", "{error:?}");

    run(&mut client, "cd /; echo ou''tside", "outside");
    client.ok("session.send", &touch);
}

#[test]
fn a_typed_line_starts_where_the_one_before_it_in_its_call_leads() {
    let (daemon, live) = daemon_denying_touch();
    let mut client = daemon.client();
    let id = shell(&mut client);
    let sent = |text: &str| json!({ "id": id, "text": text });
    client.ok("session.send", &sent("cd /; echo he''re\r"));
    client.wait_for_text(&id, "here\r\n");
    for (cd, places) in [
        (format!("cd {live}"), format!("/, then /, or {live}")),
        ("cd -".to_owned(), "/, then /, or elsewhere".to_owned()),
    ] {
        let error = client.err("session.send", &sent(&format!("{cd}\rtouch x\r")));
        assert_asks(&error);
        assert_eq!(error.data["command"], format!("{cd}\ntouch x"));
        let waiting = client.ok("approval.list", &json!({}));
        let approval = waiting["approvals"].as_array().unwrap();
        let approval = approval
            .iter()
            .find(|approval| approval["cwd"] == places.as_str());
        assert!(approval.is_some(), "{places}: {waiting}");
    }
    // None of these lines was typed. In another directory the gate does not ask.
    let text = "cd /tmp\rtouch --version | head -1; echo he''re in $PWD\r";
    client.ok("session.send", &sent(text));
    client.wait_for_text(&id, "here in /tmp\r\n");
    assert!(!std::path::Path::new(&live).join("x").exists());
}
