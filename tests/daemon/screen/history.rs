//! `session.screen` with `at` and `at_ms`, `session.keyframe` and `session.timeline`: screens and times
//! of what was printed before.

use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon, merged, sh};

fn screen(client: &mut RawClient, id: &str, more: &Value) -> Value {
    client.ok("session.screen", &merged(&json!({ "id": id }), more))
}

/// The screen as text, with the scrollback rows that are asked for.
fn text(client: &mut RawClient, id: &str, more: &Value) -> String {
    let shown = screen(client, id, &merged(&json!({ "format": "text" }), more));
    shown["rendering"].as_str().unwrap().trim_end().to_owned()
}

#[test]
fn a_screen_of_the_past_is_what_a_person_saw_then() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = "stty -echo; printf one; read x; printf '\\033[2J\\033[Htwo'; read x; \
                  printf '\\033[?1049hfull'; read x; printf '\\033[?1049l three'; read x";
    let id = client.create_terminal(&sh(script));
    let mut seen = Vec::new();
    for mark in ["one", "two", "full", "three"] {
        client.wait_for_text(&id, mark);
        let shown = screen(&mut client, &id, &json!({ "format": "text" }));
        let cols = if mark == "full" { 100 } else { 80 };
        client.ok(
            "session.resize",
            &json!({ "id": id, "cols": cols, "rows": 24 }),
        );
        seen.push((shown["end"].as_u64().unwrap(), shown["rendering"].clone()));
        client.send_text(&id, "\r");
    }
    client.ok("session.wait", &json!({ "id": id, "timeout_ms": 10_000 }));
    client.ok("session.close", &json!({ "id": id }));
    for (at, was) in &seen {
        let now = screen(&mut client, &id, &json!({ "format": "text", "at": at }));
        assert_eq!((&now["rendering"], &now["end"]), (was, &json!(at)));
        assert_eq!(now.get("echo"), None, "of the tty as it is now");
    }
    assert_eq!(text(&mut client, &id, &json!({ "at": 0 })), "");
    let timeline = client.ok("session.timeline", &json!({ "id": id, "pause_ms": 20 }));
    assert_eq!(timeline["at_end"], true);
    let spans = timeline["spans"].as_array().unwrap();
    assert_eq!(spans[0]["start"], 0);
    assert_eq!(spans.last().unwrap()["end"], seen.last().unwrap().0);
    for span in spans {
        let (first, last) = (&span["came_ms"]["first"], &span["came_ms"]["last"]);
        for at_ms in [first, last] {
            let now = screen(&mut client, &id, &json!({ "at_ms": at_ms, "to_row": 0 }));
            let end = now["end"].as_u64().unwrap();
            assert!(end > span["start"].as_u64().unwrap(), "{span} {end}");
        }
        let before = first.as_i64().unwrap() - 1;
        let then = screen(&mut client, &id, &json!({ "at_ms": before, "to_row": 0 }));
        assert_eq!(then["end"], span["start"], "{span}");
    }
    let late = i64::MAX;
    let last = screen(&mut client, &id, &json!({ "at_ms": late, "to_row": 0 }));
    assert_eq!(last["end"], seen.last().unwrap().0);
}

/// Lines of 9 bytes with their line ends, beginning with this one.
const FIRST_LINE: u64 = 1_000_000;
const LINES: u64 = 1_300_000;

#[test]
fn keyframes_make_long_output_short_to_look_back_in() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let last = FIRST_LINE + LINES - 1;
    let id = client.create_terminal(&sh(&format!("seq {FIRST_LINE} {last}")));
    client.ok("session.wait", &json!({ "id": id, "timeout_ms": 60_000 }));
    let mut keyframes = Vec::new();
    for line in [10, LINES / 2, LINES / 2 + 1, LINES] {
        let at = line * 9;
        let keyframe = client.ok("session.keyframe", &json!({ "id": id, "at": at }));
        let from = keyframe["at"].as_u64().unwrap();
        assert!(from <= at && at - from <= 6 << 20, "{from} for {at}");
        assert_eq!(keyframe["dump"].is_null(), from == 0);
        assert_eq!(
            (&keyframe["cols"], &keyframe["rows"]),
            (&json!(80), &json!(24))
        );
        keyframes.push(from);
        let shown = text(&mut client, &id, &json!({ "at": at, "from_row": -300 }));
        let first = FIRST_LINE + line.saturating_sub(323);
        let want: Vec<_> = (first..FIRST_LINE + line).map(|n| n.to_string()).collect();
        assert_eq!(shown, want.join("\n"), "at {at}");
    }
    keyframes.dedup();
    assert!(keyframes.len() > 2, "{keyframes:?}");
    // What is erased has no screens.
    client.ok("session.close", &json!({ "id": id }));
    client.ok("session.delete", &json!({ "id": id }));
    let end = LINES * 9;
    let keyframe = client.ok("session.keyframe", &json!({ "id": id, "at": end }));
    assert_eq!(
        (&keyframe["at"], &keyframe["dump"]),
        (&json!(end), &Value::Null)
    );
    let error = client.err("session.screen", &json!({ "id": id, "at": end - 1 }));
    assert_eq!(
        (error.kind(), &error.data["field"]),
        ("invalid_params", &json!("at"))
    );
}

#[test]
fn bad_moments_are_refused_by_field() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = client.create_terminal(&sh("read x"));
    for (method, params, field) in [
        ("session.screen", json!({ "at": 1 }), "at"),
        ("session.screen", json!({ "at": 0, "at_ms": 0 }), "at_ms"),
        ("session.screen", json!({ "at": 0, "since": 1 }), "since"),
        (
            "session.screen",
            json!({ "at": 0, "settle_ms": 1 }),
            "settle_ms",
        ),
        (
            "session.screen",
            json!({ "at": 0, "changed_after": 1 }),
            "changed_after",
        ),
        (
            "session.screen",
            json!({ "at": 0, "format": "attach" }),
            "format",
        ),
        ("session.keyframe", json!({ "at": 1 }), "at"),
        ("session.timeline", json!({ "pause_ms": 1 }), "pause_ms"),
    ] {
        let error = client.err(method, &merged(&json!({ "id": id }), &params));
        assert_eq!(
            (error.code, error.kind(), &error.data["field"]),
            (-32602, "invalid_params", &json!(field)),
            "{method} {params}: {error:?}"
        );
    }
}
