//! `[store]` end to end: the quota of a terminal, the quota of all, and the floor of free space.

use std::fs;
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{
    DEADLINE, Deadline, Home, RawClient, TestDaemon, is_root, merged, sh, skip, wait_until,
};

const MIB: u64 = 1 << 20;

fn create(client: &mut RawClient, script: &str) -> String {
    let params = merged(&sh(script), &json!({ "output_byte_limit": 65_536 }));
    let info = client.ok("session.create", &params);
    info["id"].as_str().unwrap().to_owned()
}

fn records(client: &mut RawClient, action: &str) -> Vec<Value> {
    let page = client.ok("audit.list", &json!({ "filter": { "action": action } }));
    page["records"].as_array().unwrap().clone()
}

/// Kills the server; a connection to the next one.
fn struck(daemon: &TestDaemon) -> RawClient {
    let server = daemon.server();
    server.signal(Signal::KILL);
    let ended = server.ends_by(Deadline::after(DEADLINE));
    assert!(ended, "the server stays");
    daemon.client()
}

/// The rows of a screen and of its scrollback.
fn rows(client: &mut RawClient, id: &str) -> Vec<String> {
    let screen = client.ok("session.screen", &json!({ "id": id, "from_row": -10_000 }));
    let lines = screen["lines"].as_array().unwrap().iter();
    lines.map(|line| line["runs"].to_string()).collect()
}

/// The bytes that a terminal printed: lines of 8 bytes each, numbered.
fn expected(from: u64, to: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for number in from / 8..to.div_ceil(8) {
        let mut line = *b"0000000\n";
        let (mut left, mut at) = (number, 7);
        while left > 0 {
            at -= 1;
            line[at] += u8::try_from(left % 10).unwrap();
            left /= 10;
        }
        bytes.extend_from_slice(&line);
    }
    let skip = usize::try_from(from % 8).unwrap();
    let length = usize::try_from(to - from).unwrap();
    bytes.drain(..skip);
    bytes.truncate(length);
    bytes
}

/// Prints so many bytes of such lines.
fn lines(bytes: u64) -> String {
    format!("stty raw -echo; seq -w 0 9999999 | head -c {bytes}")
}

/// Reads all from an offset on; gives the pieces between gaps with their offsets, and the gaps.
fn pieces(client: &mut RawClient, id: &str) -> (Vec<(u64, Vec<u8>)>, Vec<Value>) {
    let (mut pieces, mut gaps): (Vec<(u64, Vec<u8>)>, Vec<Value>) = (Vec::new(), Vec::new());
    let mut at = 0;
    loop {
        let page = client.ok(
            "session.read",
            &json!({ "id": id, "since": at, "max_bytes": 1 << 20, "encoding": "base64" }),
        );
        let (start, end) = (
            page["start"].as_u64().unwrap(),
            page["end"].as_u64().unwrap(),
        );
        let bytes = STANDARD.decode(page["data"].as_str().unwrap()).unwrap();
        assert_eq!(end, start + bytes.len() as u64, "{page}");
        if start > at {
            let gap = page["gap"].clone();
            assert!(gap["start"].as_u64().unwrap() <= at, "{gap}");
            assert_eq!(gap["end"], start, "{gap}");
            gaps.push(gap);
        } else {
            assert_eq!(page["gap"], Value::Null, "{}", page["start"]);
        }
        match pieces.last_mut() {
            Some((_, piece)) if start == at => piece.extend(bytes),
            _ => pieces.push((start, bytes)),
        }
        assert!(
            end > at || page["at_end"] == true,
            "it does not go on: {at}"
        );
        at = end;
        if page["at_end"] == true {
            return (pieces, gaps);
        }
    }
}

/// Waits until nothing of any terminal is on its way to the database.
fn is_all_stored(client: &mut RawClient) {
    wait_until("what waited is stored", || {
        client.ok("daemon.stats", &json!({}))["unstored_bytes"] == 0
    });
    // And what is queued beside output.
    client.ok("session.list", &json!({ "scope": "all" }));
}

