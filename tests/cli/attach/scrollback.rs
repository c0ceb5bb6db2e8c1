//! The scrollback of `termctl attach`. The person's tty is a terminal of termd.

use rustix::process::Signal;
use serde_json::json;
use termd_test_support::{Process, Pty, TestDaemon, merged, sh, wait_until};

use super::screen::{person, rows, wait_until_same};
use crate::termctl::{command, ok, ready_terminal};

/// Opens it: ctrl-] and [.
const OPEN: &str = "\x1d[";

/// Types, as a person whose keys have agreed: of a search the gate knows no command.
pub(super) fn send(daemon: &TestDaemon, id: &str, text: &str) {
    let typed = json!({ "id": id, "text": text, "confirmed": true });
    daemon.client().ok("session.send", &typed);
}

fn shown(daemon: &TestDaemon, person: &str) -> String {
    rows(daemon, person).join("\n")
}

#[track_caller]
fn wait_for(daemon: &TestDaemon, person: &str, text: &str) {
    wait_until(text, || shown(daemon, person).contains(text));
}

/// Waits until the cursor is in a row with this text: a search has ended there.
#[track_caller]
fn wait_for_cursor(daemon: &TestDaemon, person: &str, text: &str) {
    wait_until(text, || {
        let screen = (daemon.client()).ok("session.screen", &json!({ "id": person }));
        let row = screen["cursor"]["row"].as_u64().unwrap_or_default();
        let rows = rows(daemon, person);
        rows.get(usize::try_from(row).unwrap())
            .is_some_and(|row| row.contains(text))
    });
}

/// A terminal that has printed numbered lines, and repeats each line in brackets.
fn numbered(daemon: &TestDaemon, lines: u32) -> String {
    let script = format!(
        "stty -echo; i=1; while [ $i -le {lines} ]; do printf '\\033[3%dmline %d.\\033[m\\n' $((i % 8)) $i; \
         i=$((i + 1)); done; echo ready; while read -r line; do echo \"<$line>\"; done"
    );
    let id = daemon.client().create_terminal(&sh(&script));
    daemon.client().wait_for_text(&id, "ready");
    id
}

#[test]
fn what_was_printed_before_is_seen_and_keys_go_nowhere_else() {
    let daemon = TestDaemon::start();
    let id = numbered(&daemon, 300);
    let one = person(&daemon, 80, 24, &[&id]);
    wait_until_same(&daemon, &one, &id, "attached");
    send(&daemon, &one, OPEN);
    wait_for(&daemon, &one, "scrollback");
    wait_for(&daemon, &one, "100%");
    send(&daemon, &one, "g");
    wait_for(&daemon, &one, "line 1.");
    let top = shown(&daemon, &one);
    assert!(
        top.starts_with("line 1.\n") && top.contains("\nline 23.\n"),
        "{top}"
    );
    let screen = daemon.client().ok("session.screen", &json!({ "id": one }));
    let style = &screen["lines"][3]["runs"][0]["style"]["foreground"];
    assert_eq!(*style, json!({ "indexed": 4 }), "in its colours");
    send(&daemon, &one, "/line 25\\d\\.\r");
    wait_for(&daemon, &one, "line 250.");
    send(&daemon, &one, "?line 7\r");
    wait_for(&daemon, &one, "line 79.");
    send(&daemon, &one, "n");
    send(&daemon, &one, "/nowhere\r");
    wait_for(&daemon, &one, "no match below");
    // What is printed meanwhile is seen when it is left.
    send(&daemon, &id, "meanwhile\n");
    daemon.client().wait_for_text(&id, "<meanwhile>");
    assert!(!shown(&daemon, &one).contains("<meanwhile>"));
    send(&daemon, &one, "q");
    wait_until_same(&daemon, &one, &id, "left");
    send(&daemon, &one, "typed\r");
    let text = daemon.client().wait_for_text(&id, "<typed>");
    assert!(!text.contains("<g"), "{text}");
    // ESC leaves it too, and the page up key opens it.
    send(&daemon, &one, "\x1d\x1b[5~");
    wait_for(&daemon, &one, "scrollback");
    wait_for(&daemon, &one, "line 270.");
    send(&daemon, &one, "\x1b");
    wait_until_same(&daemon, &one, &id, "left by ESC");
    send(&daemon, &one, "\x1dd");
    daemon.client().wait_for_text(&one, "done 0");
}

