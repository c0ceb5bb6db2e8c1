//! Secrets in output that agents' fronts are not to see: `[policy] hide_secrets`.

use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use termd_test_support::{RawClient, TestDaemon, wait_until};

use crate::Attack;
use crate::agents::client;

pub(crate) const ATTACKS: &[Attack] = &[
    ("hidden_secrets_reach_no_answer", no_answer_shows_it),
    ("hidden_secrets_stay_hidden_in_part", no_part_of_it_is_shown),
    (
        "hidden_secrets_of_a_past_screen_stay_hidden",
        no_past_screen_shows_a_part,
    ),
    (
        "hidden_secrets_are_found_in_dumps_and_files",
        no_form_of_it_is_shown,
    ),
    (
        "hidden_secrets_that_are_cut_stay_hidden_in_part",
        no_part_of_a_cut_one_is_shown,
    ),
    (
        "hidden_secrets_stay_hidden_at_the_edge_of_a_screen",
        no_edge_of_a_screen_shows_a_part,
    ),
    (
        "hidden_secrets_stay_hidden_where_a_limit_cuts",
        no_limit_shows_a_part,
    ),
    (
        "hidden_secrets_stay_hidden_in_the_last_line",
        no_last_line_shows_a_part,
    ),
    (
        "hidden_secrets_cannot_be_guessed_by_a_hash",
        no_hash_of_an_output_with_secrets_is_told,
    ),
    (
        "hidden_secrets_of_a_persons_environment",
        no_value_of_a_persons_environment_is_shown,
    ),
    (
        "hidden_secrets_are_found_over_the_parts_of_a_search",
        no_part_of_a_searched_output_shows_a_part,
    ),
];

const HIDING: &str = "[policy]\nhide_secrets = true\n";
/// Columns of the terminal: the token takes three rows.
const COLS: u16 = 20;
/// The shortest part of the token that counts as shown.
const PART_BYTES: usize = 8;
/// The same where no more was asked for than half of that.
const SHORT_PART_BYTES: usize = 4;
/// What cuts a token and shows nothing within it.
const CUTS: &[&str] = &[
    "\u{1b}[31m",
    "\u{1b}]0;x\u{1b}\\",
    "\u{1b}Pq#0\u{1b}\\",
    "\u{1b}(0\u{1b}(B",
    "\u{1b}[3\u{18}",
    "\u{1b}]0;a\u{18}",
    "\u{1b}]0;a\nb\u{7}",
    "\u{1b}Pq\n\u{1b}\\",
    "\u{1b}7\u{1b}[9;1Hz z\u{1b}8",
    "\u{1b}7\u{1b}[B\u{1b}[3Gq\u{1b}8",
    "\n\u{1b}[A\u{1b}[15C",
    "\t\u{1b}[16G",
];

fn token() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6".repeat(3))
}

/// A terminal that prints the token plainly, and again with colours and a title that cut it.
fn terminal(daemon: &TestDaemon) -> (RawClient, String) {
    let token = token();
    let (start, end) = token.split_at(15);
    let letters = token
        .chars()
        .flat_map(|c| [c.to_string(), "\u{1b}[33m".to_owned()]);
    let letters = letters.collect::<String>();
    let directory = daemon.path(&token);
    fs::create_dir(&directory).unwrap();
    fs::write(
        daemon.path("tok"),
        format!(
            "plain {token}\ncut {start}\u{1b}[1;31m{end}\u{1b}[m\ntitle {start}\u{1b}]0;a title\u{7}{end}\n\
             letters {letters}\u{1b}[m\ndone\n"
        ),
    )
    .unwrap();
    let mut agent = client(daemon, "mcp", "an agent");
    let id = agent.create_terminal(&json!({
        "command": "sh", "args": ["-c", "cat ../tok; read line"],
        "cwd": directory, "cols": COLS, "rows": 10,
    }));
    let mut person = client(daemon, "cli", "a person");
    person.wait_for_text(&id, "done");
    (agent, id)
}

/// Fails where an answer has a part of the token, whatever escape sequences and rows cut it.
fn assert_hidden(what: &str, answer: &Value) {
    assert_no_part(what, answer, &token());
}

