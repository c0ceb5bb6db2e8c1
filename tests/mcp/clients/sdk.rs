//! The Python SDK: a virtual environment for each version, and stories run in it.

use crate::support::registry::Venv;
use crate::support::{TestDaemon, skip, story};

/// The last of the releases that speak `initialize` alone.
#[allow(non_upper_case_globals)]
pub(crate) static initialize: Venv =
    Venv::of("mcp-initialize", 10, &["mcp==1.30.0", "jsonschema==4.26.0"]);
/// One that speaks 2026-07-28 where the server does.
#[allow(non_upper_case_globals)]
pub(crate) static discover: Venv =
    Venv::of("mcp-discover", 10, &["mcp==2.3.0", "jsonschema==4.26.0"]);

/// Tells one story by one SDK, against a daemon of its own.
#[track_caller]
pub(crate) fn tell(sdk: &Venv, name: &str) {
    match sdk.program("python") {
        Ok(python) => story::tell(&TestDaemon::start(), &python, "mcp/clients", name, &[]),
        Err(reason) => skip(name, &reason),
    }
}