#[test]
fn a_program_on_the_whole_screen_goes_on_after_it() {
    let daemon = TestDaemon::start();
    let script = "seq 1 50; printf '\\033[?1049h\\033[2J\\033[?1h\\033[?1002;1006h\\033[5;10r\\033[?6h\\033[31mwhole'; \
                  printf '\\033]2;up\\007'; read x; printf '\\033[H\\033[32mafter'; read x";
    let id = daemon.client().create_terminal(&sh(script));
    wait_until("it is up", || {
        daemon.client().ok("session.screen", &json!({ "id": id }))["title"] == "up"
    });
    let one = person(&daemon, 80, 24, &[&id]);
    wait_until_same(&daemon, &one, &id, "attached");
    send(&daemon, &one, OPEN);
    wait_for(&daemon, &one, "100%");
    wait_for(&daemon, &one, "whole");
    send(&daemon, &one, "g");
    wait_for(&daemon, &one, "23\n");
    send(&daemon, &one, "q");
    wait_until_same(&daemon, &one, &id, "its modes are back");
    send(&daemon, &id, "\n");
    daemon.client().wait_for_text(&id, "after");
    wait_until_same(&daemon, &one, &id, "it goes on");
}

#[test]
fn long_output_is_read_part_by_part_and_searched_to_its_beginning() {
    let daemon = TestDaemon::start();
    // More parts than stay in memory.
    let script = "stty -echo; echo the first line; seq 1 700000; echo ready; read x";
    let id = daemon.client().create_terminal(&sh(script));
    daemon.client().wait_for_text(&id, "ready");
    let one = person(&daemon, 80, 24, &[&id]);
    wait_until_same(&daemon, &one, &id, "attached");
    send(&daemon, &one, OPEN);
    wait_for(&daemon, &one, "699999");
    send(&daemon, &one, "?^500000$\r");
    wait_for(&daemon, &one, "500000");
    send(&daemon, &one, "\x1b[5~");
    wait_for(&daemon, &one, "499985");
    send(&daemon, &one, "g");
    wait_for(&daemon, &one, "the first line");
    send(&daemon, &one, "/^200000$\r");
    wait_for(&daemon, &one, "200000\n200001");
    send(&daemon, &one, "G");
    wait_for(&daemon, &one, "ready");
    send(&daemon, &one, "?the first line\rq");
    // A search is left by a key at any time.
    wait_for(&daemon, &one, "v selects");
    send(&daemon, &one, "q");
    wait_until_same(&daemon, &one, &id, "left");
}

#[test]
fn lines_are_copied_whole_however_they_are_wrapped() {
    let daemon = TestDaemon::start();
    let script = "stty -echo; seq 1 40; printf '%0100d end\\n' 7; echo last; echo ready; read x";
    let id = ready_terminal(&daemon, script);
    let one = person(&daemon, 60, 20, &[&id]);
    wait_until_same(&daemon, &one, &id, "attached");
    send(&daemon, &one, OPEN);
    wait_for(&daemon, &one, "100%");
    // The match begins in the line's second row.
    send(&daemon, &one, "/0007 end\r");
    wait_for_cursor(&daemon, &one, "7 end");
    send(&daemon, &one, "kv");
    wait_for(&daemon, &one, "1 row selected");
    send(&daemon, &one, "jjy");
    wait_for(&daemon, &one, "copied 2 lines");
    let printed = ok(&daemon, &["read", "--raw", &one]);
    let copied = printed.rsplit("52;c;").next().unwrap();
    let base64 = copied.split('\x1b').next().unwrap();
    let want = format!("{}7 end\nlast\n", "0".repeat(99));
    assert_eq!(decoded(base64), want);
}

#[test]
fn what_is_not_kept_is_told_where_it_was() {
    let daemon = TestDaemon::configured(
        "kill_grace_ms = 300\n[store]\nterminal_quota = \"256KiB\"\n[spool]\ndefault_window_bytes = 65536\n",
    );
    let script = "stty -echo; seq -w 0 300000; echo ready; read x";
    let params = merged(&sh(script), &json!({ "output_byte_limit": 65_536 }));
    let id = daemon.client().create_terminal(&params);
    daemon.client().wait_for_text(&id, "ready");
    wait_until("the quota is kept", || {
        let shown = daemon.client().ok("session.show", &json!({ "id": id }));
        shown["gaps"][0]["start"].as_u64() > Some(0)
    });
    let one = person(&daemon, 80, 24, &[&id]);
    wait_until_same(&daemon, &one, &id, "attached");
    send(&daemon, &one, OPEN);
    wait_for(&daemon, &one, "100%");
    send(&daemon, &one, "g/are not kept\r");
    wait_for(&daemon, &one, "bytes are not kept");
}

fn decoded(base64: &str) -> String {
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::STANDARD.decode(base64);
    String::from_utf8(bytes.unwrap()).unwrap()
}

