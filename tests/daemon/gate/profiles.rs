//! `[policy]` end to end: profiles by rule and by front, the environment, the limits of a command,
//! and a bad file.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use termd_test_support::{Deadline, Home, RawClient, TestDaemon, sh, wait_until};

/// A connection of an MCP client.
fn mcp(daemon: &TestDaemon) -> RawClient {
    let mut client = daemon.client();
    client.ok(
        "daemon.hello",
        &json!({ "client": "claude", "front": "mcp" }),
    );
    client
}

/// Waits for the end of a command: its output.
fn output(client: &mut RawClient, id: &str) -> String {
    let waited = client.ok("session.wait", &json!({ "id": id }));
    assert_eq!(waited["exited"], true, "{waited}");
    String::from_utf8_lossy(&client.transcript(id)).into_owned()
}

const SECRETS: [(&str, &str); 4] = [
    ("GITHUB_TOKEN", "s3cret"),
    ("AWS_REGION", "eu"),
    ("PLAIN", "plain"),
    ("SSH_AUTH_SOCK", "/nonexistent/agent"),
];

#[test]
fn agents_get_no_secrets_and_people_do() {
    let home = Home::create();
    home.configure(
        "[policy.fronts.mcp.env]\npass = ['AWS_REGION']\ndrop = ['PLAIN']\nset = { CI = '1', PAGER = 'less' }\n",
    );
    let daemon = TestDaemon::start_with(home, &SECRETS);
    let mut client = mcp(&daemon);
    let mut params = sh("env");
    params["env"] = json!({ "OWN_TOKEN": "own", "CI": "0" });
    let id = client.create_terminal(&params);
    let env = output(&mut client, &id);
    let has = |env: &str, variable: &str| env.lines().any(|line| line.trim_end() == variable);
    for there in ["AWS_REGION=eu", "OWN_TOKEN=own", "CI=0", "PAGER=less"] {
        assert!(has(&env, there), "{there}: {env}");
    }
    assert!(env.contains("SSH_AUTH_SOCK="), "{env}");
    for gone in ["GITHUB_TOKEN", "s3cret", "PLAIN="] {
        assert!(!env.contains(gone), "{gone}: {env}");
    }
    let record = &client.audit_records(&json!({ "action": "terminal.create" }))[0];
    let detail = &record["detail"];
    assert_eq!(
        detail["env_dropped"],
        json!(["GITHUB_TOKEN", "PLAIN"]),
        "{record}"
    );
    assert_eq!(detail["env_set"], json!(["PAGER"]), "{record}");
    assert_eq!(detail["env"], json!(["CI", "OWN_TOKEN"]), "{record}");
    assert!(!record.to_string().contains("s3cret"), "{record}");

    // `base_env` counts as the daemon's environment, not as variables of the request.
    let mut params = sh("env");
    params["base_env"] = json!({ "PATH": "/usr/bin:/bin", "NPM_TOKEN": "n", "HERE": "1" });
    let id = client.create_terminal(&params);
    let env = output(&mut client, &id);
    assert!(has(&env, "HERE=1") && !env.contains("NPM_TOKEN"), "{env}");

    let mut person = daemon.client();
    let id = person.create_terminal(&sh("env"));
    let env = output(&mut person, &id);
    for there in ["GITHUB_TOKEN=s3cret", "AWS_REGION=eu", "PLAIN=plain"] {
        assert!(has(&env, there), "{there}: {env}");
    }
    let record = &person.audit_records(&json!({ "action": "terminal.create" }))[0];
    assert_eq!(record["detail"]["env_dropped"], Value::Null, "{record}");

    let mut agent = daemon.agent();
    let id = agent.script("echo token=$GITHUB_TOKEN plain=$PLAIN; echo end;");
    let text = output(&mut person, &id);
    assert!(text.contains("token= plain=plain"), "{text}");
}

const LIMITED: &str = "kill_grace_ms = 300
[[policy.rules]]
program = 'sleep'
profile = 'short'
[[policy.rules]]
program = 'yes'
profile = 'quiet'
[policy.fronts.mcp]
profile = 'agent'
[policy.profiles.short]
timeout = '700ms'
[policy.profiles.quiet]
output_bytes = '64KiB'
[policy.profiles.agent]
timeout = '3s'
idle_timeout = '1h'
limits = { open_files = 77 }
";

