//! `terminal/output`: the text so far, cut from the front between characters, and complete as soon
//! as the exit is reported.

use serde_json::{Value, json};
use termd_test_support::{Agent, TestDaemon, assert_members, merged, sh, wait_until};

/// The output of `printf FORMAT` with a limit.
fn printed(agent: &mut Agent, format: &str, limit: Option<u64>) -> Value {
    let id = agent.create(&json!({ "command": "printf", "args": [format],
                                   "outputByteLimit": limit }));
    agent.wait(&id);
    agent.output(&id)
}

#[test]
fn line_ends_are_the_programs_own() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    for (format, expected) in [
        ("a\\nb\\n", "a\nb\n"),
        ("a\\rb\\n", "b\n"),
        ("a\\r\\nb", "a\nb"),
        ("\\n\\n", "\n\n"),
        ("end\\r", "end"),
        ("", ""),
    ] {
        assert_eq!(
            printed(&mut agent, format, None)["output"],
            expected,
            "{format:?}"
        );
    }
    // A program that switched the translation off has its bytes passed through as well.
    let (_, text) = agent.run(&sh("stty -onlcr; printf 'a\\nb\\r\\n'"));
    assert_eq!(text.replace("\r\n", "\n"), "a\nb\n");
}

const COLOURED: &str =
    "\\033[31mred\\033[0m \\033]0;title\\007\\010\\177\\n10%%\\r\\033[K20%%\\r\\033[K100%%\\n";

#[test]
fn output_is_plain_text() {
    let daemon = TestDaemon::start();
    let result = printed(&mut daemon.agent(), COLOURED, None);
    assert_eq!(result["output"], "red \n100%\n");
    assert_eq!(result["truncated"], false);
    assert_eq!(result["_meta"]["termd"]["start"], 0);
}

/// A terminal created with `_meta.termd.output` raw keeps the escape sequences.
#[test]
fn escape_sequences_stay_where_they_were_asked_for() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let request = json!({ "command": "printf", "args": [COLOURED],
                          "_meta": { "termd": { "output": "raw" } } });
    let id = agent.create(&request);
    agent.wait(&id);
    assert_eq!(
        agent.output(&id)["output"],
        "\x1b[31mred\x1b[0m \x1b]0;title\x07\x08\x7f\n10%\r\x1b[K20%\r\x1b[K100%\n"
    );
    let wrong = json!({ "sessionId": "s", "command": "true",
                        "_meta": { "termd": { "output": "html" } } });
    let error = agent.err("terminal/create", &wrong);
    assert_eq!(error.code, -32602);
    assert_eq!(error.data["field"], "_meta.termd.output");
    let wrong = json!({ "sessionId": "s", "command": "true",
                        "_meta": { "termd": { "cols": "80" } } });
    let error = agent.err("terminal/create", &wrong);
    assert_eq!(error.data["field"], "_meta.termd.cols");
}

/// A thousand states of a progress bar are one line. The limit counts that line.
#[test]
fn a_progress_bar_is_its_last_state() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let script = "echo begin; i=0; while [ $i -le 1000 ]; do \
                  printf '\\r\\033[Kstep %d of 1000 ###############' $i; i=$((i+1)); done; \
                  printf '\\n'; echo end";
    for limit in [Value::Null, json!(100)] {
        let id = agent.create(&merged(&sh(script), &json!({ "outputByteLimit": limit })));
        agent.wait(&id);
        let result = agent.output(&id);
        let text = "begin\nstep 1000 of 1000 ###############\nend\n";
        assert_eq!(result["output"], text, "limit {limit}");
        assert_eq!(result["truncated"], false, "limit {limit}");
        // A second read, and a read by offsets: the exact output is all there.
        assert_eq!(agent.output(&id)["output"], text);
        assert!(agent.transcript(&id).len() > 30_000);
    }
}

