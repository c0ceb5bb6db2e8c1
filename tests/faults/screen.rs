//! The next server makes the same screen as the one before it.

use std::fmt::Write as _;

use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon, assert_members, sh, wait_until};

use crate::{Fault, rounds};

/// The output of the noisy shell, in lines of 60 bytes: more than two checkpoints' worth.
const NOISY_LINES: u32 = 45_000;

/// A terminal whose script prints `ready`, then does the first part, and the next part for each
/// line of input. Each part ends with a title that the test waits for.
fn terminal(client: &mut RawClient, parts: &[&str]) -> String {
    let mut script = String::from("stty -echo; printf ready; ");
    for (number, part) in parts.iter().enumerate() {
        let _ = write!(
            script,
            "{part} printf '\\033]2;part {number}\\007'; read x; "
        );
    }
    let id = client.create_terminal(&sh(&script));
    wait_for_part(client, &id, 0);
    id
}

/// Waits for a title, which works inside an unfinished sequence as well.
fn wait_for_part(client: &mut RawClient, id: &str, number: usize) {
    let title = format!("part {number}");
    wait_until(&title, || {
        let params = json!({ "id": id, "to_row": 0 });
        client.ok("session.screen", &params)["title"] == title.as_str()
    });
}

fn go_on(client: &mut RawClient, id: &str, number: usize) {
    client.send_text(id, "\n");
    wait_for_part(client, id, number);
}

/// The whole screen, without the members that count changes.
fn whole_screen(daemon: &TestDaemon, id: &str) -> Value {
    let params = json!({ "id": id, "from_row": -10_000 });
    let mut screen = daemon.client().ok("session.screen", &params);
    let members = screen.as_object_mut().unwrap();
    members.remove("seq").unwrap();
    for line in members["lines"].as_array_mut().unwrap() {
        line.as_object_mut().unwrap().remove("seq").unwrap();
    }
    screen
}

/// The sequence that makes another tty go on from here. It holds the state that the screen does not
/// show.
fn continuation(daemon: &TestDaemon, id: &str) -> Value {
    let params = json!({ "id": id, "format": "attach" });
    let screen = daemon.client().ok("session.screen", &params);
    json!([screen["end"], screen["rendering"]])
}

#[track_caller]
fn assert_same_screen(now: &Value, before: &Value, context: &str) {
    if now == before {
        return;
    }
    for (name, was) in before.as_object().unwrap() {
        if name != "lines" {
            assert_eq!(&now[name], was, "{context}: {name}");
        }
    }
    let (now, before) = (&now["lines"], &before["lines"]);
    for (now, was) in now
        .as_array()
        .unwrap()
        .iter()
        .zip(before.as_array().unwrap())
    {
        assert_eq!(now, was, "{context}");
    }
    panic!("{context}: another number of rows");
}

fn faults(round: u32) -> &'static [Fault] {
    match round % 3 {
        0 => &[Fault::Kill],
        1 => &[Fault::Replace],
        _ => &[Fault::Kill, Fault::Replace],
    }
}

/// Makes each fault and compares the screen before and after it.
#[track_caller]
fn strike_and_compare(daemon: &TestDaemon, id: &str, faults: &[Fault], context: &str) {
    let (before, going_on) = (whole_screen(daemon, id), continuation(daemon, id));
    for fault in faults {
        fault.strike(daemon);
    }
    let context = format!("{context}, after {faults:?}");
    assert_same_screen(&whole_screen(daemon, id), &before, &context);
    assert_eq!(continuation(daemon, id), going_on, "{context}");
}

#[test]
fn a_long_scrollback_is_the_same_after_a_fault() {
    for round in 0..rounds().min(3) {
        let daemon = TestDaemon::start();
        let mut client = daemon.client();
        let noise = format!(
            "awk 'BEGIN {{ for (i = 0; i < {NOISY_LINES}; i++) \
             printf \"\\033[3%dmline %d\\033[m \\346\\274\\242 and more of it, to be sixty bytes\\n\", i % 8, i }}';"
        );
        let id = terminal(
            &mut client,
            &[&noise, "printf 'one more\\n$ ';", "seq 1 9;"],
        );
        strike_and_compare(&daemon, &id, faults(round), "noise");
        go_on(&mut daemon.client(), &id, 1);
        strike_and_compare(&daemon, &id, faults(round + 1), "a line more");
        go_on(&mut daemon.client(), &id, 2);
        strike_and_compare(&daemon, &id, faults(round + 2), "nine lines more");
    }
}

