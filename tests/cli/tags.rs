//! `tag`, and `--tag` of the verbs.

use serde_json::{Value, json};
use termd_test_support::{TestDaemon, wait_until};

use crate::termctl::{ok, termctl};

/// Creates a terminal with some options, and returns its id.
fn create(daemon: &TestDaemon, options: &[&str], command: &[&str]) -> String {
    ok(daemon, &[&["create"], options, &["--"], command].concat())
}

fn labels(daemon: &TestDaemon, options: &[&str]) -> String {
    let words = [&["list", "--format", "{label}"], options].concat();
    ok(daemon, &words).replace('\n', " ")
}

#[test]
fn tags_are_given_changed_and_shown() {
    let daemon = TestDaemon::start();
    create(&daemon, &["--label", "plain"], &["sleep", "1000"]);
    let table = ok(&daemon, &["list"]);
    assert!(!table.contains("TAGS"), "{table}");
    let options = ["--label", "web", "--tag", "zoo", "--tag", "ci"];
    create(&daemon, &options, &["sleep", "1000"]);
    let table = ok(&daemon, &["list"]);
    let columns: Vec<&str> = table.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(columns[columns.len() - 2..], ["TAGS", "COMMAND"]);
    assert!(table.contains("  ci,zoo  sleep 1000"), "{table}");
    assert!(ok(&daemon, &["show", "web"]).contains("ci,zoo"));

    let changed = ["tag", "web", "new", "ci", "--remove", "zoo", "--json"];
    let info = termctl(&daemon, &changed).json();
    assert_eq!(info["tags"], json!(["ci", "new"]));
    let tags = ok(&daemon, &["list", "--format", "{label}:{tags}"]);
    assert_eq!(tags, "plain:\nweb:ci,new");
    assert_eq!(ok(&daemon, &["tag", "web", "-r", "new", "-r", "ci"]), "");
    assert!(!ok(&daemon, &["list"]).contains("TAGS"));

    ok(&daemon, &["close", "web"]);
    for (words, says, code) in [
        (&["tag", "web", "x"][..], "keeps its tags", 2),
        (&["tag", "web", "a b"], "white space", 2),
        (&["tag", "web"], "TAG", 2),
        (&["tag", "gone", "x"], "no terminal", 3),
        (&["list", "--tag", "a,b"], "commas", 2),
    ] {
        let output = termctl(&daemon, words);
        assert_eq!(output.code, Some(code), "{words:?}: {output:?}");
        assert!(output.err.contains(says), "{words:?}: {output:?}");
    }
}

#[test]
fn verbs_take_all_terminals_that_have_one_of_some_tags() {
    let daemon = TestDaemon::start();
    for (label, tags, command) in [
        ("a", &["--tag", "x"][..], &["sleep", "1000"][..]),
        ("b", &["--tag", "y"], &["sleep", "1000"]),
        ("c", &["--tag", "x", "--tag", "y"], &["sh", "-c", "exit 3"]),
        ("d", &[], &["sleep", "1000"]),
    ] {
        create(&daemon, &[&["--label", label], tags].concat(), command);
    }
    assert_eq!(labels(&daemon, &["--tag", "x"]), "a c");
    assert_eq!(labels(&daemon, &["--tag", "x", "--tag", "y"]), "a b c");
    assert_eq!(labels(&daemon, &["--tag", "z"]), "");
    ok_code(&daemon, &["wait", "--any", "--tag", "x"], 3);
    assert_eq!(labels(&daemon, &["--running", "--tag", "x"]), "a");
    // One that has exited is not killed.
    let killed = termctl(&daemon, &["kill", "--tag", "x", "--json"]).json();
    assert_eq!(killed["result"]["exited"], true);
    wait_until("the others run on", || {
        labels(&daemon, &["--running"]) == "b d"
    });
    ok_code(&daemon, &["wait", "--tag", "x"], 143);
    let waited = termctl(&daemon, &["wait", "--tag", "x", "--json"]);
    assert_eq!(waited.out.lines().count(), 2, "{waited:?}");

    ok(&daemon, &["close", "--exited", "--tag", "y"]);
    assert_eq!(labels(&daemon, &[]), "a b d");
    ok(&daemon, &["close", "--exited", "--tag", "none"]);
    ok(&daemon, &["close", "--tag", "x", "--tag", "y"]);
    assert_eq!(labels(&daemon, &[]), "d");
    assert_eq!(labels(&daemon, &["--all", "--tag", "y"]), "b c");
    for (verb, code) in [("close", 3), ("kill", 3), ("wait", 125)] {
        let output = termctl(&daemon, &[verb, "--tag", "x"]);
        assert_eq!(output.code, Some(code), "{verb}: {output:?}");
        output.assert_one_line();
        assert!(output.err.contains("has the tag x"), "{output:?}");
        let both = termctl(&daemon, &[verb, "d", "--tag", "x"]);
        assert_ne!(both.code, Some(0), "{both:?}");
    }
}

#[test]
fn history_and_search_look_in_terminals_that_have_one_of_some_tags() {
    let daemon = TestDaemon::start();
    for (label, tag) in [("a", "x"), ("b", "y"), ("c", "z")] {
        create(
            &daemon,
            &["--label", label, "--tag", tag],
            &["echo", "needle", label],
        );
        ok_code(&daemon, &["wait", label], 0);
    }
    // Also once it is closed.
    ok(&daemon, &["close", "a"]);
    let tags = ["--tag", "x", "--tag", "y"];
    let run = termctl(&daemon, &[&["history", "--json"], &tags[..]].concat()).json();
    let run = run
        .as_array()
        .unwrap()
        .iter()
        .map(|command| command["text"].clone());
    assert_eq!(run.collect::<Vec<_>>(), ["echo needle b", "echo needle a"]);
    let found = termctl(
        &daemon,
        &[&["history", "-s", "needle", "--json"], &tags[..]].concat(),
    );
    assert_eq!(found.json().as_array().unwrap().len(), 2);
    for within in ["output", "commands"] {
        let words = [&["search", "needle", "--json", "--in", within], &tags[..]].concat();
        let hits = termctl(&daemon, &words);
        let hits = hits
            .out
            .lines()
            .map(|hit| serde_json::from_str::<Value>(hit).unwrap());
        let labels = hits.map(|hit| hit["label"].clone());
        assert_eq!(labels.collect::<Vec<_>>(), ["b", "a"], "{within}");
    }
    ok_code(&daemon, &["search", "needle", "--tag", "none"], 1);
}

#[track_caller]
fn ok_code(daemon: &TestDaemon, words: &[&str], code: i32) {
    let output = termctl(daemon, words);
    assert_eq!(output.code, Some(code), "{words:?}: {output:?}");
}