/// Polled output equals the output read at once, and a prompt is in it immediately.
#[test]
fn polling_sees_the_screen_as_it_stands() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let script = "stty -echo; printf 'one\\r\\nbar 1\\r'; read x; printf 'bar 2\\r\\ntwo: '; read x; \
                  printf '\\033[1A\\033[2KBAR\\r\\n\\033[3Cthree'";
    let id = agent.script(script);
    agent.wait_for_text(&id, "bar 1\r");
    assert_eq!(agent.output(&id)["output"], "one\nbar 1");
    agent.send_text(&id, "\n");
    agent.wait_for_text(&id, "two: ");
    assert_eq!(agent.output(&id)["output"], "one\nbar 2\ntwo: ");
    agent.send_text(&id, "\n");
    agent.wait(&id);
    assert_eq!(agent.output(&id)["output"], "one\n     BAR\ntwothree");
}

#[test]
fn the_limit_keeps_the_last_bytes() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let all = "0123456789abcdefghij";
    for limit in 0..=22_u64 {
        let kept = usize::try_from(limit).unwrap().min(all.len());
        let result = printed(&mut agent, all, Some(limit));
        assert_eq!(result["output"], all[all.len() - kept..], "limit {limit}");
        assert_eq!(result["truncated"], kept < all.len(), "limit {limit}");
        let range = &result["_meta"]["termd"];
        assert_eq!(range["end"], all.len(), "limit {limit}");
        assert_eq!(range["start"], all.len() - kept, "limit {limit}");
    }
}

/// The output is as many whole characters from the end as fit.
#[test]
fn the_limit_never_cuts_a_character() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let all = "é✓\u{1f600}aé✓\u{1f600}";
    for limit in 0..=20_u64 {
        let result = printed(&mut agent, all, Some(limit));
        let fits = |at: &usize| all.is_char_boundary(*at) && (all.len() - at) as u64 <= limit;
        let start = (0..=all.len()).find(fits).unwrap();
        assert_eq!(result["output"], all[start..], "limit {limit}");
        assert_eq!(result["truncated"], start > 0, "limit {limit}");
        assert_eq!(result["_meta"]["termd"]["start"], start, "limit {limit}");
    }
}

#[test]
fn lines_are_cut_to_the_limit_too() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.create(&json!({ "command": "seq", "args": ["1", "1000"],
                                   "outputByteLimit": 100 }));
    agent.wait(&id);
    let result = agent.output(&id);
    let all: String = (1..=1000).map(|n| format!("{n}\n")).collect();
    let text = result["output"].as_str().unwrap();
    assert!(all.ends_with(text), "{text}");
    assert!(text.len() <= 100, "over the limit: {}", text.len());
    assert!(text.len() >= 80, "cut far below the limit: {}", text.len());
    assert_eq!(result["truncated"], true);
}

/// Zero means no output, not the default.
#[test]
fn a_limit_of_zero_keeps_nothing() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let result = printed(&mut agent, "something", Some(0));
    assert_members(&result, &json!({ "output": "", "truncated": true }));
    let result = printed(&mut agent, "", Some(0));
    assert_members(&result, &json!({ "output": "", "truncated": false }));
}

/// Null means the default, 1 MiB.
#[test]
fn no_limit_means_the_default() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.script("head -c 1500000 /dev/zero | tr '\\0' x; printf end");
    agent.wait(&id);
    let result = agent.output(&id);
    let text = result["output"].as_str().unwrap();
    assert_eq!(text.len(), 1 << 20);
    assert!(text.ends_with("xend"));
    assert_eq!(result["truncated"], true);
}

#[test]
fn the_default_and_the_cap_are_configured() {
    let daemon = TestDaemon::configured(
        "[spool]\ndefault_window_bytes = 65536\nmax_window_bytes = 131072\n",
    );
    let mut agent = daemon.agent();
    for (limit, kept) in [
        (Value::Null, 65536),
        (json!(131_072), 131_072),
        (json!(1_000_000_000_u64), 131_072),
    ] {
        let script = "head -c 300000 /dev/zero | tr '\\0' x";
        let id = agent.create(&merged(&sh(script), &json!({ "outputByteLimit": limit })));
        agent.wait(&id);
        let length = agent.text(&id).len();
        assert_eq!(length, kept, "limit {limit}");
    }
}

