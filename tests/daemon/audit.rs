//! The audit: who did what is on the disk before it is done, without the secrets, and whole.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;
use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection};

use crate::support::{
    Deadline, Home, Process, RawClient, SESSION, TestDaemon, is_root, merged, sh, skip, wait_until,
};

/// All records of a terminal, oldest first.
fn records(client: &mut RawClient, id: &str) -> Vec<Value> {
    let page = client.ok("audit.list", &json!({ "filter": { "terminal": id } }));
    let mut records = page["records"].as_array().unwrap().clone();
    records.reverse();
    records
}

fn record<'a>(records: &'a [Value], action: &str) -> &'a Value {
    let found = records.iter().find(|record| record["action"] == action);
    found.unwrap_or_else(|| panic!("no {action} in {records:#?}"))
}

/// Whether any file of the database, or the log, holds this text.
fn is_stored(home: &Home, text: &str) -> bool {
    let mut paths: Vec<PathBuf> = (fs::read_dir(home.state_dir()).unwrap().flatten())
        .map(|entry| entry.path())
        .collect();
    paths.push(home.log_path());
    let holds = |path: &PathBuf| {
        let bytes = fs::read(path).unwrap_or_default();
        bytes
            .windows(text.len())
            .any(|window| window == text.as_bytes())
    };
    paths.iter().any(holds)
}

#[test]
fn every_deed_has_its_record() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    agent.ok("daemon.hello", &json!({ "client": "the test" }));
    let id = agent.create(
        &json!({ "command": "sh", "args": ["-c", "read go; sleep 1000"],
        "cwd": daemon.user_home(), "env": [{ "name": "A_NAME", "value": "a-secret-value" }] }),
    );
    agent.ok("session.send", &json!({ "id": id, "text": "12345\n" }));
    agent.kill(&id);
    agent.wait(&id);
    agent.release(&id);
    wait_until("the exit is recorded", || {
        records(&mut agent, &id)
            .iter()
            .any(|record| record["action"] == "terminal.exit")
    });
    let records = records(&mut agent, &id);
    let create = record(&records, "terminal.create");
    assert_eq!(create["outcome"], "ok");
    assert_eq!(
        create["detail"]["argv"],
        json!(["sh", "-c", "read go; sleep 1000"])
    );
    assert_eq!(create["detail"]["cwd"], json!(daemon.user_home()));
    let names = create["detail"]["env"].to_string();
    assert!(names.contains("A_NAME"), "{create}");
    let actor = &create["actor"];
    assert_eq!(
        (&actor["front"], &actor["session"]),
        (&json!("acp"), &json!(SESSION))
    );
    assert_eq!(actor["client"], "the test");
    assert_eq!(actor["pid"], std::process::id());
    assert_eq!(actor["exe"], json!(std::env::current_exe().unwrap()));
    let input = record(&records, "terminal.input");
    assert!(
        !input.to_string().contains("12345"),
        "what was typed is not recorded: {input}"
    );
    record(&records, "terminal.kill");
    record(&records, "terminal.release");
    let exit = record(&records, "terminal.exit");
    assert!(exit.to_string().contains("SIGTERM"), "{exit}");

    let verdict = agent.ok("audit.verify", &Value::Null);
    assert_eq!(verdict["first_bad"], Value::Null, "{verdict}");
    assert!(verdict["checked"].as_u64().unwrap() >= 5, "{verdict}");
    let home = daemon.stop();
    assert!(is_stored(&home, "A_NAME"), "the search itself works");
    assert!(!is_stored(&home, "a-secret-value"), "a value was stored");
}

/// What is typed while the terminal does not echo, such as a password, is stored nowhere.
#[test]
fn a_typed_password_is_stored_nowhere() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.script("stty -echo; printf 'Password: '; read p; echo; echo ${#p}");
    agent.wait_for_text(&id, "Password: ");
    agent.ok(
        "session.send",
        &json!({ "id": id, "text": "correct-horse-battery\n" }),
    );
    assert_eq!(agent.wait(&id), (Some(0), None));
    assert!(agent.text(&id).contains("21"));
    assert!(!is_stored(&daemon, "correct-horse-battery"));
    let home = daemon.stop();
    assert!(!is_stored(&home, "correct-horse-battery"));
}

