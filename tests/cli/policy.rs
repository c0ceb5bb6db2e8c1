//! The gate as a person and a script meet it.

use serde_json::Value;

use crate::support::TestDaemon;
use crate::termctl::{ok, termctl};

#[test]
fn check_prints_the_verdict_and_exits_with_0() {
    let daemon = TestDaemon::start();
    let table: [(&[&str], &str); 6] = [
        (&["--line", "rm -rf /"], "dangerous"),
        (&["--line", "echo reboot"], "safe"),
        (&["--line", "$x y"], "unknown"),
        (&["--", "rm", "-r", "x"], "dangerous"),
        (&["--", "echo", "rm -r x"], "safe"),
        (
            &["--line", "DROP TABLE x;", "--program", "psql"],
            "dangerous",
        ),
    ];
    for (args, verdict) in table {
        let mut words = vec!["policy", "check", "--json"];
        words.extend(args);
        let judgement: Value = serde_json::from_str(&ok(&daemon, &words)).unwrap();
        assert_eq!(judgement["verdict"], verdict, "{args:?}");
        assert_eq!(judgement["span"].is_null(), verdict == "safe", "{args:?}");
        assert_eq!(judgement["reason"].is_null(), verdict == "safe", "{args:?}");
        let mut words = vec!["policy", "check"];
        words.extend(args);
        let line = ok(&daemon, &words);
        assert!(line.starts_with(verdict), "{args:?}: {line}");
    }
    assert_eq!(termctl(&daemon, &["policy", "check"]).code, Some(2));
}

#[test]
fn a_refusal_says_what_why_and_how_to_go_on() {
    let daemon = TestDaemon::start();
    let said = termctl(&daemon, &["create", "--", "sh", "-c", "kill -9 $$"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.err.contains("kill -9") && said.err.contains("--confirmed"),
        "{said:?}"
    );
    let said = termctl(
        &daemon,
        &["run", "--confirmed", "--", "sh", "-c", "kill -9 $$"],
    );
    assert_eq!(said.code, Some(137), "{said:?}");
}

#[test]
fn send_asks_for_a_line_and_not_for_its_beginning() {
    let daemon = TestDaemon::start();
    let id = ok(&daemon, &["create", "--", "sh"]);
    ok(&daemon, &["send", &id, "rm -r"]);
    let said = termctl(&daemon, &["send", &id, "f /nonexistent/x", "--enter"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    ok(
        &daemon,
        &["send", "--confirmed", &id, "f /nonexistent/x", "--enter"],
    );
}
