//! A database of release 0.1.0 opens, verifies and reads as it did then.
//!
//! `termd-0.1.0.sqlite.zst` is the file that a termd of commit 7c7c095 left when it was stopped,
//! packed by `zstd -19`. It is the file itself and no SQL dump, because a dump has neither the
//! file's header nor the pages of its indexes. The configuration was `terminal_quota = "256KiB"`,
//! `transcript_days = 1` and `audit_days = 1`. A first daemon, with the clock 40 days back, ran
//! `termctl run --label old -- echo 'forty days ago'`. A second one then ran for a minute, until
//! retention had dropped the first one's output and records:
//!
//! ```sh
//! termctl run --keep --label greeting --cols 40 --rows 6 -- \
//!     sh -c 'printf "\033[31mred\033[0m and \303\274\n"; printf "\033[5;3Hplaced"; exit 3'
//! termctl run --keep --label pipes --pipes -- sh -c 'echo out; echo err >&2; echo out again'
//! termctl run --keep --label flood --confirmed -- sh -c 'yes "a line of the flood" | head -n 30000'
//! termctl run -- git push --force
//! termctl create --label shell --cols 60 --rows 10 -- bash
//! termctl send shell -e 'echo one'
//! termctl resize shell 50x8
//! termctl send shell -e false
//! ```

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;

use serde_json::{Value, json};
use termd_test_support::{Home, RawClient, TestDaemon, assert_members};

const DATABASE: &[u8] = include_bytes!("termd-0.1.0.sqlite.zst");
const GREETING: &str = "term_j4wp2ltbuu74";
const PIPES: &str = "term_lb6ln5vygqs2";
const FLOOD: &str = "term_yrrzxaq4svfy";
const SHELL: &str = "term_4ft52z3lthn2";
/// The terminal whose output retention dropped.
const OLD: &str = "term_na5to2gyh5pz";

/// A daemon on a copy of the old database.
fn daemon() -> TestDaemon {
    let home = Home::create();
    DirBuilder::new()
        .mode(0o700)
        .create(home.state_dir())
        .unwrap();
    let database = zstd::decode_all(DATABASE).unwrap();
    fs::write(home.state_dir().join("termd.sqlite"), database).unwrap();
    TestDaemon::start_in(home)
}

/// The texts of the commands that a filter lets through, newest first.
fn commands(client: &mut RawClient, filter: &Value) -> Vec<String> {
    let page = client.ok("command.list", &json!({ "filter": filter }));
    let commands = page["commands"].as_array().unwrap().iter();
    commands
        .map(|command| command["text"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_database_of_0_1_0_verifies_and_its_chain_goes_on() {
    let daemon = daemon();
    let mut client = daemon.client();
    let hashes = client.ok("audit.hashes", &json!({ "records": [5, 6, 21] }));
    // Retention dropped records 1 to 5.
    assert_eq!(hashes["dropped_through"], 5);
    assert_eq!(
        hashes["records"],
        json!([
            { "seq": 6, "hash": "8b861a961227e7852f335a282c7d28b6b9fc900bae6cd86eb5afbf57b23aa5ee" },
            { "seq": 21, "hash": "f365c5c5ecc074a6fe48a65e32f7179c03fae7ed05cd42a0e5106d28951e748d" },
        ])
    );
    let record = &client.audit_records(&json!({ "verdict": "dangerous" }))[0];
    assert_members(
        record,
        &json!({ "seq": 14, "action": "terminal.create", "outcome": "refused: not confirmed" }),
    );
    assert_eq!(record["detail"]["argv"], json!(["git", "push", "--force"]));
    daemon.agent().run(&json!({ "command": "echo today" }));
    let verdict = client.assert_audit_is_whole();
    assert!(verdict["checked"].as_i64() > Some(16), "{verdict}");
}

#[test]
fn a_database_of_0_1_0_has_its_transcripts() {
    let daemon = daemon();
    let mut client = daemon.client();
    assert_eq!(
        client.transcript(GREETING),
        "\x1b[31mred\x1b[0m and ü\r\n\x1b[5;3Hplaced".as_bytes()
    );
    assert_eq!(client.transcript(PIPES), b"out\nout again\nerr\n");
    let stderr = json!({ "id": PIPES, "stream": "stderr" });
    assert_eq!(client.ok("session.read", &stderr)["text"], "err\n");

    let gap = json!({ "start": 65_536, "end": 458_752, "cause": "terminal_quota" });
    let shown = client.ok("session.show", &json!({ "id": FLOOD }));
    assert_members(&shown, &json!({ "end": 630_000, "gaps": [gap] }));
    let head = json!({ "id": FLOOD, "since": 65_520, "max_bytes": 16 });
    assert_eq!(client.ok("session.read", &head)["end"], 65_536);
    let tail = json!({ "id": FLOOD, "tail_lines": 2 });
    assert_eq!(
        client.ok("session.read", &tail)["text"],
        "a line of the flood\n".repeat(2)
    );
    let old = client.ok("session.read", &json!({ "id": OLD }));
    let dropped = json!({ "start": 0, "end": 16, "cause": "retention" });
    assert_members(&old, &json!({ "text": "", "start": 16, "gap": dropped }));
}

#[test]
fn a_database_of_0_1_0_has_its_screens_and_commands() {
    let daemon = daemon();
    let mut client = daemon.client();
    for (id, cols, rows, rendering) in [
        (GREETING, 40, 6, "red and ü\n\n\n\n  placed".to_owned()),
        // The model's dump at the end of the output is all that there is of most of it.
        (FLOOD, 80, 24, "a line of the flood\n".repeat(23)),
        // The second line was typed at another size.
        (
            SHELL,
            50,
            8,
            "root@vm:~# echo one\none\nroot@vm:~# false\nroot@vm:~#".to_owned(),
        ),
    ] {
        let screen = client.ok("session.screen", &json!({ "id": id, "format": "text" }));
        assert_members(&screen, &json!({ "cols": cols, "rows": rows }));
        let shown = screen["rendering"].as_str().unwrap().trim_end();
        assert_eq!(shown, rendering.trim_end(), "{id}");
    }
    let in_shell = commands(&mut client, &json!({ "terminal": SHELL }));
    assert_eq!(in_shell, ["false", "echo one", "bash"]);
    let found = commands(&mut client, &json!({ "query": "LINE flood" }));
    assert_eq!(
        found,
        [r#"sh -c 'yes "a line of the flood" | head -n 30000'"#]
    );
    let failed = commands(&mut client, &json!({ "exit_code": 3 }));
    assert_eq!(failed.len(), 1, "{failed:?}");
}
