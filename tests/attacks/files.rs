//! What a front does to files is done by the daemon: judged, confined and recorded.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use termd_test_support::{McpClient, TestDaemon, is_installed};

use crate::Attack;

pub(crate) const ATTACKS: &[Attack] = &[
    (
        "a_sandboxed_front_writes_no_file_that_its_commands_cannot",
        a_sandboxed_front_writes_no_file_that_its_commands_cannot,
    ),
    (
        "a_sandbox_that_bubblewrap_builds_holds_files_too",
        a_sandbox_that_bubblewrap_builds_holds_files_too,
    ),
    (
        "a_transcript_goes_where_a_command_could_write",
        a_transcript_goes_where_a_command_could_write,
    ),
    (
        "a_success_file_tells_nothing_that_is_hidden",
        a_success_file_tells_nothing_that_is_hidden,
    ),
    (
        "what_is_no_regular_file_is_refused_at_once",
        what_is_no_regular_file_is_refused_at_once,
    ),
    (
        "a_dangerous_write_is_asked_about_whatever_its_path_looks_like",
        a_dangerous_write_is_asked_about_whatever_its_path_looks_like,
    ),
    (
        "a_rule_for_tee_holds_for_the_tools_too",
        a_rule_for_tee_holds_for_the_tools_too,
    ),
    (
        "a_use_of_a_file_is_recorded_before_and_after",
        a_use_of_a_file_is_recorded_before_and_after,
    ),
    (
        "a_path_that_is_swapped_meanwhile_leads_nowhere_else",
        a_path_that_is_swapped_meanwhile_leads_nowhere_else,
    ),
    (
        "a_workspace_stays_where_it_was",
        a_workspace_stays_where_it_was,
    ),
    (
        "a_file_is_never_lost_in_a_sandbox_of_its_own",
        a_file_is_never_lost_in_a_sandbox_of_its_own,
    ),
    (
        "a_protected_file_is_refused_unasked",
        a_protected_file_is_refused_unasked,
    ),
    (
        "writes_at_once_are_each_whole",
        writes_at_once_are_each_whole,
    ),
];

const SANDBOXED: &str = "kill_grace_ms = 300
[policy.profiles.ws]
sandbox = \"workspace\"
[policy.fronts.mcp]
profile = \"ws\"
";

/// A workspace and what lies around it, and an MCP client with a terminal in the workspace.
struct Scene {
    /// Ended before the daemon, which must leave nothing behind.
    mcp: McpClient,
    session: String,
    workspace: PathBuf,
    daemon: TestDaemon,
}

impl Scene {
    /// The client has switched its gate off: only the sandbox is left.
    fn sandboxed() -> Self {
        Self::new(SANDBOXED, &[("TERMINAL_MCP_SAFETY_GATE", "off")])
    }

