//! Passwords of agents' commands: a person is asked, and nothing keeps the answer.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use termd_test_support::{Pty, RawClient, TestDaemon, skip};

use crate::termctl::{TermctlOutput, command, ok, termctl};

const SECRET: &str = "corr3ct-horse";

/// A connection of an agent's front.
fn agent(daemon: &TestDaemon) -> RawClient {
    let mut client = daemon.client();
    client.ok(
        "daemon.hello",
        &json!({ "client": "an agent", "front": "mcp" }),
    );
    client
}

/// Runs a line in a terminal of the agent's, as a person has agreed to.
fn run(daemon: &TestDaemon, agent: &mut RawClient, line: &str) -> String {
    let home = daemon.user_home();
    let mut params = json!({ "command": "/bin/sh", "args": ["-c", line], "cwd": home });
    match agent.request("session.create", &params) {
        Ok(created) => created["id"].as_str().unwrap().to_owned(),
        // The gate does not know what the variable runs.
        Err(refused) => {
            let question = refused.data["approval"].as_str().unwrap().to_owned();
            ok(daemon, &["approve", &question]);
            params["confirmed"] = json!(false);
            agent.create_terminal(&params)
        }
    }
}

/// `termctl approvals --watch`, as a person has it open.
struct Watcher {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Watcher {
    fn start(daemon: &TestDaemon) -> Self {
        let mut command = command(daemon, &["approvals", "--watch", "--json"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut watcher = Self { child, lines };
        // It watches once the daemon shows it a question.
        let mut client = agent(daemon);
        let id = run(
            daemon,
            &mut client,
            "while ! \"$SUDO_ASKPASS\" watching; do :; done",
        );
        let question = watcher.asked("watching");
        ok(daemon, &["deny", question["id"].as_str().unwrap()]);
        client.ok("session.close", &json!({ "id": id }));
        watcher
    }

    /// The next question.
    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// The next question for a secret.
    fn next_secret(&mut self) -> Value {
        loop {
            let question = self.next();
            if question["prompt"].is_string() {
                return question;
            }
        }
    }

    /// The next one with this in its prompt.
    fn asked(&mut self, prompt: &str) -> Value {
        loop {
            let question = self.next();
            if question["prompt"]
                .as_str()
                .is_some_and(|it| it.contains(prompt))
            {
                return question;
            }
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn answer(daemon: &TestDaemon, question: &Value, secret: &str) -> TermctlOutput {
    let mut answer = command(daemon, &["answer", question["id"].as_str().unwrap()]);
    answer
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = answer.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(format!("{secret}\n").as_bytes()).unwrap();
    drop(stdin);
    TermctlOutput::wait(child)
}

/// Files below a directory that hold a text.
fn holding(directory: &Path, text: &str) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holding(&path, text));
        } else if let Ok(bytes) = fs::read(&path)
            && bytes
                .windows(text.len())
                .any(|window| window == text.as_bytes())
        {
            found.push(path);
        }
    }
    found
}

#[test]
fn a_person_gives_a_password_to_the_program_and_to_nothing_else() {
    let daemon = TestDaemon::start();
    let mut watcher = Watcher::start(&daemon);
    let mut agent = agent(&daemon);
    let line = "secret=$(\"$SUDO_ASKPASS\" \"Password for me: \"); echo got ${#secret} characters";
    let id = run(&daemon, &mut agent, line);
    let question = watcher.asked("Password");
    assert_eq!(question["prompt"], "Password for me:");
    assert_eq!(question["terminal"], id);
    let program = question["program"].as_str().unwrap();
    assert!(program.ends_with("sh"), "{question}");
    let shown = ok(&daemon, &["approvals"]);
    assert!(
        shown.contains("\"Password for me:\", and reads what you answer; termctl answer "),
        "{shown}"
    );
    let answered = answer(&daemon, &question, SECRET);
    assert_eq!(
        (answered.code, answered.out.as_str()),
        (Some(0), ""),
        "{answered:?}"
    );
    agent.wait_for_text(&id, "got 13 characters");
    let late = answer(&daemon, &question, SECRET);
    assert_eq!(
        (late.code, late.err.lines().count()),
        (Some(3), 1),
        "{late:?}"
    );

    agent.wait_until_stored();
    let records = agent.audit_records(&json!({ "action": "secret.ask" }));
    assert_eq!(records[0]["outcome"], "ok");
    assert_eq!(records[0]["detail"]["prompt"], "Password for me:");
    let answers = agent.audit_records(&json!({ "action": "secret.answer" }));
    assert_eq!(answers[0]["detail"]["question"], question["id"]);
    assert_eq!(answers[0]["outcome"], "ok");
    let kept = holding(&daemon.path(""), SECRET);
    assert_eq!(kept, Vec::<std::path::PathBuf>::new());
}

#[test]
fn without_a_person_a_program_fails_at_once_as_it_would_without() {
    let daemon = TestDaemon::start();
    let mut agent = agent(&daemon);
    let line = "\"$SUDO_ASKPASS\" Password; echo code $?";
    let id = run(&daemon, &mut agent, line);
    let text = agent.wait_for_text(&id, "code 1");
    assert!(text.contains("nobody could be asked for it"), "{text}");
    // Who says no is heard, too.
    let mut watcher = Watcher::start(&daemon);
    let id = run(&daemon, &mut agent, line);
    let question = watcher.asked("Password");
    ok(&daemon, &["deny", question["id"].as_str().unwrap()]);
    let text = agent.wait_for_text(&id, "code 1");
    assert!(text.contains("said no"), "{text}");
    let outcomes: Vec<Value> = agent
        .audit_records(&json!({ "action": "secret.ask" }))
        .iter()
        .map(|record| record["outcome"].clone())
        .collect();
    assert_eq!(outcomes[0], "denied", "{outcomes:?}");
    // A question whose program has gone is withdrawn.
    let id = run(&daemon, &mut agent, line);
    let question = watcher.asked("Password");
    agent.ok("session.close", &json!({ "id": id }));
    termd_test_support::wait_until("it is withdrawn", || {
        let listed = termctl(&daemon, &["approvals", "--json"]).json();
        let mut questions = listed.as_array().unwrap().iter();
        questions.all(|it| it["id"] != question["id"])
    });
    termd_test_support::wait_until("it is recorded", || {
        let records = agent.audit_records(&json!({ "action": "secret.ask" }));
        let mut of_it = records
            .iter()
            .filter(|it| it["detail"]["question"] == question["id"]);
        of_it.any(|record| record["outcome"] == "expired: nobody answered")
    });
}

#[test]
fn an_agent_does_not_answer() {
    let daemon = TestDaemon::start();
    let mut watcher = Watcher::start(&daemon);
    let mut agent = agent(&daemon);
    let id = run(
        &daemon,
        &mut agent,
        "\"$SUDO_ASKPASS\" Password; echo code $?",
    );
    let question = watcher.asked("Password");
    let shown = ok(&daemon, &["approvals", question["id"].as_str().unwrap()]);
    assert!(
        shown.contains("Password") && shown.lines().count() == 1,
        "{shown}"
    );
    // The tty would take it for a key.
    let keys = answer(&daemon, &question, "a\u{3}b");
    assert_eq!(
        (keys.code, keys.err.lines().count()),
        (Some(2), 1),
        "{keys:?}"
    );
    let refused = agent.err(
        "secret.answer",
        &json!({ "id": question["id"], "secret": "guess" }),
    );
    assert_eq!(refused.kind(), "approver_refused", "{refused:?}");
    let records = agent.audit_records(&json!({ "action": "secret.answer" }));
    assert_eq!(records[0]["outcome"], "refused: may not answer this");
    assert_eq!(answer(&daemon, &question, SECRET).code, Some(0));
    agent.wait_for_text(&id, "code 0");
}

#[test]
fn ssh_and_git_ask_by_it() {
    let test = "ssh_and_git_ask_by_it";
    let daemon = TestDaemon::start();
    let key = daemon.user_home().join("key");
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", SECRET, "-f"])
        .arg(&key)
        .status();
    if !made.is_ok_and(|status| status.success()) {
        return skip(test, "there is no ssh-keygen");
    }
    let mut watcher = Watcher::start(&daemon);
    let mut agent = agent(&daemon);
    let id = run(&daemon, &mut agent, "ssh-keygen -y -f key");
    let question = watcher.asked("passphrase");
    assert!(
        question["program"]
            .as_str()
            .unwrap()
            .ends_with("ssh-keygen"),
        "{question}"
    );
    assert_eq!(answer(&daemon, &question, SECRET).code, Some(0));
    agent.wait_for_text(&id, "ssh-ed25519 ");
    if Command::new("git").arg("--version").output().is_err() {
        return skip(test, "there is no git");
    }
    let line = "printf 'protocol=https\\nhost=example.org\\n\\n' | git credential fill | wc -c";
    run(&daemon, &mut agent, line);
    for (prompt, text) in [("Username", "me"), ("Password", SECRET)] {
        let question = watcher.asked(prompt);
        assert!(
            question["program"].as_str().unwrap().contains("git"),
            "{question}"
        );
        assert_eq!(answer(&daemon, &question, text).code, Some(0));
    }
}

#[test]
fn a_person_at_the_tty_of_a_watcher_types_it_unseen() {
    let daemon = TestDaemon::start();
    let mut tty = Pty::open(200, 24);
    let before = tty.modes();
    let mut watcher = tty.spawn(&command(&daemon, &["approvals", "--watch"]));
    let mut agent = agent(&daemon);
    let printed =
        agent.create_terminal(&json!({ "command": "printenv", "args": ["SUDO_ASKPASS"] }));
    let askpass = agent.wait_for_text(&printed, "termd-askpass");
    // It fails until termctl watches. The gate asks nothing about a program by its path.
    let ask = |agent: &mut RawClient, prompt: &str| {
        let params = json!({ "command": askpass.trim(), "args": [prompt] });
        agent.create_terminal(&params)
    };
    let mut seen = String::new();
    termd_test_support::wait_until("it watches", || {
        let id = ask(&mut agent, "first");
        termd_test_support::wait_until("it is asked, or has failed", || {
            seen += &tty.read_now();
            let shown = agent.ok("session.show", &json!({ "id": id }));
            seen.contains("(nothing: no): ") || shown["state"] == "exited"
        });
        seen.contains("(nothing: no): ")
    });
    tty.write("\r");
    let id = ask(&mut agent, "pass");
    tty.read_until("\"pass\", and reads what you answer.");
    tty.read_until("Secret, which is not shown (nothing: no): ");
    tty.write(format!("{SECRET}\r"));
    agent.wait_for_text(&id, SECRET);
    ask(&mut agent, "again");
    let shown = tty.read_until("not shown (nothing: no): ");
    assert!(!shown.contains(SECRET), "{shown}");
    assert_ne!(tty.modes(), before);
    tty.write([0x03]);
    assert_eq!(tty.wait(&mut watcher).code(), Some(130));
    assert_eq!(tty.modes(), before);
    agent.wait_until_stored();
    let records = agent.audit_records(&json!({ "action": "secret.answer" }));
    assert_eq!(records[0]["outcome"], "ok", "{records:?}");
    assert_eq!(records[1]["outcome"], "denied", "{records:?}");
}

/// Whether a program is there; where not, the test says that it is skipped.
fn has(test: &str, program: &str) -> bool {
    let is_there = Command::new(program).arg("--version").output().is_ok();
    if !is_there {
        skip(test, format!("there is no {program}"));
    }
    is_there
}

#[test]
fn a_person_is_asked_for_what_a_tty_reads_unseen() {
    let test = "a_person_is_asked_for_what_a_tty_reads_unseen";
    let daemon = TestDaemon::start();
    let mut watcher = Watcher::start(&daemon);
    let mut agent = agent(&daemon);
    let bash = ("bash", "-c", "read -rsp 'Password: ' x; echo got ${#x}");
    let python = (
        "python3",
        "-c",
        "import getpass; print('got', len(getpass.getpass()))",
    );
    for (program, option, script) in [bash, python] {
        if !has(test, program) {
            continue;
        }
        let params = json!({ "command": program, "args": [option, script] });
        let id = agent.create_terminal(&params);
        let question = watcher.asked("Password");
        assert_eq!(question["prompt"], "Password:");
        assert_eq!(question["terminal"], id);
        let named = question["program"].as_str().unwrap();
        assert!(named.contains(program), "{question}");
        assert_eq!(answer(&daemon, &question, SECRET).code, Some(0));
        agent.wait_for_text(&id, "got 13");
        let records = agent.audit_records(&json!({ "action": "secret.ask" }));
        assert_eq!(records[0]["outcome"], "ok", "{records:?}");
        assert_eq!(records[0]["detail"]["question"], question["id"]);
    }
    agent.wait_until_stored();
    let kept = holding(&daemon.path(""), SECRET);
    assert_eq!(kept, Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_question_goes_with_the_tty_that_reads_no_more() {
    let daemon = TestDaemon::start();
    let mut watcher = Watcher::start(&daemon);
    let mut agent = agent(&daemon);
    let script = "for i in 1 2 3; do read -rsp \"Password $i: \" x; echo got ${#x}; done; read x";
    let params = json!({ "command": "bash", "args": ["-c", script] });
    let id = agent.create_terminal(&params);
    let is_listed = |question: &Value| {
        let listed = termctl(&daemon, &["approvals", "--json"]).json();
        let mut questions = listed.as_array().unwrap().iter();
        questions.any(|it| it["id"] == question["id"])
    };
    let first = watcher.asked("Password 1");
    // Whoever knows it types it, as ever.
    let typed = json!({ "id": id, "input": { "text": "abc", "enter": true, "secret": true } });
    agent.ok("session.type", &typed);
    agent.wait_for_text(&id, "got 3");
    let second = watcher.asked("Password 2");
    assert!(!is_listed(&first));
    ok(&daemon, &["deny", second["id"].as_str().unwrap()]);
    // Who has said no is not asked again for the same.
    agent.ok("session.type", &typed);
    let third = watcher.asked("Password 3");
    agent.ok("session.type", &typed);
    termd_test_support::wait_until("it is withdrawn", || !is_listed(&third));
    let expired = "expired: nobody answered";
    // It is recorded right after it is withdrawn.
    termd_test_support::wait_until("what became of each is recorded", || {
        let records = agent.audit_records(&json!({ "action": "secret.ask" }));
        let outcomes = records.iter().map(|it| it["outcome"].as_str()).take(3);
        outcomes.eq([expired, "denied", expired].map(Some))
    });
    // A person's terminal is a person's.
    let own = ok(
        &daemon,
        &["create", "--", "bash", "-c", "read -rsp 'Own: ' x"],
    );
    ok(&daemon, &["wait", own.trim(), "--for", "Own: "]);
    agent.create_terminal(&json!({ "command": "bash", "args": ["-c", "read -rsp 'Last: ' x"] }));
    assert_eq!(watcher.next_secret()["prompt"], "Last:");
}

#[test]
fn a_program_is_named_only_where_it_reads_the_answer() {
    let test = "a_program_is_named_only_where_it_reads_the_answer";
    let daemon = TestDaemon::start();
    let mut watcher = Watcher::start(&daemon);
    let mut agent = agent(&daemon);
    run(&daemon, &mut agent, "secret=$(\"$SUDO_ASKPASS\" read); :");
    let question = watcher.asked("read");
    assert!(question["program"].is_string(), "{question}");
    let mut lines = vec![
        "\"$SUDO_ASKPASS\" filed > got; :",
        "setsid --fork \"$SUDO_ASKPASS\" orphan; exec sleep 60",
    ];
    if Command::new("git").arg("--version").output().is_ok() {
        lines.extend([
            "git -c alias.x='!exec \"$SUDO_ASKPASS\" filed > got' x",
            "git -c alias.x='!exec \"$SUDO_ASKPASS\" piped' x | cat > got",
        ]);
    } else {
        skip(test, "there is no git");
    }
    for line in lines {
        run(&daemon, &mut agent, line);
        let question = watcher.next_secret();
        assert!(question["program"].is_null(), "{line}: {question}");
    }
}

#[test]
fn a_person_s_commands_ask_as_ever() {
    let daemon = TestDaemon::start();
    let line = "echo ${SUDO_ASKPASS-none} ${SSH_ASKPASS-none} ${GIT_ASKPASS-none}";
    let id = ok(&daemon, &["create", "--", "sh", "-c", line]);
    ok(&daemon, &["wait", &id]);
    assert_eq!(ok(&daemon, &["read", &id]), "none none none");
    let daemon = TestDaemon::configured("[agents]\naskpass = false\n");
    let mut agent = agent(&daemon);
    let id = run(&daemon, &mut agent, line);
    agent.wait_for_text(&id, "none none none");
}

/// A person who sees that sudo wants a password types it into the question that stands there.
#[test]
fn a_secret_is_asked_for_before_other_questions() {
    let daemon = TestDaemon::start();
    let mut client = agent(&daemon);
    let refused = client.err(
        "session.create",
        &json!({ "command": "rm", "args": ["-r", daemon.path("old")] }),
    );
    let old = refused.data["approval"].as_str().unwrap().to_owned();
    let mut tty = Pty::open(200, 24);
    let mut watcher = tty.spawn(&command(&daemon, &["approvals", "--watch"]));
    tty.read_until("May it? [y/N");
    run(&daemon, &mut client, "\"$SUDO_ASKPASS\" Password: > got");
    tty.read_until("a program waits for a secret; this question comes again");
    tty.read_until("Secret, which is not shown");
    // It may have been typed to the question before.
    tty.write(format!("{SECRET}\r"));
    tty.read_until("Secret, which is not shown");
    tty.write(format!("{SECRET}\r"));
    let shown = tty.read_until("May it? [y/N");
    assert!(!shown.contains(SECRET), "{shown}");
    let got = daemon.user_home().join("got");
    termd_test_support::wait_until("the program has the secret", || {
        fs::read_to_string(&got).is_ok_and(|text| text.trim_end() == SECRET)
    });
    assert!(ok(&daemon, &["approvals", &old]).contains(" pending"));
    watcher.kill().unwrap();
    watcher.wait().unwrap();
}
