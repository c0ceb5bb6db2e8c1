//! Audit records: each action has one on the disk before it happens, and the chain is whole.

use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection, Row};
use termd_test_support::{
    Process, RawClient, SESSION, TestDaemon, assert_members, merged, sh, wait_until,
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

#[test]
fn every_action_has_a_record() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    agent.ok("daemon.hello", &json!({ "client": "the test" }));
    let id = agent.create(
        &json!({ "command": "sh", "args": ["-c", "read go; sleep 1000"],
        "cwd": daemon.user_home(), "env": [{ "name": "A_NAME", "value": "a-secret-value" }] }),
    );
    agent.send_text(&id, "12345\n");
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
    assert_members(actor, &json!({ "front": "acp", "session": SESSION }));
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

    let verdict = agent.assert_audit_is_whole();
    assert!(verdict["checked"].as_u64().unwrap() >= 5, "{verdict}");
    let home = daemon.stop();
    assert!(
        !home.files_with_text("A_NAME").is_empty(),
        "the search itself works"
    );
    assert!(
        home.files_with_text("a-secret-value").is_empty(),
        "a value was stored"
    );
}

/// The record of a failed start holds the command.
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
    let id = others.create_terminal(&json!({ "command": "true" }));
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

#[test]
fn the_filters_narrow_and_a_page_waits_for_what_comes() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    agent.run(&json!({ "command": "true" }));
    agent.err(
        "session.create",
        &json!({ "command": "rm", "args": ["-rf", "/"] }),
    );
    let mut list = |filter: Value| {
        let page = agent.ok(
            "audit.list",
            &json!({ "filter": filter, "order": "oldest" }),
        );
        page["records"].as_array().unwrap().clone()
    };
    let programs = |records: &[Value]| -> Vec<String> {
        let names = records
            .iter()
            .map(|record| record["detail"]["program"].to_string());
        names.collect()
    };
    assert_eq!(programs(&list(json!({ "program": "true" }))), ["\"true\""]);
    assert_eq!(
        programs(&list(json!({ "verdict": "dangerous" }))),
        ["\"rm\""]
    );
    assert_eq!(programs(&list(json!({ "outcome": "refused" }))), ["\"rm\""]);
    assert!(list(json!({ "front": "mcp" })).is_empty());
    assert_eq!(
        list(json!({ "front": "daemon", "action": "daemon" }))[0]["action"],
        "daemon.start"
    );
    let all = list(json!({}));
    let numbers: Vec<i64> = all
        .iter()
        .map(|record| record["seq"].as_i64().unwrap())
        .collect();
    assert!(
        numbers.windows(2).all(|pair| pair[0] < pair[1]),
        "{numbers:?}"
    );
    for filter in [
        json!({ "program": "" }),
        json!({ "client": "x".repeat(5000) }),
        json!({ "since_ms": 5, "until_ms": 5 }),
        json!({ "verdict": "evil" }),
    ] {
        let error = agent.err("audit.list", &json!({ "filter": filter }));
        assert_eq!(error.code, -32602, "{filter}: {error:?}");
    }
    let head = agent.ok("audit.list", &json!({ "limit": 1 }))["through"].to_string();
    let mut follower = daemon.client();
    let params = json!({ "filter": { "program": "echo" }, "cursor": head, "order": "oldest",
                         "wait_ms": 60000 });
    let waiting = follower.send("audit.list", &params);
    agent.run(&json!({ "command": "true" }));
    agent.run(&json!({ "command": "echo", "args": ["hi"] }));
    let page = follower.answer(waiting);
    assert_eq!(
        page["result"]["records"][0]["detail"]["program"], "echo",
        "{page}"
    );
    let hashes = agent.ok("audit.hashes", &json!({ "records": [1, 2, 999_999] }));
    assert_eq!(
        hashes["records"].as_array().map(Vec::len),
        Some(2),
        "{hashes}"
    );
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
    // Each statement changes the record of the second create, `{n}`.
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

