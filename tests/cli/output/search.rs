//! `search`: what a plain scan of exported text finds, with the index and without.

use std::fs;

use serde_json::Value;
use termd_test_support::{LogShape, TestDaemon, log, wait_until};

use crate::termctl::{ok, termctl};

/// Output of a terminal: more than a document of the index.
const OUTPUT_BYTES: usize = 200_000;

/// A terminal that has printed this.
fn print(daemon: &TestDaemon, name: &str, output: &[u8]) -> String {
    let file = daemon.path(name);
    fs::write(&file, output).unwrap();
    let script = format!("stty -opost; cat '{}'", file.display());
    let id = ok(
        daemon,
        &["create", "--label", name, "--", "sh", "-c", &script],
    );
    ok(daemon, &["wait", &id]);
    id
}

/// The terminals and lines of hits, newest first.
fn hits(daemon: &TestDaemon, args: &[&str]) -> Vec<(String, String)> {
    let args = [&["search", "--json", "--in", "output"], args].concat();
    let output = termctl(daemon, &args);
    let hits = output
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let text = |hit: &Value, name: &str| hit[name].as_str().unwrap().to_owned();
    hits.map(|hit| (text(&hit, "terminal"), text(&hit, "line")))
        .collect()
}

#[test]
fn search_finds_what_a_scan_of_exported_text_finds() {
    let daemon = TestDaemon::start();
    let mut terminals = Vec::new();
    for (seed, shape) in LogShape::ALL.into_iter().enumerate() {
        let output = log(shape, seed as u64, OUTPUT_BYTES);
        terminals.push(print(&daemon, &format!("log{seed}"), &output));
    }
    let exported: Vec<(String, String)> = terminals
        .iter()
        .map(|id| (id.clone(), ok(&daemon, &["export", id, "--format", "text"])))
        .collect();
    let compare = || {
        for (args, pattern) in [
            (&["mismatched TYPES"][..], "(?i)mismatched.*types"),
            (&["-F", "assert 7"], "assert 7"),
            (&["-e", r"id=[0-9a-f]{4}be"], r"id=[0-9a-f]{4}be"),
            (&["-e", r"^Get:\d+5 http"], r"^Get:\d+5 http"),
            (&["-iF", "UNPACKING käse ("], r"(?i)unpacking käse \("),
        ] {
            let pattern = regex::Regex::new(pattern).unwrap();
            let mut scanned = Vec::new();
            for (id, text) in exported.iter().rev() {
                let lines = text.lines().filter(|line| pattern.is_match(line));
                let lines: Vec<_> = lines.map(|line| (id.clone(), line.to_owned())).collect();
                scanned.extend(lines.into_iter().rev());
            }
            assert!(!scanned.is_empty(), "{args:?}");
            let args = [args, &["--limit", "100000"]].concat();
            assert_eq!(hits(&daemon, &args), scanned, "{args:?}");
        }
    };
    compare();
    let index = daemon.state_dir().join("search.sqlite-wal");
    wait_until("the index is written", || {
        fs::metadata(&index).is_ok_and(|file| file.len() > 4 * OUTPUT_BYTES as u64 / 3)
    });
    compare();
}

/// Lines of a text, the last first.
fn scanned(text: &str, pattern: &str) -> Vec<String> {
    let pattern = regex::Regex::new(pattern).unwrap();
    let lines = text.lines().filter(|line| pattern.is_match(line));
    let lines: Vec<_> = lines.map(str::to_owned).collect();
    lines.into_iter().rev().collect()
}

fn lines(hits: Vec<(String, String)>) -> Vec<String> {
    hits.into_iter().map(|(_, line)| line).collect()
}

