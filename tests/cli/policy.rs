//! `termctl policy`, and the gate as seen from the command line.

use serde_json::Value;
use termd_test_support::{Home, TestDaemon};

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
    let output = termctl(&daemon, &["create", "--", "sh", "-c", "kill -9 $$"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(
        output.err.contains("kill -9") && output.err.contains("--confirmed"),
        "{output:?}"
    );
    let output = termctl(
        &daemon,
        &["run", "--confirmed", "--", "sh", "-c", "kill -9 $$"],
    );
    assert_eq!(output.code, Some(137), "{output:?}");
}

#[test]
fn send_asks_for_a_line_and_not_for_its_beginning() {
    let daemon = TestDaemon::start();
    let id = ok(&daemon, &["create", "--", "sh"]);
    ok(&daemon, &["send", &id, "rm -r"]);
    let output = termctl(&daemon, &["send", &id, "f /nonexistent/x", "--enter"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    ok(
        &daemon,
        &["send", "--confirmed", &id, "f /nonexistent/x", "--enter"],
    );
}

const POLICY: &str = "[[policy.rules]]
effect = 'deny'
program = 'terraform'
[[policy.rules]]
profile = 'build'
program = 'cargo'
front = 'mcp'
[policy.profiles.build]
timeout = '10m'
sandbox = 'workspace'
env = { set = { CI = '1' } }
";

#[test]
fn check_says_which_rule_why_and_what_it_would_run_under() {
    let daemon = TestDaemon::configured(POLICY);
    let output = ok(&daemon, &["policy", "check", "--", "terraform", "plan"]);
    assert!(
        output.starts_with("safe; is forbidden (rule 1)\n"),
        "{output}"
    );
    assert!(output.contains("rule 1 (line 1) fits"), "{output}");
    assert!(output.contains("config.toml:1"), "{output}");
    let check = [
        "policy",
        "check",
        "--front",
        "mcp",
        "--client",
        "x",
        "--line",
        "cargo build",
    ];
    let output = ok(&daemon, &check);
    for expected in [
        "config.toml:4",
        "profile  build",
        "timeout 600 s",
        "sandbox  workspace",
        "CI",
    ] {
        assert!(output.contains(expected), "{expected}: {output}");
    }
    let output = ok(&daemon, &["policy", "check", "--line", "cargo build"]);
    assert!(
        output.contains("no rule fits") && !output.contains("profile"),
        "{output}"
    );
    let json = termctl(
        &daemon,
        &["--json", "policy", "check", "--front", "mcp", "--", "cargo"],
    )
    .json();
    assert_eq!(json["profile"]["timeout_ms"], 600_000, "{json}");
    assert_eq!(
        json["profile"]["sandbox"]["kinds"][0], "workspace",
        "{json}"
    );
    assert_eq!(json["rule_at"][1], 4, "{json}");

    // A table is checked against a file that is not in force.
    let other = daemon.path("other.toml");
    std::fs::write(
        &other,
        "[[policy.rules]]\neffect = 'confirm'\nprogram = 'ls'\n",
    )
    .unwrap();
    let other = other.to_str().unwrap();
    let output = ok(&daemon, &["policy", "check", "--config", other, "--", "ls"]);
    assert!(output.contains("asks first (rule 1)"), "{output}");
    assert!(output.contains(&format!("{other}:1")), "{output}");
    std::fs::write(other, "[policy]\nruels = []\n").unwrap();
    let output = termctl(&daemon, &["policy", "check", "--config", other, "--", "ls"]);
    assert_ne!(output.code, Some(0), "{output:?}");
    assert!(
        output
            .err
            .contains(&format!("{other}:2:1: unknown field `ruels`")),
        "{output:?}"
    );
}

#[test]
fn a_table_of_expectations_is_compared() {
    let daemon = TestDaemon::configured(POLICY);
    let table = daemon.path("table.toml");
    let good = "[default]\nfront = 'mcp'\n[[case]]\nline = 'terraform x'\neffect = 'deny'\nrule = 1\n\
                [[case]]\nargv = ['cargo', 'x']\neffect = 'allow'\nprofile = 'build'\n\
                [[case]]\nline = 'cargo x'\nfront = 'cli'\nprofile = 'none'\nrule = 0\n";
    std::fs::write(&table, good).unwrap();
    let path = table.to_str().unwrap();
    assert_eq!(ok(&daemon, &["policy", "test", path]), "3 passed, 0 failed");
    std::fs::write(
        &table,
        format!("{good}[[case]]\nline = 'ls'\neffect = 'deny'\n"),
    )
    .unwrap();
    let output = termctl(&daemon, &["policy", "test", path]);
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(
        output
            .out
            .contains("table.toml:16: ls\n- effect = deny\n+ effect = allow\n"),
        "{output:?}"
    );
    assert!(output.out.ends_with("3 passed, 1 failed\n"), "{output:?}");
    let json = termctl(&daemon, &["--json", "policy", "test", path]);
    assert_eq!(
        (json.code, &json.json()["failed"][0]["line"]),
        (Some(1), &16.into())
    );
    std::fs::write(&table, "[[case]]\nline = 'ls'\n").unwrap();
    let output = termctl(&daemon, &["policy", "test", path]);
    assert_eq!(output.code, Some(2), "{output:?}");
    assert!(output.err.contains("table.toml:1: "), "{output:?}");
}

#[test]
fn status_names_the_file_that_is_not_in_force() {
    let home = Home::create();
    home.configure("kill_grace_ms = 300\n");
    std::fs::write(
        home.path("config/termd/approved.toml"),
        "[[rules]]\neffct = 1\n",
    )
    .unwrap();
    let daemon = TestDaemon::start_in(home);
    let status = ok(&daemon, &["status"]);
    let line = |status: &str, file: &str| {
        let begin = format!("{file} is not in force: ");
        status
            .lines()
            .find(|line| line.starts_with(&begin))
            .map(str::to_owned)
    };
    let approved = line(&status, "approved.toml").unwrap();
    assert!(approved.contains("approved.toml:2:1: "), "{status}");
    assert_eq!(line(&status, "config.toml"), None, "{status}");
    let status_json = termctl(&daemon, &["status", "--json"]).json();
    assert!(
        status_json["daemon"]["approved_fault"].is_string(),
        "{status_json}"
    );
    assert_eq!(
        status_json["daemon"].get("config_fault"),
        None,
        "{status_json}"
    );

    // Two bad files have a line each.
    daemon.configure("kill_grace_ms = \n");
    let reload = termctl(&daemon, &["daemon", "reload"]);
    assert_eq!(reload.code, Some(1), "{reload:?}");
    assert!(
        line(&reload.err, "termctl: config.toml").is_some(),
        "{reload:?}"
    );
    let status = ok(&daemon, &["status"]);
    assert!(line(&status, "approved.toml").is_some(), "{status}");
    let config = line(&status, "config.toml").unwrap();
    assert!(config.contains("config.toml:1:"), "{status}");

    // A repaired file is in force after the next reload.
    daemon.configure("kill_grace_ms = 300\n");
    std::fs::remove_file(daemon.path("config/termd/approved.toml")).unwrap();
    daemon.replace_server();
    assert!(!ok(&daemon, &["status"]).contains("not in force"));
}
