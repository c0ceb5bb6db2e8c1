//! Agents with a scripted model: what a model sees of a failing build, a program that waits, a
//! full-screen program, and of the gate's question.
//!
//! The model is an HTTP server on loopback. All else is real: the agent as its users install it, the
//! MCP server that it starts, and the daemon.

use std::path::Path;

use termd_test_support::packages::{NodeModules, python};
use termd_test_support::{TestDaemon, scenario, skip};

/// opencode's own program. The package `opencode-ai` puts it into its place by a script, which tests
/// do not run, and fetches it twice.
static OPENCODE: NodeModules =
    NodeModules::new("opencode", &["opencode-linux-x64-baseline@1.18.33"]);
static CODEX: NodeModules = NodeModules::new("codex", &["@openai/codex@0.171.0"]);
static GEMINI: NodeModules = NodeModules::new("gemini-cli", &["@google/gemini-cli@0.61.0"]);
/// The model needs no package, and this minor version of Python 3 for its lists of errors.
const MIN_PYTHON: u32 = 11;

#[track_caller]
fn check(agent: &str, packages: &NodeModules, program: &str) {
    let found = packages
        .folder()
        .and_then(|folder| Ok((folder, python(MIN_PYTHON)?)));
    match found {
        Ok((folder, python)) => {
            let program = folder.join("node_modules").join(program);
            let env: [(&str, &Path); 1] = [("AGENT", &program)];
            scenario::run(
                &TestDaemon::start(),
                &python,
                "mcp/clients/agents",
                agent,
                &env,
            );
        }
        Err(reason) => skip(agent, reason),
    }
}

#[test]
fn opencode() {
    let program = "opencode-linux-x64-baseline/bin/opencode";
    check("opencode", &OPENCODE, program);
}

#[test]
fn codex() {
    check("codex", &CODEX, ".bin/codex");
}

#[test]
fn gemini() {
    check("gemini", &GEMINI, ".bin/gemini");
}