/// What is not kept of a terminal that printed so many bytes of lines; all else is exact.
fn only_gap(client: &mut RawClient, id: &str, bytes: u64, cause: &str) -> (u64, u64) {
    is_all_stored(client);
    let (pieces, gaps) = pieces(client, id);
    assert_eq!(pieces.len(), 2, "{gaps:?}");
    for (start, piece) in &pieces {
        let end = start + piece.len() as u64;
        assert!(*piece == expected(*start, end), "other bytes at {start}");
    }
    assert_eq!(pieces[1].0 + pieces[1].1.len() as u64, bytes);
    let shown = client.ok("session.show", &json!({ "id": id }));
    assert_eq!(shown["gaps"], json!(gaps), "{shown}");
    assert_eq!(gaps[0]["cause"], cause);
    let end = |name: &str| gaps[0][name].as_u64().unwrap();
    (end("start"), end("end"))
}

#[test]
fn head_and_tail_are_kept_of_a_flood() {
    // The model is slow without optimization.
    const BYTES: u64 = if cfg!(debug_assertions) { 16 } else { 50 } * MIB;
    let daemon = TestDaemon::configured(
        "kill_grace_ms = 300\n[store]\nterminal_quota = \"4MiB\"\n\
         [spool]\ndefault_window_bytes = 65536\n",
    );
    let mut client = daemon.client();
    let other = create(&mut client, &lines(MIB));
    client.ok("session.wait", &json!({ "id": other }));
    let id = create(&mut client, &lines(BYTES));
    // Whoever reads while it rolls is told of the gap, and never given another byte.
    let mut at = 0;
    loop {
        let page = client.ok(
            "session.read",
            &json!({ "id": id, "since": at, "max_bytes": 262_144, "encoding": "base64",
                     "wait_ms": 1000 }),
        );
        let start = page["start"].as_u64().unwrap();
        let bytes = STANDARD.decode(page["data"].as_str().unwrap()).unwrap();
        assert!(
            bytes == expected(start, start + bytes.len() as u64),
            "{start}"
        );
        assert_eq!(
            start > at,
            page["gap"] != Value::Null,
            "{start} {}",
            page["gap"]
        );
        at = page["end"].as_u64().unwrap();
        if page["at_end"] == true && page["state"] != "running" {
            break;
        }
    }
    assert_eq!(at, BYTES);
    wait_until("all is stored", || {
        let records = records(&mut client, "terminal.exit");
        records.iter().any(|record| record["terminal"] == *id)
    });
    let (start, end) = only_gap(&mut client, &id, BYTES, "terminal_quota");
    assert_eq!(start, MIB, "a quarter is the head");
    let tail = BYTES - end;
    assert!((2 * MIB..=3 * MIB).contains(&tail), "{tail}");
    assert_eq!(
        client.transcript(&other).len() as u64,
        MIB,
        "another's is whole"
    );
    let reached = records(&mut client, "limit.reached");
    assert_eq!(reached.len(), 1, "{reached:?}");
    assert_eq!(reached[0]["detail"]["limit"], "terminal_quota");
    assert_eq!(reached[0]["detail"]["value"], 4 * MIB);
    let exits = records(&mut client, "terminal.exit");
    let exit = exits.iter().find(|record| record["terminal"] == *id);
    assert_eq!(exit.unwrap()["detail"]["gaps"][0]["end"], end);
    // Everything else reads over it: plain text, lines from the end, a range within.
    let text = client.ok("session.read", &json!({ "id": id, "since": MIB + 5 }));
    assert_eq!(text["start"], end, "{}", text["gap"]);
    let first = format!("{:07}\n", end / 8);
    assert!(text["text"].as_str().unwrap().starts_with(&first));
    let tail = client.ok("session.read", &json!({ "id": id, "tail_lines": 2 }));
    assert_eq!(
        tail["text"],
        format!("{:07}\n{:07}\n", BYTES / 8 - 2, BYTES / 8 - 1)
    );
    let within = json!({ "id": id, "since": 2 * MIB, "until": 3 * MIB, "encoding": "base64" });
    let within = client.ok("session.read", &within);
    assert_eq!(
        (&within["data"], &within["at_end"]),
        (&json!(""), &json!(true))
    );
    // And once more by a server that has none of it in memory.
    let screen = rows(&mut client, &id);
    let mut client = struck(&daemon);
    assert_eq!(
        only_gap(&mut client, &id, BYTES, "terminal_quota"),
        (start, end)
    );
    assert_eq!(rows(&mut client, &id), screen);
    let verdict = client.ok("audit.verify", &Value::Null);
    assert_eq!(verdict["first_bad"], Value::Null, "{verdict}");
}

