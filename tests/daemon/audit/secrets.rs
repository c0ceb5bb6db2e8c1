//! Secrets that no file of the daemon may hold.

use rustix::process::Signal;
use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon, wait_until};

use super::typing::typed;

/// A password is typed while the tty does not echo.
#[test]
fn a_typed_password_is_stored_nowhere() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.script("stty -echo; printf 'Password: '; read p; echo; echo ${#p}");
    agent.wait_for_text(&id, "Password: ");
    agent.send_text(&id, "correct-horse-battery\n");
    assert_eq!(agent.wait(&id), (Some(0), None));
    assert!(agent.text(&id).contains("21"));
    assert!(daemon.files_with_text("correct-horse-battery").is_empty());
    let home = daemon.stop();
    assert!(home.files_with_text("correct-horse-battery").is_empty());
}

#[test]
fn log_input_keeps_what_is_echoed_and_never_a_secret() {
    let daemon = TestDaemon::configured("[audit]\nlog_input = true\n");
    let mut agent = daemon.agent();
    let script = "echo ready; read a; stty -echo; echo 'Password: '; read p; stty echo; echo done; \
                  read b; stty raw -echo; echo raw; head -c 5 >/dev/null";
    let id = agent.script(script);
    agent.wait_for_text(&id, "ready");
    agent.send_text(&id, "first line\n");
    agent.wait_for_text(&id, "Password: ");
    agent.send_text(&id, "correct-horse\n");
    agent.wait_for_text(&id, "done");
    agent.send_text(&id, "curl --password zebra99\n");
    agent.wait_for_text(&id, "raw");
    agent.send_text(&id, "QQQQQ");
    agent.wait(&id);
    // 11 bytes, 24 bytes, and 5 that were not echoed. Of the hidden line only its existence is
    // recorded.
    let found = json!(typed(&mut agent, &id, 40)).to_string();
    assert!(found.contains("first line"), "{found}");
    assert!(found.contains("--password [redacted 7 bytes "), "{found}");
    assert!(found.contains("\"hidden\":1"), "{found}");
    for secret in ["correct-horse", "zebra99", "QQQQQ"] {
        assert!(!found.contains(secret), "{secret}: {found}");
    }
}

/// A secret on a command line is shown while the command runs, after a change of the server as
/// well, and stored nowhere.
#[test]
fn secrets_of_command_lines_are_shown_live_and_stored_nowhere() {
    let config = "[audit]\nredact = [\"CUSTOM-[0-9]+\"]\n";
    let daemon = TestDaemon::configured(config);
    let mut agent = daemon.agent();
    let script = "exec sleep 1000";
    let args = json!(["-c", script, "x", "--password=tango-foxtrot", "CUSTOM-4711"]);
    let id = agent.create(&json!({ "command": "sh", "args": args }));
    let shown =
        |client: &mut RawClient| client.ok("session.show", &json!({ "id": id })).to_string();
    assert!(shown(&mut agent).contains("tango-foxtrot"));
    // A connection to the old server ends with that server.
    let server = || {
        let mut client = daemon.client();
        let request = client.try_send("daemon.info", &Value::Null).ok()?;
        let answer = client.try_answer(request).ok()?;
        answer["result"]["server_pid"].as_i64()
    };
    let before = server();
    daemon.signal(Signal::HUP);
    wait_until("another server serves", || {
        server().is_some_and(|pid| Some(pid) != before)
    });
    let mut client = daemon.client();
    assert!(
        shown(&mut client).contains("tango-foxtrot"),
        "what runs is shown as it runs"
    );
    let page = client.ok("audit.list", &json!({ "filter": { "terminal": id } }));
    assert!(
        page.to_string().contains("--password=[redacted 13 bytes "),
        "{page}"
    );
    wait_until("its command is listed", || {
        let page = client.ok("command.list", &Value::Null).to_string();
        assert!(!page.contains("tango"), "{page}");
        page.contains("[redacted ")
    });
    client.ok("session.close", &json!({ "id": id }));
    drop((agent, client));
    let home = daemon.stop();
    for secret in ["tango-foxtrot", "CUSTOM-4711"] {
        let holders = home.files_with_text(secret);
        assert!(holders.is_empty(), "{secret} is in {holders:?}");
    }
}