#[test]
fn invalid_bytes_are_shown_as_replacement_characters() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    for format in [
        "a\\377b",
        "\\303(",
        "\\355\\240\\200x",
        "\\360\\237\\230z",
        "ok\\342\\234",
    ] {
        let id = agent.create(&json!({ "command": "printf", "args": [format] }));
        agent.wait(&id);
        let exact = agent.transcript(&id);
        let text = agent.text(&id);
        assert_eq!(text, String::from_utf8_lossy(&exact), "{format}");
        assert!(text.contains('\u{fffd}'), "{format}: {text:?}");
    }
}

/// The start of a character is not shown while the rest of it may still come.
#[test]
fn an_incomplete_last_character_is_held_back_while_the_command_runs() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let id = agent.script("stty -echo; printf 'a\\342\\234'; read go; printf '\\223b'");
    wait_until("three bytes are there", || {
        agent.ok("session.show", &json!({ "id": id }))["end"] == 3
    });
    let result = agent.output(&id);
    assert_eq!(result["output"], "a");
    assert_eq!(result["_meta"]["termd"], json!({ "start": 0, "end": 1 }));
    agent.send_text(&id, "\n");
    agent.wait(&id);
    // The typed newline is not echoed, because ECHONL is off.
    let result = agent.output(&id);
    assert_eq!(result["output"], "a✓b");
}

/// The answer may be as long as the limit allows.
#[test]
fn an_answer_of_64_mib() {
    const LIMIT: usize = 64 << 20;
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let script = format!(
        "stty -opost; head -c {} /dev/zero | tr '\\0' x; printf end",
        LIMIT + 100
    );
    let id = agent.create(&merged(&sh(&script), &json!({ "outputByteLimit": LIMIT })));
    agent.wait(&id);
    let result = agent.output(&id);
    let text = result["output"].as_str().unwrap();
    assert_eq!(text.len(), LIMIT);
    assert!(text.ends_with("xend"));
    assert_eq!(result["truncated"], true);
    assert_eq!(
        result["_meta"]["termd"],
        json!({ "start": 103, "end": LIMIT + 103 })
    );
}

/// A client that knows of the exit can read all output before it, at once and every time.
#[test]
fn output_is_whole_right_after_wait_for_exit() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let expected: String = (1..=20_000).map(|n| format!("{n}\n")).collect();
    for round in 0..50 {
        let id = agent.create(&json!({ "command": "seq", "args": ["1", "20000"] }));
        // The wait is under way before the exit. Its answer must not come before the output is
        // complete.
        let wait = agent.send("terminal/wait_for_exit", &Agent::named(&id));
        assert_eq!(agent.answer(wait)["result"]["exitCode"], 0);
        let result = agent.output(&id);
        assert!(result["output"] == expected, "round {round} is not whole");
        assert_eq!(result["truncated"], false);
        assert_eq!(
            result["exitStatus"],
            json!({ "exitCode": 0, "signal": null })
        );
        agent.release(&id);
    }
}

/// An agent that polls by offset learns what it missed.
#[test]
fn offsets_tell_a_poller_where_it_is() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.agent();
    let script = "stty -echo -opost; printf 12345; read go; printf 67890";
    let id = agent.create(&merged(&sh(script), &json!({ "outputByteLimit": 8 })));
    agent.wait_for_text(&id, "12345");
    assert_eq!(
        agent.output(&id)["_meta"]["termd"],
        json!({ "start": 0, "end": 5 })
    );
    agent.send_text(&id, "\n");
    agent.wait(&id);
    let result = agent.output(&id);
    assert_eq!(result["output"], "34567890");
    assert_eq!(result["_meta"]["termd"], json!({ "start": 2, "end": 10 }));
}