    fn new(config: &str, env: &[(&str, &str)]) -> Self {
        let daemon = TestDaemon::configured(config);
        let home = daemon.user_home();
        for directory in [".ssh", "other", "ws/.git/hooks", "ws/dir"] {
            fs::create_dir_all(home.join(directory)).unwrap();
        }
        for (file, text) in [
            (".bashrc", "own\n"),
            (".ssh/id_rsa", "SECRET-SSH\n"),
            ("other/file", "own\n"),
            ("ws/.git/config", "[core]\n"),
        ] {
            fs::write(home.join(file), text).unwrap();
        }
        let workspace = home.join("ws");
        symlink(home.join("other/file"), workspace.join("link")).unwrap();
        symlink(home.join("other"), workspace.join("link-dir")).unwrap();
        symlink(home.join("other/none"), workspace.join("dangling")).unwrap();
        let mut mcp = McpClient::spawn(&daemon, &["--tools", "terminal"], env);
        mcp.ask(
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": { "name": "attacker", "version": "1" },
            }),
        );
        mcp.notify("notifications/initialized", &json!({}));
        let session = start(&mut mcp, &workspace);
        Self {
            mcp,
            session,
            workspace,
            daemon,
        }
    }

    /// Paths that no command in the sandbox can write to.
    fn outside(&self) -> Vec<String> {
        let home = self.daemon.user_home();
        let home = home.to_str().unwrap();
        let config = self.daemon.path("config/termd/config.toml");
        let database = self.daemon.state_dir().join("termd.sqlite");
        let mut paths: Vec<String> = [
            "../escape.txt",
            "dir/../../escape.txt",
            ".git/hooks/pre-commit",
            "dir/../.git/hooks/pre-push",
            ".git/config",
            "link",
            "link-dir/new",
            "link-dir/file",
            "dangling",
            "/proc/self/cwd/../escape.txt",
        ]
        .map(str::to_owned)
        .into();
        for below in [
            ".bashrc",
            ".ssh/authorized_keys",
            ".ssh/id_rsa",
            "other/wf",
            "ws/../other/file",
            "ws/link-dir/../.bashrc",
        ] {
            paths.push(format!("{home}/{below}"));
            paths.push(format!("/proc/self/root{home}/{below}"));
            paths.push(format!("/proc/thread-self/root{home}/{below}"));
        }
        paths.extend([config, database].map(|path| path.to_str().unwrap().to_owned()));
        paths
    }

    /// Everything in home, with what it holds.
    fn files(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut directories = vec![self.daemon.user_home(), self.daemon.path("config")];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(&directory).unwrap() {
                let path = entry.unwrap().path();
                let kind = path.symlink_metadata().unwrap();
                if kind.is_dir() {
                    directories.push(path);
                } else if kind.is_symlink() {
                    let target = fs::read_link(&path).unwrap();
                    found.insert(path, target.display().to_string());
                } else {
                    let text = fs::read(&path).unwrap();
                    found.insert(path, String::from_utf8_lossy(&text).into_owned());
                }
            }
        }
        found
    }

    fn write(&mut self, path: &str, more: &Value) -> Value {
        let base = json!({ "sessionId": self.session, "path": path, "content": "EVIL\n" });
        let arguments = termd_test_support::merged(&base, more);
        self.mcp.result("terminal_write_file", &arguments)
    }
}

fn start(mcp: &mut McpClient, directory: &Path) -> String {
    let started = mcp.call("terminal_start", &json!({ "cwd": directory }));
    started["sessionId"].as_str().unwrap().to_owned()
}

/// What the sandbox prevents in any case is no question.
fn a_protected_file_is_refused_unasked() {
    let mut scene = Scene::new(SANDBOXED, &[]);
    for path in [".git/config", ".git/hooks/pre-commit"] {
        let answer = scene.write(path, &json!({}));
        assert_eq!(answer["isError"], true, "{answer}");
        let said = answer.to_string();
        assert!(said.contains("the profile ws protects it"), "{said}");
    }
}

fn a_sandboxed_front_writes_no_file_that_its_commands_cannot() {
    let mut scene = Scene::sandboxed();
    let before = scene.files();
    for path in scene.outside() {
        for append in [false, true] {
            let answer = scene.write(&path, &json!({ "append": append }));
            assert_eq!(answer["isError"], true, "{path} append={append}: {answer}");
            assert_eq!(scene.files(), before, "{path} append={append}");
        }
    }
    // What a command may write, the tool writes.
    for (path, append, text) in [
        ("new.txt", false, "EVIL\n"),
        ("new.txt", true, "EVIL\nEVIL\n"),
        ("dir/../new.txt", false, "EVIL\n"),
    ] {
        let answer = scene.write(path, &json!({ "append": append }));
        assert_eq!(answer["isError"], false, "{path}: {answer}");
        let written = fs::read_to_string(scene.workspace.join("new.txt")).unwrap();
        assert_eq!(written, text);
    }
}

fn a_sandbox_that_bubblewrap_builds_holds_files_too() {
    if !is_installed("bwrap", "a_sandbox_that_bubblewrap_builds_holds_files_too") {
        return;
    }
    let config = SANDBOXED.replace(
        "\"workspace\"\n",
        "\"workspace\"\nbuilder = \"bubblewrap\"\n",
    );
    let mut scene = Scene::new(&config, &[("TERMINAL_MCP_SAFETY_GATE", "off")]);
    let before = scene.files();
    for path in scene.outside() {
        let answer = scene.write(&path, &json!({}));
        assert_eq!(answer["isError"], true, "{path}: {answer}");
        assert_eq!(scene.files(), before, "{path}");
    }
    let long = "x".repeat(1 << 20);
    let answer = scene.write("new.txt", &json!({ "content": long }));
    assert_eq!(answer["isError"], false, "{answer}");
    let written = fs::read_to_string(scene.workspace.join("new.txt")).unwrap();
    assert_eq!(written.len(), long.len());
}

