//! `session.screen`: what a screen shows in each format and in each state of a terminal.

use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon, assert_members, merged, sh, wait_until};

/// Starts a script and waits until it has printed `mark`: the id.
fn started(client: &mut RawClient, script: &str, mark: &str) -> String {
    let id = client.create_terminal(&sh(script));
    client.wait_for_text(&id, mark);
    id
}

fn screen(client: &mut RawClient, id: &str, more: &Value) -> Value {
    client.ok("session.screen", &merged(&json!({ "id": id }), more))
}

/// The number and the text of each row.
fn rows(screen: &Value) -> Vec<(i64, String)> {
    let lines = screen["lines"].as_array().unwrap().iter();
    let text = |line: &Value| -> String {
        let runs = line["runs"].as_array().unwrap().iter();
        runs.map(|run| run["text"].as_str().unwrap()).collect()
    };
    lines
        .map(|line| (line["row"].as_i64().unwrap(), text(line)))
        .collect()
}

/// The texts of the rows that are not empty.
fn texts(screen: &Value) -> Vec<String> {
    let rows = rows(screen).into_iter().map(|(_, text)| text);
    rows.filter(|text| !text.is_empty()).collect()
}

fn rendering(screen: &Value) -> &str {
    assert_eq!(screen["lines"], json!([]), "rows twice");
    screen["rendering"].as_str().unwrap()
}

#[test]
fn each_format_shows_the_same_screen() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = "stty -echo; printf 'plain <&> \\033[1;31mred\\033[m \\033]8;;https://example.org/a\\033\\\\link\\033]8;;\\033\\\\\\n'; \
                  printf '漢字 é\\033[5;3Hready'; read x";
    let id = started(&mut client, script, "ready");
    let shown = screen(&mut client, &id, &json!({}));
    assert_eq!(texts(&shown), ["plain <&> red link", "漢字 é", "  ready"]);
    assert_eq!(shown["lines"][0]["runs"][1]["text"], "red");
    assert_eq!(
        shown["lines"][0]["runs"][1]["style"],
        json!({ "foreground": { "indexed": 1 }, "bold": true })
    );
    assert_eq!(
        shown["lines"][0]["runs"][3]["style"]["hyperlink"],
        "https://example.org/a"
    );
    assert_eq!(shown["lines"][1]["runs"][0]["width"], 6);
    assert_eq!(
        (&shown["cols"], &shown["rows"], &shown["settled"]),
        (&json!(80), &json!(24), &json!(true))
    );
    assert_members(&shown["cursor"], &json!({ "row": 4, "column": 7 }));
    assert!(shown.get("rendering").is_none());
    let text = screen(&mut client, &id, &json!({ "format": "text" }));
    assert!(rendering(&text).starts_with("plain <&> red link\n漢字 é\n\n\n  ready\n"));
    let ansi = screen(&mut client, &id, &json!({ "format": "ansi" }));
    let ansi = rendering(&ansi);
    assert!(ansi.contains("31") && ansi.contains("https://example.org/a"));
    let html = screen(&mut client, &id, &json!({ "format": "html" }));
    let html = rendering(&html);
    assert!(html.starts_with("<pre") && html.contains("plain &lt;&amp;&gt; "));
    assert!(html.contains("href=\"https://example.org/a\""));
}

#[test]
fn a_line_of_several_rows_is_joined_on_demand() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = "stty -echo; printf '%0200d\\nready' 7; read x";
    let id = started(&mut client, script, "ready");
    let line = format!("{:0200}", 7);
    let joined = screen(&mut client, &id, &json!({ "format": "text_joined" }));
    assert!(rendering(&joined).starts_with(&format!("{line}\nready")));
    let plain = screen(&mut client, &id, &json!({ "format": "text" }));
    assert!(rendering(&plain).starts_with(&format!("{}\n{}\n", &line[..80], &line[80..160])));
    let rows = screen(&mut client, &id, &json!({}));
    assert_eq!(rows["lines"][0]["wrapped"], true);
    assert!(rows["lines"][2].get("wrapped").is_none());
}

