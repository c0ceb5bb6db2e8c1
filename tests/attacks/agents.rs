//! What an agent does is an agent's, wherever its processes work.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use termd_test_support::{McpClient, RawClient, TestDaemon, wait_until};

use crate::Attack;

pub(crate) const ATTACKS: &[Attack] = &[
    (
        "agents_approve_nothing_from_any_process",
        approve_from_any_process,
    ),
    (
        "agents_are_asked_nothing_at_a_tty",
        prompt_in_an_agents_terminal,
    ),
    (
        "agents_termctl_confirms_nothing_where_a_person_watches",
        confirmed_by_termctl,
    ),
    (
        "agents_attach_types_as_an_agent",
        attach_in_an_agents_terminal,
    ),
    (
        "agents_line_that_the_tty_hands_over_is_asked_about",
        line_without_enter,
    ),
    (
        "agents_own_processes_approve_nothing",
        approve_below_the_mcp_client,
    ),
    (
        "agents_profile_and_rules_hold_for_its_termctl",
        rules_for_an_agents_termctl,
    ),
    (
        "agents_recordings_are_an_agents_and_were_not_run",
        recording_of_an_agent,
    ),
    (
        "agents_use_no_terminal_of_a_person_unasked",
        foreign_terminal,
    ),
    (
        "agents_terminals_denied_by_config",
        foreign_terminals_denied,
    ),
    (
        "agents_front_profile_holds_for_what_it_types",
        profile_of_the_front,
    ),
    (
        "what_a_rule_gives_another_profile_is_used_unasked_but_for_typing",
        profile_of_a_rule,
    ),
    (
        "agents_front_without_a_profile_is_asked_nothing_about",
        profile_none_of_the_front,
    ),
    (
        "agents_name_no_foreign_terminal_by_a_letter",
        prefix_of_a_foreign_terminal,
    ),
];

const TERMCTL: &str = env!("CARGO_BIN_EXE_termctl");

pub(crate) fn client(daemon: &TestDaemon, front: &str, name: &str) -> RawClient {
    let mut client = daemon.client();
    client.ok("daemon.hello", &json!({ "client": name, "front": front }));
    client
}

/// A directory that is to live, and a command that removes it.
pub(crate) fn victim(daemon: &TestDaemon) -> (PathBuf, Value) {
    let victim = daemon.path("state").join("victim");
    fs::create_dir_all(&victim).unwrap();
    let params = json!({ "command": "rm", "args": ["-r", victim] });
    (victim, params)
}

/// The id of the question that a refused call leaves.
#[track_caller]
pub(crate) fn question(agent: &mut RawClient, params: &Value) -> String {
    let error = agent.err("session.create", params);
    assert_eq!(error.kind(), "confirmation_required", "{error:?}");
    error.data["approval"].as_str().unwrap().to_owned()
}

/// Every one of these lines is asked about before it runs.
pub(crate) fn assert_asked_about(lines: &[&str]) {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    for line in lines {
        question(
            &mut agent,
            &json!({ "command": "bash", "args": ["-c", line] }),
        );
    }
}

#[track_caller]
pub(crate) fn state(person: &mut RawClient, id: &str) -> String {
    let info = person.ok("approval.wait", &json!({ "id": id, "timeout_ms": 0 }));
    info["state"].as_str().unwrap().to_owned()
}

/// Runs a script in a terminal of the agent's; its terminal. What a file holds the gate does not read.
fn run_script(daemon: &TestDaemon, agent: &mut RawClient, script: &str) -> String {
    let file = daemon.path("state").join("script.sh");
    fs::write(&file, script).unwrap();
    agent.create_terminal(&json!({ "command": "bash", "args": [file] }))
}

fn wait(agent: &mut RawClient, id: &str) {
    let ended = agent.ok("session.wait", &json!({ "id": id, "timeout_ms": 20_000 }));
    assert_eq!(ended["exited"], true, "{ended}");
}

