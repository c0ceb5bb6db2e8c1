//! `file.*`: the methods, their bounds and each error.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};
use termd_test_support::{RawClient, RpcError, TestDaemon, merged};

/// The file's API with one terminal, in the home's folder `work`.
struct Session {
    client: RawClient,
    id: String,
}

impl Session {
    fn start(daemon: &TestDaemon) -> Self {
        let work = daemon.user_home().join("work");
        fs::create_dir_all(&work).unwrap();
        let mut client = daemon.client();
        let id = client.create_terminal(&json!({ "command": "bash", "cwd": work }));
        Self { client, id }
    }

    fn write(&mut self, path: &str, more: &Value) -> Result<Value, RpcError> {
        let base = json!({ "id": self.id, "path": path });
        self.client.request("file.write", &merged(&base, more))
    }

    fn search(&mut self, path: &str, pattern: Option<&str>) -> Result<Value, RpcError> {
        let params = json!({ "id": self.id, "path": path, "pattern": pattern });
        self.client.request("file.search", &params)
    }
}

#[test]
fn a_file_is_replaced_appended_to_and_created() {
    let daemon = TestDaemon::start();
    let mut session = Session::start(&daemon);
    let path = daemon.user_home().join("work/f");
    let written = session.write("f", &json!({ "text": "one" })).unwrap();
    // By sha256sum(1).
    let sha256 = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed";
    assert_eq!(
        written,
        json!({ "path": path, "bytes": 3, "size": 3, "sha256": sha256 })
    );
    let mode = |path| fs::metadata(path).unwrap().permissions().mode();
    let usual = daemon.user_home().join("work/usual");
    fs::write(&usual, "").unwrap();
    assert_eq!(mode(&path), mode(&usual), "the umask decides");
    let append = json!({ "data": "IQA=", "mode": "append" });
    let written = session.write("f", &append).unwrap();
    assert_eq!(
        (&written["bytes"], &written["size"]),
        (&json!(2), &json!(5))
    );
    assert_eq!(fs::read(&path).unwrap(), b"one!\0");
    let create = json!({ "text": "", "mode": "create" });
    let error = session.write("f", &create).unwrap_err();
    error.assert_is(-32014, "file_failed");
    assert_eq!(error.data["problem"], "system", "{error:?}");
    assert_eq!(session.write("g", &create).unwrap()["size"], 0);
    session.client.send_text(&session.id, "echo said' 'so\r");
    session.client.wait_for_text(&session.id, "said so\r\n");
    let written = session.write("t", &json!({ "transcript": true })).unwrap();
    let text = fs::read_to_string(daemon.user_home().join("work/t")).unwrap();
    assert!(text.contains("\nsaid so\n"), "{text:?}");
    assert_eq!(written["bytes"], text.len());
    // A file of an ended terminal is written, too; one of a closed terminal is not.
    session.client.send_text(&session.id, "exit\r");
    let id = json!({ "id": session.id });
    session.client.ok("session.wait", &id);
    session.write("f", &json!({ "text": "late" })).unwrap();
    session.client.ok("session.close", &id);
    let error = session
        .write("f", &json!({ "text": "too late" }))
        .unwrap_err();
    error.assert_is(-32002, "terminal_not_found");
}

#[test]
fn a_file_is_searched_for_what_it_holds() {
    let daemon = TestDaemon::start();
    let mut session = Session::start(&daemon);
    let path = daemon.user_home().join("work/log");
    fs::write(&path, "one\ntwo\n").unwrap();
    for (path, pattern, matched) in [
        ("log", None, true),
        (".", None, true),
        ("log", Some("^two$"), true),
        ("log", Some("^one.two"), false),
    ] {
        let found = session.search(path, pattern).unwrap();
        assert_eq!(found["matched"], matched, "{path} {pattern:?}");
    }
    for (path, pattern, problem) in [
        ("none", None, "system"),
        ("none", Some("x"), "system"),
        (".", Some("x"), "no_regular_file"),
    ] {
        let error = session.search(path, pattern).unwrap_err();
        error.assert_is(-32014, "file_failed");
        assert_eq!(error.data["problem"], problem, "{path} {pattern:?}");
    }
    session
        .search("log", Some("("))
        .unwrap_err()
        .assert_invalid("pattern");
}