#[test]
fn a_timeout_ends_the_whole_tree_and_says_so() {
    let daemon = TestDaemon::configured(LIMITED);
    let mut client = daemon.client();
    let mut watcher = daemon.client();
    watcher.ok("session.subscribe", &json!({}));
    let params = json!({ "command": "sleep", "args": ["1000"] });
    let info = client.ok("session.create", &params);
    assert_eq!(info["confinement"]["profiles"], json!(["short"]), "{info}");
    assert_eq!(info["confinement"]["timeout_ms"], 700, "{info}");
    let id = info["id"].as_str().unwrap();
    let waited = client.ok("session.wait", &json!({ "id": id }));
    assert_eq!(waited["end_cause"], "timeout", "{waited}");
    assert_eq!(waited["exit_status"]["signal"], "SIGTERM", "{waited}");
    let shown = client.ok("session.show", &json!({ "id": id }));
    assert_eq!(shown["end_cause"], "timeout", "{shown}");
    assert_eq!(shown["state"], "exited", "{shown}");
    let record = &client.audit_records(&json!({ "action": "limit.reached" }))[0];
    assert_eq!(record["terminal"], json!(id), "{record}");
    assert_eq!(record["actor"]["front"], "daemon", "{record}");
    assert_eq!(record["detail"]["limit"], "timeout", "{record}");
    assert_eq!(record["detail"]["value"], 700, "{record}");
    loop {
        let event = watcher.next_message()["params"]["result"].clone();
        if event["type"] == "limit_reached" {
            assert_eq!(
                event,
                json!({ "type": "limit_reached", "id": id, "limit": "timeout", "value": 700 })
            );
            break;
        }
        assert_ne!(event["type"], "exited", "the limit was not told");
    }
    // Other commands are not limited.
    let free = client.ok("session.create", &sh("true"));
    assert_eq!(free["confinement"], Value::Null, "{free}");
    let waited = client.ok("session.wait", &json!({ "id": free["id"] }));
    assert_eq!(waited["end_cause"], Value::Null, "{waited}");
}

#[test]
fn a_quota_of_output_ends_a_flood() {
    let daemon = TestDaemon::configured(LIMITED);
    let mut client = daemon.client();
    let id = client.create_terminal(&json!({ "command": "yes" }));
    let waited = client.ok("session.wait", &json!({ "id": id }));
    assert_eq!(waited["end_cause"], "output_bytes", "{waited}");
    assert!(waited["end"].as_u64().unwrap() > 64 << 10, "{waited}");
    let record = &client.audit_records(&json!({ "action": "limit.reached" }))[0];
    assert_eq!(record["detail"]["limit"], "output_bytes", "{record}");
    assert_eq!(record["detail"]["value"], 64 << 10, "{record}");
}

#[test]
fn limits_outlive_the_server() {
    let daemon = TestDaemon::configured(LIMITED);
    let mut client = mcp(&daemon);
    // The front's profile sets a timeout and limits of the process.
    let script = "ulimit -n; trap 'echo late' TERM; echo ready; cat";
    let looping = client.create_terminal(&sh(script));
    let first = client.wait_for_text(&looping, "ready");
    assert!(first.contains("77"), "{first}");
    daemon.replace_server();
    let mut client = daemon.client();
    let shown = client.ok("session.show", &json!({ "id": looping }));
    assert_eq!(
        shown["confinement"]["profiles"],
        json!(["agent"]),
        "{shown}"
    );
    assert_eq!(shown["idle_timeout_ms"], 3_600_000, "{shown}");
    let held = shown["confinement"]["held"].as_array().unwrap();
    assert!(held.contains(&json!("open_files")), "{shown}");
    let waited = client.ok("session.wait", &json!({ "id": looping }));
    assert_eq!(waited["end_cause"], "timeout", "{waited}");
    daemon.replace_server();
    let shown = daemon
        .client()
        .ok("session.show", &json!({ "id": looping }));
    assert_eq!(shown["end_cause"], "timeout", "{shown}");
}

#[test]
fn a_typed_line_that_is_to_be_held_to_more_asks_first() {
    let daemon = TestDaemon::configured(LIMITED);
    let mut client = daemon.client();
    let id =
        client.create_terminal(&json!({ "command": "bash", "args": ["--norc", "--noprofile"] }));
    client.send_text(&id, "echo re''ady\r");
    client.wait_for_text(&id, "ready\r\n");
    let error = client.err("session.send", &json!({ "id": id, "text": "sleep 0\r" }));
    assert_eq!(error.kind(), "confirmation_required", "{error:?}");
    let reason = error.data["reason"].as_str().unwrap();
    assert!(reason.contains("the profile short"), "{reason}");
    client.send_text(&id, "\u{15}echo fi''ne\r");
    client.wait_for_text(&id, "fine\r\n");
}

fn denies(program: &str) -> String {
    format!("[[policy.rules]]\neffect = 'deny'\nprogram = '{program}'\n")
}