/// What could not be started was still asked for.
#[test]
fn a_command_that_cannot_start_is_recorded_with_what_went_wrong() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    agent
        .try_create(&json!({ "command": "no-such-command-anywhere" }))
        .expect_err("it cannot start");
    let page = agent.ok("audit.list", &json!({ "filter": { "action": "terminal" } }));
    let records = page["records"].to_string();
    assert!(records.contains("no-such-command-anywhere"), "{records}");
}

#[test]
fn records_are_filtered_and_paged() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    for _ in 0..7 {
        agent.run(&json!({ "command": "true" }));
    }
    let mut others = daemon.client();
    others.ok("daemon.hello", &json!({ "client": "somebody else" }));
    let id = others.ok("session.create", &json!({ "command": "true" }))["id"].clone();
    others.ok("session.wait", &json!({ "id": id }));
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let params = json!({ "filter": { "action": "terminal.create", "client": SESSION },
                             "limit": 3, "cursor": cursor });
        let page = agent.ok("audit.list", &params);
        seen.extend(page["records"].as_array().unwrap().clone());
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(seen.len(), 7, "{seen:#?}");
    assert!(
        seen.windows(2)
            .all(|pair| pair[0]["seq"].as_i64() > pair[1]["seq"].as_i64())
    );
    let page = agent.ok(
        "audit.list",
        &json!({ "filter": { "client": "somebody else" } }),
    );
    let records = page["records"].as_array().unwrap();
    assert!(!records.is_empty());
    assert!(
        records
            .iter()
            .all(|record| record["actor"]["client"] == "somebody else"
                || record["action"] == "terminal.exit")
    );
    let none = json!({ "filter": { "until_ms": 1 } });
    assert_eq!(agent.ok("audit.list", &none)["records"], json!([]));
}

/// Runs SQL on a database that no daemon has open.
fn tamper(database: &Path, sql: &str) {
    let runtime = (tokio::runtime::Builder::new_current_thread().enable_all())
        .build()
        .unwrap();
    let statements = format!(
        "DROP TRIGGER IF EXISTS audit_is_never_changed; \
         DROP TRIGGER IF EXISTS audit_is_dropped_by_retention_alone; {sql}"
    );
    runtime.block_on(async {
        let options = SqliteConnectOptions::new().filename(database);
        let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
        let statements = sqlx::raw_sql(AssertSqlSafe(statements));
        statements.execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    });
}

#[test]
fn tampering_is_found_and_the_first_bad_row_named() {
    // Each is about the record of the second create, `{n}`.
    for sql in [
        "UPDATE audit SET detail = replace(detail, 'one', 'two') WHERE seq = {n}",
        "UPDATE audit SET at_ms = at_ms + 1 WHERE seq = {n}",
        "UPDATE audit SET uid = uid + 1 WHERE seq >= {n}",
        "UPDATE audit SET outcome = 'denied' WHERE seq = {n}",
        "UPDATE audit SET hash = prev_hash WHERE seq = {n}",
        "UPDATE audit SET prev_hash = hash WHERE seq = {n}",
        "DELETE FROM audit WHERE seq = {n}",
    ] {
        let daemon = TestDaemon::start();
        let mut agent = daemon.agent();
        for _ in 0..3 {
            agent.run(&json!({ "command": "echo", "args": ["one"] }));
        }
        assert_eq!(
            agent.ok("audit.verify", &Value::Null)["first_bad"],
            Value::Null
        );
        let creates = json!({ "filter": { "action": "terminal.create" } });
        let page = agent.ok("audit.list", &creates);
        let changed = page["records"][1]["seq"]
            .as_i64()
            .expect("the second of three");
        let info = agent.ok("daemon.info", &Value::Null);
        let database = PathBuf::from(info["database"].as_str().unwrap());
        drop(agent);
        let home = daemon.stop();
        tamper(&database, &sql.replace("{n}", &changed.to_string()));
        let daemon = TestDaemon::start_in(home);
        let verdict = daemon.client().ok("audit.verify", &Value::Null);
        let bad = verdict["first_bad"]["seq"].as_i64();
        let of_a_gap = sql.starts_with("DELETE").then_some(changed + 1);
        assert!(
            bad == Some(changed) || bad.is_some() && bad == of_a_gap,
            "{sql}: {verdict}"
        );
        let reason = verdict["first_bad"]["reason"].as_str().unwrap_or_default();
        assert!(!reason.is_empty(), "{verdict}");
    }
}

