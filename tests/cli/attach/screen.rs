//! The screen of an attached person. The person's tty is a terminal of termd as well, so its screen
//! can be compared with that of the attached terminal.

use std::fmt::Write as _;

use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon, assert_members, sh, wait_until};

use crate::termctl::{command, ok, termctl};

/// A terminal that runs the next part of its script for each line of input, and then sets its
/// title.
fn terminal(daemon: &TestDaemon, parts: &[&str]) -> String {
    let mut script = String::from("stty -echo; ");
    for (number, part) in parts.iter().enumerate() {
        let _ = write!(
            script,
            "{part} printf '\\033]2;part {number}\\007'; read x; "
        );
    }
    let id = daemon.client().create_terminal(&sh(&script));
    wait_for_title(&mut daemon.client(), &id, "part 0");
    id
}

fn go_on(daemon: &TestDaemon, id: &str, number: usize) {
    let mut client = daemon.client();
    client.send_text(id, "\n");
    wait_for_title(&mut client, id, &format!("part {number}"));
}

fn wait_for_title(client: &mut RawClient, id: &str, title: &str) {
    wait_until(title, || {
        client.ok("session.screen", &json!({ "id": id }))["title"] == title
    });
}

/// A terminal of this size, as a person's tty, whose shell runs `termctl attach` and then reports
/// its exit.
pub(super) fn person(daemon: &TestDaemon, cols: u16, rows: u16, args: &[&str]) -> String {
    person_with(daemon, cols, rows, args, &json!({}))
}

/// The same with a `cwd` or variables of its own.
pub(super) fn person_with(
    daemon: &TestDaemon,
    cols: u16,
    rows: u16,
    args: &[&str],
    own: &Value,
) -> String {
    let attach = command(daemon, &[&["attach"], args].concat());
    let mut create = json!({
        "command": "sh",
        "args": ["-c", "printf 'before\\n\\033]2;theirs\\007'; \"$@\"; echo \"done $?\"; read x", "sh"],
        "env": { "TERM": "xterm-256color", "LANG": "C.UTF-8" },
        "cols": cols, "rows": rows,
    });
    let words = create["args"].as_array_mut().unwrap();
    words.push(json!(attach.get_program().to_str().unwrap()));
    words.extend(attach.get_args().map(|arg| json!(arg.to_str().unwrap())));
    let variables = create["env"].as_object_mut().unwrap();
    for (name, value) in attach.get_envs() {
        if let (Some(name), Some(value)) = (name.to_str(), value.and_then(|value| value.to_str())) {
            variables.insert(name.to_owned(), json!(value));
        }
    }
    let own_variables = own["env"].as_object().cloned();
    variables.extend(own_variables.unwrap_or_default());
    if let Some(cwd) = own.get("cwd") {
        create["cwd"] = cwd.clone();
    }
    daemon.client().create_terminal(&create)
}

/// The visible part of a screen, and the modes that decide how keys are written. A person's tty shows
/// both screens of a program on its alternate screen.
fn seen(client: &mut RawClient, id: &str) -> Value {
    let screen = client.ok("session.screen", &json!({ "id": id }));
    let rows = screen["lines"].as_array().unwrap().iter();
    let rows: Vec<_> = rows
        .map(|line| json!([line["runs"], line["size"]]))
        .collect();
    json!({
        "rows": rows, "cursor": screen["cursor"], "modes": screen["modes"],
        "cols": screen["cols"],
    })
}

#[track_caller]
pub(super) fn wait_until_same(daemon: &TestDaemon, person: &str, id: &str, when: &str) {
    let mut client = daemon.client();
    let deadline = termd_test_support::Deadline::after(termd_test_support::DEADLINE);
    loop {
        let (theirs, its) = (seen(&mut client, person), seen(&mut client, id));
        if theirs == its {
            return;
        }
        if deadline.passed() {
            let (theirs_rows, its_rows) = (theirs["rows"].as_array(), its["rows"].as_array());
            for (row, (theirs, its)) in theirs_rows
                .unwrap()
                .iter()
                .zip(its_rows.unwrap())
                .enumerate()
            {
                assert_eq!(theirs, its, "{when}: row {row}");
            }
            assert_eq!(theirs, its, "{when}");
        }
    }
}

pub(super) fn send(daemon: &TestDaemon, id: &str, text: &str) {
    daemon.client().send_text(id, text);
}

const FULL_SCREEN: &str = "printf 'behind it\\n\\033[33mcolour\\033[3;7H'; \
    printf '\\033[?1049h\\033[2J\\033[3;20r\\033[3g\\033[1;5H\\033H\\033[5;10H\\0337'; \
    printf '\\033[?1;1002;1006;2004h\\033[4 q\\033[?6h\\033='; \
    printf '\\033[1;4:3;38:2::1:2:3m\\033(0lqqk\\033[10;20Hx';";

