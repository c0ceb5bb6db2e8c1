//! What a front does to files is done by the daemon: judged, confined and recorded.

// The client is that of tests/mcp, which has more than is used here.
#[allow(dead_code)]
#[path = "../mcp/client.rs"]
mod client;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use termd_test_support::TestDaemon;

use self::client::McpClient;
use crate::Attack;

pub(crate) const ATTACKS: &[Attack] = &[
    (
        "a_sandboxed_front_writes_no_file_that_its_commands_cannot",
        a_sandboxed_front_writes_no_file_that_its_commands_cannot,
    ),
    (
        "a_transcript_goes_where_a_command_could_write",
        a_transcript_goes_where_a_command_could_write,
    ),
    (
        "a_success_file_tells_nothing_that_is_hidden",
        a_success_file_tells_nothing_that_is_hidden,
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
    daemon: TestDaemon,
    workspace: PathBuf,
    mcp: McpClient,
    session: String,
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
            daemon,
            workspace,
            mcp,
            session,
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
        (key, Some("SECRET-SSH")),
        (key, Some("")),
        (key, None),
        ("key", Some("SECRET")),
        ("../.ssh/id_rsa", Some("SECRET")),
        (&format!("/proc/self/root{key}"), Some("SECRET")),
        ("/proc/self/environ", Some("XDG_STATE_HOME")),
        ("/proc/self/maps", Some("termd")),
        ("/proc/self/cmdline", Some("termd")),
        ("/proc/self/fd/0", Some("")),
        ("/dev/stdin", Some("")),
        ("/dev/zero", Some("")),
        (scene.daemon.state_dir().join("termd.sqlite").to_str().unwrap(), None),
    ] {
        let mut run = json!({ "cmd": "true", "cwd": scene.workspace, "successFile": path });
        if let Some(pattern) = pattern.filter(|pattern| !pattern.is_empty()) {
            run["successFilePattern"] = pattern.into();
        } else if pattern.is_some() {
            run["successFilePattern"] = "^".into();
        }
        let answer = scene.mcp.call("terminal_run", &run);
        let check = &answer["checks"]["successFile"];
        assert_eq!(check["matched"], false, "{path} {pattern:?}: {answer}");
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