/// A small file system for the state directory, unmounted after the test.
pub(crate) struct SmallDisk<'a> {
    home: &'a Home,
}

impl<'a> SmallDisk<'a> {
    pub(crate) fn mount(home: &'a Home) -> Result<Self, String> {
        let output = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=3m,mode=0700", "tmpfs"])
            .arg(home.path("state"))
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(Self { home })
        } else {
            Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
        }
    }

    /// Writes until nothing fits.
    pub(crate) fn fill(&self) {
        let chunk = vec![1; 4096];
        let mut file = fs::File::create(self.home.path("state/filler")).unwrap();
        while std::io::Write::write_all(&mut file, &chunk).is_ok() {}
    }

    pub(crate) fn empty(&self) {
        fs::remove_file(self.home.path("state/filler")).unwrap();
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount")
            .arg("-l")
            .arg(self.home.path("state"))
            .status();
    }
}

/// Where the record cannot be written, the command does not run, and the error says why.
#[test]
fn nothing_runs_without_its_record() {
    if !is_root() {
        return skip(
            "nothing_runs_without_its_record",
            "mounting a small disk needs root",
        );
    }
    let home = Home::new();
    let root = home.path("");
    // The mount must outlive the daemon, which owns its home: a second view of the same place.
    let view = Home::view(&root);
    let disk = match SmallDisk::mount(&view) {
        Ok(disk) => disk,
        Err(reason) => return skip("nothing_runs_without_its_record", &reason),
    };
    let daemon = TestDaemon::start_in(home);
    let mut agent = daemon.agent();
    agent.run(&json!({ "command": "true" }));
    disk.fill();
    let mut refused = None;
    for n in 0..400 {
        let witness = daemon.path(format!("home/ran-{n}"));
        let params = json!({ "command": "touch", "args": [witness] });
        match agent.try_create(&params) {
            Ok(result) => {
                agent.wait(result["terminalId"].as_str().unwrap());
            }
            Err(error) => {
                refused = Some((error, witness));
                break;
            }
        }
    }
    let (error, witness) = refused.expect("a full disk was never noticed");
    assert_eq!(
        (error.code, error.kind()),
        (-32005, "audit_unavailable"),
        "{error:?}"
    );
    assert!(error.message.contains("audit"), "{error:?}");
    assert!(!witness.exists(), "it ran all the same");
    // What runs already is still read and waited for.
    let list = agent.ok("session.list", &json!({ "scope": "running" }));
    assert_eq!(list["terminals"], json!([]));
    disk.empty();
    wait_until("it recovers", || {
        agent.try_create(&json!({ "command": "true" })).is_ok()
    });
    let verdict = agent.ok("audit.verify", &Value::Null);
    assert_eq!(verdict["first_bad"], Value::Null, "{verdict}");
    drop(agent);
    let home = daemon.stop();
    drop(disk);
    drop(home);
}

/// A record is there although the daemon was killed right after it.
#[test]
fn records_outlive_a_kill() {
    let mut daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let params = merged(&sh("echo \"pid $$;\"; exec sleep 1000"), &json!({}));
    let id = agent.create(&params);
    let process: Process = agent.printed_processes(&id, 1).remove(0);
    let server = daemon.server();
    // The keeper first: it would start another server, and who still held the socket of the dead
    // would be asked in the place of the next daemon.
    daemon.signal(Signal::KILL);
    server.signal(Signal::KILL);
    daemon.wait_exit();
    assert!(server.ends_by(Deadline::after(crate::support::DEADLINE)));
    assert!(
        process.ends_by(Deadline::after(crate::support::DEADLINE)),
        "the terminal hung up"
    );
    let daemon = TestDaemon::start_in(daemon.stop());
    let mut client = daemon.client();
    let records = records(&mut client, &id);
    record(&records, "terminal.create");
    let verdict = client.ok("audit.verify", &Value::Null);
    assert_eq!(verdict["first_bad"], Value::Null, "{verdict}");
}