#[test]
fn output_with_a_gap_is_found_on_both_sides_of_it() {
    let daemon = TestDaemon::configured("[store]\nterminal_quota = \"256KiB\"\n");
    let script = "seq -f 'line %.0f of many' 60000";
    let id = ok(&daemon, &["create", "--", "sh", "-c", script]);
    ok(&daemon, &["wait", &id]);
    // What is in memory can be read beyond the quota.
    ok(&daemon, &["close", &id]);
    daemon.client().wait_until_stored();
    let pattern = "^line [0-9]*77 of many$";
    let exported = || ok(&daemon, &["export", &id, "--format", "text"]);
    let found = || lines(hits(&daemon, &["-n", "1000", "-e", pattern]));
    // The quota may still be taking the middle away.
    wait_until("what is found is what is kept", || {
        found() == scanned(&exported(), pattern)
    });
    let kept = scanned(&exported(), pattern);
    assert!(kept.contains(&"line 77 of many".to_owned()), "the head");
    assert!(kept.contains(&"line 59977 of many".to_owned()), "the tail");
    assert!(kept.len() < 600, "a gap");
    let index = daemon.state_dir().join("search.sqlite-wal");
    wait_until("the index is written", || {
        fs::metadata(&index).is_ok_and(|file| file.len() > 200_000)
    });
    assert_eq!(found(), kept);
}

#[test]
fn a_server_that_is_killed_while_it_indexes_loses_no_hit() {
    let daemon = TestDaemon::start();
    let output = log(LogShape::Cargo, 5, 20 * OUTPUT_BYTES);
    let id = print(&daemon, "much", &output);
    let text = ok(&daemon, &["export", &id, "--format", "text"]);
    let expected = scanned(&text, "mismatched types");
    assert!(!expected.is_empty());
    let found = || {
        let hits = hits(&daemon, &["-n", "100000", "-F", "mismatched types"]);
        lines(hits)
    };
    let index = daemon.state_dir().join("search.sqlite-wal");
    let length = || fs::metadata(&index).map_or(0, |file| file.len());
    for _ in 0..2 {
        let before = length();
        wait_until("it indexes", || length() > before + 100_000);
        daemon.kill_server();
        assert_eq!(found(), expected);
    }
}

#[test]
fn the_exact_bytes_are_searched_where_they_are_asked_for() {
    let daemon = TestDaemon::start();
    let bar = b"bar 10%\rbar 40%\rbar 100%\r\n\x1b[31mred fox\x1b[m\r\n";
    let id = print(&daemon, "bar", bar);
    let all = |args: &[&str]| lines(hits(&daemon, &[args, &["-t", &id]].concat()));
    assert_eq!(all(&["-F", "bar 40"]), [""; 0]);
    assert_eq!(all(&["-F", "bar 100"]), ["bar 100%"]);
    assert_eq!(all(&["-e", r"\x1b\[31m"]), [""; 0]);
    let raw = |args: &[&str]| {
        let args = [&["search", "--json", "--raw", "-t", &id], args].concat();
        let found = ok(&daemon, &args);
        let hit: Value = serde_json::from_str(&found).unwrap();
        (
            hit["offset"].as_u64(),
            hit["line"].as_str().map(str::to_owned),
        )
    };
    let (offset, line) = raw(&["-F", "bar 40"]);
    assert_eq!(offset, Some(0));
    assert!(line.unwrap().starts_with("bar 10%\rbar 40%"));
    let (offset, line) = raw(&["-e", r"\x1b\[31m(red) fox"]);
    assert_eq!(offset, Some(26));
    assert!(line.unwrap().starts_with("\x1b[31mred fox\x1b[m"));
    // A person's tty obeys nothing of it.
    let shown = ok(&daemon, &["search", "--raw", "-t", &id, "fox"]);
    assert!(
        !shown.contains('\x1b') && shown.contains("\\x1b[31m"),
        "{shown}"
    );
}