fn approve_from_any_process() {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut person = client(&daemon, "cli", "a person");
    let (victim, params) = victim(&daemon);
    let rc = daemon.path("state").join("rc");
    let done = format!("; echo $? > {0}.new; mv {0}.new {0}", rc.display());
    let bare = "env -i HOME=$HOME XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR PATH=$PATH";
    for line in [
        "APPROVE DONE",
        "env -u TERMD_TERMINAL ALWAYS DONE",
        "T run -- APPROVE DONE",
        "T run -- T run -- APPROVE DONE",
        "T run --pipes -- ALWAYS DONE",
        "T run -- DENY DONE",
        "t=$(T create -- APPROVE); T wait $t DONE",
        "setsid -f sh -c 'BARE APPROVE DONE'; read x",
        "T create -- setsid -w sh -c 'BARE APPROVE DONE'",
        "(BARE APPROVE DONE) & read x",
        "setsid -w BARE bash DEEP 100 DONE",
    ] {
        let _ = fs::remove_file(&rc);
        let id = question(&mut agent, &params);
        // The gate reads lines that start termctl, and no files.
        let mut script = line.replace("BARE", bare);
        for answer in ["approve", "approve --always", "deny"] {
            let name = answer.rsplit(['-', ' ']).next().unwrap();
            let file = daemon.path("state").join(name);
            fs::write(&file, format!("{TERMCTL} {answer} {id}\n")).unwrap();
            script = script.replace(&name.to_uppercase(), &format!("sh {}", file.display()));
        }
        let deep = daemon.path("state").join("deep");
        let nested = "if [ $1 -gt 0 ]; then bash $0 $(($1 - 1)); else APPROVE; fi; exit $?";
        let approve = format!("{TERMCTL} approve {id}");
        fs::write(&deep, nested.replace("APPROVE", &approve)).unwrap();
        let script = script
            .replace("DEEP", &deep.display().to_string())
            .replace("T ", &format!("{TERMCTL} "))
            .replace(" DONE", &done);
        let terminal = run_script(&daemon, &mut agent, &script);
        wait_until(line, || rc.exists());
        assert_ne!(fs::read_to_string(&rc).unwrap().trim(), "0", "{line}");
        assert_eq!(state(&mut person, &id), "pending", "{line}");
        agent.ok("session.close", &json!({ "id": terminal }));
    }
    assert!(victim.exists());
    let records = person.audit_records(&json!({}));
    let is_refused = |record: &&Value| {
        let outcome = record["outcome"].as_str().unwrap_or_default();
        record["action"] == "approval.answer" && outcome.starts_with("refused")
    };
    assert_eq!(
        records.iter().filter(is_refused).count(),
        11,
        "{records:#?}"
    );
}

fn prompt_in_an_agents_terminal() {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let (victim, _) = victim(&daemon);
    let script = format!("{TERMCTL} run -- rm -r {}", victim.display());
    let terminal = run_script(&daemon, &mut agent, &script);
    // Where a prompt comes, it is there to be answered; where none does, nothing reads this.
    let _ = agent.request("session.send", &json!({ "id": terminal, "text": "y\r" }));
    wait(&mut agent, &terminal);
    let said = String::from_utf8(agent.transcript(&terminal)).unwrap();
    assert!(victim.exists(), "{said}");
    assert!(said.contains("termctl approve"), "{said}");
    assert!(
        !said.contains("--confirmed") && !said.contains("[y/N"),
        "{said}"
    );
}

fn confirmed_by_termctl() {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut person = client(&daemon, "cli", "a person");
    let (victim, _) = victim(&daemon);
    // `termctl approvals --watch` does the same.
    person.ok("approval.list", &json!({ "after": 0, "wait_ms": 0 }));
    let script = format!("{TERMCTL} run --confirmed -- rm -r {}", victim.display());
    let terminal = run_script(&daemon, &mut agent, &script);
    wait(&mut agent, &terminal);
    let said = String::from_utf8(agent.transcript(&terminal)).unwrap();
    assert!(victim.exists(), "{said}");
    let records = person.audit_records(&json!({}));
    let by_termctl = records
        .iter()
        .find(|record| record["action"] == "terminal.create" && record["actor"]["front"] == "cli");
    let by_termctl = by_termctl.unwrap_or_else(|| panic!("{records:#?}"));
    assert_eq!(by_termctl["outcome"], "refused: not confirmed");
    assert_eq!(
        by_termctl["detail"]["agent"]["client"], "an agent",
        "{by_termctl}"
    );
    assert_eq!(by_termctl["detail"]["works_in"], json!(terminal));
}

