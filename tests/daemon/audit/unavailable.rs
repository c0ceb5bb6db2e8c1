//! An audit that cannot be written: actions are refused, termd recovers by itself, and the chain is
//! whole.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;
use serde_json::{Value, json};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, Connection};
use termd_test_support::{Home, RawClient, SmallDisk, TestDaemon, skip, wait_until};

fn database(client: &mut RawClient) -> PathBuf {
    let info = client.ok("daemon.info", &Value::Null);
    PathBuf::from(info["database"].as_str().unwrap())
}

fn assert_create_is_refused(client: &mut RawClient, witness: &std::path::Path) {
    let params = json!({ "command": "touch", "args": [witness] });
    let error = client.err("session.create", &params);
    error.assert_is(-32005, "audit_unavailable");
    assert!(!witness.exists(), "it ran all the same");
}

fn assert_recovers(client: &mut RawClient) {
    wait_until("it recovers by itself", || {
        let created = client.request("session.create", &json!({ "command": "true" }));
        created.is_ok()
    });
    client.assert_audit_is_whole();
}

#[test]
fn while_another_process_has_the_database_locked_nothing_is_run_or_typed() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.script("echo ready; cat");
    agent.wait_for_text(&id, "ready");
    let ended = agent.script("sleep 1000");
    let path = database(&mut agent);
    let runtime = (tokio::runtime::Builder::new_current_thread().enable_all())
        .build()
        .unwrap();
    let mut other = runtime.block_on(async {
        let options = SqliteConnectOptions::new().filename(path);
        let mut other = SqliteConnection::connect_with(&options).await.unwrap();
        let lock = sqlx::raw_sql(AssertSqlSafe("BEGIN EXCLUSIVE".to_owned()));
        lock.execute(&mut other).await.unwrap();
        other
    });
    assert_create_is_refused(&mut agent, &daemon.path("home/locked"));
    let error = agent.err(
        "session.send",
        &json!({ "id": id, "text": "typed anyway\n" }),
    );
    assert_eq!(error.code, -32005, "{error:?}");
    // What ends something is done, and recorded afterwards.
    agent.kill(&ended);
    runtime.block_on(async {
        let free = sqlx::raw_sql(AssertSqlSafe("ROLLBACK".to_owned()));
        free.execute(&mut other).await.unwrap();
        other.close().await.unwrap();
    });
    assert_recovers(&mut agent);
    let kills = agent.audit_records(&json!({ "action": "terminal.kill" }));
    assert_eq!(kills[0]["terminal"], ended, "{kills:?}");
    assert!(kills[0]["detail"]["done_at_ms"].is_i64(), "{kills:?}");
    agent.send_text(&id, "typed now\n");
    let text = agent.wait_for_text(&id, "typed now");
    assert!(!text.contains("anyway"), "{text}");
}

#[test]
fn a_database_that_was_swapped_under_the_daemon_is_not_written() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    agent.run(&json!({ "command": "true" }));
    let path = database(&mut agent);
    // Records written during the swap may still go into the old file.
    wait_until("all is stored", || {
        let mut client = daemon.client();
        let filter = json!({ "filter": { "action": "terminal.exit" } });
        let exits = client.ok("audit.list", &filter);
        let stats = client.ok("daemon.stats", &json!({}));
        exits["records"] != json!([]) && stats["unstored_bytes"] == 0
    });
    let aside = path.with_extension("aside");
    fs::rename(&path, &aside).unwrap();
    fs::copy(&aside, &path).unwrap();
    let foreign = fs::read(&path).unwrap();
    assert_create_is_refused(&mut agent, &daemon.path("home/swapped"));
    assert!(
        fs::read(&path).unwrap() == foreign,
        "the other one was written"
    );
    assert!(
        daemon.log().contains("was replaced or removed"),
        "{}",
        daemon.log()
    );
    fs::rename(&aside, &path).unwrap();
    assert_recovers(&mut agent);
}

#[test]
fn a_symlinked_state_directory_is_refused() {
    let home = Home::create();
    let target = home.path("elsewhere");
    fs::create_dir(&target).unwrap();
    fs::create_dir_all(home.state_dir().parent().unwrap()).unwrap();
    symlink(&target, home.state_dir()).unwrap();
    let stderr = home.refused_start(&[]);
    assert!(stderr.contains("symbolic link"), "{stderr}");
    assert_eq!(
        fs::read_dir(&target).unwrap().count(),
        0,
        "something was written"
    );
}

/// strace(1), which makes a system call of the server fail until it is dropped.
struct FaultInjection(Child);

impl FaultInjection {
    fn into(server: i32, what: &str) -> Option<Self> {
        let log = Stdio::null();
        let mut child = Command::new("strace")
            .args(["-f", "-q", "-e", what, "-p", &server.to_string()])
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .ok()?;
        let status = PathBuf::from(format!("/proc/{server}/status"));
        let mut is_traced = false;
        wait_until("strace has attached, or ended", || {
            is_traced = (fs::read_to_string(&status).unwrap_or_default().lines())
                .any(|line| line.starts_with("TracerPid:") && !line.ends_with("\t0"));
            is_traced || child.try_wait().unwrap().is_some()
        });
        is_traced.then_some(Self(child))
    }
}