#[test]
fn a_hit_says_where_it_is_and_filters_hold() {
    let daemon = TestDaemon::configured("[search]\nindex = false\n");
    let first = print(&daemon, "first", b"one\r\nred fox\r\nthree\r\n");
    let second = print(&daemon, "second", b"the fox is red\r\n");
    let failed = ok(
        &daemon,
        &["create", "--", "sh", "-c", "echo red fox; exit 3"],
    );
    termctl(&daemon, &["wait", &failed]);
    assert!(!daemon.state_dir().join("search.sqlite").exists());
    let line = |id: &str, line: &str| (id.to_owned(), line.to_owned());
    let (one, two, three) = (
        line(&first, "red fox"),
        line(&second, "the fox is red"),
        line(&failed, "red fox"),
    );
    for (args, expected) in [
        (
            &["Fox RED"][..],
            vec![three.clone(), two.clone(), one.clone()],
        ),
        (&["-F", "red fox"], vec![three.clone(), one.clone()]),
        (&["-F", "RED"], vec![]),
        (&["fox", "--terminal", "first"], vec![one.clone()]),
        (&["fox", "--label", "second"], vec![two.clone()]),
        (&["fox", "--failed"], vec![three.clone()]),
        (&["fox", "--until", "2020-01-01"], vec![]),
        (&["fox", "--since", "1h", "-n", "1"], vec![three]),
        (&["fox", "--cwd", "/nowhere"], vec![]),
    ] {
        assert_eq!(hits(&daemon, args), expected, "{args:?}");
    }
    let shown = ok(
        &daemon,
        &[
            "search", "-F", "red", "-t", "first", "-C", "1", "--in", "output",
        ],
    );
    let lines: Vec<_> = shown.lines().collect();
    assert!(
        lines[0].starts_with(&format!("{first}@5 (first) ")),
        "{shown}"
    );
    assert_eq!(lines[1..], ["  one", "> red fox", "  three"]);
    let offset = "5";
    assert!(ok(&daemon, &["read", "first", "--since", offset]).starts_with("red fox"));

    for (limit, said) in [
        ("2", "termctl: stopped at --limit 2; there may be more\n"),
        ("9", ""),
    ] {
        let found = termctl(
            &daemon,
            &["search", "-F", "red", "--in", "output", "-n", limit],
        );
        assert_eq!((found.code, found.err.as_str()), (Some(0), said));
    }

    let command = termctl(&daemon, &["search", "--in", "commands", "echo red"]);
    let command = command.out;
    assert!(
        command.contains(&failed) && command.contains("[0] 3 "),
        "{command}"
    );
    let labelled = ok(
        &daemon,
        &["search", "--in", "commands", "-t", "second", "cat"],
    );
    assert!(
        labelled.starts_with(&format!("{second} (second) ")),
        "{labelled}"
    );
    let same = ok(&daemon, &["history", "--search", "echo.red", "-e"]);
    assert!(same.contains(&failed), "{same}");

    for (args, message) in [
        (&["search", "-e", "a(b"][..], "is no regular expression"),
        (&["search", " "], "is empty"),
        (&["search", "a", "-t", "nothing"], "nothing"),
        (&["search", "a", "--since", "someday"], "a time is"),
        (&["search", "a", "-n", "0"], "0 is not in"),
    ] {
        let output = termctl(&daemon, args);
        let error = &output.err;
        assert!(
            output.code == Some(if message == "nothing" { 3 } else { 2 })
                && error.contains(message)
                && error.lines().count() == 1,
            "{args:?}: {error}"
        );
    }
    assert_eq!(termctl(&daemon, &["search", "no such text"]).code, Some(1));
    let audit = ok(
        &daemon,
        &["audit", "--action", "output.search", "-n", "1000", "--json"],
    );
    assert!(audit.contains("no such text"), "{audit}");
}

#[test]
fn a_line_is_of_the_command_that_has_printed_it() {
    let daemon = TestDaemon::start();
    let id = ok(&daemon, &["create", "--", "bash"]);
    for line in ["printf '\\033[31mfox\\033[m\\n'", "echo another"] {
        ok(&daemon, &["exec", &id, "--", line]);
    }
    let found = ok(
        &daemon,
        &["search", "--json", "--in", "output", "-e", "^fox$"],
    );
    let hit: Value = serde_json::from_str(found.lines().next().unwrap()).unwrap();
    assert_eq!(hit["command"]["number"], 1, "{hit}");
    let found = ok(&daemon, &["search", "--json", "--raw", "-F", "another"]);
    let hits = found
        .lines()
        .map(|hit| serde_json::from_str::<Value>(hit).unwrap());
    let printed: Vec<_> = hits
        .filter(|hit| hit["line"].as_str().unwrap().contains("133;C"))
        .collect();
    assert_eq!(printed.len(), 1, "{printed:?}");
    assert_eq!(printed[0]["command"]["number"], 2, "{printed:?}");
    // Options stand where one writes them.
    for args in [["search", "-C2", "another"], ["search", "-n5", "another"]] {
        assert!(ok(&daemon, &args).contains("another"), "{args:?}");
    }
    let wrong = termctl(&daemon, &["search", "--bogus", "another"]);
    assert!(wrong.err.contains("--bogus"), "{wrong:?}");
}