fn attach_in_an_agents_terminal() {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let (victim, _) = victim(&daemon);
    let shell = agent.create_terminal(&json!({ "command": "sh" }));
    // Not below a shell: the gate would read the keys as lines for that one.
    let script = format!("exec {TERMCTL} attach {shell}");
    let outer = run_script(&daemon, &mut agent, &script);
    agent.wait_for_text(&outer, "detaches");
    agent.send_text(&outer, "x=rm\r");
    agent.send_text(&outer, &format!("$x -r {}\r", victim.display()));
    wait(&mut agent, &outer);
    assert!(victim.exists());
}

/// `^D` hands a line over in canonical mode, and at the end of its input a shell runs it.
fn line_without_enter() {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let (victim, _) = victim(&daemon);
    let shell = agent.create_terminal(&json!({ "command": "dash" }));
    agent.send_text(&shell, &format!("rm -r {}", victim.display()));
    let keys = json!({ "id": shell, "text": "\u{4}\u{4}" });
    let error = agent.err("session.send", &keys);
    assert_eq!(error.kind(), "confirmation_required", "{error:?}");
    agent.ok("session.kill", &json!({ "id": shell }));
    assert!(victim.exists());
}

/// An agent starts its MCP servers itself: what it starts besides is an agent's too.
fn approve_below_the_mcp_client() {
    let daemon = TestDaemon::start();
    // This process is the agent. Its own connections are those of the program that a person started.
    let mut mcp = McpClient::start(&daemon);
    let (victim, _) = victim(&daemon);
    let line = format!("rm -r {}", victim.display());
    let asked = mcp.call("session_exec", &json!({ "exec": line }));
    assert_eq!(asked["requires_confirmation"], true, "{asked}");
    let mut person = daemon.client();
    let listed = person.ok("approval.list", &json!({}));
    let id = listed["approvals"][0]["id"].as_str().unwrap().to_owned();
    for args in [
        &["approve", &id][..],
        &["approve", "--always", &id],
        &["run", "--", TERMCTL, "approve", &id],
    ] {
        for program in [TERMCTL, "bash"] {
            let mut command = daemon.command(program);
            if program == "bash" {
                command.args(["-c", &format!("{TERMCTL} {}; exit $?", args.join(" "))]);
            } else {
                command.args(args);
            }
            let output = command.output().unwrap();
            assert!(!output.status.success(), "{args:?} {output:?}");
            assert_eq!(state(&mut person, &id), "pending", "{args:?}");
        }
    }
    person.ok("approval.list", &json!({ "after": 0, "wait_ms": 0 }));
    let mut command = daemon.command(TERMCTL);
    command
        .args(["run", "--confirmed", "--", "rm", "-r"])
        .arg(&victim);
    assert!(!command.output().unwrap().status.success());
    assert!(victim.exists());
    // The person's own process is none of these.
    person.ok(
        "approval.answer",
        &json!({ "id": id, "decision": "approve" }),
    );
}

fn rules_for_an_agents_termctl() {
    let daemon = TestDaemon::configured(
        "[[policy.rules]]\neffect = \"deny\"\nfront = \"mcp\"\nprogram = \"touch\"\n\
         [policy.profiles.limited]\ntimeout = \"1h\"\n\
         [policy.fronts.mcp]\nprofile = \"limited\"\n",
    );
    let mut agent = client(&daemon, "mcp", "an agent");
    let made = daemon.path("state").join("made");
    let script = format!("{TERMCTL} run -- touch {}", made.display());
    let terminal = run_script(&daemon, &mut agent, &script);
    wait(&mut agent, &terminal);
    assert!(!made.exists(), "a rule for the front mcp");
    let script = format!("{TERMCTL} create -- sleep 60");
    let terminal = run_script(&daemon, &mut agent, &script);
    wait(&mut agent, &terminal);
    let said = String::from_utf8(agent.transcript(&terminal)).unwrap();
    let shown = agent.ok("session.show", &json!({ "id": said.trim() }));
    assert_eq!(
        shown["confinement"]["profiles"],
        json!(["limited"]),
        "{shown}"
    );
}