#[test]
fn a_profile_may_keep_less() {
    let daemon = TestDaemon::configured(
        "kill_grace_ms = 300\n[policy.fronts.cli]\nprofile = \"short\"\n\
         [policy.profiles.short]\nterminal_quota = \"512KiB\"\n\
         [spool]\ndefault_window_bytes = 65536\n",
    );
    let mut client = daemon.client();
    let id = create(&mut client, &lines(4 * MIB));
    client.ok("session.wait", &json!({ "id": id }));
    wait_until("all is stored", || {
        !records(&mut client, "terminal.exit").is_empty()
    });
    let (start, end) = only_gap(&mut client, &id, 4 * MIB, "terminal_quota");
    assert_eq!(start, MIB / 8);
    assert!(4 * MIB - end <= 384 << 10);
    let shown = client.ok("session.show", &json!({ "id": id }));
    assert_eq!(shown["confinement"]["terminal_quota"], 512 << 10, "{shown}");
}

#[test]
fn beyond_the_quota_of_all_the_oldest_go_first_and_then_the_largest_are_cut() {
    let daemon = TestDaemon::configured(
        "kill_grace_ms = 300\n[store]\ntotal_quota = \"2MiB\"\n\
         [spool]\ndefault_window_bytes = 65536\n",
    );
    let mut client = daemon.client();
    // Bytes that do not shrink much when they are packed.
    let noise = |bytes: u64| format!("stty raw -echo; head -c {bytes} /dev/urandom");
    let first = create(&mut client, &noise(MIB));
    client.ok("session.wait", &json!({ "id": first }));
    let second = create(&mut client, &noise(MIB / 2));
    client.ok("session.wait", &json!({ "id": second }));
    let running = create(
        &mut client,
        &format!("{}; echo; echo done; cat", noise(MIB)),
    );
    client.wait_for_text(&running, "done");
    let start = |client: &mut RawClient, id: &str| {
        let shown = client.ok("session.show", &json!({ "id": id }));
        shown["start"].as_u64().unwrap()
    };
    wait_until("the oldest goes", || start(&mut client, &first) == MIB);
    assert_eq!(start(&mut client, &second), 0, "there is room for it");
    wait_until("that is recorded", || {
        let reached = records(&mut client, "limit.reached");
        let detail = reached.last().map(|record| record["detail"].clone());
        detail.is_some_and(|detail| {
            assert_eq!(detail["limit"], "total_quota");
            assert_eq!(detail["terminals"], json!([first]));
            true
        })
    });
    let page = client.ok(
        "session.read",
        &json!({ "id": first, "encoding": "base64" }),
    );
    assert_eq!(
        page["at_end"], true,
        "it is gone, and that is no error: {page}"
    );
    // Now what runs takes more than all may.
    let large = create(
        &mut client,
        &format!("{}; echo; echo done; cat", noise(4 * MIB)),
    );
    client.wait_for_text(&large, "done");
    wait_until("the largest is cut", || {
        let shown = client.ok("session.show", &json!({ "id": large }));
        shown["gaps"][0]["cause"] == "total_quota"
    });
    let shown = client.ok("session.show", &json!({ "id": large }));
    let gap = &shown["gaps"][0];
    let gone = gap["end"].as_u64().unwrap() - gap["start"].as_u64().unwrap();
    assert!(gone >= 2 * MIB, "{gap}");
    let shown = client.ok("session.show", &json!({ "id": running }));
    assert!(
        shown["gaps"].is_null() || start(&mut client, &second) > 0,
        "{shown}"
    );
    let verdict = client.ok("audit.verify", &Value::Null);
    assert_eq!(verdict["first_bad"], Value::Null, "{verdict}");
}

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