#[test]
fn a_shell_is_drawn_at_once_and_goes_on() {
    let daemon = TestDaemon::start();
    let parts = [
        "seq 1 30; printf '\\033[1;31mred \\346\\274\\242\\033[m$ ';",
        "printf 'typed\\n'; seq 1 10; printf '\\033[32m'; printf '\\033[5;10r\\033[?25l';",
        "printf 'green\\n\\n\\n\\n\\n\\n\\n\\n\\n';",
    ];
    let id = terminal(&daemon, &parts);
    let one = person(&daemon, 80, 24, &[&id]);
    wait_until_same(&daemon, &one, &id, "at once");
    go_on(&daemon, &id, 1);
    wait_until_same(&daemon, &one, &id, "live");
    // A second person attaches meanwhile. The current style and margins are invisible.
    let other = person(&daemon, 80, 24, &[&id]);
    wait_until_same(&daemon, &other, &id, "the other, at once");
    go_on(&daemon, &id, 2);
    wait_until_same(&daemon, &one, &id, "one of two");
    wait_until_same(&daemon, &other, &id, "the other of two");
}

#[test]
fn a_full_screen_program_is_drawn_and_leaves_to_the_primary_screen() {
    let daemon = TestDaemon::start();
    let parts = [
        FULL_SCREEN,
        "printf 'lqk\\tstill\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n';",
        "printf '\\0338restored';",
        "printf '\\033[r\\033[?6l\\033[?1049lback';",
    ];
    let id = terminal(&daemon, &parts);
    let person = person(&daemon, 80, 24, &[&id]);
    wait_until_same(&daemon, &person, &id, "at once");
    for (number, when) in [(1, "scrolled"), (2, "restored"), (3, "left")] {
        go_on(&daemon, &id, number);
        wait_until_same(&daemon, &person, &id, when);
    }
}

/// The rest of the sequence comes while attached. It must not be shown as text.
#[test]
fn output_that_is_cut_in_a_sequence_goes_on_whole() {
    for (head, tail) in [
        ("\\033[1;3", "1mred"),
        ("\\346\\274", "\\242"),
        ("\\033]8;;http://a", "b/\\033\\\\link"),
    ] {
        let daemon = TestDaemon::start();
        let script = format!("stty -echo; printf 'ready{head}'; read x; printf '{tail}'; read x");
        let id = &daemon.client().create_terminal(&sh(&script));
        daemon.client().wait_for_text(id, "ready");
        let person = person(&daemon, 80, 24, &[id]);
        wait_until_same(&daemon, &person, id, head);
        send(&daemon, id, "\n");
        wait_until("the rest is there", || {
            let screen = daemon
                .client()
                .ok("session.screen", &json!({ "id": person, "format": "text" }));
            let text = screen["rendering"]
                .as_str()
                .unwrap()
                .lines()
                .next()
                .unwrap()
                .to_owned();
            ["readyred", "ready漢", "readylink"].contains(&text.as_str())
        });
        wait_until_same(&daemon, &person, id, tail);
    }
}

#[test]
fn the_terminal_takes_the_size_and_is_drawn_in_it() {
    let daemon = TestDaemon::start();
    let line = "printf '%0100d|\\n' 7; seq 1 30;";
    let id = terminal(&daemon, &[line, "printf more;"]);
    let one = person(&daemon, 100, 30, &[&id]);
    wait_until_same(&daemon, &one, &id, "larger");
    daemon.client().ok(
        "session.resize",
        &json!({ "id": one, "cols": 60, "rows": 12 }),
    );
    wait_until_same(&daemon, &one, &id, "smaller, while attached");
    go_on(&daemon, &id, 1);
    wait_until_same(&daemon, &one, &id, "and on");
}

/// The terminal has the size of the newest tty. Another tty shows a part of it and stays current.
#[test]
fn two_people_with_ttys_of_two_sizes_see_it_both() {
    let daemon = TestDaemon::start();
    let id = terminal(&daemon, &["seq 1 5;", "printf 'more of it\\n';"]);
    let one = person(&daemon, 80, 24, &[&id]);
    wait_until_same(&daemon, &one, &id, "alone");
    let other = person(&daemon, 100, 30, &[&id]);
    wait_until_same(&daemon, &other, &id, "the other");
    let mut client = daemon.client();
    client.send_text(&id, "\n");
    wait_for_title(&mut client, &id, "part 1");
    wait_until_same(&daemon, &other, &id, "the other goes on");
    wait_until("the one sees it on a tty of its own size", || {
        let params = json!({ "id": one, "format": "text" });
        let screen = client.ok("session.screen", &params);
        let text = screen["rendering"].as_str().unwrap();
        screen["cols"] == 80 && text.starts_with("1\n2\n3\n4\n5\nmore of it\n\n")
    });
    // A resize of the person's tty gives the terminal that size again.
    client.ok(
        "session.resize",
        &json!({ "id": one, "cols": 90, "rows": 20 }),
    );
    wait_until_same(&daemon, &one, &id, "the one again");
}