#[test]
fn since_gives_the_rows_that_changed_and_no_others() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = "stty -echo; printf 'one\\ntwo\\nthree\\nready'; read x; \
                  printf '\\033[2;1HTWO\\033[10;1Hlater'; read x";
    let id = started(&mut client, script, "ready");
    let first = screen(&mut client, &id, &json!({}));
    let seq = first["seq"].as_u64().unwrap();
    assert_eq!(rows(&first).len(), 24);
    let same = screen(&mut client, &id, &json!({ "since": seq }));
    assert_eq!(same["lines"], json!([]));
    client.send_text(&id, "\r");
    client.wait_for_text(&id, "later");
    let params = json!({ "since": seq, "changed_after": seq });
    let changed = screen(&mut client, &id, &params);
    let changed: Vec<_> = (rows(&changed).into_iter())
        .filter(|(_, text)| !text.is_empty())
        .collect();
    assert!(changed.contains(&(1, "TWO".to_owned())), "{changed:?}");
    assert!(changed.contains(&(9, "later".to_owned())), "{changed:?}");
    assert!(!changed.iter().any(|(row, _)| *row == 0), "{changed:?}");
    let text = json!({ "since": seq, "format": "text" });
    let text = screen(&mut client, &id, &text);
    assert!(!rendering(&text).contains("one"), "{text}");
}

#[test]
fn the_scrollback_is_read_by_range() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = "stty -echo; seq 1 100; printf ready; read x";
    let id = started(&mut client, script, "ready");
    let all = screen(&mut client, &id, &json!({ "from_row": -10000 }));
    // 100 lines and the one with `ready`. The screen shows 24 of them.
    assert_eq!(all["scrollback_rows"], 77);
    let expected: Vec<_> = (1..=100)
        .map(|n: i64| (n - 78, n.to_string()))
        .chain([(23, "ready".to_owned())])
        .collect();
    assert_eq!(rows(&all), expected);
    for (from, to, want) in [
        (-3, -1, vec!["75", "76", "77"]),
        (-1, 1, vec!["77", "78", "79"]),
        (22, 99, vec!["100", "ready"]),
        (-500, -76, vec!["1", "2"]),
        (5, 4, vec![]),
        (24, 30, vec![]),
    ] {
        let params = json!({ "from_row": from, "to_row": to });
        let part = screen(&mut client, &id, &params);
        assert_eq!(texts(&part), want, "{from} to {to}");
    }
}

/// The screen lags behind a flood. Each look shows a moment that existed, with all of its rows.
#[test]
fn a_flood_of_lines_is_whole_whenever_it_is_looked_at() {
    const LINE_BYTES: u64 = "0000000\r\n".len() as u64;
    const LINES: u64 = 2_000_000;
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = format!("seq -w 0 9999999 | head -n {LINES}; printf '\\033]2;done\\007'; cat");
    let id = started(&mut client, &script, "0000000");
    let (mut shown, mut looks) = (0, 0);
    loop {
        let view = screen(&mut client, &id, &json!({ "from_row": -10_000 }));
        let is_done = view["title"] == "done";
        let mut expected = None;
        let whole = rows(&view);
        // The last row may be incomplete.
        for (_, text) in &whole[..whole.len() - 1] {
            let number: u64 = text.parse().unwrap();
            assert_eq!(number, expected.unwrap_or(number), "{}", view["end"]);
            expected = Some(number + 1);
        }
        let end = view["end"].as_u64().unwrap();
        if !is_done {
            assert_eq!(expected, Some(end / LINE_BYTES), "what is at {end}");
        }
        looks += u64::from(end > shown);
        shown = end;
        if is_done {
            assert_eq!(expected, Some(LINES));
            assert_eq!(whole.len(), 10_000, "no answer has more");
            break;
        }
    }
    assert!(looks > 3, "it followed: {looks}");
}

#[test]
fn a_screen_outlives_its_terminal() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = "seq 1 50; printf '\\033]2;its title\\007\\033[3;1H\\033[7mlast\\033[m'; exit 3";
    let id = client.create_terminal(&sh(script));
    client.ok("session.wait", &json!({ "id": id }));
    let look = |client: &mut RawClient| {
        let mut screen = screen(client, &id, &json!({ "from_row": -10000 }));
        let members = screen.as_object_mut().unwrap();
        members.remove("seq");
        let lines = members["lines"].as_array_mut().unwrap();
        for line in lines {
            line.as_object_mut().unwrap().remove("seq");
        }
        screen
    };
    let exited = look(&mut client);
    assert_eq!(exited["title"], "its title");
    assert!(exited.get("echo").is_none(), "nobody's tty: {exited}");
    assert_eq!(rows(&exited).len(), 27 + 24);
    assert_eq!(texts(&exited)[29], "last");
    client.ok("session.close", &json!({ "id": id }));
    assert_eq!(look(&mut client), exited, "closed");
    drop(client);
    let daemon = TestDaemon::start_in(daemon.stop());
    assert_eq!(look(&mut daemon.client()), exited, "only in the database");
}

