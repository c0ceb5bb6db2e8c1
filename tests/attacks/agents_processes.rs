//! A process of an agent's is known as that whenever it matters: it may have connected before its
//! agent was known, speak as a front of its own, stand behind a wrapper, or meet a new server.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use termd_test_support::{McpClient, RawClient, TestDaemon, wait_until};

use crate::agents::{client, question, state, victim};
use crate::{Attack, RELAY};

pub(crate) const ATTACKS: &[Attack] = &[
    ("agents_are_known_to_a_new_server", new_server),
    ("agents_are_known_to_a_new_daemon", new_daemon),
    ("agents_connections_are_judged_anew", judged_anew),
    ("agents_behind_wrappers_are_agents", wrappers),
    ("agents_without_a_parent_are_agents", without_parent),
    (
        "agents_orphans_in_a_persons_terminal_are_agents",
        orphan_in_a_persons_terminal,
    ),
    ("agents_by_another_front_stay_agents", another_front),
    ("agents_by_another_front_can_ask", another_front_that_asks),
    ("agents_terminals_are_known_to_a_new_server", typed_before),
    ("agents_use_no_file_of_a_persons_terminal", files_and_keys),
];

const TERMCTL: &str = env!("CARGO_BIN_EXE_termctl");

/// A process of the agent's, which this process is, with a connection of its own.
struct Below {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Below {
    fn start(daemon: &TestDaemon) -> Self {
        let mut command = daemon.command(std::env::current_exe().unwrap());
        command.arg(RELAY).arg(daemon.socket());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut below = Self {
            stdin: child.stdin.take().unwrap(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
        };
        // It is connected from now on.
        below.call("daemon.info", &json!({}));
        below
    }

    fn call(&mut self, method: &str, params: &Value) -> Value {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        writeln!(self.stdin, "{request}").unwrap();
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{method}: {error}: {line:?}"))
    }

    fn is_agents(&mut self) -> bool {
        self.call("daemon.info", &json!({}))["result"]["agent"] == true
    }
}

impl Drop for Below {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The id of the question that a refused `rm` of the agent's leaves.
fn asked(mcp: &mut McpClient, daemon: &TestDaemon, line: &str) -> String {
    let asked = mcp.call("session_exec", &json!({ "exec": line }));
    assert_eq!(asked["requires_confirmation"], true, "{asked}");
    let listed = daemon.client().ok("approval.list", &json!({}));
    let pending = listed["approvals"].as_array().unwrap().iter();
    let mut pending = pending.filter(|approval| approval["state"] == "pending");
    pending.next_back().unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

/// A process of the agent's answers nothing, confirms nothing and switches off nothing.
fn assert_is_no_person(below: &mut Below, daemon: &TestDaemon, id: &str) {
    let mut person = daemon.client();
    for decision in ["approve", "always", "deny"] {
        let params = json!({ "id": id, "decision": decision });
        let answer = below.call("approval.answer", &params);
        assert_eq!(
            answer["error"]["data"]["kind"], "approver_refused",
            "{answer}"
        );
        assert_eq!(state(&mut person, id), "pending", "{decision}");
    }
    person.ok("approval.list", &json!({ "after": 0, "wait_ms": 0 }));
    let (victim, mut params) = victim(daemon);
    params["confirmed"] = json!(true);
    let answer = below.call("session.create", &params);
    assert_eq!(
        answer["error"]["data"]["kind"], "confirmation_required",
        "{answer}"
    );
    assert!(victim.exists());
}

fn line(daemon: &TestDaemon) -> String {
    format!("rm -r {}", victim(daemon).0.display())
}

fn new_server() {
    let daemon = TestDaemon::start();
    let mut mcp = McpClient::start(&daemon);
    asked(&mut mcp, &daemon, &line(&daemon));
    for is_killed in [false, true, false] {
        if is_killed {
            daemon.kill_server();
        } else {
            daemon.replace_server();
        }
        // The front has not said hello again.
        let mut below = Below::start(&daemon);
        assert!(below.is_agents(), "killed: {is_killed}");
        let id = asked(&mut mcp, &daemon, &line(&daemon));
        assert_is_no_person(&mut below, &daemon, &id);
    }
}

fn new_daemon() {
    let daemon = TestDaemon::start();
    let mut mcp = McpClient::start(&daemon);
    asked(&mut mcp, &daemon, &line(&daemon));
    drop(mcp);
    let daemon = TestDaemon::start_in(daemon.stop());
    assert!(Below::start(&daemon).is_agents());
    let info = daemon.client().ok("daemon.info", &json!({}));
    assert_ne!(info["agent"], true);
}

fn judged_anew() {
    let daemon = TestDaemon::start();
    let mut below = Below::start(&daemon);
    assert!(!below.is_agents(), "nobody knows the agent yet");
    let off = json!({
        "client": "termctl",
        "front": "cli",
        "settings": { "gate": { "enabled": false, "patterns": [] } },
    });
    below.call("daemon.hello", &off);
    let mut mcp = McpClient::start(&daemon);
    let id = asked(&mut mcp, &daemon, &line(&daemon));
    assert!(below.is_agents());
    assert_is_no_person(&mut below, &daemon, &id);
    let (_, params) = victim(&daemon);
    let answer = below.call("session.create", &params);
    assert_eq!(
        answer["error"]["data"]["kind"], "confirmation_required",
        "{answer}"
    );
    let mut person = client(&daemon, "cli", "a person");
    let shell = person.create_terminal(&json!({ "command": "sh" }));
    let answer = below.call("session.send", &json!({ "id": shell, "text": "id\r" }));
    assert_eq!(
        answer["error"]["data"]["kind"], "confirmation_required",
        "{answer}"
    );
}

fn wrappers() {
    for wrapper in [
        &["bash", "-c", "\"$@\"; exit 0", "bash"][..],
        &["sh", "-c", "\"$@\"; exit 0", "sh"],
        &["env", "A=b", "timeout", "600"],
        &["sh", "-c", "sh -c '\"$@\"; exit 0' sh \"$@\"; exit 0", "sh"],
        &["sh", "-c", "cat | \"$@\" | cat; exit 0", "sh"],
    ] {
        let daemon = TestDaemon::start();
        let mut command = daemon.command(wrapper[0]);
        command.args(&wrapper[1..]).args([TERMCTL, "mcp"]);
        let mut mcp = McpClient::spawn_command(command).initialized(&json!({}));
        let id = asked(&mut mcp, &daemon, &line(&daemon));
        let mut below = Below::start(&daemon);
        assert!(below.is_agents(), "{wrapper:?}");
        assert_is_no_person(&mut below, &daemon, &id);
        let info = daemon.client().ok("daemon.info", &json!({}));
        assert_ne!(info["agent"], true, "{wrapper:?}");
    }
}

/// A directory with `agent.sh`: a program that starts `termctl mcp`, uses it, and then runs a line, in
/// which ASK puts what termd knows of the process that asks into the file `info`.
fn agent_program(daemon: &TestDaemon, then: &str) -> PathBuf {
    let directory = daemon.path("state").join("agent");
    fs::create_dir_all(&directory).unwrap();
    let ask = format!(
        "printf '%s\\n' '{}' | {} {RELAY} {} > info.new; mv info.new info",
        json!({ "jsonrpc": "2.0", "id": 3, "method": "daemon.info", "params": {} }),
        std::env::current_exe().unwrap().display(),
        daemon.socket().display(),
    );
    let then = then.replace("ASK", &ask);
    let script = format!(
        "coproc M {{ exec {TERMCTL} mcp; }}\n\
         say() {{ printf '%s\\n' \"$1\" >&\"${{M[1]}}\"; }}\n\
         say '{}'\nread -r answer <&\"${{M[0]}}\"\nsay '{}'\nsay '{}'\n\
         read -r answer <&\"${{M[0]}}\"\n{then}\n",
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "alone", "version": "1" },
        } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized", "params": {} }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "session_list", "arguments": {},
        } }),
    );
    fs::write(directory.join("agent.sh"), script).unwrap();
    directory
}