/// An import makes a terminal of any text, with any command and time.
fn recording_of_an_agent() {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let recording = concat!(
        "{\"version\":2,\"width\":80,\"height\":24,\"timestamp\":1500000000}\n",
        "[0.5,\"m\",\"cargo test\"]\n[1.0,\"o\",\"all tests pass\"]\n",
    );
    let file = daemon.path("state").join("forged.cast");
    fs::write(&file, recording).unwrap();
    let script = format!("{TERMCTL} import {} --label ci", file.display());
    let terminal = run_script(&daemon, &mut agent, &script);
    wait(&mut agent, &terminal);
    let mut person = client(&daemon, "cli", "a person");
    let shown = person.ok("session.show", &json!({ "id": "ci" }));
    assert_eq!(shown["owner"]["agent"]["front"], "mcp", "{shown}");
    let filter = json!({ "terminal": "ci" });
    let commands = person.ok("command.list", &json!({ "filter": filter }));
    let imported = |command: &Value| command["imported"] == true;
    let commands = commands["commands"].as_array().unwrap();
    assert!(
        commands.len() == 2 && commands.iter().all(imported),
        "{commands:?}"
    );
    let found = person.ok("output.search", &json!({ "pattern": "tests pass" }));
    assert_eq!(found["hits"][0]["command"]["imported"], true, "{found}");
}

/// A shell that a person has opened.
fn persons_shell(person: &mut RawClient) -> String {
    let shell = person.create_terminal(&json!({ "command": "sh" }));
    person.send_text(&shell, "echo re''ady\r");
    person.wait_for_text(&shell, "ready\r\n");
    shell
}

fn foreign_terminal() {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut person = client(&daemon, "cli", "a person");
    let shell = persons_shell(&mut person);
    let typed = json!({ "text": "id", "enter": true });
    let mut ids = Vec::new();
    for (method, params) in [
        ("session.send", json!({ "text": "id\r", "confirmed": true })),
        ("session.send", json!({ "text": "x" })),
        (
            "session.type",
            json!({ "input": typed.clone(), "confirmed": true }),
        ),
        (
            "session.interact",
            json!({ "input": typed, "until": { "settle_ms": 1 } }),
        ),
        ("session.resize", json!({ "cols": 20, "rows": 5 })),
        ("session.kill", json!({})),
        ("session.kill", json!({ "signal": "SIGINT" })),
        ("session.close", json!({})),
        ("session.hold", json!({})),
    ] {
        let mut params = params;
        params["id"] = json!(shell);
        let error = agent.err(method, &params);
        error.assert_is_in(method, -32011, "confirmation_required");
        assert_eq!(error.data["needs_person"], true, "{method} {error:?}");
        ids.push(error.data["approval"].clone());
    }
    ids.dedup();
    assert_eq!(ids.len(), 1, "one question for the terminal: {ids:?}");
    assert_eq!(
        person.ok("session.show", &json!({ "id": shell }))["state"],
        "running"
    );
    person.ok(
        "approval.answer",
        &json!({ "id": ids[0], "decision": "approve" }),
    );
    for _ in 0..2 {
        agent.ok(
            "session.send",
            &json!({ "id": shell, "text": "echo us''ed\r" }),
        );
    }
    person.wait_for_text(&shell, "used\r\n");
    // From now on what runs there may be the agent's.
    let (victim, params) = victim(&daemon);
    let id = question(&mut agent, &params);
    let line = format!("{TERMCTL} approve {id}; echo do''ne\r");
    person.send_text(&shell, &line);
    person.wait_for_text(&shell, "done\r\n");
    assert_eq!(state(&mut person, &id), "pending");
    assert!(victim.exists());
}

