//! `termctl setup`: the files that it writes and those that it leaves alone.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::{Value, json};
use termd_test_support::Home;

use crate::termctl::{TermctlOutput, command, termctl};

fn read_json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// The names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_clients_that_are_there_are_set_up_once_and_taken_out_again() {
    let home = Home::create();
    let claude = home.user_home().join(".claude.json");
    fs::write(&claude, "{\n  \"numStartups\": 7\n}").unwrap();
    fs::set_permissions(&claude, Permissions::from_mode(0o640)).unwrap();
    fs::create_dir(home.user_home().join(".codex")).unwrap();
    let codex = home.user_home().join(".codex/config.toml");
    fs::create_dir_all(home.path("config/zed")).unwrap();

    let output = termctl(&home, &["setup"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    for client in ["claude-code: set up (", "codex: set up (", "zed: set up ("] {
        assert!(output.out.contains(client), "{output:?}");
    }
    assert_eq!(output.out.lines().count(), 3, "{output:?}");

    let value = read_json(&claude);
    assert_eq!(value["numStartups"], 7);
    let entry = &value["mcpServers"]["termd"];
    assert_eq!(entry["type"], "stdio");
    assert_eq!(entry["args"], json!(["mcp", "--tools", "lean"]));
    assert_eq!(entry["command"], env!("CARGO_BIN_EXE_termctl"));
    assert_eq!(mode(&claude), 0o640, "the mode stays");
    assert_eq!(mode(&codex), 0o600);
    let backup = home.user_home().join(".claude.json.termctl-1.bak");
    assert_eq!(
        fs::read_to_string(&backup).unwrap(),
        "{\n  \"numStartups\": 7\n}"
    );
    assert_eq!(mode(&backup), 0o600);

    let before = (names(&home.user_home()), fs::read(&claude).unwrap());
    let again = termctl(&home, &["setup"]);
    assert_eq!(
        again.out.matches(": already set up (").count(),
        3,
        "{again:?}"
    );
    assert_eq!(
        before,
        (names(&home.user_home()), fs::read(&claude).unwrap())
    );

    let gone = termctl(&home, &["setup", "--remove", "--json"]);
    assert_eq!(gone.code, Some(0), "{gone:?}");
    for row in gone.json()["clients"].as_array().unwrap() {
        assert_eq!(row["change"], "removed", "{row}");
        assert!(row["backup"].is_string(), "{row}");
    }
    assert!(read_json(&claude).get("mcpServers").is_none());
    assert_eq!(fs::read_to_string(&codex).unwrap(), "");
    assert!(
        home.processes().is_empty(),
        "no daemon was started for that"
    );
}

#[test]
fn a_named_client_is_set_up_with_tools_a_name_and_variables() {
    let home = Home::create();
    let output = termctl(
        &home,
        &[
            "setup",
            "--client",
            "cursor",
            "--name",
            "shells",
            "--tools",
            "session,terminal",
            "--env",
            "TERMD_ROWS=50",
        ],
    );
    assert_eq!(output.code, Some(0), "{output:?}");
    let entry = &read_json(&home.user_home().join(".cursor/mcp.json"))["mcpServers"]["shells"];
    assert_eq!(entry["args"], json!(["mcp", "--tools", "session,terminal"]));
    assert_eq!(entry["env"], json!({ "TERMD_ROWS": "50" }));
    assert_eq!(mode(&home.user_home().join(".cursor")), 0o700);
}

#[test]
fn a_project_s_file_is_for_all_who_have_the_project() {
    let home = Home::create();
    let project = home.path("project");
    fs::create_dir(&project).unwrap();
    let run = |client: &str| {
        let mut setup = command(&home, &["setup", "--project", "--client", client]);
        TermctlOutput::of(&setup.current_dir(&project).output().unwrap())
    };
    for (client, file, container) in [
        ("claude-code", ".mcp.json", "mcpServers"),
        ("vscode", ".vscode/mcp.json", "servers"),
    ] {
        let output = run(client);
        assert_eq!(output.code, Some(0), "{output:?}");
        let path = project.join(file);
        assert!(read_json(&path)[container]["termd"].is_object());
        assert_eq!(mode(&path) & 0o600, 0o600);
    }
    let output = run("windsurf");
    assert_eq!(output.code, Some(1), "{output:?}");
    output.assert_one_line();
}

#[test]
fn printing_writes_nothing() {
    let home = Home::create();
    let before = names(&home.user_home());
    let output = termctl(&home, &["setup", "--client", "vscode", "--print"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(
        output.json()["servers"]["termd"].is_object(),
        "standard output is the file: {output:?}"
    );
    assert!(output.err.contains("Code/User/mcp.json"), "{output:?}");
    assert_eq!(names(&home.user_home()), before);
    let none = termctl(&home, &["setup"]);
    assert_eq!(none.code, Some(2), "no client is there: {none:?}");
}

#[test]
fn where_no_client_is_there_is_nothing_to_remove() {
    let home = Home::create();
    let output = termctl(&home, &["setup", "--remove"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(output.err.contains("nothing to remove"), "{output:?}");
    let output = termctl(&home, &["setup", "--remove", "--json"]);
    assert_eq!(output.json(), json!({ "clients": [] }));
    fs::create_dir_all(home.path("config/goose")).unwrap();
    let output = termctl(&home, &["setup", "--remove"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let is_of_removal = output.err.contains("take termd out of") && !output.err.contains("add");
    assert!(is_of_removal, "{output:?}");
}

#[test]
fn a_file_that_cannot_be_parsed_is_left_alone_and_the_others_are_done() {
    let home = Home::create();
    fs::create_dir_all(home.user_home().join(".gemini")).unwrap();
    let gemini = home.user_home().join(".gemini/settings.json");
    fs::write(&gemini, "{\n  \"a\": 1\n  \"b\": 2\n}\n").unwrap();
    fs::create_dir_all(home.user_home().join(".cursor")).unwrap();
    let output = termctl(&home, &["setup"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    output.assert_one_line();
    assert!(
        output.err.contains("settings.json:2:9: expected comma"),
        "{output:?}"
    );
    assert!(output.out.contains("cursor: set up"), "{output:?}");
    assert_eq!(names(&home.user_home().join(".gemini")), ["settings.json"]);
    assert_eq!(
        fs::read_to_string(&gemini).unwrap(),
        "{\n  \"a\": 1\n  \"b\": 2\n}\n"
    );

    fs::write(&gemini, b"{\"a\": \"\xff\"}").unwrap();
    let output = termctl(&home, &["setup", "--client", "gemini"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(
        output.err.contains("settings.json:1:8: not UTF-8"),
        "{output:?}"
    );
}

#[test]
fn a_link_stays_a_link() {
    let home = Home::create();
    let dotfiles = home.path("dotfiles");
    fs::create_dir(&dotfiles).unwrap();
    let real = dotfiles.join("cursor.json");
    fs::write(&real, "{}\n").unwrap();
    fs::create_dir(home.user_home().join(".cursor")).unwrap();
    let link = home.user_home().join(".cursor/mcp.json");
    symlink(&real, &link).unwrap();
    let output = termctl(&home, &["setup", "--client", "cursor,windsurf"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(output.out.contains("windsurf: set up"), "{output:?}");
    assert_eq!(fs::read_link(&link).unwrap(), real);
    assert!(read_json(&real)["mcpServers"]["termd"].is_object());
    assert_eq!(
        names(&dotfiles),
        ["cursor.json"],
        "the backup is beside the link"
    );
}

#[test]
fn a_client_with_yaml_is_told_of() {
    let home = Home::create();
    fs::create_dir_all(home.path("config/goose")).unwrap();
    let found = termctl(&home, &["setup"]);
    assert_eq!(found.code, Some(0), "{found:?}");
    assert!(
        found.err.contains("setup --client goose --print"),
        "{found:?}"
    );
    assert_eq!(
        termctl(&home, &["setup", "--client", "goose"]).code,
        Some(1)
    );
    let printed = termctl(&home, &["setup", "--client", "goose", "--print"]);
    assert!(
        printed.out.starts_with("extensions:\n  termd:\n"),
        "{printed:?}"
    );
}