#[test]
fn state_for_agents() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = "printf '\\033]0;the title\\007\\033]7;file:///usr/share\\033\\\\\\007\\007\\033]9;4;1;42\\007'; \
                  printf '\\033]133;A\\007$ \\033]133;B\\007'; printf one; read x; \
                  printf '\\033]133;C\\007\\033[?1049h\\033[?25l\\033[?2004h\\033[?1;1002;1006h\\033[5 q'; \
                  stty -echo; printf two; read x; \
                  printf '\\033[?1049l\\033]133;D;1\\007'; stty echo; printf three; read x";
    let id = started(&mut client, script, "one");
    let now = screen(&mut client, &id, &json!({}));
    for (member, value) in [
        ("title", json!("the title")),
        ("cwd", json!("/usr/share")),
        ("bells", json!(2)),
        ("progress", json!({ "normal": 42 })),
        ("command_state", json!("input")),
        ("alternate", json!(false)),
        ("full_screen", json!(false)),
        ("echo", json!(true)),
    ] {
        assert_eq!(now[member], value, "{member}");
    }
    client.send_text(&id, "\r");
    client.wait_for_text(&id, "two");
    let now = screen(&mut client, &id, &json!({}));
    for (member, value) in [
        ("command_state", json!("running")),
        ("alternate", json!(true)),
        ("full_screen", json!(true)),
        ("echo", json!(false)),
    ] {
        assert_eq!(now[member], value, "{member}");
    }
    for (mode, value) in [
        ("bracketed_paste", json!(true)),
        ("application_cursor_keys", json!(true)),
        ("mouse", json!("button")),
        ("mouse_encoding", json!("sgr")),
    ] {
        assert_eq!(now["modes"][mode], value, "{mode}");
    }
    assert_members(&now["cursor"], &json!({ "visible": false, "shape": "bar" }));
    client.send_text(&id, "\r");
    client.wait_for_text(&id, "three");
    let now = screen(&mut client, &id, &json!({}));
    assert_eq!(
        (&now["alternate"], &now["full_screen"], &now["echo"]),
        (&json!(false), &json!(true), &json!(true)),
        "the mouse is on still"
    );
}

/// A shell's `read -s` switches ECHO off behind its prompt.
#[test]
fn a_password_prompt_shows_in_echo() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script = "read -s -p 'Password: ' x; printf '\\nthanks'; read y";
    let create = json!({ "command": "bash", "args": ["-c", script] });
    let id = &client.create_terminal(&create);
    client.wait_for_text(id, "Password: ");
    assert_eq!(screen(&mut client, id, &json!({}))["echo"], false);
    client.send_text(id, "hush\r");
    client.wait_for_text(id, "thanks");
    let after = screen(&mut client, id, &json!({}));
    assert_eq!(after["echo"], true);
    assert_eq!(texts(&after), ["Password: ", "thanks"]);
}

#[test]
fn bad_params_are_refused_by_field() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let id = client.create_terminal(&sh("read x"));
    for (params, field) in [
        (json!({ "format": "pdf" }), "format"),
        (json!({ "since": -1 }), "since"),
        (json!({ "from_row": "top" }), "from_row"),
        (json!({ "from_row": -100_001 }), "from_row"),
        (json!({ "timeout_ms": 86_400_001_u64 }), "timeout_ms"),
        (json!({ "settle_ms": 100, "timeout_ms": 99 }), "settle_ms"),
        (json!({ "view_cols": 70000 }), "view_cols"),
    ] {
        let error = client.err("session.screen", &merged(&json!({ "id": id }), &params));
        assert_eq!(
            (error.code, error.kind(), &error.data["field"]),
            (-32602, "invalid_params", &json!(field)),
            "{params}: {error:?}"
        );
    }
    let error = client.err("session.screen", &json!({ "id": "nobody" }));
    error.assert_is(-32002, "terminal_not_found");
}

#[test]
fn a_glance_shows_the_last_line_and_is_no_look() {
    let daemon = TestDaemon::start();
    let mut client = daemon.client();
    let script =
        "printf 'one\\n\\033]7;file:///tmp\\007\\033]9;4;1;42\\007two\\033[31m red\\n\\n'; exit 3";
    let id = client.create_terminal(&sh(script));
    wait_until("it has failed", || {
        let shown = client.ok("session.show", &json!({ "id": id }));
        shown["attention"]["state"] == "failed"
    });
    let glances = client.ok("session.glance", &json!({ "ids": [id, "nowhere"] }));
    assert_eq!(
        glances,
        json!([{ "id": id, "last_line": "two red", "cwd": "/tmp", "progress": { "normal": 42 } }])
    );
    let shown = client.ok("session.show", &json!({ "id": id }));
    assert_eq!(shown["attention"]["state"], "failed", "nobody has seen it");
    let many = vec!["x"; 257];
    let refused = client.err("session.glance", &json!({ "ids": many }));
    assert_eq!(refused.data["field"], "ids");
}
