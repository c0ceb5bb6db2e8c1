//! Attacks that succeeded against other terminals, multiplexers and container engines. Each ends in
//! an error here, or in nothing. docs/testing.md lists them with their tests.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use serde_json::{Value, json};
use termd_test_support::{TestDaemon, sh};

use crate::gate::judgement::shell;

/// The most memory of a server after an attack, in bytes: several terminals with a full scrollback,
/// in a build without optimization.
const MAX_RSS_BYTES: u64 = 400 << 20;

fn assert_still_serves(daemon: &TestDaemon) {
    let mut client = daemon.client();
    let stats = client.ok("daemon.stats", &json!({}));
    let rss = stats["server_rss_bytes"].as_u64().unwrap();
    assert!(rss < MAX_RSS_BYTES, "{rss} bytes");
    let (code, text) = daemon.agent().run(&sh("echo fine"));
    assert_eq!((code, text.trim_end()), (Some(0), "fine"));
}

/// Names of GNU screen and tmux became paths (CVE-2023-42456 in sudo-rs).
#[test]
fn names_are_no_paths() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let before = fs::read_dir(daemon.state_dir()).unwrap().count();
    for name in [
        "../../up",
        "/etc/passwd",
        "a/b",
        "",
        "\u{1b}]0;x\u{7}",
        "a\nb",
    ] {
        let params = json!({ "command": "true", "label": name });
        assert_eq!(
            client.err("session.create", &params).code,
            -32602,
            "{name:?}"
        );
        for method in ["session.show", "session.read", "session.close"] {
            let error = client.err(method, &json!({ "id": name }));
            assert!(!error.message.contains(char::is_control), "{error:?}");
        }
        let params = json!({ "sessionId": "s", "terminalId": name });
        client.err("terminal/output", &params);
    }
    assert_eq!(fs::read_dir(daemon.state_dir()).unwrap().count(), before);
    assert_still_serves(&daemon);
}

/// GNU screen's terminals were open to all users for a moment (CVE-2025-46802). The first command
/// in a terminal looks at its mode.
#[test]
fn a_pty_is_never_open_to_others() {
    let daemon = TestDaemon::start();
    let uid = fs::metadata(daemon.state_dir()).unwrap().uid();
    for _ in 0..10 {
        let params = json!({ "command": "stat", "args": ["-L", "-c", "%a %u", "/proc/self/fd/0"] });
        let (_, text) = daemon.agent().run(&params);
        let (mode, owner) = text
            .trim_end()
            .split_once(' ')
            .expect("a mode and an owner");
        let mode = u32::from_str_radix(mode, 8).unwrap();
        // The group is `tty`, which may write messages (mesg(1)) and read nothing.
        assert_eq!(mode & 0o057, 0, "{mode:o}");
        assert_eq!(owner, uid.to_string());
    }
}

/// containerd listened where every user of the host could connect (CVE-2020-15257).
#[test]
fn nothing_listens_on_an_abstract_socket() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    client.ok("session.create", &json!({ "command": "sleep 1000" }));
    let table = fs::read_to_string("/proc/net/unix").unwrap();
    let named: Vec<(&str, &str)> = (table.lines().skip(1))
        .filter_map(|line| {
            let mut fields = line.split_whitespace().skip(6);
            Some((fields.next()?, fields.next()?))
        })
        .collect();
    let mut sockets = 0;
    let info = client.ok("daemon.info", &Value::Null);
    for pid in [&info["keeper_pid"], &info["server_pid"]] {
        for entry in fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten() {
            let Ok(metadata) = fs::metadata(entry.path()) else {
                continue;
            };
            if !metadata.file_type().is_socket() {
                continue;
            }
            let inode = metadata.ino().to_string();
            for (_, name) in named.iter().filter(|(number, _)| *number == inode) {
                assert!(name.starts_with('/'), "{name}");
                sockets += 1;
            }
        }
    }
    assert!(sockets > 0, "not even the socket was found");
}

/// systemd-journald and others crashed on long command lines (CVE-2018-16864).
#[test]
fn huge_arguments_and_environments_are_answered() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let huge = "x".repeat(3 << 20);
    for params in [
        json!({ "command": "true", "args": [huge] }),
        json!({ "command": huge }),
        json!({ "command": "true", "args": vec!["y"; 600_000] }),
        json!({ "command": "true", "env": { "A": huge } }),
        json!({ "command": "true", "env": { huge.as_str(): "x" } }),
        json!({ "command": "true", "cwd": huge }),
        json!({ "command": "true", "label": huge }),
    ] {
        let error = client.err("session.create", &params);
        assert!(error.message.len() < 2_000, "{} bytes", error.message.len());
    }
    assert_still_serves(&daemon);
}