fn foreign_terminals_denied() {
    let daemon = TestDaemon::configured("[policy]\nforeign_terminals = \"deny\"\n");
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut person = client(&daemon, "cli", "a person");
    let shell = persons_shell(&mut person);
    let params = json!({ "id": shell, "text": "id\r", "confirmed": true });
    agent
        .err("session.send", &params)
        .assert_is(-32012, "foreign_terminal");
    let listed = person.ok("approval.list", &json!({}));
    assert_eq!(listed["approvals"], json!([]));
    // Its own it uses as ever.
    let own = agent.create_terminal(&json!({ "command": "sh" }));
    agent.send_text(&own, "echo re''ady\r");
    agent.wait_for_text(&own, "ready\r\n");
}

fn profile_of_the_front() {
    let daemon = TestDaemon::configured(
        "[policy]\nforeign_terminals = \"allow\"\n\
         [policy.profiles.limited]\ntimeout = \"1h\"\n\
         [policy.fronts.mcp]\nprofile = \"limited\"\n",
    );
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut person = client(&daemon, "cli", "a person");
    let shell = persons_shell(&mut person);
    let params = json!({ "id": shell, "text": "id\r", "confirmed": true });
    let error = agent.err("session.send", &params);
    error.assert_is(-32011, "confirmation_required");
    let reason = error.data["reason"].as_str().unwrap();
    assert!(reason.contains("limited"), "{reason}");
    let own = agent.create_terminal(&json!({ "command": "sh" }));
    agent.send_text(&own, "echo re''ady\r");
    agent.wait_for_text(&own, "ready\r\n");
}

/// A rule gives a command another profile than the front's. It runs, and only typing into it is asked
/// about.
fn profile_of_a_rule() {
    let daemon = TestDaemon::configured(
        "[policy]\n[policy.profiles.limited]\ntimeout = \"1h\"\n\
         [policy.profiles.build]\ntimeout = \"2h\"\n\
         [policy.fronts.mcp]\nprofile = \"limited\"\n\
         [[policy.rules]]\nprofile = \"build\"\nprogram = \"cat\"\n",
    );
    let mut agent = client(&daemon, "mcp", "an agent");
    let own = agent.create_terminal(&json!({ "command": "cat" }));
    agent.ok("session.hold", &json!({ "id": own }));
    agent.ok(
        "session.resize",
        &json!({ "id": own, "cols": 100, "rows": 30 }),
    );
    let error = agent.err("session.send", &json!({ "id": own, "text": "x\r" }));
    error.assert_is(-32011, "confirmation_required");
    agent.ok("session.kill", &json!({ "id": own }));
    agent.ok("session.close", &json!({ "id": own }));
}

fn profile_none_of_the_front() {
    let daemon = TestDaemon::configured(
        "[policy]\nforeign_terminals = \"allow\"\n[policy.fronts.mcp]\nprofile = \"none\"\n",
    );
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut person = client(&daemon, "cli", "a person");
    let shell = persons_shell(&mut person);
    agent.send_text(&shell, "echo us''ed\r");
    person.wait_for_text(&shell, "used\r\n");
}

fn prefix_of_a_foreign_terminal() {
    let daemon = TestDaemon::configured("[policy]\nforeign_terminals = \"allow\"\n");
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut person = client(&daemon, "cli", "a person");
    let shell = persons_shell(&mut person);
    let prefix = shell.get(.."term_a".len()).unwrap();
    for name in [prefix, prefix.strip_prefix("term_").unwrap()] {
        let error = agent.err("session.send", &json!({ "id": name, "text": "id\r" }));
        error.assert_is_in(name, -32002, "terminal_not_found");
        agent.err("session.show", &json!({ "id": name }));
    }
    person.ok("session.show", &json!({ "id": prefix }));
    agent.ok("session.send", &json!({ "id": shell, "text": "id\r" }));
}
