//! Agents with a scripted model: what a model sees of a failing build, a program that waits, a
//! full-screen program, and of the gate's question.
//!
//! The model is an HTTP server on loopback. All else is real: the agent as its users install it, the
//! MCP server that it starts, and the daemon.

use std::path::Path;

use termd_test_support::coding_agents::{CODEX, CodingAgent, GEMINI, OPENCODE};
use termd_test_support::packages::python;
use termd_test_support::{TestDaemon, scenario, skip};

/// The model needs no package, and this minor version of Python 3 for its lists of errors.
const MIN_PYTHON: u32 = 11;

#[track_caller]
fn check(name: &str, agent: &CodingAgent) {
    let found = agent
        .program()
        .and_then(|program| Ok((program, python(MIN_PYTHON)?)));
    match found {
        Ok((program, python)) => {
            let env: [(&str, &Path); 1] = [("AGENT", &program)];
            scenario::run(
                &TestDaemon::start(),
                &python,
                "mcp/clients/agents",
                name,
                &env,
            );
        }
        Err(reason) => skip(name, reason),
    }
}

#[test]
fn opencode() {
    check("opencode", &OPENCODE);
}

#[test]
fn codex() {
    check("codex", &CODEX);
}

#[test]
fn gemini() {
    check("gemini", &GEMINI);
}