fn assert_no_part(what: &str, answer: &Value, secret: &str) {
    assert_no_part_of(PART_BYTES, what, answer, secret);
}

fn assert_no_part_of(bytes: usize, what: &str, answer: &Value, secret: &str) {
    let mut text = answer.to_string();
    if let Some(data) = answer["data"].as_str() {
        let bytes = BASE64.decode(data).unwrap();
        text.push_str(&String::from_utf8_lossy(&bytes));
    }
    let parts = secret.as_bytes().windows(bytes);
    for part in parts.map(|part| std::str::from_utf8(part).unwrap()) {
        assert!(!text.contains(part), "{what}: {part} in {text}");
    }
}

fn no_answer_shows_it() {
    let daemon = TestDaemon::configured(HIDING);
    let (mut agent, id) = terminal(&daemon);
    for (method, params) in [
        ("session.read", json!({ "id": id, "since": 0 })),
        (
            "session.read",
            json!({ "id": id, "since": 0, "encoding": "base64" }),
        ),
        (
            "session.read",
            json!({ "id": id, "since": 0, "encoding": "styled" }),
        ),
        ("session.screen", json!({ "id": id })),
        ("session.screen", json!({ "id": id, "format": "text" })),
        ("session.screen", json!({ "id": id, "format": "html" })),
        ("session.screen", json!({ "id": id, "format": "ansi" })),
        (
            "session.screen",
            json!({ "id": id, "from_row": 1, "to_row": 1 }),
        ),
        (
            "session.wait_for",
            json!({ "id": id, "since": 0, "until": { "pattern": "plain .*" } }),
        ),
        ("session.show", json!({ "id": id })),
        ("session.list", json!({})),
    ] {
        let answer = agent.ok(method, &params);
        assert_hidden(&format!("{method} {params}"), &answer);
    }
    // Whether a guess matches would tell the token, character by character.
    for (guess, matched) in [("ghp_", false), ("B2c3D4", false), (r"plain \*{40}", true)] {
        let params =
            json!({ "id": id, "since": 0, "until": { "pattern": guess }, "timeout_ms": 1 });
        let answer = agent.ok("session.wait_for", &params);
        assert_eq!(answer["matched"].is_object(), matched, "{guess}: {answer}");
    }
    let attach = json!({ "id": id, "format": "attach" });
    agent
        .err("session.screen", &attach)
        .assert_invalid("format");
    // A person sees all of it.
    let mut person = client(&daemon, "cli", "a person");
    let screen = person.ok(
        "session.screen",
        &json!({ "id": id, "format": "text_joined" }),
    );
    assert!(screen["rendering"].as_str().unwrap().contains(&token()));
}

fn no_part_of_it_is_shown() {
    let daemon = TestDaemon::configured(HIDING);
    let (mut agent, id) = terminal(&daemon);
    let end = agent.ok("session.show", &json!({ "id": id }))["end"].as_u64();
    for encoding in ["text", "styled", "raw", "base64", "pipe"] {
        // In the middle of the token, from each side.
        for at in 0..end.unwrap() {
            for params in [
                json!({ "id": id, "since": at, "encoding": encoding }),
                json!({ "id": id, "since": 0, "max_bytes": at.max(4), "encoding": encoding }),
                json!({ "id": id, "since": at, "max_bytes": 60, "encoding": encoding }),
            ] {
                let answer = match encoding {
                    "pipe" => agent.read_by_pipe(&params),
                    _ => agent.ok("session.read", &params),
                };
                assert_hidden(&format!("session.read {params}"), &answer);
            }
        }
    }
}

fn no_past_screen_shows_a_part() {
    let daemon = TestDaemon::configured(HIDING);
    let (mut agent, id) = terminal(&daemon);
    // Each place in the first line, of which the token is the end, and in the second.
    for at in 0..100 {
        let params = json!({ "id": id, "at": at, "format": "text_joined" });
        assert_hidden(
            &format!("session.screen {params}"),
            &agent.ok("session.screen", &params),
        );
    }
    let params = json!({ "id": id, "at": 20, "format": "text_joined" });
    let screen = agent.ok("session.screen", &params);
    assert_eq!(
        screen["rendering"].as_str().unwrap().trim_end(),
        "plain",
        "{screen}"
    );
}