fn a_transcript_goes_where_a_command_could_write() {
    let mut scene = Scene::sandboxed();
    let before = scene.files();
    for path in scene.outside() {
        let session = start(&mut scene.mcp, &scene.workspace);
        let stop = json!({ "sessionId": session, "transcriptPath": path });
        let answer = scene.mcp.result("terminal_stop", &stop);
        assert_eq!(answer["isError"], true, "{path}: {answer}");
        assert_eq!(scene.files(), before, "{path}");
        scene
            .mcp
            .call("terminal_stop", &json!({ "sessionId": session }));
    }
    let stop = json!({ "sessionId": scene.session, "transcriptPath": "dir/transcript" });
    scene.mcp.call("terminal_stop", &stop);
    assert!(scene.workspace.join("dir/transcript").exists());
}

fn a_success_file_tells_nothing_that_is_hidden() {
    let mut scene = Scene::sandboxed();
    let key = scene.daemon.user_home().join(".ssh/id_rsa");
    let key = key.to_str().unwrap();
    let config = scene.daemon.path("config/termd/config.toml");
    symlink(key, scene.workspace.join("key")).unwrap();
    for (path, pattern) in [
        (key, "SECRET-SSH"),
        (key, "^"),
        ("key", "SECRET"),
        ("../.ssh/id_rsa", "SECRET"),
        (&format!("/proc/self/root{key}"), "SECRET"),
        ("/proc/self/environ", "XDG_STATE_HOME"),
        ("/proc/self/maps", "termd"),
        ("/proc/self/cmdline", "termd"),
        ("/proc/self/fd/0", "^"),
        ("/dev/stdin", "^"),
        ("/dev/zero", "^"),
        (
            scene
                .daemon
                .state_dir()
                .join("termd.sqlite")
                .to_str()
                .unwrap(),
            "^",
        ),
    ] {
        let run = json!({ "cmd": "true", "cwd": scene.workspace, "successFile": path,
                          "successFilePattern": pattern });
        let answer = scene.mcp.call("terminal_run", &run);
        let check = &answer["checks"]["successFile"];
        assert_eq!(check["matched"], false, "{path} {pattern}: {answer}");
    }
    // What a command may read, the tool reads.
    for (path, pattern, matched) in [
        (".git/config", "^.core", true),
        (".git/config", "absent", false),
        (config.to_str().unwrap(), "sandbox", true),
    ] {
        let run = json!({ "cmd": "true", "cwd": scene.workspace, "successFile": path,
                          "successFilePattern": pattern });
        let answer = scene.mcp.call("terminal_run", &run);
        let check = &answer["checks"]["successFile"];
        assert_eq!(check["matched"], matched, "{path} {pattern}: {answer}");
    }
}

fn what_is_no_regular_file_is_refused_at_once() {
    let mut scene = Scene::new(
        "kill_grace_ms = 300\n",
        &[("TERMINAL_MCP_SAFETY_GATE", "off")],
    );
    let fifo = scene.workspace.join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RWXU).unwrap();
    symlink("fifo", scene.workspace.join("to-fifo")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(scene.workspace.join("sock")).unwrap();
    for path in [
        "fifo",
        "to-fifo",
        "sock",
        "dir",
        "dir/.",
        ".",
        "/dev/null",
        "/dev/full",
        "/dev/tty",
        "/dev/stdin",
        "/dev/fd/1",
        "/proc/self/fd/1",
        "/proc/self/comm",
        "/proc/self/mem",
        "/proc/sys/kernel/hostname",
    ] {
        for append in [false, true] {
            let answer = scene.write(path, &json!({ "append": append }));
            assert_eq!(answer["isError"], true, "{path} append={append}: {answer}");
        }
        let run = json!({ "cmd": "true", "cwd": scene.workspace, "successFile": path,
                          "successFilePattern": "^" });
        let answer = scene.mcp.call("terminal_run", &run);
        let check = &answer["checks"]["successFile"];
        assert_eq!(check["matched"], false, "{path}: {answer}");
    }
}

