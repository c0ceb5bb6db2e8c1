//! What `top` shows, and what its keys do to terminals.

use serde_json::json;
use termd_test_support::{TestDaemon, wait_until};

use super::top_tty::TopTty;
use crate::termctl::{ok, ready_terminal, termctl};

const WIDE: (u16, u16) = (80, 24);
const SMALL: (u16, u16) = (40, 12);

/// A terminal with a label that prints `GOT` with each line of input.
fn line_repeater(daemon: &TestDaemon, label: &str) -> String {
    let script = "echo ready; while read line; do echo \"GOT $line\"; done; exit 6";
    let id = ready_terminal(daemon, script);
    ok(daemon, &["rename", &id, label]);
    id
}

#[test]
fn plain_termctl_opens_it_at_a_tty_and_nowhere_else() {
    let daemon = TestDaemon::start();
    line_repeater(&daemon, "repeater");
    for args in [&[][..], &["top"]] {
        let mut top = TopTty::new(&daemon, WIDE, args);
        top.wait_for("its screen", |shown| {
            shown.contains("? input repeater") && shown.contains("ready")
        });
        top.press("q");
        assert_eq!(top.wait_restored(), Some(0));
    }
    let none: [&str; 0] = [];
    let help = termctl(&daemon, &none);
    assert_eq!(help.code, Some(2));
    assert!(help.err.contains("Usage"), "{help:?}");
    let refused = termctl(&daemon, &["top"]);
    assert_eq!(refused.code, Some(2));
    refused.assert_one_line();
}

#[test]
fn it_shows_what_happens_at_each_size() {
    let daemon = TestDaemon::start();
    let first = line_repeater(&daemon, "first");
    for size in [WIDE, SMALL] {
        let mut top = TopTty::new(&daemon, size, &["top"]);
        top.wait_for("the first", |shown| {
            shown.contains("first") && shown.contains("ready")
        });
        ok(&daemon, &["send", &first, "hello", "--enter"]);
        top.wait_for_text("GOT hello");
        let second = ok(&daemon, &["create", "--label", "second", "--", "false"]);
        top.wait_for_text("✗ second");
        // The other one's screen.
        top.press("/second\r");
        top.wait_for_text("exited 1");
        top.press("\x1b");
        top.wait_for_text("first");
        ok(&daemon, &["close", &second]);
        top.wait_for("it is gone", |shown| !shown.contains("second"));
        // It goes on at the other size.
        let (cols, rows) = if size == WIDE { SMALL } else { WIDE };
        top.resize(cols, rows);
        top.wait_for("the other size", |shown| {
            shown.contains("input first") && shown.contains("GOT hello")
        });
        top.press("q");
        assert_eq!(top.wait_restored(), Some(0));
    }
}

#[test]
fn keys_type_lines_and_secrets_and_end_terminals() {
    let daemon = TestDaemon::start();
    let id = line_repeater(&daemon, "repeater");
    let script = "read -s -p 'Password: ' x; echo \"length ${#x}\"; sleep 1000";
    ok(
        &daemon,
        &["create", "--label", "asks", "--", "bash", "-c", script],
    );
    let mut top = TopTty::new(&daemon, WIDE, &["top"]);
    top.wait_for_text("* asks");
    top.press("\x1b[H");
    top.wait_for_text("* secret asks");
    top.press("p");
    top.wait_for_text("secret (not shown)");
    top.press("hunter2\r");
    top.wait_for_text("length 7");
    assert!(!top.written.contains("hunter2"));
    top.press("/repeater\r");
    top.wait_for_text("input repeater");
    top.press("i");
    top.wait_for_text("type:");
    top.press("a line\r");
    top.wait_for_text("GOT a line");
    top.press("k");
    top.wait_for_text("end all that runs in repeater? y/n");
    top.press("n");
    top.wait_for_text("nothing was done");
    top.press("k");
    top.wait_for_text("y/n");
    top.press("y");
    wait_until("it is ended", || {
        let info = termctl(&daemon, &["show", "--json", &id]).json();
        info["state"] == "exited"
    });
    top.wait_for_text("ended by SIG");
    top.press("x");
    top.wait_for_text("nothing matches");
    top.press("\x1b");
    top.wait_for_text("asks");
    top.press("nseq 7 9; sleep 1000\r");
    top.wait_for("its screen", |shown| {
        shown.contains("│7") && shown.contains("│9")
    });
    let listed = termctl(&daemon, &["list", "--json"]).json();
    assert_eq!(listed.as_array().unwrap().len(), 2, "{listed}");
    top.press("q");
    assert_eq!(top.wait_restored(), Some(0));
}

