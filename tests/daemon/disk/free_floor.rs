//! `[store]` end to end: the floor of free space, on a small disk of its own.

use rustix::process::Signal;
use serde_json::{Value, json};
use termd_test_support::{Home, RawClient, SmallDisk, TestDaemon, wait_until};

use super::numbered_lines::{MIB, create, expected, lines, pieces, rows, wait_until_stored};

fn fall_below_the_floor(disk: &SmallDisk, client: &mut RawClient) {
    disk.leave(6 * MIB);
    wait_until("nothing new is run", || {
        let created = client.request("session.create", &json!({ "command": "true" }));
        created.is_err()
    });
}

#[track_caller]
fn assert_floor_is_recorded(client: &mut RawClient, id: &str) {
    let reached = client.audit_records(&json!({ "action": "limit.reached" }));
    let limits: Vec<&Value> = reached
        .iter()
        .map(|record| &record["detail"]["limit"])
        .collect();
    assert!(
        limits.iter().all(|limit| *limit == "free_floor"),
        "{reached:?}"
    );
    assert!(
        reached.iter().any(|record| record["terminal"] == id),
        "{reached:?}"
    );
    assert!(
        !client
            .audit_records(&json!({ "action": "limit.left" }))
            .is_empty()
    );
    client.assert_audit_is_whole();
}

#[test]
fn below_the_floor_programs_run_on_nothing_new_is_run_and_it_ends_by_itself() {
    const NAME: &str = "below_the_floor_programs_run_on";
    const BYTES: u64 = 12 * MIB;
    let home = Home::create();
    home.configure(
        "kill_grace_ms = 300\n[store]\nfree_floor = \"8MiB\"\n\
         [spool]\ndefault_window_bytes = 65536\n",
    );
    let Some(disk) = SmallDisk::mount(&home, "32m", NAME) else {
        return;
    };
    let mut daemon = TestDaemon::start_in(home);
    let mut client = daemon.client();
    let script = format!(
        "stty raw -echo; echo start; head -n 1 >/dev/null; {}; cat",
        lines(BYTES)
    );
    let id = create(&mut client, &script);
    client.wait_for_text(&id, "start\n");
    fall_below_the_floor(&disk, &mut client);
    let error = client.err("session.create", &json!({ "command": "true" }));
    error.assert_is(-32009, "disk_floor");
    assert_eq!(error.data["limit"], "free_floor");
    assert!(error.message.contains("the floor of 8.0 MiB"), "{error:?}");
    let info = client.ok("daemon.info", &Value::Null);
    assert_eq!(info["disk"]["kind"], "below_floor", "{info}");
    assert_eq!(info["disk"]["floor"], 8 * MIB, "{info}");
    assert_eq!(error.data["floor"], 8 * MIB);
    assert!(error.data["free"].as_u64().unwrap() < 8 * MIB, "{error:?}");
    // The running command is not delayed, however much it prints.
    client.send_text(&id, "\n");
    let end = BYTES + 6;
    wait_until("it has printed all", || {
        client.ok("session.show", &json!({ "id": id }))["end"] == end
    });
    // The server changes before and after there is space again.
    daemon.kill_server();
    let mut client = daemon.client();
    let error = client.err("session.create", &json!({ "command": "true" }));
    assert_eq!(error.kind(), "disk_floor", "{error:?}");
    disk.empty();
    wait_until("it recovers", || {
        let created = client.request("session.create", &json!({ "command": "true" }));
        created.is_ok()
    });
    wait_until_stored(&mut client);
    let (pieces, gaps) = pieces(&mut client, &id);
    for gap in &gaps {
        assert_eq!(gap["cause"], "free_floor", "{gap}");
    }
    assert!(!gaps.is_empty());
    let whole = [b"start\n".to_vec(), expected(0, BYTES)].concat();
    for (start, piece) in &pieces {
        let start = usize::try_from(*start).unwrap();
        assert!(
            *piece == whole[start..start + piece.len()],
            "other bytes at {start}"
        );
    }
    let last_line = format!("{:07}", BYTES / 8 - 3);
    let last = pieces.last().unwrap();
    assert_eq!(last.0 + last.1.len() as u64, end);
    assert!(
        last.1.len() as u64 >= 3 * MIB,
        "what waited is there: {gaps:?}"
    );
    assert!(
        rows(&mut client, &id)
            .iter()
            .any(|row| row.contains(&last_line))
    );
    assert_floor_is_recorded(&mut client, &id);
    // The end of the daemon does not wait for space.
    fall_below_the_floor(&disk, &mut client);
    client.send_text(&id, "last words\n");
    client.wait_for_text(&id, "last words");
    drop(client);
    daemon.signal(Signal::TERM);
    daemon.wait_exit();
    disk.empty();
    let home = daemon.stop();
    let daemon = TestDaemon::start_in(home);
    let shown = daemon.client().ok("session.show", &json!({ "id": id }));
    let gaps = shown["gaps"].as_array().unwrap();
    assert_eq!(gaps.last().unwrap()["end"], shown["end"], "{shown}");
    let home = daemon.stop();
    drop(disk);
    drop(home);
}