fn assert_known(directory: &Path) {
    wait_until("the agent has asked", || directory.join("info").exists());
    let info = fs::read_to_string(directory.join("info")).unwrap();
    let info: Value = serde_json::from_str(&info).unwrap();
    assert_eq!(info["result"]["agent"], true, "{info}");
}

/// An agent whose parent has ended: its own is pid 1, or the user's service manager.
fn without_parent() {
    let daemon = TestDaemon::start();
    let directory = agent_program(&daemon, "ASK");
    let log = File::create(directory.join("log")).unwrap();
    let mut command: Command = daemon.command("setsid");
    command.args(["-f", "bash", "agent.sh"]);
    command.current_dir(&directory);
    command
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log);
    assert!(command.status().unwrap().success());
    assert_known(&directory);
}

/// What an agent leaves behind in the terminal of the person who has started it.
fn orphan_in_a_persons_terminal() {
    let daemon = TestDaemon::start();
    let orphan = "sh -c '(while kill -0 $$ 2>/dev/null; do :; done; . ./ask) & exit 0'";
    let directory = agent_program(
        &daemon,
        &format!("cat > ask <<'END'\nASK\nEND\n{orphan}\nread x"),
    );
    let mut person = client(&daemon, "cli", "a person");
    person.create_terminal(&json!({ "command": "bash", "args": ["agent.sh"], "cwd": directory }));
    assert_known(&directory);
    // In a terminal without an agent what the person leaves behind stays the person's.
    let own = shell(&mut person);
    fs::rename(directory.join("info"), directory.join("first")).unwrap();
    person.send_text(&own, &format!("cd {}; {orphan}\r", directory.display()));
    wait_until("the orphan has asked", || directory.join("info").exists());
    let info = fs::read_to_string(directory.join("info")).unwrap();
    assert!(
        info.contains("server_pid") && !info.contains("agent"),
        "{info}"
    );
}

