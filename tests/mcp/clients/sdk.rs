//! MCP's Python SDK: a virtual environment for each version, and scenarios that run in it.

use termd_test_support::packages::Venv;
use termd_test_support::{TestDaemon, scenario, skip};

/// The last release that speaks `initialize` alone.
#[allow(non_upper_case_globals)]
pub(crate) static initialize: Venv =
    Venv::new("mcp-initialize", 10, &["mcp==1.30.0", "jsonschema==4.26.0"]);
/// A release that speaks 2026-07-28 where the server does.
#[allow(non_upper_case_globals)]
pub(crate) static discover: Venv =
    Venv::new("mcp-discover", 10, &["mcp==2.3.0", "jsonschema==4.26.0"]);

/// Runs one scenario with one SDK against a daemon of its own.
#[track_caller]
pub(crate) fn run_scenario(sdk: &Venv, name: &str) {
    match sdk.program("python") {
        Ok(python) => scenario::run(&TestDaemon::start(), &python, "mcp/clients", name, &[]),
        Err(reason) => skip(name, reason),
    }
}
