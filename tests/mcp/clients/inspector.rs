//! The MCP Inspector's command line: what most people try a server with.

use std::path::{Path, PathBuf};

use serde_json::Value;
use termd_test_support::packages::{NodeModules, Unavailable, run_to_end};
use termd_test_support::{TestDaemon, skip};

static INSPECTOR: NodeModules =
    NodeModules::new("mcp-inspector", &["@modelcontextprotocol/inspector@2.12.0"]);

/// The script of the Inspector's command line.
fn inspector() -> Result<PathBuf, Unavailable> {
    let package = "node_modules/@modelcontextprotocol/inspector";
    let script = "clients/launcher/build/index.js";
    Ok(INSPECTOR.folder()?.join(package).join(script))
}

/// What the Inspector prints for one method. It gives the server only those variables of its
/// environment that it is told to.
fn ask(daemon: &TestDaemon, script: &Path, arguments: &[&str]) -> Value {
    let mut node = daemon.command("node");
    node.arg(script)
        .args(["--cli", env!("CARGO_BIN_EXE_termctl"), "mcp"]);
    for folder in ["run", "state", "config"] {
        let name = match folder {
            "run" => "XDG_RUNTIME_DIR",
            "state" => "XDG_STATE_HOME",
            _ => "XDG_CONFIG_HOME",
        };
        let path = daemon.path(folder);
        node.arg("-e").arg(format!("{name}={}", path.display()));
    }
    let result = run_to_end(node.args(arguments)).unwrap_or_else(|reason| panic!("{reason}"));
    serde_json::from_str(&result).unwrap_or_else(|error| panic!("{error}: {result}"))
}

#[test]
fn the_inspector_lists_and_calls() {
    let script = match inspector() {
        Ok(script) => script,
        Err(reason) => return skip("the_inspector_lists_and_calls", reason),
    };
    let daemon = TestDaemon::start();
    // With --strict a schema that some client could not use is a failure.
    let listed = ask(&daemon, &script, &["--method", "tools/list", "--strict"]);
    let names: Vec<&str> = (listed["tools"].as_array().unwrap().iter())
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"session_exec"), "{names:?}");
    let call = [
        "--method",
        "tools/call",
        "--tool-name",
        "session_exec",
        "--tool-arg",
    ];
    let result = ask(
        &daemon,
        &script,
        &[&call[..], &["exec=echo hello-$((40+2))"]].concat(),
    );
    let structured = &result["structuredContent"];
    assert_eq!(structured["exit_code"], 0, "{result}");
    assert!(
        structured["output"].as_str().unwrap().contains("hello-42"),
        "{result}"
    );
    let resources = ask(&daemon, &script, &["--method", "resources/templates/list"]);
    assert!(resources["resourceTemplates"].is_array(), "{resources}");
}