/// The state of an editor in the middle of its work: the alternate screen, margins, an SGR and a
/// character set, tab stops, a saved cursor, modes.
#[test]
fn a_full_screen_program_goes_on_after_a_fault() {
    for round in 0..rounds() {
        let daemon = TestDaemon::start();
        let mut client = daemon.client();
        let parts = [
            "printf 'behind it\\n\\033[33mcolour'; \
             printf '\\033[?1049h\\033[2J\\033[3;20r\\033[3g\\033[1;5H\\033H\\033[5;10H\\0337'; \
             printf '\\033[?1;1002;1006;2004h\\033[?25l\\033[4 q\\033[4h\\033[?6h\\033=\\033[>1u'; \
             printf '\\033[1;4:3;38:2::1:2:3m\\033(0lqqk\\033[10;20Hx\\033[22;2t\\033]11;#102030\\007';",
            "printf 'lqk\\tstill\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n\\n'; ",
            "printf '\\0338restored\\033[?1049lback';",
        ];
        let id = terminal(&mut client, &parts);
        strike_and_compare(&daemon, &id, faults(round), "in it");
        // The later output depends on hidden state. It is the same as without a fault.
        let untouched = terminal(&mut daemon.client(), &parts);
        for (number, context) in [(1, "scrolled in it"), (2, "left it")] {
            for id in [&id, &untouched] {
                go_on(&mut daemon.client(), id, number);
            }
            let expected = whole_screen(&daemon, &untouched);
            assert_same_screen(&whole_screen(&daemon, &id), &expected, context);
            strike_and_compare(&daemon, &id, faults(round + 1), context);
        }
    }
}

#[test]
fn sizes_survive_and_stand_where_they_were_given() {
    for round in 0..rounds() {
        let daemon = TestDaemon::start();
        let mut client = daemon.client();
        let lines =
            "i=0; while [ $i -lt 40 ]; do printf 'line %d %060d|\\n' $i $i; i=$((i+1)); done;";
        let parts = [
            lines,
            "printf '\\033[5;1H';",
            lines,
            "printf '\\033[2;38Hat the edge';",
        ];
        let id = terminal(&mut client, &parts);
        let sizes = [(40, 10), (100, 30), (38, 12)];
        for (number, (cols, rows)) in (1..).zip(sizes) {
            let size = json!({ "id": id, "cols": cols, "rows": rows });
            daemon.client().ok("session.resize", &size);
            go_on(&mut daemon.client(), &id, number);
            if round % 2 == 0 {
                let context = format!("{cols} by {rows}");
                strike_and_compare(&daemon, &id, faults(round + 1), &context);
            }
        }
        strike_and_compare(&daemon, &id, faults(round), "after three sizes");
        let info = daemon.client().ok("session.show", &json!({ "id": id }));
        assert_members(&info, &json!({ "cols": 38, "rows": 12 }));
    }
}

/// Two sizes with no output between them.
#[test]
fn a_size_that_lasted_a_moment_reflows_the_screen() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = terminal(
        &mut client,
        &["seq 1 60; printf '\\033[3;3H';", "printf more;"],
    );
    for (cols, rows) in [(20, 5), (80, 24), (2, 1), (90, 40)] {
        let size = json!({ "id": id, "cols": cols, "rows": rows });
        client.ok("session.resize", &size);
    }
    wait_until("the last size is there", || {
        client.ok("session.show", &json!({ "id": id }))["rows"] == 40
    });
    strike_and_compare(&daemon, &id, &[Fault::Kill], "four sizes at once");
    go_on(&mut daemon.client(), &id, 1);
    strike_and_compare(&daemon, &id, &[Fault::Replace], "and more");
}