/// The token as dumps print it, cut by what shows nothing and by controls, and secrets of files.
fn no_form_of_it_is_shown() {
    let daemon = TestDaemon::configured(HIDING);
    let token = token();
    let (start, end) = token.split_at(15);
    let body = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAA";
    let key = format!("-----BEGIN PRIVATE KEY-----\n{body}\n{body}\n-----END PRIVATE KEY-----");
    let mut printed = Vec::new();
    for form in [
        format!("json \\u001b[0m{token}"),
        format!("caret ^[[31m{token}"),
        format!("option -p{token}"),
        format!("unseen {start}\u{200b}{end} {start}\u{301}{end}"),
        format!("control {start}\0{end} {start}\u{7f}{end} {start}x\u{8}{end}"),
        format!("string \x1b]52;c;{key}\x07"),
        format!("puTTY\nPrivate-Lines: 1\n{body}\nPrivate-MAC: 00"),
        format!("aws_secret_access_key = {body}"),
        format!("{{\"auth\": \"{body}\"}}"),
        format!("client-key-data: {body}"),
    ] {
        printed.extend(form.bytes());
        printed.push(b'\n');
    }
    printed.extend(format!("invalid {start}").bytes());
    printed.push(0xff);
    printed.extend(format!("{end}\ndone\n").bytes());
    fs::write(daemon.path("forms"), printed).unwrap();
    let mut agent = client(&daemon, "mcp", "an agent");
    let id = agent.create_terminal(&json!({
        "command": "sh", "args": ["-c", "cat forms; read line"],
        "cwd": daemon.path(""), "cols": 120, "rows": 40,
    }));
    client(&daemon, "cli", "a person").wait_for_text(&id, "done");
    for encoding in ["text", "styled", "raw", "base64"] {
        let params = json!({ "id": id, "since": 0, "encoding": encoding });
        let answer = agent.ok("session.read", &params);
        assert_hidden(encoding, &answer);
        assert_no_part(encoding, &answer, body);
    }
    for raw in [false, true] {
        let params = json!({ "pattern": "control", "raw": raw, "context": 5 });
        let answer = agent.ok("output.search", &params);
        assert!(answer.to_string().contains("control"), "{answer}");
        assert_hidden("search", &answer);
        assert_no_part("search", &answer, body);
    }
    let screen = agent.ok("session.screen", &json!({ "id": id, "format": "text" }));
    assert_hidden("screen", &screen);
    assert_no_part("screen", &screen, body);
}

/// Reads from and up to each place of a token that is cut in its middle, by each method and in each form.
fn no_part_of_a_cut_one_is_shown() {
    let daemon = TestDaemon::configured(HIDING);
    let token = token();
    let (start, end) = token.split_at(15);
    let mut agent = client(&daemon, "mcp", "an agent");
    for (index, cut) in CUTS.iter().enumerate() {
        let printed = format!("{start}{cut}{end}\ndone\n");
        fs::write(daemon.path("cut"), &printed).unwrap();
        let id = agent.create_terminal(&json!({
            "command": "sh", "args": ["-c", "stty -opost; cat cut; read line"],
            "cwd": daemon.path(""), "cols": 80, "rows": 10,
        }));
        client(&daemon, "cli", "a person").wait_for_text(&id, "done");
        for at in 0..printed.len() - "\ndone\n".len() {
            for encoding in ["text", "styled", "raw", "base64"] {
                for (since, most) in [(at, 1_000), (0, at.max(4)), (at, 20), (at, 4)] {
                    let reading = json!({
                        "id": id, "since": since, "max_bytes": most, "encoding": encoding,
                    });
                    let mut of_command = reading.clone();
                    of_command["number"] = json!(0);
                    let bytes = if most == 4 {
                        SHORT_PART_BYTES
                    } else {
                        PART_BYTES
                    };
                    for (method, params) in
                        [("session.read", &reading), ("command.read", &of_command)]
                    {
                        let answer = agent.ok(method, params);
                        let what = format!("{index} {cut:?} {method} {params}");
                        assert_no_part_of(bytes, &what, &answer, &token);
                    }
                }
            }
            for guess in [&end[..PART_BYTES], &end[PART_BYTES..]] {
                let params = json!({
                    "id": id, "since": at, "until": { "pattern": guess }, "timeout_ms": 1,
                });
                let answer = agent.ok("session.wait_for", &params);
                assert!(answer["matched"].is_null(), "{cut:?} {params}: {answer}");
            }
        }
    }
}