#[test]
fn params_that_make_no_sense_are_refused() {
    let daemon = TestDaemon::start();
    let mut session = Session::start(&daemon);
    let long = "x".repeat(4_096);
    for (path, more, field) in [
        ("f", json!({}), "text"),
        ("f", json!({ "text": "a", "data": "YQ==" }), "text"),
        ("f", json!({ "text": "a", "transcript": true }), "text"),
        ("f", json!({ "data": "a" }), "data"),
        ("f", json!({ "text": "x".repeat((2 << 20) + 1) }), "text"),
        ("", json!({ "text": "a" }), "path"),
        ("a\0b", json!({ "text": "a" }), "path"),
        (&long, json!({ "text": "a" }), "path"),
    ] {
        session
            .write(path, &more)
            .unwrap_err()
            .assert_invalid_in(path, field);
    }
    let work = daemon.user_home().join("work");
    symlink("target", work.join("link")).unwrap();
    fs::write(work.join("target"), "").unwrap();
    let own = daemon.state_dir().join("x");
    for (path, more, problem) in [
        ("link", json!({ "follow_link": false }), "link"),
        ("none/../f", json!({}), "directory"),
        ("f/", json!({}), "no_name"),
        ("..", json!({}), "no_name"),
        ("/dev/null", json!({}), "no_regular_file"),
        (own.to_str().unwrap(), json!({}), "excluded"),
    ] {
        let more = merged(&json!({ "text": "a", "confirmed": true }), &more);
        let error = session.write(path, &more).unwrap_err();
        error.assert_is(-32014, "file_failed");
        assert_eq!(error.data["problem"], problem, "{path}: {error:?}");
    }
    session.write("link", &json!({ "text": "a" })).unwrap();
    assert_eq!(fs::read(work.join("target")).unwrap(), b"a");
    session
        .write("new/deep/f", &json!({ "text": "b" }))
        .unwrap();
    assert_eq!(fs::read(work.join("new/deep/f")).unwrap(), b"b");
}

#[test]
fn a_new_server_knows_the_workspace_and_lists_no_operation() {
    let daemon =
        TestDaemon::configured("kill_grace_ms = 300\n[policy.fronts.cli]\nprofile = 'workspace'\n");
    let mut session = Session::start(&daemon);
    let write = json!({ "text": "a" });
    let outside = daemon.user_home().join("outside");
    let outside = outside.to_str().unwrap();
    session.write("f", &write).unwrap();
    session.write(outside, &write).unwrap_err();
    daemon.kill_server();
    session.client = daemon.client();
    session.write("g", &write).unwrap();
    session.write(outside, &write).unwrap_err();
    let page = session
        .client
        .ok("session.list", &json!({ "scope": "all" }));
    assert_eq!(page["terminals"].as_array().unwrap().len(), 1, "{page}");
}

/// What a client is held to holds also where the terminal is held to nothing.
#[test]
fn a_file_is_written_under_the_profiles_of_terminal_and_client() {
    let daemon =
        TestDaemon::configured("kill_grace_ms = 300\n[policy.fronts.mcp]\nprofile = 'read-only'\n");
    let mut session = Session::start(&daemon);
    session.write("../f", &json!({ "text": "a" })).unwrap();
    let mut agent = daemon.client();
    let hello = json!({ "client": "agent", "front": "mcp" });
    agent.ok("daemon.hello", &hello);
    let mut person = std::mem::replace(&mut session.client, agent);
    let asked = session.write("../f", &json!({ "text": "b" })).unwrap_err();
    asked.assert_is(-32011, "confirmation_required");
    let answer = json!({ "id": asked.data["approval"], "decision": "approve" });
    person.ok("approval.answer", &answer);
    let error = session.write("../f", &json!({ "text": "b" })).unwrap_err();
    error.assert_is(-32014, "file_failed");
    assert_eq!(fs::read(daemon.user_home().join("f")).unwrap(), b"a");
    session.write("f", &json!({ "text": "b" })).unwrap();
}

#[test]
fn a_limit_of_a_files_size_is_an_error_and_leaves_nothing() {
    let daemon = TestDaemon::configured(
        "kill_grace_ms = 300\n[policy.fronts.cli]\nprofile = 'small'\n\
         [policy.profiles.small.limits]\nfile_bytes = '64KiB'\n",
    );
    let mut session = Session::start(&daemon);
    let long = "x".repeat(100 << 10);
    let error = session.write("f", &json!({ "text": long })).unwrap_err();
    error.assert_is(-32014, "file_failed");
    assert_eq!(error.data["errno"], 27, "{error:?}");
    let work = daemon.user_home().join("work");
    assert_eq!(fs::read_dir(&work).unwrap().count(), 0);
}