impl Drop for FaultInjection {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.0);
        let _ = rustix::process::kill_process(pid, Signal::TERM);
        let _ = self.0.wait();
    }
}

#[test]
fn a_disk_that_does_not_write_or_sync_refuses_and_recovers() {
    for what in [
        "inject=fdatasync,fsync:error=EIO",
        "inject=pwrite64:error=EIO",
        "inject=pwrite64:error=ENOSPC",
    ] {
        let daemon = TestDaemon::start();
        let mut agent = daemon.agent();
        agent.run(&json!({ "command": "true" }));
        let server = agent.ok("daemon.info", &Value::Null)["server_pid"].as_i64();
        let server = i32::try_from(server.unwrap()).unwrap();
        let Some(injection) = FaultInjection::into(server, what) else {
            return skip(
                "a_disk_that_does_not_write_or_sync_refuses_and_recovers",
                "strace cannot trace here",
            );
        };
        let witness = daemon.path("home/unsynced");
        // strace attaches to the server's threads one after the other.
        wait_until("the fault is felt", || {
            let params = json!({ "command": "touch", "args": [witness] });
            match agent.request("session.create", &params) {
                Ok(_) => {
                    let _ = fs::remove_file(&witness);
                    false
                }
                Err(error) => {
                    assert_eq!(error.code, -32005, "{what}: {error:?}");
                    true
                }
            }
        });
        let _ = fs::remove_file(&witness);
        assert_create_is_refused(&mut agent, &witness);
        drop(injection);
        assert_recovers(&mut agent);
        drop(agent);
        let daemon = TestDaemon::start_in(daemon.stop());
        daemon.client().assert_audit_is_whole();
    }
}

/// Space for the record of the refusal is reserved.
#[test]
fn on_a_full_disk_the_refusal_itself_is_recorded() {
    const NAME: &str = "on_a_full_disk_the_refusal_itself_is_recorded";
    let home = Home::create();
    let Some(disk) = SmallDisk::mount(&home, "3m", NAME) else {
        return;
    };
    let daemon = TestDaemon::start_in(home);
    let mut agent = daemon.agent();
    let cat = agent.script("echo ready; cat");
    agent.wait_for_text(&cat, "ready");
    disk.fill();
    wait_until("the disk is full for the audit too", || {
        let created = agent.request("session.create", &json!({ "command": "true" }));
        created.is_err_and(|error| error.kind() == "audit_unavailable")
    });
    // Each further request is refused and recorded while the disk is full, and so is typing.
    for n in 0..50 {
        assert_create_is_refused(&mut agent, &daemon.path(format!("home/full-{n}")));
    }
    let mut typist = daemon.client();
    let error = typist.err(
        "session.send",
        &json!({ "id": cat, "text": "typed anyway\n" }),
    );
    assert_eq!(error.code, -32005, "{error:?}");
    let page = agent.ok(
        "audit.list",
        &json!({ "filter": { "action": "audit.refused" } }),
    );
    let records = page["records"].as_array().unwrap();
    assert!(!records.is_empty() && records.len() <= 32, "{page}");
    let first = records.last().unwrap();
    assert_eq!(first["detail"]["action"], "terminal.create", "{first}");
    assert_eq!(first["outcome"], "refused");
    assert_eq!(first["actor"]["pid"], std::process::id());
    disk.empty();
    assert_recovers(&mut agent);
    let page = agent.ok(
        "audit.list",
        &json!({ "filter": { "action": "audit.recovered" } }),
    );
    let recovered = &page["records"][0]["detail"];
    assert!(recovered["refused"].as_u64() >= Some(51), "{page}");
    assert!(!agent.text(&cat).contains("anyway"));
    agent.send_text(&cat, "typed now\n");
    agent.wait_for_text(&cat, "typed now");
    agent.assert_audit_is_whole();
    drop((agent, typist));
    let home = daemon.stop();
    drop(disk);
    drop(home);
}

#[test]
fn nothing_runs_without_its_record() {
    let home = Home::create();
    let Some(disk) = SmallDisk::mount(&home, "3m", "nothing_runs_without_its_record") else {
        return;
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
            // Its row did not fit, and the record that it is not started did.
            Err(error) if error.kind() == "disk_full" => assert!(!witness.exists()),
            Err(error) => {
                refused = Some((error, witness));
                break;
            }
        }
    }
    let (error, witness) = refused.expect("a full disk was never noticed");
    error.assert_is(-32005, "audit_unavailable");
    assert!(error.message.contains("audit"), "{error:?}");
    assert!(!witness.exists(), "it ran all the same");
    // Terminals can still be listed.
    let list = agent.ok("session.list", &json!({ "scope": "running" }));
    assert_eq!(list["terminals"], json!([]));
    disk.empty();
    wait_until("it recovers", || {
        agent.try_create(&json!({ "command": "true" })).is_ok()
    });
    agent.assert_audit_is_whole();
    drop(agent);
    let home = daemon.stop();
    drop(disk);
    drop(home);
}