#[test]
fn too_much_to_copy_is_said() {
    let daemon = TestDaemon::start();
    let id = numbered(&daemon, 9_000);
    let one = person(&daemon, 80, 24, &[&id]);
    wait_until_same(&daemon, &one, &id, "attached");
    send(&daemon, &one, OPEN);
    wait_for(&daemon, &one, "100%");
    send(&daemon, &one, "vgy");
    wait_for(&daemon, &one, "too large");
}

#[test]
fn a_line_is_there_once_whatever_size_the_tty_had() {
    let daemon = TestDaemon::start();
    // A shell draws its prompt again at each size.
    let bash =
        json!({ "command": "bash", "args": ["--norc", "--noprofile"], "env": { "PS1": "ready " } });
    let id = daemon.client().create_terminal(&bash);
    let lines = "seq -f '%05g and what follows it until the row is too long for a tty of a small size, or of a larger one' 1 20000\r";
    send(&daemon, &id, lines);
    daemon.client().wait_for_text(&id, "20000 and");
    let one = person(&daemon, 80, 24, &[&id]);
    wait_until_same(&daemon, &one, &id, "attached");
    for (cols, rows) in [(50, 15), (120, 30), (80, 24)] {
        let size = json!({ "id": one, "cols": cols, "rows": rows });
        daemon.client().ok("session.resize", &size);
        wait_until_same(&daemon, &one, &id, "resized");
    }
    send(&daemon, &one, OPEN);
    wait_for(&daemon, &one, "100%");
    for first in [19_950, 19_965, 19_980] {
        send(&daemon, &one, &format!("?^{first}\r"));
        wait_for_cursor(&daemon, &one, &format!("{first} and"));
        // The match is in the first third of the picture, and each line takes two rows.
        let screen = shown(&daemon, &one);
        for line in first..first + 7 {
            let row = format!(
                "{line} and what follows it until the row is too long for a tty of a small size"
            );
            assert_eq!(screen.matches(&row).count(), 1, "{line}: {screen}");
        }
        send(&daemon, &one, "G");
        wait_for(&daemon, &one, "100%");
    }
}

/// The daemon keeps a screen where a terminal has had two sizes between two outputs.
#[test]
fn a_line_is_there_once_beside_a_screen_that_was_kept_after_a_resize() {
    let daemon = TestDaemon::start();
    let lines = "seq -f 'line %03g and what follows it until the row is too long for a tty of a small size, of a larger' ";
    let script = format!(
        "stty -echo; {lines} 1 100; echo ready; read x; {lines} 101 103; echo over; read x"
    );
    let id = daemon.client().create_terminal(&sh(&script));
    daemon.client().wait_for_text(&id, "ready");
    for (cols, rows) in [(120, 30), (37, 9)] {
        let size = json!({ "id": id, "cols": cols, "rows": rows });
        daemon.client().ok("session.resize", &size);
    }
    send(&daemon, &id, "\n");
    daemon.client().wait_for_text(&id, "over");
    let one = person(&daemon, 120, 30, &[&id]);
    wait_until_same(&daemon, &one, &id, "attached");
    send(&daemon, &one, OPEN);
    wait_for(&daemon, &one, "100%");
    send(&daemon, &one, "?^line 070\r");
    wait_for_cursor(&daemon, &one, "line 070");
    let mut screen = shown(&daemon, &one);
    send(&daemon, &one, "G");
    wait_for(&daemon, &one, "over");
    screen += &shown(&daemon, &one);
    for line in 71..=103 {
        assert!(
            screen.contains(&format!("line {line:03} ")),
            "{line}: {screen}"
        );
    }
}

#[test]
fn a_resize_draws_it_anew_and_each_way_out_restores_the_tty() {
    let daemon = TestDaemon::start();
    let id = numbered(&daemon, 300);
    for way_out in ["detach", "signal", "daemon"] {
        let mut pty = Pty::open(80, 24);
        let modes = pty.modes();
        let mut child = pty.spawn(&command(&daemon, &["attach", &id]));
        pty.read_until("ready");
        pty.write(OPEN);
        pty.read_until("100%");
        pty.resize(60, 10);
        pty.read_until("v selects");
        match way_out {
            "detach" => pty.write("\x1dd"),
            "signal" => Process::expect(child.id().into()).signal(Signal::TERM),
            _ => daemon.kill_server(),
        }
        if way_out == "daemon" {
            // The next server answers, and the scrollback is still there.
            pty.write("g");
            pty.read_until("line 1.");
            pty.write("\x1dd");
        }
        pty.wait(&mut child);
        assert_eq!(pty.modes(), modes, "{way_out}");
        let left = pty.read_now();
        assert!(left.contains("\x1b[?1049l"), "{way_out}: {left:?}");
    }
}
