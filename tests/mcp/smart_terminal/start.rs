//! The `terminal` tool set: its list of tools, and starting, listing and stopping terminals.

use serde_json::{Value, json};
use termd_test_support::{Home, McpClient, TestDaemon, assert_members};

use super::exec::refused;

/// A client with the `terminal` tool set.
pub(crate) fn client(home: &Home) -> McpClient {
    McpClient::start_with(home, &[("TERMCTL_MCP_TOOLS", "terminal")], &json!({}))
}

/// A bash in a terminal: its id.
#[track_caller]
pub(crate) fn start(client: &mut McpClient) -> String {
    let started = client.call("terminal_start", &json!({ "shell": "/bin/bash" }));
    started["sessionId"].as_str().unwrap().to_owned()
}

/// Runs a command in the terminal.
#[track_caller]
pub(crate) fn exec(client: &mut McpClient, id: &str, command: &str) -> Value {
    client.call(
        "terminal_exec",
        &json!({ "sessionId": id, "command": command }),
    )
}

const EXTRA: [&str; 8] = [
    "terminal_run_paged",
    "terminal_get_history",
    "terminal_resize",
    "terminal_send_key",
    "terminal_watch",
    "terminal_retry",
    "terminal_diff",
    "terminal_write_file",
];

#[test]
fn nine_tools_are_listed_and_eight_more_are_called_through_one() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let listed = client.ask("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "terminal_start",
            "terminal_exec",
            "terminal_run",
            "terminal_write",
            "terminal_read",
            "terminal_wait",
            "terminal_stop",
            "terminal_list",
            "terminal_extra",
        ]
    );
    assert!(tools.iter().all(|tool| tool["outputSchema"].is_object()));
    let described = client.call("terminal_extra", &json!({ "list": true }));
    let mut known: Vec<_> = described
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    known.sort_unstable();
    let mut extra = EXTRA;
    extra.sort_unstable();
    assert_eq!(known, extra);
    assert_eq!(
        described["terminal_resize"]["required"],
        json!(["sessionId", "cols", "rows"])
    );
    assert_eq!(
        described["terminal_retry"]["parameters"]["maxRetries"]["type"],
        "integer"
    );
    let available = EXTRA.join(", ");
    assert_eq!(
        refused(&mut client, "terminal_extra", &json!({})),
        format!("Pass list=true to see schemas, or specify tool. Available: {available}")
    );
    assert_eq!(
        refused(&mut client, "terminal_extra", &json!({ "tool": "x" })),
        format!("Unknown tool \"x\". Available: {available}")
    );
    let id = start(&mut client);
    let arguments = json!({ "sessionId": id, "cols": 100, "rows": 40 });
    let through = json!({ "tool": "terminal_resize", "args": arguments });
    let want = json!({ "success": true, "cols": 100, "rows": 40 });
    assert_eq!(client.call("terminal_extra", &through), want);
    // Its description has the names without what they begin with.
    let short = json!({ "tool": "resize", "args": arguments });
    assert_eq!(client.call("terminal_extra", &short), want);
    assert_eq!(client.call("terminal_resize", &arguments), want);
    assert_eq!(exec(&mut client, &id, "stty size")["output"], "40 100");
    let error = refused(
        &mut client,
        "terminal_extra",
        &json!({ "tool": "terminal_resize", "args": { "sessionId": id } }),
    );
    assert_eq!(
        error,
        "Invalid args for terminal_resize: 'cols' is required"
    );
}

#[test]
fn a_start_says_where_it_is_and_what_was_printed() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let started = client.call(
        "terminal_start",
        &json!({ "shell": "/bin/bash", "name": "demo", "env": { "PAGER": "less", "FOO": "1" } }),
    );
    assert_members(
        &started,
        &json!({ "shell": "/bin/bash", "shellType": "bash" }),
    );
    assert_eq!(started["cwd"], daemon.user_home().to_str().unwrap());
    let banner = started["banner"].as_str().unwrap();
    assert!(banner.ends_with(['$', '#']), "no prompt yet: {started}");
    let id = started["sessionId"].as_str().unwrap();
    let result = exec(&mut client, id, "echo $PAGER $TERM $FOO; stty size");
    assert_eq!(
        result["output"], "less xterm-256color 1\n30 120",
        "{result}"
    );
    // The name finds the terminal too, and a second terminal may have the same name.
    assert_eq!(exec(&mut client, "demo", "echo here")["output"], "here");
    let second = client.call("terminal_start", &json!({ "name": "demo", "cwd": "/" }));
    assert_eq!(second["cwd"], "/", "{second}");
    let listed = client.call("terminal_list", &json!({}));
    assert_eq!(listed["count"], 2, "{listed}");
    for session in listed["sessions"].as_array().unwrap() {
        assert_eq!(session["name"], "demo", "{session}");
        assert_members(session, &json!({ "alive": true, "busy": false }));
        assert_eq!(session["shellType"], "bash", "{session}");
        let created = session["createdAt"].as_str().unwrap();
        assert_eq!(created.len(), "2026-11-21T05:25:22.632Z".len(), "{session}");
    }
    let terse = client.call("terminal_list", &json!({ "verbose": false }));
    let mut keys: Vec<_> = terse["sessions"][0]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    keys.sort_unstable();
    assert_eq!(keys, ["alive", "busy", "cwd", "id", "name"]);
}

