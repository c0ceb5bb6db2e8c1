//! The gate as a person and a script meet it.

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
    let said = ok(&daemon, &["policy", "check", "--", "terraform", "plan"]);
    assert!(said.starts_with("safe; is forbidden (rule 1)\n"), "{said}");
    assert!(said.contains("rule 1 (line 1) fits"), "{said}");
    assert!(said.contains("config.toml:1"), "{said}");
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
    let said = ok(&daemon, &check);
    for expected in [
        "config.toml:4",
        "profile  build",
        "timeout 600 s",
        "sandbox  workspace",
        "CI",
    ] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let said = ok(&daemon, &["policy", "check", "--line", "cargo build"]);
    assert!(
        said.contains("no rule fits") && !said.contains("profile"),
        "{said}"
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

    // Another file, before it is in force.
    let other = daemon.path("other.toml");
    std::fs::write(
        &other,
        "[[policy.rules]]\neffect = 'confirm'\nprogram = 'ls'\n",
    )
    .unwrap();
    let other = other.to_str().unwrap();
    let said = ok(&daemon, &["policy", "check", "--config", other, "--", "ls"]);
    assert!(said.contains("asks first (rule 1)"), "{said}");
    std::fs::write(other, "[policy]\nruels = []\n").unwrap();
    let said = termctl(&daemon, &["policy", "check", "--config", other, "--", "ls"]);
    assert_ne!(said.code, Some(0), "{said:?}");
    assert!(said.err.contains(":2:1: unknown field `ruels`"), "{said:?}");
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
    let said = termctl(&daemon, &["policy", "test", path]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.out
            .contains("table.toml:16: ls\n- effect = deny\n+ effect = allow\n"),
        "{said:?}"
    );
    assert!(said.out.ends_with("3 passed, 1 failed\n"), "{said:?}");
    let json = termctl(&daemon, &["--json", "policy", "test", path]);
    assert_eq!(
        (json.code, &json.json()["failed"][0]["line"]),
        (Some(1), &16.into())
    );
    std::fs::write(&table, "[[case]]\nline = 'ls'\n").unwrap();
    let said = termctl(&daemon, &["policy", "test", path]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.contains("table.toml:1: "), "{said:?}");
}

#[test]
fn status_names_the_file_that_is_not_in_force() {
    let home = Home::new();
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
    let told = termctl(&daemon, &["status", "--json"]).json();
    assert!(told["daemon"]["approved_fault"].is_string(), "{told}");
    assert_eq!(told["daemon"].get("config_fault"), None, "{told}");

    // Both are bad: each has its line.
    daemon.configure("kill_grace_ms = \n");
    daemon.replace_server();
    let status = ok(&daemon, &["status"]);
    assert!(line(&status, "approved.toml").is_some(), "{status}");
    let config = line(&status, "config.toml").unwrap();
    assert!(config.contains("config.toml:1:"), "{status}");

    // What is mended is in force after the next reload.
    daemon.configure("kill_grace_ms = 300\n");
    std::fs::remove_file(daemon.path("config/termd/approved.toml")).unwrap();
    daemon.replace_server();
    assert!(!ok(&daemon, &["status"]).contains("not in force"));
}