/// A program, and a narrower screen, cut a line at the last column. Two tokens stand without a gap.
fn no_edge_of_a_screen_shows_a_part() {
    let daemon = TestDaemon::configured(HIDING);
    let token = token();
    let line =
        format!("2026-11-28 INFO deploying the service with the token {token} to production");
    let shown = format!(
        "\u{1b}[?1049h\u{1b}[H\u{1b}[?7l{line}\r\n\u{1b}[?7h{token}{token}\r\nAKIA ghp\r\ndone\r\n"
    );
    fs::write(daemon.path("shown"), shown).unwrap();
    let mut agent = client(&daemon, "mcp", "an agent");
    let id = agent.create_terminal(&json!({
        "command": "sh", "args": ["-c", "stty -opost; cat shown; read line"],
        "cwd": daemon.path(""), "cols": 80, "rows": 10,
    }));
    let mut person = client(&daemon, "cli", "a person");
    person.wait_for_text(&id, "done");
    for cols in [80, 30, 20, 12] {
        person.ok(
            "session.resize",
            &json!({ "id": id, "cols": cols, "rows": 10 }),
        );
        for format in ["text", "json"] {
            let screen = agent.ok("session.screen", &json!({ "id": id, "format": format }));
            assert_hidden(&format!("{cols} {format}"), &screen);
            assert!(screen.to_string().contains("AKIA ghp"), "{screen}");
        }
    }
}

/// A client of ACP bounds what it is shown of the output's end.
fn no_limit_shows_a_part() {
    let daemon = TestDaemon::configured(HIDING);
    let token = token();
    let (start, end) = token.split_at(15);
    let mut agent = client(&daemon, "acp", "an agent");
    for cut in [
        "",
        "\u{1b}[31m",
        "\u{1b}]0;x\u{1b}\\",
        "\u{1b}[s\u{1b}[5;5Hzz\u{1b}[u",
    ] {
        let before = "A".repeat(50);
        fs::write(
            daemon.path("cut"),
            format!("{before} {start}{cut}{end} bbbbb\n"),
        )
        .unwrap();
        for output in ["plain", "raw"] {
            for limit in 5..66 {
                let created = agent.ok(
                    "terminal/create",
                    &json!({
                        "sessionId": "s", "command": "cat", "args": ["cut"],
                        "cwd": daemon.path(""), "outputByteLimit": limit,
                        "_meta": { "termd": { "output": output } },
                    }),
                );
                let terminal = json!({ "sessionId": "s", "terminalId": created["terminalId"] });
                agent.ok("terminal/wait_for_exit", &terminal);
                let answer = agent.ok("terminal/output", &terminal);
                assert_no_part(&format!("{cut:?} {output} {limit}"), &answer, &token);
                agent.ok("terminal/release", &terminal);
            }
        }
    }
}

/// A list shows one line of each terminal, and a prompt is the end of one.
fn no_last_line_shows_a_part() {
    let daemon = TestDaemon::configured(HIDING);
    let mut person = client(&daemon, "cli", "a person");
    let id = person.create_terminal(&json!({
        "command": "sh", "args": ["-c", "printf '%15s %s? ' ' ' $TEXT; read line"],
        "cols": COLS, "env": { "TEXT": token() },
    }));
    wait_until("it reads", || {
        let shown = person.ok("session.show", &json!({ "id": id }));
        shown["attention"]["state"] == "input"
    });
    let masked = format!("{}?", "*".repeat(16));
    let mut agent = client(&daemon, "mcp", "an agent");
    let glances = agent.ok("session.glance", &json!({ "ids": [id] }));
    assert_eq!(glances[0]["last_line"], masked, "{glances}");
    let shown = agent.ok("session.show", &json!({ "id": id }));
    assert_eq!(shown["attention"]["why"], masked, "{shown}");
    let activity = agent.ok("session.activity", &json!({ "id": id }));
    assert_eq!(activity["prompt_text"], format!("{masked} "), "{activity}");
    let waiting = json!({ "id": id, "until": { "settle_ms": 1 } });
    let waited = agent.ok("session.wait_for", &waiting);
    assert_eq!(waited["activity"]["prompt_text"], format!("{masked} "));
    assert_hidden("session.wait_for", &waited);
    for (method, params, field) in [
        ("session.glance", json!({ "ids": [id] }), "/0/last_line"),
        ("session.activity", json!({ "id": id }), "/prompt_text"),
    ] {
        let seen = person.ok(method, &params);
        let seen = seen.pointer(field).and_then(Value::as_str).unwrap();
        assert!(seen.starts_with(&token()[24..]), "{seen}");
    }
}

