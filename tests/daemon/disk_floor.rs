//! `[store]` end to end: the floor of free space, on a small disk of the test's own.

use std::fs;
use std::process::Command;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::disk::{MIB, create, expected, is_all_stored, lines, pieces, records, rows, struck};
use crate::support::{Home, RawClient, TestDaemon, is_root, skip, wait_until};

/// A file system of so many MiB for the state directory, unmounted after the test.
struct Disk<'a>(&'a Home);

impl<'a> Disk<'a> {
    fn mount(home: &'a Home, size: &str) -> Result<Self, String> {
        let output = Command::new("mount")
            .args([
                "-t",
                "tmpfs",
                "-o",
                &format!("size={size},mode=0700"),
                "tmpfs",
            ])
            .arg(home.path("state"))
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(Self(home))
        } else {
            Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
        }
    }

    /// Leaves less than so many bytes.
    fn leave(&self, bytes: u64) {
        let space = rustix::fs::statvfs(self.0.path("state")).unwrap();
        let free = space.f_bavail * space.f_frsize;
        let filler = vec![1; usize::try_from(free - bytes).unwrap()];
        fs::write(self.0.path("state/filler"), filler).unwrap();
    }

    fn empty(&self) {
        fs::remove_file(self.0.path("state/filler")).unwrap();
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount")
            .arg("-l")
            .arg(self.0.path("state"))
            .status();
    }
}

fn fall_below_the_floor(disk: &Disk<'_>, client: &mut RawClient) {
    disk.leave(6 * MIB);
    wait_until("nothing new is run", || {
        let asked = client.request("session.create", &json!({ "command": "true" }));
        asked.is_err()
    });
}

#[track_caller]
fn the_floor_is_recorded(client: &mut RawClient, id: &str) {
    let reached = records(client, "limit.reached");
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
    assert!(!records(client, "limit.left").is_empty());
    let verdict = client.ok("audit.verify", &Value::Null);
    assert_eq!(verdict["first_bad"], Value::Null, "{verdict}");
}

#[test]
fn below_the_floor_programs_run_on_nothing_new_is_run_and_it_ends_by_itself() {
    const NAME: &str = "below_the_floor_programs_run_on";
    const BYTES: u64 = 12 * MIB;
    if !is_root() {
        return skip(NAME, "mounting a small disk needs root");
    }
    let home = Home::new();
    home.configure(
        "kill_grace_ms = 300\n[store]\nfree_floor = \"8MiB\"\n\
         [spool]\ndefault_window_bytes = 65536\n",
    );
    let root = home.path("");
    let view = Home::view(&root);
    let disk = match Disk::mount(&view, "32m") {
        Ok(disk) => disk,
        Err(reason) => return skip(NAME, &reason),
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
    assert_eq!(
        (error.code, error.kind()),
        (-32009, "disk_floor"),
        "{error:?}"
    );
    assert_eq!(error.data["limit"], "free_floor");
    assert_eq!(error.data["floor"], 8 * MIB);
    assert!(error.data["free"].as_u64().unwrap() < 8 * MIB, "{error:?}");
    // What runs is not held up, whatever it prints.
    client.ok("session.send", &json!({ "id": id, "text": "\n" }));
    let end = BYTES + 6;
    wait_until("it has printed all", || {
        client.ok("session.show", &json!({ "id": id }))["end"] == end
    });
    // A new server, before and after there is room.
    let mut client = struck(&daemon);
    let error = client.err("session.create", &json!({ "command": "true" }));
    assert_eq!(error.kind(), "disk_floor", "{error:?}");
    disk.empty();
    wait_until("it recovers", || {
        let asked = client.request("session.create", &json!({ "command": "true" }));
        asked.is_ok()
    });
    is_all_stored(&mut client);
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
    the_floor_is_recorded(&mut client, &id);
    // And the end of the daemon does not wait for room.
    fall_below_the_floor(&disk, &mut client);
    client.ok("session.send", &json!({ "id": id, "text": "last words\n" }));
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
