//! `termctl setup --hooks`.

use std::fs;

use serde_json::Value;
use termd_test_support::Home;

use crate::termctl::termctl;

#[test]
fn each_client_that_is_there_gets_its_hooks_and_every_byte_back() {
    let home = Home::create();
    let files = [
        (
            "home/.claude/settings.json",
            "{\n  // mine\n  \"model\": \"opus\"\n}\n",
        ),
        (
            "home/.gemini/settings.json",
            "{ \"hooks\": { \"BeforeTool\": [] } }",
        ),
        ("home/.cursor/hooks.json", "{\"version\": 1, \"hooks\": {}}"),
    ];
    for (path, text) in files {
        let path = home.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let set_up = termctl(&home, &["setup", "--hooks"]);
    assert_eq!(set_up.code, Some(0), "{set_up:?}");
    assert_eq!(set_up.out.matches(": set up (").count(), 3, "{set_up:?}");
    for ((path, _), hooks) in files.into_iter().zip([3, 3, 2]) {
        let text = fs::read_to_string(home.path(path)).unwrap();
        assert_eq!(text.matches("termctl hook ").count(), hooks, "{text}");
    }
    let again = termctl(&home, &["setup", "--hooks", "--json"]).json();
    let changes: Vec<&Value> = again["clients"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["change"])
        .collect();
    assert_eq!(changes, ["already_set_up"; 3], "{again}");
    let gone = termctl(&home, &["setup", "--hooks", "--remove"]);
    assert_eq!(gone.code, Some(0), "{gone:?}");
    for (path, text) in files {
        assert_eq!(fs::read_to_string(home.path(path)).unwrap(), text);
    }
    let printed = termctl(
        &home,
        &["setup", "--hooks", "--print", "--client", "cursor"],
    );
    assert!(
        printed.out.contains("\"beforeShellExecution\""),
        "{printed:?}"
    );
}

#[test]
fn a_client_without_a_hook_that_asks_is_refused() {
    let home = Home::create();
    let codex = termctl(&home, &["setup", "--hooks", "--client", "codex"]);
    assert_eq!(codex.code, Some(1), "{codex:?}");
    assert_eq!(
        codex.err,
        "termctl: codex has no hook that can ask a person; claude-code, gemini, cursor do\n"
    );
    let none = termctl(&home, &["setup", "--hooks"]);
    assert_eq!(
        (none.code, none.err.lines().count()),
        (Some(2), 1),
        "{none:?}"
    );
}
