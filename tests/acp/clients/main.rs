//! `termctl acp` between real agents and real clients: the SDKs of both languages, the client acpx,
//! and the agent fast-agent, which needs no model here.
//!
//! The tests fetch them by exact version. Each scenario is a Python file beside this one. It is one
//! test with a daemon of its own, and its report is shown where it fails.

// A test fails by panicking, and says on stderr why it was skipped.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

use std::path::{Path, PathBuf};

use termd_test_support::packages::{NodeModules, Unavailable, Venv};
use termd_test_support::{TestDaemon, scenario, skip};

/// ACP's Python SDK, and MCP's for an agent that uses the MCP servers of its session.
static SDK: Venv = Venv::new(
    "acp-python",
    11,
    &["agent-client-protocol==0.12.1", "mcp==2.3.0"],
);
/// ACP's `TypeScript` SDK.
static NODE_SDK: NodeModules = NodeModules::new("acp-node", &["@agentclientprotocol/sdk@2.4.0"]);
/// An ACP client for the command line.
static ACPX: NodeModules = NodeModules::new("acpx", &["acpx@0.19.1"]);
/// A real agent. Its model "passthrough" repeats what it is told.
static FAST_AGENT: Venv = Venv::new("fast-agent", 12, &["fast-agent-mcp==0.10.46"]);

/// What a scenario needs beside the SDK: a variable, and the path that is its value.
type Need = (&'static str, fn() -> Result<PathBuf, Unavailable>);

const NODE: [Need; 2] = [
    ("ACP_SDK", || {
        let module = "node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js";
        Ok(NODE_SDK.folder()?.join(module))
    }),
    ("NODE_AGENT", || Ok(beside("agent.mjs"))),
];

/// Runs one scenario, or prints why it is skipped.
#[track_caller]
fn run_scenario(name: &str, needs: &[Need]) {
    let mut env: Vec<(&str, PathBuf)> = Vec::new();
    for (variable, find) in needs {
        match find() {
            Ok(path) => env.push((variable, path)),
            Err(reason) => return skip(name, reason),
        }
    }
    let python = match SDK.program("python") {
        Ok(python) => python,
        Err(reason) => return skip(name, reason),
    };
    let env: Vec<(&str, &Path)> = env
        .iter()
        .map(|(name, path)| (*name, path.as_path()))
        .collect();
    scenario::run(&TestDaemon::start(), &python, "acp/clients", name, &env);
}

fn beside(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/acp/clients");
    folder.join(name)
}

#[test]
fn every_method_by_the_python_sdk() {
    run_scenario("terminals", &[]);
}

#[test]
fn every_method_by_the_typescript_sdk() {
    run_scenario("terminals", &NODE);
}

#[test]
fn misuse() {
    run_scenario("misuse", &[]);
}

#[test]
fn displays() {
    run_scenario("displays", &[]);
}

#[test]
fn session_mcp() {
    run_scenario("session_mcp", &[]);
}

#[test]
fn acpx() {
    let [sdk, agent] = NODE;
    let acpx: Need = ("ACPX", || {
        Ok(ACPX.folder()?.join("node_modules/acpx/dist/cli.js"))
    });
    run_scenario("acpx", &[sdk, agent, acpx]);
}

#[test]
fn fast_agent() {
    run_scenario(
        "fast_agent",
        &[("FAST_AGENT", || FAST_AGENT.program("fast-agent-acp"))],
    );
}