/// Changes a record and computes the chain anew from there, as docs/audit.md says how.
fn rewrite(database: &Path, from: i64) {
    let runtime = (tokio::runtime::Builder::new_current_thread().enable_all())
        .build()
        .unwrap();
    tamper(
        database,
        &format!("UPDATE audit SET detail = '{{}}' WHERE seq = {from}"),
    );
    let columns =
        "seq, at_ms, action, outcome, front, uid, pid, exe, session, client, terminal, detail";
    let fields = columns.replace(", ", " AS TEXT), CAST(");
    runtime.block_on(async {
        let options = SqliteConnectOptions::new().filename(database);
        let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
        let select =
            format!("SELECT CAST({fields} AS TEXT) FROM audit WHERE seq >= ? ORDER BY seq");
        let rows = sqlx::query(AssertSqlSafe(select)).bind(from);
        let rows = rows.fetch_all(&mut connection).await.unwrap();
        let before = sqlx::query("SELECT hash FROM audit WHERE seq = ?").bind(from - 1);
        let mut head: String = before.fetch_one(&mut connection).await.unwrap().get(0);
        for row in rows {
            let mut fields = vec![Some("termd-audit-1".to_owned()), Some(head.clone())];
            fields.extend((0..row.len()).map(|column| row.get::<Option<String>, _>(column)));
            let netstrings: String = fields
                .iter()
                .map(|field| match field {
                    Some(text) => format!("{}:{text},", text.len()),
                    None => "-,".to_owned(),
                })
                .collect();
            let hash = format!("{:x}", Sha256::digest(netstrings));
            let update = sqlx::query("UPDATE audit SET prev_hash = ?, hash = ? WHERE seq = ?");
            let seq: String = row.get(0);
            let update = update
                .bind(&head)
                .bind(&hash)
                .bind(seq.parse::<i64>().unwrap());
            update.execute(&mut connection).await.unwrap();
            head = hash;
        }
        connection.close().await.unwrap();
    });
}

/// The file alone cannot tell; the running daemon knows its head.
#[test]
fn a_chain_computed_anew_under_a_running_daemon_is_found_at_once() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    for _ in 0..3 {
        agent.run(&json!({ "command": "echo", "args": ["one"] }));
    }
    // No record may come while the chain is computed.
    let exits = json!({ "filter": { "action": "terminal.exit" } });
    wait_until("each exit is recorded", || {
        let page = agent.ok("audit.list", &exits);
        page["records"].as_array().map(Vec::len) == Some(3)
    });
    agent.assert_audit_is_whole();
    let info = agent.ok("daemon.info", &Value::Null);
    let database = PathBuf::from(info["database"].as_str().unwrap());
    let head = agent.ok("audit.list", &json!({ "limit": 1 }))["through"].clone();
    rewrite(&database, 3);
    let verdict = agent.ok("audit.verify", &Value::Null);
    assert_eq!(verdict["first_bad"]["seq"], head, "{verdict}");
    let reason = verdict["first_bad"]["reason"].to_string();
    assert!(reason.contains("computed anew"), "{verdict}");
    // A later record does not hide it.
    agent.run(&json!({ "command": "true" }));
    let verdict = agent.ok("audit.verify", &Value::Null);
    assert!(!verdict["first_bad"].is_null(), "{verdict}");
}

/// The keeper holds the head of the chain while no server runs.
#[test]
fn a_chain_computed_anew_over_a_killed_server_is_named() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    for _ in 0..3 {
        agent.run(&json!({ "command": "echo", "args": ["one"] }));
    }
    let exits = json!({ "filter": { "action": "terminal.exit" } });
    wait_until("each exit is recorded", || {
        let page = agent.ok("audit.list", &exits);
        page["records"].as_array().map(Vec::len) == Some(3)
    });
    let info = agent.ok("daemon.info", &Value::Null);
    let database = PathBuf::from(info["database"].as_str().unwrap());
    // A server that is killed leaves the chain whole.
    daemon.kill_server();
    daemon.agent().assert_audit_is_whole();
    let head = daemon.client().ok("audit.list", &json!({ "limit": 1 }))["through"].clone();
    rewrite(&database, 3);
    daemon.kill_server();
    let mut client = daemon.client();
    let verdict = client.ok("audit.verify", &Value::Null);
    assert_eq!(verdict["first_bad"]["seq"], head, "{verdict}");
    let starts = client.audit_records(&json!({ "action": "daemon.start" }));
    let said = starts[0]["detail"]["chain"].as_str();
    assert_eq!(said, Some("changed while no server ran"), "{starts:?}");
    // Nor does a second restart hide it.
    daemon.kill_server();
    let verdict = daemon.client().ok("audit.verify", &Value::Null);
    assert!(!verdict["first_bad"].is_null(), "{verdict}");
}

#[test]
fn records_outlive_a_kill() {
    let mut daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let params = merged(&sh("echo \"pid $$;\"; exec sleep 1000"), &json!({}));
    let id = agent.create(&params);
    let process: Process = agent.printed_processes(&id, 1).remove(0);
    let server = daemon.server();
    // The keeper dies first, because it would start another server. A process that still held the
    // dead server's socket would answer in place of the next daemon.
    daemon.signal(Signal::KILL);
    server.signal(Signal::KILL);
    daemon.wait_exit();
    server.wait_for_end();
    process.wait_for_end();
    let daemon = TestDaemon::start_in(daemon.stop());
    let mut client = daemon.client();
    let records = records(&mut client, &id);
    record(&records, "terminal.create");
    client.assert_audit_is_whole();
}