/// Without a sandbox only the gate is between an agent and the files of its user.
fn a_dangerous_write_is_asked_about_whatever_its_path_looks_like() {
    let mut scene = Scene::new("kill_grace_ms = 300\n", &[]);
    symlink("/etc", scene.workspace.join("system")).unwrap();
    let before = scene.files();
    for path in [
        "/etc/termd-test",
        "system/termd-test",
        "dir/../system/termd-test",
        "/proc/self/root/etc/termd-test",
        "/usr/../etc/termd-test",
    ] {
        let answer = scene.write(path, &json!({}));
        let asks = &answer["structuredContent"]["requires_confirmation"];
        assert_eq!(*asks, true, "{path}: {answer}");
        let shown = answer["structuredContent"]["command"].as_str().unwrap();
        assert!(shown.contains("/etc/termd-test"), "{path}: {shown}");
        assert!(shown.contains("SHA-256"), "{path}: {shown}");
    }
    assert_eq!(scene.files(), before);
}

fn a_rule_for_tee_holds_for_the_tools_too() {
    let config = "kill_grace_ms = 300
[[policy.rules]]
program = \"tee\"
effect = \"deny\"
[[policy.rules]]
program = \"grep\"
effect = \"deny\"
";
    // Rules hold with the gate switched off, and whatever the model says.
    let mut scene = Scene::new(config, &[("TERMINAL_MCP_SAFETY_GATE", "off")]);
    let before = scene.files();
    for append in [false, true] {
        let more = json!({ "append": append, "confirmed": true });
        let answer = scene.write("new.txt", &more);
        assert_eq!(answer["isError"], true, "{answer}");
    }
    let stop = json!({ "sessionId": scene.session, "transcriptPath": "t", "confirmed": true });
    let answer = scene.mcp.result("terminal_stop", &stop);
    assert_eq!(answer["isError"], true, "{answer}");
    let run = json!({ "cmd": "true", "cwd": scene.workspace, "successFile": ".git/config",
                      "successFilePattern": "core" });
    let answer = scene.mcp.call("terminal_run", &run);
    let check = &answer["checks"]["successFile"];
    assert_eq!(check["matched"], false, "{answer}");
    assert_eq!(scene.files(), before);
}

fn a_use_of_a_file_is_recorded_before_and_after() {
    let mut scene = Scene::sandboxed();
    scene.write("new.txt", &json!({}));
    scene.write("../escape.txt", &json!({}));
    let session = scene.session.clone();
    let run = json!({ "cmd": "true", "cwd": scene.workspace, "successFile": ".git/config",
                      "successFilePattern": "core" });
    scene.mcp.call("terminal_run", &run);
    let mut person = scene.daemon.client();
    let query = json!({ "order": "oldest", "limit": 1000 });
    let records = person.ok("audit.list", &query)["records"].clone();
    let records: Vec<Value> = serde_json::from_value(records).unwrap();
    let of_files = records.iter().filter(|record| {
        let action = record["action"].as_str().unwrap();
        action.starts_with("file.")
    });
    let of_files: Vec<&Value> = of_files.collect();
    let path = scene.workspace.join("new.txt");
    // By sha256sum(1).
    let sha256 = "c11b5b8750836f8ceac9bdd1bd80b3d1e2e09e5864109781cce5def9264b201e";
    let facts: Vec<(&str, &str)> = of_files
        .iter()
        .map(|record| {
            let text = |key: &str| record[key].as_str().unwrap();
            (text("action"), text("outcome").split(':').next().unwrap())
        })
        .collect();
    assert_eq!(
        facts,
        [
            ("file.write", "ok"),
            ("file.done", "ok"),
            ("file.write", "ok"),
            ("file.done", "not done"),
            ("file.read", "ok"),
            ("file.done", "ok"),
        ],
        "{of_files:#?}"
    );
    let detail = &of_files[0]["detail"];
    assert_eq!(of_files[0]["terminal"], session, "{detail}");
    assert_eq!(detail["path"], path.to_str().unwrap(), "{detail}");
    assert_eq!(detail["bytes"], 5, "{detail}");
    assert_eq!(detail["sha256"], sha256, "{detail}");
    assert_eq!(of_files[1]["detail"]["size"], 5);
}