/// Detaching resets each mode that a program may leave on.
#[test]
fn detaching_leaves_the_tty_clean() {
    let daemon = TestDaemon::start();
    let modes = "printf '\\033[?5h\\033[20h\\033[?69h\\033[3;9s\\033[?1004h\\033[>4;2m\\033[>5u';";
    let id = terminal(&daemon, &[&format!("{FULL_SCREEN} {modes}")]);
    let person = person(&daemon, 80, 24, &[&id]);
    wait_until_same(&daemon, &person, &id, "attached");
    send(&daemon, &person, "\u{1d}d");
    daemon.client().wait_for_text(&person, "done 0");
    let mut client = daemon.client();
    let fresh = client.create_terminal(&sh("read x"));
    let fresh = seen(&mut client, &fresh);
    let left = seen(&mut client, &person);
    assert_eq!(left["modes"], fresh["modes"]);
    let shown = client.ok("session.screen", &json!({ "id": person }));
    assert_eq!(shown["alternate"], false);
    for member in ["visible", "shape"] {
        assert_eq!(left["cursor"][member], fresh["cursor"][member], "{member}");
    }
    let screen = client.ok("session.screen", &json!({ "id": person, "format": "text" }));
    let text = screen["rendering"].as_str().unwrap();
    assert!(text.contains("done 0") && !text.contains("lqqk"), "{text}");
    let json = client.ok("session.screen", &json!({ "id": person }));
    let done = json["lines"]
        .as_array()
        .unwrap()
        .iter()
        .find(|line| line["runs"][0]["text"] == "done 0");
    assert!(
        done.unwrap()["runs"][0].get("style").is_none(),
        "in default colours"
    );
}

/// The rows of a screen as text.
pub(super) fn rows(daemon: &TestDaemon, id: &str) -> Vec<String> {
    let params = json!({ "id": id, "format": "text" });
    let screen = daemon.client().ok("session.screen", &params);
    let text = screen["rendering"].as_str().unwrap();
    text.lines().map(str::to_owned).collect()
}

/// The primary screen and the title of a person's tty are as before, with a line about the end.
#[test]
fn what_was_on_the_tty_is_given_back() {
    let daemon = TestDaemon::start();
    let parts = [
        "seq 1 50;",
        // In one write, so that the page that switches the screen has the first title, too.
        &format!("printf '\\033]2;its own\\007\\033[?1049h'; {FULL_SCREEN}"),
        "",
    ];
    for (detaches, ending) in [(true, "[detached]\ndone 0"), (false, "[exited 0]\ndone 0")] {
        let id = terminal(&daemon, &parts);
        let person = person(&daemon, 80, 24, &[&id]);
        wait_until_same(&daemon, &person, &id, "attached");
        let mut client = daemon.client();
        let attached = client.ok("session.screen", &json!({ "id": person }));
        assert_eq!(attached["alternate"], true);
        // Also one that was set before.
        wait_for_title(&mut client, &person, "part 0");
        go_on(&daemon, &id, 1);
        wait_until_same(&daemon, &person, &id, "full screen");
        go_on(&daemon, &id, 2);
        wait_for_title(&mut client, &person, "part 2");
        let (terminal, key) = if detaches {
            (&person, "\u{1d}d")
        } else {
            (&id, "\n")
        };
        client.send_text(terminal, key);
        client.wait_for_text(&person, "done 0");
        let left = client.ok("session.screen", &json!({ "id": person }));
        assert_eq!(
            (&left["alternate"], &left["title"]),
            (&json!(false), &json!("theirs"))
        );
        let rows = rows(&daemon, &person).join("\n");
        assert_eq!(rows.trim_end(), format!("before\n{ending}"));
    }
}

/// The line that says how to leave: at entry until a key or two seconds, and for a watcher again.
#[test]
fn the_way_out_is_shown_when_it_is_needed() {
    let daemon = TestDaemon::start();
    let id = terminal(&daemon, &["seq 1 50;", "printf more;"]);
    let shows = |person: &str, line: &str| {
        wait_until(line, || {
            rows(&daemon, person)
                .last()
                .is_some_and(|last| last.contains(line))
        });
    };
    let typing = person(&daemon, 80, 24, &[&id]);
    shows(&typing, "ctrl-] shows keys, then d detaches");
    // A key takes it away, and so does time.
    send(&daemon, &typing, "\n");
    wait_until_same(&daemon, &typing, &id, "a key");
    let watching = person(&daemon, 80, 24, &["--read-only", &id]);
    shows(
        &watching,
        "ctrl-] shows keys, then d detaches, only watching",
    );
    wait_until_same(&daemon, &watching, &id, "two seconds");
    send(&daemon, &watching, "x");
    shows(
        &watching,
        "ctrl-] shows keys, then d detaches, only watching",
    );
}