#[test]
fn enter_attaches_and_r_replays_and_both_come_back() {
    let daemon = TestDaemon::start();
    line_repeater(&daemon, "repeater");
    let mut top = TopTty::new(&daemon, WIDE, &["top"]);
    for round in ["one", "two"] {
        top.wait_for_text("input repeater");
        top.press("\r");
        top.wait_for("attached", |shown| {
            !shown.contains("input repeater") && shown.contains("ready")
        });
        top.press(&format!("{round}\r"));
        top.wait_for_text(&format!("GOT {round}"));
        top.press("\x1dd");
        top.wait_for_text("repeater: detached");
        top.press("r");
        top.wait_for("a replay", |shown| {
            !shown.contains("? help") && shown.contains(" / 0:0")
        });
        top.press("q");
        top.wait_for_text("? help");
    }
    // What is typed after that is the overview's.
    top.press("?");
    top.wait_for_text("attach; ctrl-] d comes back");
    top.press("q");
    top.wait_for_text("? help");
    top.press("q");
    assert_eq!(top.wait_restored(), Some(0));
}

#[test]
fn output_is_searched_and_copied() {
    let daemon = TestDaemon::start();
    let id = ready_terminal(&daemon, "echo ready; echo a needle here; exec sleep 1000");
    let mut top = TopTty::new(&daemon, WIDE, &["top"]);
    top.wait_for_text("a needle here");
    top.press("c");
    top.wait_for_text("copied 2 lines");
    let copied = "\x1b]52;c;cmVhZHkKYSBuZWVkbGUgaGVyZQo=\x1b\\";
    assert!(top.written.contains(copied), "{:?}", top.written);
    wait_until("it is indexed", || {
        termctl(&daemon, &["search", "needle", "--in", "output"]).code == Some(0)
    });
    top.press("sneedle\r");
    let found = top.wait_for("hits", |shown| {
        shown.contains("a needle here") && shown.contains("Esc back")
    });
    assert!(found.contains(&id[..12]), "{found}");
    top.press("\r");
    top.wait_for("a replay", |shown| shown.contains(" / 0:0"));
    top.press("q");
    top.wait_for_text("Esc back");
    top.press("\x1b");
    top.wait_for_text("? help");
    top.press("q");
    assert_eq!(top.wait_restored(), Some(0));
}

#[test]
fn what_programs_print_and_name_reaches_the_tty_as_cells_alone() {
    let daemon = TestDaemon::start();
    let evil = "\x1b]0;title\x07\x1b]52;c;aGk=\x07\x1b[c\x1b[?1049l\u{202e}safe";
    let script = "printf '%s' \"$1\"; sleep 1000";
    ok(&daemon, &["create", "--", "sh", "-c", script, evil, evil]);
    ok(
        &daemon,
        &["notify", "--state", "input", evil, "-t", &ids(&daemon)[0]],
    );
    let mut top = TopTty::new(&daemon, WIDE, &["top"]);
    top.wait_for_text("safe");
    top.press("?");
    top.wait_for_text("attach; ctrl-] d");
    top.press("q");
    top.wait_for_text("safe");
    for part in ["\x1b]", "\x1b[c", "\u{202e}"] {
        assert!(!top.written.contains(part), "{:?}", top.written);
    }
    top.press("q");
    assert_eq!(top.wait_restored(), Some(0));
}

fn ids(daemon: &TestDaemon) -> Vec<String> {
    let listed = ok(daemon, &["list", "--quiet"]);
    listed.lines().map(str::to_owned).collect()
}

#[test]
fn its_own_terminal_is_not_shown() {
    let daemon = TestDaemon::start();
    let termctl_path = env!("CARGO_BIN_EXE_termctl");
    ok(
        &daemon,
        &["create", "--label", "other", "--", "sleep", "1000"],
    );
    ok(
        &daemon,
        &["create", "--label", "within", "--", termctl_path, "top"],
    );
    wait_until("it is drawn", || {
        let screen = ok(&daemon, &["screen", "within", "--format", "text"]);
        screen.contains("running other") && !screen.contains("within")
    });
    let info = termctl(&daemon, &["show", "--json", "within"]).json();
    assert_eq!(info["state"], json!("running"));
}