/// Combining characters (CVE-2021-26937, -27135), pictures (CVE-2022-24130), unterminated titles
/// and strings, and endless output (CVE-2022-1708).
#[test]
fn what_a_terminal_is_flooded_with_is_bounded() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    for script in [
        // 1 MB of combining characters on one cell, then three on each of many cells.
        r"printf a; yes $(printf '\314\201%.0s' $(seq 1000)) | tr -d '\n' | head -c 1000000",
        r"yes $(printf 'e\314\201\314\202\314\203%.0s' $(seq 500)) | head -c 1000000",
        // Sixel with raster attributes of terabytes, repeats, and no end.
        r#"printf '\033Pq"1;1;999999999;999999999#0;2;0;0;0!999999999~-'; yes '!99999999~-' | head -c 1000000"#,
        // OSC and DCS without an end, and titles that are pushed and never popped.
        r"printf '\033]0;'; yes title | tr -d '\n' | head -c 2000000",
        r"yes $(printf '\033]2;x%.0s\007\033[22t' $(seq 100)) | head -c 1000000",
        // Endless parameters, and rows and columns in the billions.
        r"printf '\033['; yes '9;' | tr -d '\n' | head -c 1000000; printf '\033[999999999;999999999H\033[999999999@\033[999999999L\033[999999999b\033[8;99999;99999t'",
    ] {
        let (code, _) = agent.run(&sh(script));
        assert_eq!(code, Some(0), "{script}");
    }
    assert_still_serves(&daemon);
}

/// sudo wrote escapes into logs (CVE-2023-28486, -28487).
#[test]
fn what_a_terminal_prints_or_is_called_is_in_no_log() {
    let daemon = TestDaemon::start();
    let script = r"printf '\033]0;own\033ed-title\007\033]7;file://h/own%1bed-cwd\007owned-text\n'";
    let mut agent = daemon.agent();
    agent.run(&sh(script));
    agent.run(&json!({ "command": "true", "args": ["\u{1b}]0;owned-argument\u{7}\n\u{9b}31m"] }));
    let mut client = daemon.client();
    client.ok(
        "daemon.hello",
        &json!({ "client": "\u{1b}]0;owned-client\u{7}" }),
    );
    client.err("session.show", &json!({ "id": "\u{1b}[2Jowned-id" }));
    client.err("owned\u{1b}[2J/method", &Value::Null);
    let log = daemon.log();
    let bad = |c: char| c.is_control() && c != '\n' && c != '\t';
    assert!(!log.contains(bad), "{log:?}");
    assert!(
        !log.contains("owned-text") && !log.contains("ed-title"),
        "{log}"
    );
}

/// The deny rules of an agent were applied to the first 50 commands of a line only.
#[test]
fn a_forbidden_command_behind_many_others_does_not_run() {
    let daemon =
        TestDaemon::configured("[[policy.rules]]\neffect = \"deny\"\nprogram = \"touch\"\n");
    let mut client = daemon.client();
    let witness = daemon.path("home/witness");
    let touch = format!("touch {}", witness.display());
    for before in [
        "true; ".repeat(60),
        "true\n".repeat(999),
        "true && ".repeat(5_000),
    ] {
        let line = format!("{before}{touch}");
        client.err("session.create", &json!({ "command": line }));
        client.err(
            "session.create",
            &json!({ "command": "sh", "args": ["-c", line] }),
        );
    }
    // A denied command cannot be confirmed.
    let line = format!("{}{touch}", "true; ".repeat(60));
    let params = json!({ "command": line, "confirmed": true });
    assert_eq!(client.err("session.create", &params).code, -32012);
    assert!(!witness.exists());
}

/// Bytes that separate or join commands for the shell but not for a reader: a carriage return, and
/// invalid UTF-8, which the shell's line editor deletes as one character.
#[test]
fn bytes_that_the_shell_takes_otherwise_hide_no_command() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let victim = daemon.path("home/never");
    fs::write(&victim, "").unwrap();
    let line = format!("echo a\rrm -f {}", victim.display());
    assert_eq!(
        client
            .err("session.create", &json!({ "command": line }))
            .code,
        -32011
    );
    let id = shell(&mut client);
    client.send_text(&id, "cd \"$HOME\"\r");
    let text = json!({ "id": id, "text": "echo a\rrm -rf never\r" });
    assert_eq!(client.err("session.send", &text).code, -32011);
    // `r`, the first byte of a three-byte character, DEL, and `m -rf never`.
    let data = json!({ "id": id, "data": "cuZ/bSAtcmYgbmV2ZXIN" });
    assert_eq!(client.err("session.send", &data).code, -32011);
    assert!(victim.exists());
}