/// A program in the sandbox swaps what the path leads to while the tool writes.
fn a_path_that_is_swapped_meanwhile_leads_nowhere_else() {
    let mut scene = Scene::sandboxed();
    let swap = "while :; do rm -rf s; ln -s ../other s; rm -f s; mkdir s; \
                ln -sf ../../.bashrc s/file; rm -f s/file; done";
    let line = json!({ "sessionId": scene.session, "data": format!("{swap}\r") });
    scene.mcp.call("terminal_write", &line);
    let home = scene.daemon.user_home();
    for round in 0..60 {
        let path = if round % 2 == 0 {
            "s/file"
        } else {
            "dir/../s/new"
        };
        scene.write(path, &json!({ "append": round % 3 == 0 }));
        assert_eq!(fs::read_to_string(home.join(".bashrc")).unwrap(), "own\n");
        assert_eq!(
            fs::read_to_string(home.join("other/file")).unwrap(),
            "own\n"
        );
        assert!(!home.join("other/new").exists());
    }
    scene
        .mcp
        .call("terminal_stop", &json!({ "sessionId": scene.session }));
}

/// The terminal's own directory is moved away, and a link is put where it was.
fn a_workspace_stays_where_it_was() {
    let mut scene = Scene::new(SANDBOXED, &[("TERMINAL_MCP_SAFETY_GATE", "off")]);
    let home = scene.daemon.user_home();
    let outer = home.join("outer");
    fs::create_dir_all(outer.join("inner")).unwrap();
    let session = start(&mut scene.mcp, &outer.join("inner"));
    // A sandbox of the directory above it can do that.
    fs::rename(outer.join("inner"), outer.join("gone")).unwrap();
    symlink(home.join("other"), outer.join("inner")).unwrap();
    for path in [home.join("other/file"), outer.join("inner/file")] {
        let write = json!({ "sessionId": session, "path": path, "content": "EVIL\n" });
        let answer = scene.mcp.result("terminal_write_file", &write);
        assert_eq!(answer["isError"], true, "{answer}");
    }
    assert_eq!(
        fs::read_to_string(home.join("other/file")).unwrap(),
        "own\n"
    );
}

/// A directory that each sandbox has for itself is no place for a file.
fn a_file_is_never_lost_in_a_sandbox_of_its_own() {
    let config = SANDBOXED.replace("\"workspace\"\n", "\"workspace\"\nprivate_tmp = true\n");
    let mut scene = Scene::new(&config, &[("TERMINAL_MCP_SAFETY_GATE", "off")]);
    for path in ["/tmp/lost.txt", "/var/tmp/lost.txt", "/dev/shm/lost.txt"] {
        let answer = scene.write(path, &json!({}));
        assert_eq!(answer["isError"], true, "{path}: {answer}");
        let message = answer["content"][0]["text"].as_str().unwrap();
        assert!(
            message.contains("each sandbox has one of its own"),
            "{message}"
        );
    }
    let answer = scene.write("kept.txt", &json!({}));
    assert_eq!(answer["isError"], false, "{answer}");
    assert!(scene.workspace.join("kept.txt").exists());
}

fn writes_at_once_are_each_whole() {
    let mut scene = Scene::sandboxed();
    let contents: Vec<String> = (0..12).map(|n| format!("{n:02}").repeat(50_000)).collect();
    let calls: Vec<u64> = contents
        .iter()
        .map(|content| {
            let write = json!({ "sessionId": scene.session, "path": "big", "content": content });
            scene.mcp.begin("terminal_write_file", &write)
        })
        .collect();
    for call in calls {
        let answer = scene.mcp.answer(call)["result"].clone();
        assert_eq!(answer["isError"], false, "{answer}");
    }
    let written = fs::read_to_string(scene.workspace.join("big")).unwrap();
    assert!(contents.contains(&written), "{} bytes", written.len());
    let left = fs::read_dir(&scene.workspace).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().path()).collect();
    let is_unfinished = |path: &PathBuf| path.extension().is_some_and(|it| it == "tmp");
    assert!(!left.iter().any(is_unfinished), "{left:?}");
    let huge = "x".repeat(3 << 20);
    let answer = scene.write("huge", &json!({ "content": huge }));
    assert_eq!(answer["isError"], true);
}