/// Output stops inside a sequence or a character, and the rest comes after the fault.
#[test]
fn output_cut_inside_a_sequence_is_joined() {
    for (head, tail, look) in [
        (
            "\\033[1;3",
            "1mred",
            json!({ "bold": true, "foreground": { "indexed": 1 } }),
        ),
        ("\\346\\274", "\\242", Value::Null),
        ("\\033", "[7mred", json!({ "inverse": true })),
        (
            "\\033]8;;http://a",
            "b/\\033\\\\red",
            json!({ "hyperlink": "http://ab/" }),
        ),
    ] {
        for fault in [Fault::Kill, Fault::Replace] {
            let daemon = TestDaemon::start();
            let mut client = daemon.client();
            let script = format!(
                "stty -echo; printf 'ready{head}'; read x; printf '{tail}'; printf '\\033]2;done\\007'; read x"
            );
            let id = client.create_terminal(&sh(&script));
            client.wait_for_text(&id, "ready");
            strike_and_compare(&daemon, &id, &[fault], head);
            let mut client = daemon.client();
            client.send_text(&id, "\n");
            wait_until("the rest is there", || {
                client.ok("session.screen", &json!({ "id": id }))["title"] == "done"
            });
            let screen = whole_screen(&daemon, &id);
            let runs = &screen["lines"][0]["runs"];
            if look.is_null() {
                assert_eq!(runs[0]["text"], "ready漢", "{head}");
            } else {
                assert_eq!(
                    (&runs[0]["text"], &runs[1]["text"], &runs[1]["style"]),
                    (&json!("ready"), &json!("red"), &look),
                    "{head}"
                );
            }
        }
    }
}

/// The screen of a flood with faults is that of a flood without.
#[test]
fn a_flood_ends_in_the_same_screen() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let gate = daemon.path("gate");
    // The flood waits, so that it is not over before the first fault.
    let flood = format!(
        "i=0; while [ $i -lt 80000 ]; do \
         [ $i != 60000 ] || until [ -e '{}' ]; do sleep 0.01; done; \
         printf '\\033[3%dm%d\\033[m\\033[%d;5Hx\\r\\n' $((i % 8)) $i $((i % 24)); i=$((i+1)); done;",
        gate.display()
    );
    let parts = ["", &flood];
    let (interrupted, untouched) = (terminal(&mut client, &parts), terminal(&mut client, &parts));
    std::fs::write(&gate, "").unwrap();
    go_on(&mut client, &untouched, 1);
    let expected = whole_screen(&daemon, &untouched);
    std::fs::remove_file(&gate).unwrap();
    client.send_text(&interrupted, "\n");
    let mut last = 0;
    for fault in [Fault::Kill, Fault::Replace, Fault::Kill] {
        let mut is_over = false;
        wait_until("the flood goes on", || {
            let params = json!({ "id": interrupted, "to_row": 0 });
            let screen = daemon.client().ok("session.screen", &params);
            is_over = screen["title"] == "part 1";
            let end = screen["end"].as_u64().unwrap();
            let moved = end > last + 50_000;
            last = if moved { end } else { last };
            moved || is_over
        });
        if is_over {
            break;
        }
        fault.strike(&daemon);
        std::fs::write(&gate, "").unwrap();
    }
    wait_for_part(&mut daemon.client(), &interrupted, 1);
    let now = whole_screen(&daemon, &interrupted);
    assert_same_screen(&now, &expected, "after the flood");
}

/// A viewer's change count comes from the server before. It still gets every later change.
#[test]
fn a_viewer_goes_on_over_a_fault() {
    for fault in [Fault::Kill, Fault::Replace] {
        let daemon = TestDaemon::start();
        let mut client = daemon.client();
        let parts = [
            "i=0; while [ $i -lt 50 ]; do printf 'step %d\\r' $i; sleep 0.002; i=$((i+1)); done;",
            "printf 'another text';",
        ];
        let id = terminal(&mut client, &parts);
        let seq = client.ok("session.screen", &json!({ "id": id }))["seq"].clone();
        fault.strike(&daemon);
        let mut client = daemon.client();
        go_on(&mut client, &id, 1);
        let params = json!({ "id": id, "changed_after": seq, "since": seq, "timeout_ms": 5_000 });
        let screen = client.ok("session.screen", &params);
        assert_eq!(
            screen["settled"], true,
            "{fault:?}: {seq} and {}",
            screen["seq"]
        );
        assert!(
            screen["lines"].to_string().contains("another text"),
            "{fault:?}: {screen}"
        );
    }
}
