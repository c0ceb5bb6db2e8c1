//! `termctl acp` between real agents and real clients: the SDKs of both languages, the client acpx,
//! and fast-agent, which needs no model for this.
//!
//! They are fetched by the tests, by exact version, from their registries. Each story (a Python file
//! beside this one) is one test with a daemon of its own; its report is shown where it fails.

// A test's way to fail is to panic, and its way to say why it did not run is to print.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

#[path = "../../support/mod.rs"]
mod support;

use std::path::{Path, PathBuf};

use support::registry::{NodeModules, Venv};
use support::{TestDaemon, skip, story};

/// Python's SDK of ACP, and the one of MCP for an agent that uses its session's servers.
static SDK: Venv = Venv::of(
    "acp-python",
    11,
    &["agent-client-protocol==0.12.1", "mcp==2.3.0"],
);
/// `TypeScript`'s SDK of ACP.
static NODE_SDK: NodeModules = NodeModules::of("acp-node", &["@agentclientprotocol/sdk@2.4.0"]);
/// A client for the command line.
static ACPX: NodeModules = NodeModules::of("acpx", &["acpx@0.19.1"]);
/// A real agent, whose model "passthrough" answers with what it is told.
static FAST_AGENT: Venv = Venv::of("fast-agent", 12, &["fast-agent-mcp==0.10.46"]);

/// What a story needs beside the SDK: a variable, and the path that it leads to.
type Need = (&'static str, fn() -> Result<PathBuf, String>);

const NODE: [Need; 2] = [
    ("ACP_SDK", || {
        let module = "node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js";
        Ok(NODE_SDK.folder()?.join(module))
    }),
    ("NODE_AGENT", || Ok(beside("agent.mjs"))),
];

/// Tells one story, or says why not.
#[track_caller]
fn tell(name: &str, needs: &[Need]) {
    let mut env: Vec<(&str, PathBuf)> = Vec::new();
    for (variable, find) in needs {
        match find() {
            Ok(path) => env.push((variable, path)),
            Err(reason) => return skip(name, &reason),
        }
    }
    let python = match SDK.program("python") {
        Ok(python) => python,
        Err(reason) => return skip(name, &reason),
    };
    let env: Vec<(&str, &Path)> = env
        .iter()
        .map(|(name, path)| (*name, path.as_path()))
        .collect();
    story::tell(&TestDaemon::start(), &python, "acp/clients", name, &env);
}

fn beside(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/acp/clients");
    folder.join(name)
}

#[test]
fn every_method_by_the_python_sdk() {
    tell("terminals", &[]);
}

#[test]
fn every_method_by_the_typescript_sdk() {
    tell("terminals", &NODE);
}

#[test]
fn misuse() {
    tell("misuse", &[]);
}

#[test]
fn displays() {
    tell("displays", &[]);
}

#[test]
fn session_mcp() {
    tell("session_mcp", &[]);
}

#[test]
fn acpx() {
    let [sdk, agent] = NODE;
    let acpx: Need = ("ACPX", || {
        Ok(ACPX.folder()?.join("node_modules/acpx/dist/cli.js"))
    });
    tell("acpx", &[sdk, agent, acpx]);
}

#[test]
fn fast_agent() {
    tell(
        "fast_agent",
        &[("FAST_AGENT", || FAST_AGENT.program("fast-agent-acp"))],
    );
}