#[test]
fn what_cannot_be_started_is_told_in_the_original_s_words() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let error = refused(
        &mut client,
        "terminal_start",
        &json!({ "shell": "/no/such" }),
    );
    assert!(
        error.starts_with(
            "Shell \"/no/such\" not found. The auto-detected shell is \"/bin/bash\". Omit the shell"
        ),
        "{error}"
    );
    let error = refused(&mut client, "terminal_start", &json!({ "cwd": "/no/such" }));
    assert_eq!(
        error,
        "Invalid cwd \"/no/such\": Path does not exist (ENOENT)"
    );
    let error = refused(&mut client, "terminal_start", &json!({ "cols": 5 }));
    assert_eq!(error, "'cols' has to be from 20 to 500");
    let error = refused(&mut client, "terminal_exec", &json!({}));
    assert_eq!(error, "'sessionId' is required");
    assert_eq!(client.call("terminal_list", &json!({}))["count"], 0);
}

#[test]
fn stopping_gives_the_last_lines_and_writes_the_transcript() {
    let daemon = TestDaemon::start();
    let mut client = client(&daemon);
    let id = start(&mut client);
    exec(
        &mut client,
        &id,
        "printf '\\033[31m1\\033[0m\\n2\\n3\\n4\\n'",
    );
    let link = daemon.path("link.txt");
    std::os::unix::fs::symlink(daemon.path("elsewhere"), &link).unwrap();
    for bad in [
        link,
        daemon.path("no/../such"),
        daemon.path("config/termd/config.toml"),
    ] {
        let error = refused(
            &mut client,
            "terminal_stop",
            &json!({ "sessionId": id, "transcriptPath": bad }),
        );
        assert!(error.starts_with("Invalid path"), "{error}");
    }
    let path = daemon.path("new/transcript.txt");
    let stopped = client.call(
        "terminal_stop",
        &json!({ "sessionId": id, "snapshotLines": 3, "transcriptPath": path }),
    );
    assert_eq!(stopped["message"], format!("Session {id} stopped."));
    assert_eq!(stopped["snapshot"]["lineCount"], 3, "{stopped}");
    assert!(
        stopped["snapshot"]["text"]
            .as_str()
            .unwrap()
            .starts_with("3\n4\n"),
        "{stopped}"
    );
    let transcript = std::fs::read_to_string(&path).unwrap();
    assert_eq!(stopped["transcript"]["bytes"], transcript.len());
    assert!(transcript.contains("\n1\n2\n3\n4\n"), "{transcript:?}");
    assert_eq!(
        refused(&mut client, "terminal_stop", &json!({ "sessionId": id })),
        format!("Session \"{id}\" not found. Use terminal_list to see active sessions.")
    );
    assert_eq!(client.call("terminal_list", &json!({}))["count"], 0);
    // No bash is left behind, and its output is still there.
    let read = client.call("terminal_read", &json!({ "sessionId": id, "since": 0 }));
    assert!(
        read["output"].as_str().unwrap().contains("\n3\n4"),
        "{read}"
    );
    let error = refused(
        &mut client,
        "terminal_exec",
        &json!({ "sessionId": id, "command": "x" }),
    );
    assert!(
        error.starts_with(&format!("Session {id} is no longer alive.")),
        "{error}"
    );
}

#[test]
fn the_end_of_stdin_ends_the_server_and_no_terminal() {
    let daemon = TestDaemon::start();
    let mut first = client(&daemon);
    let id = start(&mut first);
    exec(&mut first, &id, "X=kept");
    first.hang_up();
    let (took, status) = first.wait_exit();
    assert!(status.success());
    assert!(took.as_secs() < 5, "{took:?}");
    let mut second = client(&daemon);
    assert_eq!(
        second.call("terminal_list", &json!({}))["sessions"][0]["id"],
        id
    );
    assert_eq!(exec(&mut second, &id, "echo $X")["output"], "kept");
}
