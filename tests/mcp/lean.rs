//! The set `lean`: five tools that do it all.

use std::fs;
use std::net::TcpListener;

use serde_json::{Value, json};
use termd_test_support::{Home, McpClient, TestDaemon, assert_members, is_installed, wait_until};

/// A program with a screen of its own that shows each key.
const FULL_SCREEN: &str = r#"stty -echo -icanon; printf '\033[?1049h\033[H'; seq 1 20
while IFS= read -rn1 key; do printf '\033[5;1Hkey %s' "$key"; done"#;

/// Draws again once there is a file `draw`, and ends with the next key.
const DRAWS_AGAIN: &str = r"(stty -echo -icanon; printf '\033[?1049h\033[Hframe 1'
until test -e draw; do sleep 0.05; done; printf '\033[Hframe 2'; read -rn1 key
printf '\033[?1049l'; stty sane; echo over)";

fn lean(home: &Home) -> McpClient {
    McpClient::spawn(home, &["--tools", "lean"], &[]).initialized(&json!({}))
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

/// Runs a command that stays: its id.
#[track_caller]
fn stays(client: &mut McpClient, command: &str, state: &str) -> String {
    let run = client.call("term_run", &json!({ "command": command }));
    assert_eq!(run["state"], state, "{run}");
    run["id"].as_str().unwrap().to_owned()
}

#[test]
fn five_tools_are_listed_with_names_of_their_own() {
    let daemon = TestDaemon::start();
    let names = |sets: &str| -> Vec<String> {
        let mut client = McpClient::spawn(&daemon, &["--tools", sets], &[]).initialized(&json!({}));
        let listed = client.ask("tools/list", &json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap().iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let ours = names("lean");
    assert_eq!(
        ours,
        [
            "term_run",
            "term_type",
            "term_read",
            "term_list",
            "term_close"
        ]
    );
    let all = names("session,terminal,lean");
    assert_eq!(all.len(), 13 + 9 + 5);
}

#[test]
fn a_command_that_ends_gives_its_output_and_exit_code_and_leaves_nothing() {
    let daemon = TestDaemon::start();
    let mut client = lean(&daemon);
    let result = client.result(
        "term_run",
        &json!({ "command": "echo hi | tr h H; exit 3" }),
    );
    assert_eq!(text(&result), "[exited (exit), exit_code 3]\nHi");
    assert_members(
        &result["structuredContent"],
        &json!({ "state": "exited", "known_by": "exit", "exit_code": 3, "output": "Hi\n" }),
    );
    assert_eq!(result["structuredContent"].get("id"), None);
    let listed = client.call("term_list", &json!({}));
    assert_eq!(listed["count"], 0, "{listed}");
    let unchecked = client.result(
        "term_run",
        &json!({ "command": "touch it", "wait_for": "(" }),
    );
    assert_eq!(unchecked["isError"], true, "{unchecked}");
    let here = client.call("term_run", &json!({ "command": "ls it" }));
    assert_eq!(here["exit_code"], 2, "{here}");
}

#[test]
fn it_runs_in_the_client_s_environment_and_directory() {
    let daemon = TestDaemon::start();
    let folder = daemon.path("home/of-the-client");
    fs::create_dir_all(folder.join("below")).unwrap();
    let mut command = daemon.command(env!("CARGO_BIN_EXE_termctl"));
    command
        .args(["mcp", "--tools", "lean"])
        .env("MARK", "of the client")
        .current_dir(&folder);
    let mut client = McpClient::spawn_command(command).initialized(&json!({}));
    let run = json!({ "command": "echo $MARK; pwd", "cwd": "below" });
    let result = client.call("term_run", &run);
    let below = folder.join("below");
    assert_eq!(
        result["output"],
        format!("of the client\n{}\n", below.display()),
        "{result}"
    );
}

#[test]
fn a_command_that_reads_input_stays_to_type_into() {
    let daemon = TestDaemon::start();
    let mut client = lean(&daemon);
    let question = "read -p 'Proceed? [y/N] ' x; echo got $x; exit 4";
    let asked = client.call("term_run", &json!({ "command": question }));
    assert_members(
        &asked,
        &json!({ "state": "awaiting_input", "known_by": "kernel", "prompt": "Proceed? [y/N] " }),
    );
    let answered = client.call("term_type", &json!({ "id": asked["id"], "text": "y" }));
    assert_members(
        &answered,
        &json!({ "state": "exited", "exit_code": 4, "output": "got y\n" }),
    );
    let id = stays(
        &mut client,
        "stty -echo; read secret; stty echo; echo got $secret",
        "awaiting_secret",
    );
    let secret = json!({ "id": id, "password": "xyzzy", "wait_for": "^got" });
    let typed = client.call("term_type", &secret);
    assert_members(&typed, &json!({ "matched": true, "output": "got xyzzy\n" }));
}

#[test]
fn a_shell_stays_and_runs_one_command_after_another() {
    let daemon = TestDaemon::start();
    let mut client = lean(&daemon);
    let id = stays(&mut client, "bash", "done");
    for (line, output, state, known_by) in [
        ("cd /; pwd", "/\n", "done", "marks"),
        ("(exit 7)", "", "done", "marks"),
        ("read x", "", "awaiting_input", "kernel"),
        ("y", "", "done", "marks"),
        ("echo \"abc", "", "awaiting_input", "kernel"),
        ("\"", "abc\n\n", "done", "marks"),
    ] {
        let result = client.call("term_type", &json!({ "id": id, "text": line }));
        let want = json!({ "output": output, "state": state, "known_by": known_by });
        assert_members(&result, &want);
        // The exit code is that of a command that is over.
        assert_eq!(
            result.get("exit_code").is_some(),
            state == "done",
            "{line}: {result}"
        );
    }
    let failed = client.result("term_type", &json!({ "id": id, "text": "(exit 7)" }));
    assert_eq!(text(&failed), "[done (marks), exit_code 7]");
    client.call("term_type", &json!({ "id": id, "text": "cat" }));
    let ended = client.call("term_type", &json!({ "id": id, "keys": ["ctrl-d"] }));
    assert_eq!(ended["state"], "done", "{ended}");
    let both = json!({ "id": id, "text": "x", "keys": ["up"] });
    assert_eq!(client.result("term_type", &both)["isError"], true);
    let closed = client.call("term_close", &json!({ "id": id }));
    assert_eq!(closed["state"], "exited", "{closed}");
    let read = client.call("term_read", &json!({ "id": id, "pattern": "^abc" }));
    assert_members(&read, &json!({ "state": "exited", "matches": 1 }));
    let nothing_comes = json!({ "id": id, "wait_for": "never", "timeout": 60 });
    let read = client.call("term_read", &nothing_comes);
    assert_eq!(read["state"], "exited", "{read}");
}

#[test]
fn several_lines_are_given_one_after_the_other() {
    let daemon = TestDaemon::start();
    let mut client = lean(&daemon);
    if is_installed("dash", "several_lines") {
        let id = stays(&mut client, "dash", "done");
        let lines = "if true; then\n  echo yes\nfi";
        let typed = client.call("term_type", &json!({ "id": id, "text": lines }));
        assert_members(&typed, &json!({ "state": "done", "output": "yes\n" }));
    }
    if is_installed("python3", "several_lines") {
        let id = stays(&mut client, "python3 -q", "done");
        let lines = "n = input('who? ')\nme\nn * 2";
        let typed = client.call("term_type", &json!({ "id": id, "text": lines }));
        assert_members(&typed, &json!({ "state": "done", "output": "'meme'\n" }));
    }
}

#[test]
fn where_no_command_ran_there_is_no_exit_code() {
    let daemon = TestDaemon::start();
    let mut client = lean(&daemon);
    let id = stays(&mut client, "bash", "done");
    let failed = json!({ "id": id, "text": "(exit 7)" });
    assert_eq!(client.call("term_type", &failed)["exit_code"], 7);
    let read = client.call("term_read", &json!({ "id": id }));
    assert_eq!(read["exit_code"], 7, "{read}");
    for nothing in [
        json!({ "id": id, "text": "ls /usr/b", "enter": false }),
        json!({ "id": id, "keys": ["ctrl-c"] }),
        json!({ "id": id }),
    ] {
        let typed = client.call("term_type", &nothing);
        assert_members(&typed, &json!({ "state": "done", "exit_code": null }));
        let read = client.call("term_read", &json!({ "id": id }));
        assert_members(&read, &json!({ "state": "done", "exit_code": null }));
    }
}

#[test]
fn ten_lines_at_once_give_their_own_output_each() {
    let daemon = TestDaemon::start();
    let mut client = lean(&daemon);
    let id = stays(&mut client, "bash", "done");
    let calls: Vec<u64> = (0..10)
        .map(|number| {
            let line = format!("sleep 0.0{}; echo n{number}; (exit {number})", number % 4);
            client.begin("term_type", &json!({ "id": id, "text": line }))
        })
        .collect();
    for (number, call) in calls.into_iter().enumerate() {
        let answer = client.answer(call);
        assert_members(
            &answer["result"]["structuredContent"],
            &json!({ "output": format!("n{number}\n"), "exit_code": number }),
        );
    }
}

#[test]
fn a_command_that_outlives_its_time_goes_on() {
    let daemon = TestDaemon::start();
    let mut client = lean(&daemon);
    let go = daemon.path("go");
    let line = format!(
        "echo begun; until [ -e {} ]; do sleep 0.05; done; echo over",
        go.display()
    );
    let run = client.call(
        "term_run",
        &json!({ "command": line, "wait_for": "begun", "timeout": 20 }),
    );
    assert_members(
        &run,
        &json!({ "state": "running", "matched": true, "output": "begun\n" }),
    );
    let late = client.call("term_run", &json!({ "command": line, "timeout": 0 }));
    assert_eq!(late["state"], "running", "{late}");
    assert!(
        late["message"].as_str().unwrap().contains("term_read"),
        "{late}"
    );
    let id = &run["id"];
    let at_once = client.call("term_read", &json!({ "id": id }));
    assert_members(&at_once, &json!({ "state": "running", "output": "" }));
    // What has not matched is still to be read.
    let not_yet = json!({ "id": id, "wait_for": "over", "timeout": 0.2 });
    let not_yet = client.call("term_read", &not_yet);
    assert_members(&not_yet, &json!({ "state": "running", "matched": false }));
    fs::write(go, "").unwrap();
    let over = client.call("term_read", &json!({ "id": id, "timeout": 30 }));
    assert_members(
        &over,
        &json!({ "state": "exited", "exit_code": 0, "output": "over\n" }),
    );
}

#[test]
fn a_setting_ends_what_outlives_its_time() {
    let daemon = TestDaemon::start();
    let mut client = McpClient::spawn(
        &daemon,
        &["--tools", "lean"],
        &[("TERMD_EXEC_TIMEOUT", "end")],
    )
    .initialized(&json!({}));
    let run = json!({ "command": "sleep 1000", "timeout": 0.3 });
    let ended = client.call("term_run", &run);
    assert_eq!(ended["state"], "exited", "{ended}");
    assert!(
        ended["message"].as_str().unwrap().contains("was ended"),
        "{ended}"
    );
    assert_eq!(client.call("term_list", &json!({}))["count"], 0);
}

#[test]
fn a_full_screen_program_shows_its_screen_and_then_what_changed() {
    let daemon = TestDaemon::start();
    let mut client = lean(&daemon);
    let run = client.call("term_run", &json!({ "command": FULL_SCREEN }));
    assert_members(
        &run,
        &json!({ "state": "full_screen", "known_by": "screen" }),
    );
    let rows: Vec<_> = run["output"].as_str().unwrap().lines().collect();
    assert_eq!(rows.len(), 20, "{run}");
    let id = &run["id"];
    let mut pressed = client.call("term_type", &json!({ "id": id, "keys": ["x"] }));
    // The drawing of what was shown is not left to be read.
    assert_eq!(pressed.get("omitted"), None, "{pressed}");
    // The program may take its time.
    wait_until("the key is shown", || {
        if pressed["changed_lines"] == json!([]) {
            pressed = client.call("term_read", &json!({ "id": id, "view": "changes" }));
        }
        pressed["changed_lines"] != json!([])
    });
    assert_members(
        &pressed,
        &json!({
            "state": "full_screen",
            "cursor": "row 5 column 6",
            "changed_lines": [{ "line": 5, "content": "key x" }],
        }),
    );
    let screen = client.call("term_read", &json!({ "id": id }));
    assert_eq!(
        screen["output"].as_str().unwrap().lines().nth(4),
        Some("key x"),
        "{screen}"
    );
    let changes = client.call("term_read", &json!({ "id": id, "view": "changes" }));
    assert_members(
        &changes,
        &json!({ "state": "full_screen", "changed_lines": [] }),
    );
}

#[test]
fn what_a_full_screen_program_drew_is_not_named_as_left_out() {
    let daemon = TestDaemon::start();
    let screen_shows = |id: &str, text: &str| {
        wait_until(text, || {
            let asked = json!({ "id": id, "format": "text" });
            let screen = daemon.client().ok("session.screen", &asked);
            screen.to_string().contains(text)
        });
    };
    let draw = daemon.user_home().join("draw");
    let mut client = lean(&daemon);
    let run = json!({ "command": "bash", "cwd": daemon.user_home() });
    let id = client.call("term_run", &run)["id"].clone();
    let shown = client.call("term_type", &json!({ "id": id, "text": DRAWS_AGAIN }));
    assert_eq!(shown["state"], "full_screen", "{shown}");
    fs::write(&draw, "").unwrap();
    screen_shows(id.as_str().unwrap(), "frame 2");
    let ended = client.call("term_type", &json!({ "id": id, "keys": ["q"] }));
    assert_members(&ended, &json!({ "state": "done", "omitted": null }));
    fs::remove_file(&draw).unwrap();
    let mut client = McpClient::start(&daemon);
    let create = json!({ "command": "bash", "cwd": daemon.user_home() });
    let id = client.call("session_create", &create)["session_id"].clone();
    let line = json!({ "session_id": id, "input": DRAWS_AGAIN });
    let shown = client.call("session_interact", &line);
    assert_eq!(shown["state"], "full_screen", "{shown}");
    fs::write(&draw, "").unwrap();
    screen_shows(id.as_str().unwrap(), "frame 2");
    let key = json!({ "session_id": id, "key": "q" });
    let ended = client.call("session_interact", &key);
    assert_members(&ended, &json!({ "state": "done", "omitted": null }));
}

#[test]
fn long_output_is_shown_in_few_bytes_and_searched() {
    let daemon = TestDaemon::start();
    let mut client = lean(&daemon);
    let line = "seq 1 9000; echo 'x.c:3:5: error: no such thing'; seq 9001 20000; exit 2";
    let result = client.result("term_run", &json!({ "command": line }));
    let run = &result["structuredContent"];
    assert_members(run, &json!({ "state": "exited", "exit_code": 2 }));
    let shown = text(&result);
    assert!(shown.contains("error: no such thing"), "{shown}");
    assert!(shown.ends_with("\n20000"), "{shown}");
    assert!(shown.len() < 2_500, "{} bytes", shown.len());
    let id = &run["id"];
    let found = client.call(
        "term_read",
        &json!({ "id": id, "pattern": "error:", "context": 0 }),
    );
    assert_eq!(found["matches"], 1, "{found}");
    let (offset, _) = found["output"].as_str().unwrap().split_once(':').unwrap();
    let offset: u64 = offset.parse().unwrap();
    let page = json!({ "id": id, "offset": offset, "max_output_bytes": 1000 });
    let page = client.call("term_read", &page);
    assert!(
        page["output"].as_str().unwrap().starts_with("x.c:3:5"),
        "{page}"
    );
    let tail = client.call("term_read", &json!({ "id": id, "last_lines": 2 }));
    assert_eq!(tail["output"], "19999\n20000\n", "{tail}");
}

#[test]
fn a_port_is_waited_for() {
    let daemon = TestDaemon::start();
    let mut client = lean(&daemon);
    let id = stays(&mut client, "bash", "done");
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = nobody.local_addr().unwrap().port();
    // Another process's port is not the terminal's.
    let wait = json!({ "id": id, "port": port, "timeout": 0.3 });
    let waited = client.call("term_read", &wait);
    assert_members(&waited, &json!({ "state": "done", "matched": false }));
}

#[test]
fn the_gate_asks_and_errors_name_these_tools() {
    let daemon = TestDaemon::start();
    let mut client = lean(&daemon);
    let dangerous = json!({ "command": "rm -rf ./never-there" });
    let asked = client.call("term_run", &dangerous);
    assert_eq!(asked["requires_confirmation"], true, "{asked}");
    let id = stays(&mut client, "bash", "done");
    let typed = json!({ "id": id, "text": "rm -rf ./never-there" });
    let asked = client.call("term_type", &typed);
    assert_eq!(asked["requires_confirmation"], true, "{asked}");
    let mut confirmed = dangerous;
    confirmed["confirmed"] = true.into();
    let ran = client.call("term_run", &confirmed);
    assert_members(&ran, &json!({ "state": "exited", "exit_code": 0 }));
    let unknown = client.result("term_read", &json!({ "id": "nobody" }));
    assert_eq!(unknown["isError"], true, "{unknown}");
    assert!(text(&unknown).contains("term_list"), "{unknown}");
    client.call("term_close", &json!({ "id": id }));
    let ended = client.result("term_type", &json!({ "id": id, "text": "x" }));
    assert!(text(&ended).contains("term_read"), "{ended}");
}

#[test]
fn the_list_says_where_each_terminal_stands() {
    let daemon = TestDaemon::start();
    let mut client = lean(&daemon);
    let shell = stays(&mut client, "bash", "done");
    let reader = stays(&mut client, "cat", "awaiting_input");
    let result = client.result("term_list", &json!({}));
    let listed = &result["structuredContent"]["terminals"];
    assert_members(&listed[0], &json!({ "id": shell, "state": "done" }));
    assert_members(
        &listed[1],
        &json!({ "id": reader, "state": "awaiting_input", "command": "cat" }),
    );
    assert!(text(&result).contains(&format!("id {reader}")), "{result}");
    // Another client takes it up.
    let mut other = lean(&daemon);
    let typed = other.call("term_type", &json!({ "id": reader, "text": "hello" }));
    assert_eq!(typed["output"], "hello\n", "{typed}");
}