#[test]
fn a_bad_file_leaves_the_old_policy_in_force_and_says_so() {
    let daemon = TestDaemon::configured(&denies("true"));
    let mut client = daemon.client();
    let runs = |client: &mut RawClient, program: &str| {
        let created = client.request("session.create", &json!({ "command": program }));
        created.map_err(|error| error.kind().to_owned()).is_ok()
    };
    assert!(!runs(&mut client, "true") && runs(&mut client, "false"));
    let first = client.audit_records(&json!({ "action": "policy.changed" }));
    assert_eq!(first.len(), 1, "{first:?}");
    assert_eq!(first[0]["detail"]["old"], Value::Null);
    let hash = first[0]["detail"]["new"].clone();

    daemon.configure(&format!(
        "{}\n[[policy.rules]]\neffct = 'deny'\n",
        denies("false")
    ));
    daemon.replace_server();
    let mut client = daemon.client();
    let info = client.ok("daemon.info", &json!({}));
    let fault = info["config_fault"].as_str().unwrap();
    assert!(
        fault.contains("config.toml:6:1: unknown field `effct`"),
        "{fault}"
    );
    assert!(
        !runs(&mut client, "true") && runs(&mut client, "false"),
        "half a policy"
    );
    assert!(daemon.log().contains("is not in force"), "{}", daemon.log());
    let refused = &client.audit_records(&json!({ "action": "policy.changed" }))[0];
    assert!(
        refused["outcome"]
            .as_str()
            .unwrap()
            .starts_with("refused: "),
        "{refused}"
    );
    assert_eq!(refused["detail"]["stays"], hash, "{refused}");

    // A server that takes over after a death keeps the old policy as well.
    daemon.kill_server();
    let mut client = daemon.client();
    assert!(client.ok("daemon.info", &json!({}))["config_fault"].is_string());
    assert!(!runs(&mut client, "true"));

    daemon.configure(&denies("false"));
    daemon.replace_server();
    let mut client = daemon.client();
    assert_eq!(
        client.ok("daemon.info", &json!({}))["config_fault"],
        Value::Null
    );
    assert!(runs(&mut client, "true") && !runs(&mut client, "false"));
    let changed = &client.audit_records(&json!({ "action": "policy.changed" }))[0];
    assert_eq!(
        (&changed["outcome"], &changed["detail"]["old"]),
        (&json!("ok"), &hash)
    );
    let kept = daemon.state_dir().join("config.in-force.toml");
    wait_until("what is in force is kept", || {
        fs::read_to_string(&kept).is_ok_and(|text| text == denies("false"))
    });
}

#[test]
fn a_workspace_is_held_to_by_the_kernel() {
    let home = Home::create();
    home.configure("kill_grace_ms = 300\n[policy.fronts.mcp]\nprofile = 'workspace'\n");
    let repository = home.user_home().join("src/x");
    for directory in [".git/hooks", "deep"] {
        fs::create_dir_all(repository.join(directory)).unwrap();
    }
    for directory in [".ssh", ".config/Code"] {
        fs::create_dir_all(home.user_home().join(directory)).unwrap();
    }
    fs::write(home.user_home().join(".ssh/id"), "the key").unwrap();
    let daemon = TestDaemon::start_in(home);
    let mut client = mcp(&daemon);
    let script = "touch ../made && echo wrote; touch ../.git/hooks/pre-commit || echo guarded; \
                  cat ~/.ssh/id || echo hidden; touch /opt/made || echo outside; \
                  mkdir ../.vscode/x || echo settings; ls $XDG_STATE_HOME/termd/* || echo state; \
                  c=$(printenv XDG_CONFIG_HOME); echo pwned > $c/termd/config.toml || echo config; \
                  echo end;";
    let mut params = sh(script);
    params["cwd"] = json!(repository.join("deep"));
    let info = match client.request("session.create", &params) {
        Ok(info) => info,
        Err(error) if error.kind() == "spawn_failed" => {
            eprintln!("SKIP: this kernel holds no sandbox: {error:?}");
            return;
        }
        Err(error) => panic!("{error:?}"),
    };
    assert_eq!(
        info["confinement"]["sandbox"],
        json!(["workspace"]),
        "{info}"
    );
    assert!(
        !info["confinement"]["held"].as_array().unwrap().is_empty(),
        "{info}"
    );
    let text = output(&mut client, info["id"].as_str().unwrap());
    for expected in [
        "wrote", "guarded", "hidden", "outside", "settings", "state", "config",
    ] {
        assert!(
            text.lines().any(|line| line.trim_end() == expected),
            "{expected}: {text}"
        );
    }
    assert!(!text.contains("the key"), "{text}");
    let record = &client.audit_records(&json!({ "action": "terminal.create" }))[0];
    assert_eq!(
        record["detail"]["confinement"]["sandbox"],
        json!(["workspace"]),
        "{record}"
    );
}

/// All calls share one thread, and the gate needs long for 64 KiB.
#[test]
fn a_long_line_is_judged_beside_the_calls_of_others() {
    let daemon = TestDaemon::start();
    let (mut asker, mut other) = (daemon.client(), daemon.client());
    let line = "echo ".to_owned() + &"word ".repeat(13_000);
    asker.send("policy.check", &json!({ "line": line }));
    let mut served = 0;
    let judged = loop {
        if let Some(judged) = asker.message_by(Deadline::after(Duration::ZERO)) {
            break judged;
        }
        other.ok("daemon.info", &json!({}));
        served += 1;
    };
    assert_eq!(judged["result"]["verdict"], "safe", "{judged}");
    // One call may come before the judgement begins, and one after it has ended.
    assert!(served > 2, "{served} calls");
}