/// What a process of an agent's says of itself does not make it another one.
fn hellos(client: &str) -> Vec<Value> {
    let own = i64::from(std::process::id());
    let mut hellos = Vec::new();
    for front in ["mcp", "acp", "cli"] {
        for agent_pid in [Value::Null, json!(own)] {
            hellos.push(json!({ "client": client, "front": front, "agent_pid": agent_pid }));
        }
    }
    hellos
}

fn another_front() {
    let daemon = TestDaemon::configured(
        "[[policy.rules]]\neffect = \"deny\"\nclient = \"a-test*\"\nprogram = \"touch\"\n\
         [[policy.rules]]\neffect = \"deny\"\nclient = \"nested\"\nprogram = \"seq\"\n\
         [policy.profiles.limited]\ntimeout = \"1h\"\n\
         [policy.fronts.mcp]\nprofile = \"limited\"\nconfirmed = \"never\"\n",
    );
    let mut mcp = McpClient::start(&daemon);
    asked(&mut mcp, &daemon, &line(&daemon));
    let (victim, remove) = victim(&daemon);
    for hello in hellos("nested") {
        let mut below = Below::start(&daemon);
        below.call("daemon.hello", &hello);
        let touch = json!({ "command": "touch", "args": [victim] });
        let answer = below.call("session.create", &touch);
        assert_eq!(
            answer["error"]["data"]["kind"], "denied",
            "{hello} {answer}"
        );
        let answer = below.call(
            "session.create",
            &json!({ "command": "sleep", "args": ["60"] }),
        );
        let info = &answer["result"];
        assert_eq!(
            info["confinement"]["profiles"],
            json!(["limited"]),
            "{hello} {answer}"
        );
        let typed = json!({ "id": info["id"], "text": "x" });
        below.call("session.send", &typed);
        let mut params = remove.clone();
        params["confirmed"] = json!(true);
        let answer = below.call("session.create", &params);
        assert_eq!(
            answer["error"]["data"]["needs_person"], true,
            "{hello} {answer}"
        );
        if hello["front"] != "cli" {
            // And a rule for what it says it is.
            let seq = below.call(
                "session.create",
                &json!({ "command": "seq", "args": ["1"] }),
            );
            assert_eq!(seq["error"]["data"]["kind"], "denied", "{hello} {seq}");
        }
    }
    assert!(victim.exists());
    // One that no agent has started is judged by what it says.
    let mut other = client(&daemon, "acp", "another");
    other.create_terminal(&json!({ "command": "touch", "args": [victim] }));
}

