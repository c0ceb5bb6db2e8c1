//! `session.read` of plain text: a follower gets each line once, however often it reads.

use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon, sh};

fn page(client: &mut RawClient, id: &str, since: &Value, wait_ms: u64) -> Value {
    let params = json!({ "id": id, "since": since, "wait_ms": wait_ms });
    client.ok("session.read", &params)
}

/// Follows a terminal to its end: the text, and the part that came with each answer.
fn follow(client: &mut RawClient, id: &str, wait_ms: u64) -> (String, Vec<String>) {
    let (mut since, mut parts) = (json!(0), Vec::new());
    loop {
        let page = page(client, id, &since, wait_ms);
        assert!(page["end"].as_u64() >= since.as_u64(), "{page}");
        since = page["end"].clone();
        let text = page["text"].as_str().unwrap();
        if !text.is_empty() {
            parts.push(text.to_owned());
        }
        if page["at_end"] == true && page["state"] == "exited" {
            return (parts.concat(), parts);
        }
    }
}

/// Rows are drawn over each other many times, between lines.
#[test]
fn a_follower_of_redraws_gets_each_line_once() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = "echo begin; printf 'a: 0\\nb: 0\\n'; i=1; while [ $i -le 40 ]; do \
                  printf '\\033[2A\\033[2Ka: %d\\n\\033[2Kb: %d\\n' $i $i; sleep 0.01; \
                  i=$((i+1)); done; for n in 1 2 3; do printf '%d%%\\r' $n; sleep 0.02; done; \
                  printf '\\033[Kdone\\n'; echo end";
    for wait_ms in [10, 2_000] {
        let id = client.create_terminal(&sh(script));
        let (text, parts) = follow(&mut client, &id, wait_ms);
        let mut lines: Vec<&str> = text.lines().collect();
        for last in ["begin", "a: 40", "b: 40", "done", "end"] {
            assert_eq!(
                lines.iter().filter(|line| **line == last).count(),
                1,
                "{parts:?}"
            );
        }
        let all = lines.len();
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), all, "a line came twice: {parts:?}");
        assert!(all <= 12, "states in between: {parts:?}");
        assert!(!text.contains('\u{1b}') && !text.contains('\r'));
    }
}

/// A follower of a shell gets its prompt, and what was typed after it, once.
#[test]
fn a_prompt_reaches_a_follower() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = client.create_terminal(&sh("printf 'Password: '; read x; echo got $x"));
    let mut since = json!(0);
    let mut seen = String::new();
    while seen.is_empty() {
        let page = page(&mut client, &id, &since, 15_000);
        seen += page["text"].as_str().unwrap();
        since = page["end"].clone();
    }
    assert_eq!(seen, "Password: ");
    // The prompt does not come again.
    let again = page(&mut client, &id, &since, 50);
    assert_eq!((&again["text"], &again["end"]), (&json!(""), &since));
    client.send_text(&id, "yes\r");
    client.ok("session.wait", &json!({ "id": id }));
    let rest = page(&mut client, &id, &since, 0);
    assert_eq!(rest["text"], "yes\ngot yes\n");
}

/// Pages of any size join to the whole text, also where only the database has it.
#[test]
fn pages_join_to_the_text() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = "i=0; while [ $i -lt 300 ]; do printf '\\033[3%dmline %d\\033[m é漢\\n' $((i%8)) $i; \
                  i=$((i+1)); done; printf 'last'";
    let id = client.create_terminal(&sh(script));
    client.ok("session.wait", &json!({ "id": id }));
    let expected: String = (0..300).map(|n| format!("line {n} é漢\n")).collect();
    let expected = expected + "last";
    for closed in [false, true] {
        if closed {
            client.ok("session.close", &json!({ "id": id }));
        }
        for (bound, value) in [("max_bytes", 100), ("max_bytes", 4096), ("max_lines", 7)] {
            let (mut joined, mut since) = (String::new(), json!(0));
            loop {
                let params = json!({ "id": id, "since": since, bound: value });
                let page = client.ok("session.read", &params);
                let text = page["text"].as_str().unwrap();
                if bound == "max_lines" {
                    assert!(text.lines().count() <= value, "{text:?}");
                }
                joined += text;
                since = page["end"].clone();
                if page["at_end"] == true {
                    break;
                }
            }
            assert_eq!(joined, expected, "{bound} {value}, closed {closed}");
        }
        for lines in [1, 2, 50] {
            let params = json!({ "id": id, "tail_lines": lines });
            let text = client.ok("session.read", &params)["text"].clone();
            let text = text.as_str().unwrap().to_owned();
            assert_eq!(text.lines().count(), lines, "closed {closed}");
            assert!(expected.ends_with(&text));
        }
    }
}

/// Waits until this number of bytes was printed.
fn printed(client: &mut RawClient, id: &str, bytes: u64) {
    let mut end = 0;
    while end < bytes {
        let params = json!({ "id": id, "since": end, "encoding": "base64", "wait_ms": 15_000 });
        end = client.ok("session.read", &params)["end"].as_u64().unwrap();
    }
}

#[test]
fn a_character_that_a_range_cuts_is_given_once_and_whole() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script =
        "stty -echo; printf 'caf\\303'; read x; printf '\\251!\\n'; printf 'ab\\303\\n'; read x";
    let id = client.create_terminal(&sh(script));
    let range = |client: &mut RawClient, since: u64, until: u64| {
        let read = client.ok(
            "session.read",
            &json!({ "id": id, "since": since, "until": until }),
        );
        let text = read["text"].as_str().unwrap().to_owned();
        assert_eq!(read["at_end"], true, "{read}");
        (
            text,
            read["end"].as_u64().unwrap(),
            read["cut_character"].clone(),
        )
    };
    printed(&mut client, &id, 4);
    // Its rest may come or not: nobody is kept waiting for it, and who reads is told.
    let cut = ("caf\u{fffd}".to_owned(), 3, json!(true));
    assert_eq!(range(&mut client, 0, 4), cut);
    client.send_text(&id, "\n");
    printed(&mut client, &id, 13);
    let whole = |text: &str, end| (text.to_owned(), end, Value::Null);
    assert_eq!(range(&mut client, 0, 4), whole("caf", 3));
    assert_eq!(
        range(&mut client, 3, 13),
        whole("\u{e9}!\nab\u{fffd}\n", 13)
    );
    assert_eq!(range(&mut client, 8, 11), whole("ab\u{fffd}", 11));
}

/// The drawing of a full-screen program is left out, and reading goes on after it.
#[test]
fn a_full_screen_program_is_left_out() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = "echo before; printf '\\033[?1049h\\033[2J\\033[H'; i=0; while [ $i -lt 3000 ]; do \
                  printf '\\033[%d;1Hfull screen of text, row %d' $((i%24)) $i; i=$((i+1)); done; \
                  read x; printf '\\033[?1049l'; echo after";
    let id = client.create_terminal(&sh(script));
    let mut since = json!(0);
    let first = page(&mut client, &id, &since, 15_000);
    assert_eq!(first["text"], "before\n");
    client.wait_for_text(&id, "row 2999");
    since = first["end"].clone();
    let inside = page(&mut client, &id, &since, 0);
    assert_eq!(inside["text"], "");
    assert!(inside["end"].as_u64().unwrap() > 30_000, "{inside}");
    client.send_text(&id, "\r");
    client.ok("session.wait", &json!({ "id": id }));
    let last = page(&mut client, &id, &inside["end"], 0);
    assert_eq!(last["text"], "after\n");
}