/// The terminal answers a program's questions. The ttys of attached people do not.
#[test]
fn a_program_that_asks_is_answered_once_with_somebody_attached() {
    let daemon = TestDaemon::start();
    let script = "stty -echo; printf '\\033]2;part 0\\007'; read x; stty raw min 0 time 5; \
                  printf '\\033[6n\\033[c\\033[>q\\033]11;?\\007\\033[?2026$p'; \
                  head -c 400 | od -An -c -w400 | tr -d ' '; printf 'asked'; sleep 100";
    let id = &daemon.client().create_terminal(&sh(script));
    wait_for_title(&mut daemon.client(), id, "part 0");
    let (one, other) = (
        person(&daemon, 80, 24, &[id]),
        person(&daemon, 80, 24, &["--read-only", id]),
    );
    wait_until_same(&daemon, &one, id, "attached");
    wait_until_same(&daemon, &other, id, "attached too");
    send(&daemon, id, "\n");
    let output = daemon.client().wait_for_text(id, "asked");
    for answer in ["033[1;1R", "033[?2026;", "033]11;rgb:", "033P>|"] {
        assert_eq!(output.matches(answer).count(), 1, "{answer}: {output}");
    }
    wait_until_same(&daemon, &one, id, "after it");
}

/// A watcher whose tty is too small sees the part with the cursor.
#[test]
fn a_watcher_with_a_smaller_tty_sees_where_the_cursor_is() {
    let daemon = TestDaemon::start();
    let id = terminal(
        &daemon,
        &[
            "printf '\\033[20;1Hbottom left\\033[1;1Htop left';",
            "printf '\\033[20;70Hfar';",
            "printf '\\033[1;1HTOP';",
        ],
    );
    let watcher = person(&daemon, 30, 8, &["--read-only", &id]);
    let mut client = daemon.client();
    let mut shows = |what: &str, not: &str| {
        wait_until(what, || {
            let screen = client.ok(
                "session.screen",
                &json!({ "id": watcher, "format": "text" }),
            );
            let text = screen["rendering"].as_str().unwrap();
            text.contains(what) && !text.contains(not)
        });
    };
    shows("top left", "bottom");
    go_on(&daemon, &id, 1);
    shows("far", "top");
    go_on(&daemon, &id, 2);
    shows("TOP left", "far");
    let info = daemon.client().ok("session.show", &json!({ "id": id }));
    assert_members(&info, &json!({ "cols": 80, "rows": 24 }));
    // The watcher ends with the command.
    go_on_to_the_end(&daemon, &id);
    daemon.client().wait_for_text(&watcher, "done 0");
}

fn go_on_to_the_end(daemon: &TestDaemon, id: &str) {
    send(daemon, id, "\n");
    daemon.client().ok("session.wait", &json!({ "id": id }));
}

#[test]
fn screen_and_screenshot_of_a_real_terminal() {
    let daemon = TestDaemon::start();
    let id = terminal(
        &daemon,
        &[
            "seq 1 30; printf '\\033[1;1H\\033[41mred\\033[m \\342\\224\\214\\342\\224\\200 \\346\\274\\242';",
        ],
    );
    let text = ok(&daemon, &["screen", &id]);
    assert!(text.starts_with("red ┌─ 漢\n9\n"), "{text}");
    let rows = ok(&daemon, &["screen", "--rows", "-2..-1", &id]);
    assert_eq!(rows, "6\n7");
    let html = ok(&daemon, &["screen", "--format", "html", &id]);
    assert!(html.contains("red</span>"), "{html}");
    let output = termctl(
        &daemon,
        &["screen", "--wait-change", "--timeout", "100ms", &id],
    );
    assert_eq!(output.code, Some(124));
    for (name, begins) in [
        ("x.png", &b"\x89PNG\r\n"[..]),
        ("x.svg", b"<svg"),
        ("x.html", b"<!DOCTYPE html>"),
    ] {
        let file = daemon.path(name);
        let output = termctl(
            &daemon,
            &["screenshot", "--json", &id, "-o", file.to_str().unwrap()],
        );
        assert_eq!(output.code, Some(0), "{output:?}");
        let bytes = std::fs::read(&file).unwrap();
        assert!(
            bytes
                .to_ascii_lowercase()
                .starts_with(&begins.to_ascii_lowercase()),
            "{name}"
        );
        assert_eq!(output.json()["bytes"], bytes.len(), "{name}");
    }
    let output = termctl(&daemon, &["screenshot", &id, "-o", "x.pdf"]);
    assert_eq!(output.code, Some(2), "{output:?}");
    output.assert_one_line();
}