/// With the rest of the output it would tell a guess from the secret.
fn no_hash_of_an_output_with_secrets_is_told() {
    let daemon = TestDaemon::configured(HIDING);
    let mut person = client(&daemon, "cli", "a person");
    let id = person.create_terminal(&json!({
        "command": "sh", "args": ["-c", "echo DB_PASSWORD=summer2024"],
    }));
    person.ok("session.wait", &json!({ "id": id }));
    let mut agent = client(&daemon, "mcp", "an agent");
    for (method, params) in [
        ("command.list", json!({ "filter": { "terminal": id } })),
        ("command.show", json!({ "id": id, "number": 0 })),
        ("audit.list", json!({ "filter": { "terminal": id } })),
    ] {
        wait_until("a person is told of it", || {
            let told = person.ok(method, &params).to_string();
            told.contains("output_sha256")
        });
        let told = agent.ok(method, &params).to_string();
        assert!(!told.contains("output_sha256"), "{method} {told}");
    }
}

fn no_value_of_a_persons_environment_is_shown() {
    let daemon = TestDaemon::configured(HIDING);
    let value = "person-Base-Secret-11";
    let mut person = client(&daemon, "cli", "a person");
    let id = person.create_terminal(&json!({
        "command": "sh", "args": ["-c", "echo value $OWN_TOKEN; read line"],
        "env": { "OWN_TOKEN": value },
    }));
    person.wait_for_text(&id, value);
    let mut agent = client(&daemon, "mcp", "an agent");
    for (method, params) in [
        ("session.read", json!({ "id": id, "since": 0 })),
        ("session.screen", json!({ "id": id })),
        ("output.search", json!({ "pattern": "value" })),
    ] {
        let answer = agent.ok(method, &params);
        assert!(answer.to_string().contains("value"), "{method} {answer}");
        assert!(!answer.to_string().contains(value), "{method} {answer}");
    }
}

/// A search reads output in parts. A key of several lines may begin in one and end in the next.
fn no_part_of_a_searched_output_shows_a_part() {
    let daemon = TestDaemon::configured(HIDING);
    let body = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAABAAAAz";
    let key = format!("{body}AAAA\n").repeat(30);
    // The key begins before the 64 KiB of a part, and ends behind them.
    let filler = format!("{:064}\n", 0).repeat(1007);
    let printed =
        format!("{filler}-----BEGIN PRIVATE KEY-----\n{key}-----END PRIVATE KEY-----\nneedle\n");
    fs::write(daemon.path("key"), printed).unwrap();
    let mut person = client(&daemon, "cli", "a person");
    let id = person.create_terminal(&json!({
        "command": "sh", "args": ["-c", "stty -opost; cat key; read line"], "cwd": daemon.path(""),
    }));
    person.wait_for_text(&id, "needle");
    let mut agent = client(&daemon, "mcp", "an agent");
    for raw in [false, true] {
        for pattern in [body, "needle"] {
            let params = json!({ "pattern": pattern, "raw": raw, "context": 20 });
            let answer = agent.ok("output.search", &params);
            assert_no_part(&format!("{params}"), &answer, body);
        }
        let seen = person.ok("output.search", &json!({ "pattern": body, "raw": raw }));
        assert!(seen.to_string().contains(body), "{seen}");
    }
}