/// An agent's front can ask its person, so the word of a front beside it does not count.
fn another_front_that_asks() {
    let daemon = TestDaemon::start();
    let (victim, mut params) = victim(&daemon);
    params["confirmed"] = json!(true);
    {
        let _mcp = {
            let mut mcp = McpClient::start_with(&daemon, &[], &json!({ "elicitation": {} }));
            mcp.call("session_list", &json!({}));
            mcp
        };
    }
    // Its front has gone, and a new server has come.
    daemon.replace_server();
    for hello in hellos("another") {
        let mut below = Below::start(&daemon);
        below.call("daemon.hello", &hello);
        let answer = below.call("session.create", &params);
        assert_eq!(
            answer["error"]["data"]["needs_person"], true,
            "{hello} {answer}"
        );
    }
    assert!(victim.exists());
}

/// A shell that a person has opened, at its prompt.
fn shell(person: &mut RawClient) -> String {
    let shell = person.create_terminal(&json!({ "command": "sh" }));
    person.send_text(&shell, "echo re''ady\r");
    person.wait_for_text(&shell, "ready\r\n");
    shell
}

fn typed_before() {
    for foreign in ["allow", "ask"] {
        let config = format!("[policy]\nforeign_terminals = \"{foreign}\"\n");
        let daemon = TestDaemon::configured(&config);
        let mut agent = client(&daemon, "mcp", "an agent");
        let mut person = client(&daemon, "cli", "a person");
        let shell = shell(&mut person);
        let typed = json!({ "id": shell, "text": "echo ty''ped\r" });
        if foreign == "ask" {
            let error = agent.err("session.send", &typed);
            let id = error.data["approval"].clone();
            person.ok(
                "approval.answer",
                &json!({ "id": id, "decision": "approve" }),
            );
        }
        agent.ok("session.send", &typed);
        person.wait_for_text(&shell, "typed\r\n");
        for is_killed in [true, false] {
            if is_killed {
                daemon.kill_server();
            } else {
                daemon.replace_server();
            }
            let mut agent = client(&daemon, "mcp", "an agent");
            let mut person = client(&daemon, "cli", "a person");
            let (victim, params) = victim(&daemon);
            let id = question(&mut agent, &params);
            let done = format!("done{is_killed}");
            let line = format!("{TERMCTL} approve {id}; echo \"{done}\"-\r");
            person.send_text(&shell, &line);
            person.wait_for_text(&shell, &format!("{done}-\r\n"));
            assert_eq!(state(&mut person, &id), "pending", "{foreign} {is_killed}");
            assert!(victim.exists());
            // Who may use it is known, too.
            agent.ok("session.send", &json!({ "id": shell, "text": ":\r" }));
        }
    }
}

fn files_and_keys() {
    let daemon = TestDaemon::start();
    let mut agent = client(&daemon, "mcp", "an agent");
    let mut person = client(&daemon, "cli", "a person");
    let shell = shell(&mut person);
    let file = daemon.path("state").join("file");
    for (method, params) in [
        (
            "file.write",
            json!({ "path": file, "text": "x", "confirmed": true }),
        ),
        ("file.write", json!({ "path": file, "transcript": true })),
        (
            "file.search",
            json!({ "path": "/etc/hostname", "confirmed": true }),
        ),
        ("session.attach", json!({})),
        ("session.attach", json!({ "mode": "type" })),
    ] {
        let mut params = params;
        params["id"] = json!(shell);
        let error = agent.err(method, &params);
        error.assert_is_in(method, -32011, "confirmation_required");
        assert_eq!(error.data["needs_person"], true, "{method} {error:?}");
    }
    assert!(!file.exists());
    // Watching is reading.
    agent.ok("session.attach", &json!({ "id": shell, "mode": "watch" }));
    let mut mcp = McpClient::spawn(&daemon, &["--tools", "terminal"], &[]).initialized(&json!({}));
    let stop = json!({ "sessionId": shell, "transcriptPath": file, "confirmed": true });
    let stopped = mcp.call("terminal_stop", &stop);
    assert_eq!(stopped["requires_confirmation"], true, "{stopped}");
    assert!(!file.exists(), "{stopped}");
    assert_eq!(
        person.ok("session.show", &json!({ "id": shell }))["state"],
        "running"
    );
    let own = agent.create_terminal(&json!({ "command": "sh" }));
    agent.ok(
        "file.write",
        &json!({ "id": own, "path": file, "text": "x" }),
    );
}
