//! `screen --at` and `screenshot --at`.

use serde_json::Value;
use termd_test_support::TestDaemon;

use crate::termctl::{command, ok};

#[test]
fn a_screen_of_the_past_is_printed_and_drawn() {
    let daemon = TestDaemon::start();
    let id = ok(
        &daemon,
        &[
            "create",
            "--",
            "sh",
            "-c",
            "echo first; read x; clear; echo second",
        ],
    );
    ok(&daemon, &["wait", &id, "--for", "first"]);
    let then = ok(&daemon, &["screen", &id]);
    let screen: Value = serde_json::from_str(&ok(&daemon, &["--json", "screen", &id])).unwrap();
    let at = screen["end"].to_string();
    ok(&daemon, &["send", &id, "--enter"]);
    ok(&daemon, &["wait", &id]);
    assert_eq!(ok(&daemon, &["screen", &id]), "second");
    assert_eq!(ok(&daemon, &["screen", &id, "--at", &at]), then);
    assert_eq!(ok(&daemon, &["screen", &id, "--at", "0s"]), "second");
    let file = daemon.path("then.svg");
    let file = file.to_str().unwrap();
    ok(&daemon, &["screenshot", &id, "--at", &at, "-o", file]);
    let drawn = std::fs::read_to_string(file).unwrap();
    assert!(
        drawn.contains("first") && !drawn.contains("second"),
        "{drawn}"
    );
    for (position, code, said) in [
        ("later", 2, "a position is an offset"),
        ("99999", 2, "--at is past the end of the output"),
        ("yesterday", 2, "--at is before the terminal's start"),
    ] {
        let output = command(&daemon, &["screen", &id, "--at", position])
            .output()
            .unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{error}");
        assert!(error.contains(said), "{error}");
    }
}
