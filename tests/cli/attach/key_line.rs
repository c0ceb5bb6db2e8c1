//! The line of keys of `termctl attach`, and whose size the terminal has. The person's tty is a terminal of
//! termd.

use serde_json::{Value, json};
use termd_test_support::{TestDaemon, sh, wait_until};

use super::screen::{person, person_with, rows, send, wait_until_same};
use crate::termctl::{ok, termctl};

/// The first key: ctrl-].
const KEY: &str = "\x1d";

fn last_row(daemon: &TestDaemon, person: &str) -> String {
    rows(daemon, person).pop().unwrap_or_default()
}

fn wait_for_line(daemon: &TestDaemon, person: &str, line: &str) {
    wait_until(line, || last_row(daemon, person).contains(line));
}

fn size(daemon: &TestDaemon, id: &str) -> (Value, Value) {
    let info = daemon.client().ok("session.show", &json!({ "id": id }));
    (info["cols"].clone(), info["rows"].clone())
}

/// A terminal that repeats each line in brackets.
fn repeater(daemon: &TestDaemon) -> String {
    let script = "stty -echo; echo ready; while read -r line; do echo \"<$line>\"; done";
    let id = daemon.client().create_terminal(&sh(script));
    daemon.client().wait_for_text(&id, "ready");
    id
}

#[test]
fn output_stands_still_while_the_line_of_keys_is_open() {
    let daemon = TestDaemon::start();
    let id = repeater(&daemon);
    let one = person(&daemon, 90, 24, &[&id]);
    wait_until_same(&daemon, &one, &id, "attached");
    send(&daemon, &one, KEY);
    wait_for_line(
        &daemon,
        &one,
        "d detach  s list  [ scroll  p picture  r read-only  w who  z fit  ctrl-] itself",
    );
    send(&daemon, &id, "meanwhile\n");
    daemon.client().wait_for_text(&id, "<meanwhile>");
    let shown = rows(&daemon, &one).join("\n");
    assert!(!shown.contains("<meanwhile>"), "{shown}");
    // Any other key closes it, and is typed nowhere.
    send(&daemon, &one, "q");
    wait_until_same(&daemon, &one, &id, "closed");
    send(&daemon, &one, "later\r");
    daemon.client().wait_for_text(&id, "<later>");
    wait_until_same(&daemon, &one, &id, "after it");
    send(&daemon, &one, "\x1dd");
    daemon.client().wait_for_text(&one, "done 0");
}

#[test]
fn the_first_key_twice_is_typed_and_read_only_comes_and_goes() {
    let daemon = TestDaemon::start();
    let id = repeater(&daemon);
    let one = person(&daemon, 90, 24, &[&id]);
    wait_until_same(&daemon, &one, &id, "attached");
    send(&daemon, &one, "a\x1d\x1db\r");
    daemon.client().wait_for_text(&id, "<a\u{1d}b>");
    send(&daemon, &one, "\x1dr");
    wait_for_line(&daemon, &one, "only watching");
    send(&daemon, &one, "dropped\r");
    send(&daemon, &one, "\x1dr");
    wait_for_line(&daemon, &one, "keys go to the program again");
    send(&daemon, &one, "typed\r");
    let text = daemon.client().wait_for_text(&id, "<typed>");
    assert!(!text.contains("dropped"), "{text}");
}

#[test]
fn the_line_tells_who_is_here_and_takes_a_picture() {
    let daemon = TestDaemon::start();
    let id = repeater(&daemon);
    ok(&daemon, &["rename", &id, "work"]);
    // One after the other: viewers are told in the order in which they came.
    let one = person(&daemon, 100, 24, &[&id]);
    wait_until_same(&daemon, &one, &id, "attached");
    let other = person(&daemon, 100, 24, &["--read-only", &id]);
    wait_until_same(&daemon, &other, &id, "attached");
    let shown = termctl(&daemon, &["show", "--json", &id]).json();
    let modes: Vec<&Value> = shown["viewers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["mode"])
        .collect();
    assert_eq!(modes, ["type", "watch"]);
    send(&daemon, &one, "\x1dw");
    wait_for_line(&daemon, &one, "you (pid ");
    let line = last_row(&daemon, &one);
    assert!(
        line.contains(" 100x24") && line.contains(" watches"),
        "{line}"
    );
    let folder = daemon.path("pictures");
    std::fs::create_dir(&folder).unwrap();
    let third = person_with(&daemon, 100, 24, &[&id], &json!({ "cwd": folder }));
    wait_until_same(&daemon, &third, &id, "attached");
    send(&daemon, &third, "\x1dp");
    wait_for_line(&daemon, &third, "picture: ");
    let files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let name = files[0].file_stem().unwrap().to_string_lossy().into_owned();
    assert_eq!(files[0].extension(), Some("png".as_ref()));
    assert!(name.starts_with("work-"), "{name}");
    assert!(std::fs::read(&files[0]).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn a_full_screen_program_is_not_made_smaller_without_being_asked() {
    let daemon = TestDaemon::start();
    let full_screen = "printf '\\033[?1049h\\033[Hwhole'; trap 'printf \"\\033[H\\033[2Jsmaller\"' WINCH; \
                       while :; do sleep 100 & wait $!; done";
    let mut create = sh(full_screen);
    create["cols"] = json!(120);
    create["rows"] = json!(40);
    let id = daemon.client().create_terminal(&create);
    daemon.client().wait_for_text(&id, "whole");
    let one = person(&daemon, 80, 24, &[&id]);
    wait_for_line(&daemon, &one, "z gives it this size");
    assert_eq!(size(&daemon, &id), (json!(120), json!(40)));
    send(&daemon, &one, "\x1dz");
    wait_until("it has this size", || {
        size(&daemon, &id) == (json!(80), json!(24))
    });
    daemon.client().wait_for_text(&id, "smaller");
    send(&daemon, &one, "\x1dd");
    let asked = person(&daemon, 70, 20, &["--own-size", &id]);
    wait_until("it is asked for", || {
        size(&daemon, &id) == (json!(70), json!(20))
    });
    send(&daemon, &asked, "\x1dd");
    daemon.client().wait_for_text(&asked, "done 0");
    // A shell follows, and a larger tty shrinks nothing.
    let shell = repeater(&daemon);
    person(&daemon, 60, 20, &[&shell]);
    wait_until("a shell follows", || {
        size(&daemon, &shell) == (json!(60), json!(20))
    });
    person(&daemon, 60, 30, &["--follow-size", &id]);
    assert_eq!(size(&daemon, &id), (json!(70), json!(20)));
}

#[test]
fn one_detach_key_by_the_environment_detaches_at_once() {
    let daemon = TestDaemon::start();
    let id = repeater(&daemon);
    let env = json!({ "env": { "TERMD_DETACH_KEYS": "ctrl-q" } });
    let one = person_with(&daemon, 80, 24, &[&id], &env);
    wait_for_line(&daemon, &one, "ctrl-q detaches");
    send(&daemon, &one, "\x1dx\r");
    daemon.client().wait_for_text(&id, "<\u{1d}x>");
    send(&daemon, &one, "\x11");
    daemon.client().wait_for_text(&one, "done 0");
}
