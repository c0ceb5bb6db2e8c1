//! smart-terminal-mcp 1.2.36, from npm, in a directory that stays for the next run.

use std::env;
use std::process::Command;

use crate::launch::Launch;
use crate::{peer, place};

const PACKAGE: &str = "smart-terminal-mcp@1.2.36";
/// Names the script of one that is there already, where npm does not have this version.
const SCRIPT_VARIABLE: &str = "SMART_TERMINAL_MCP";

/// The launch; `None` where it cannot be installed.
pub(crate) fn launch() -> Option<Launch> {
    let script = if let Some(script) = env::var_os(SCRIPT_VARIABLE) {
        script.into()
    } else {
        let directory = place::cache().join("smart-terminal-mcp-1.2.36");
        let script = directory.join("node_modules/smart-terminal-mcp/src/index.js");
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"]);
        let is_there = script.exists() || peer::run(npm.arg(&directory).arg(PACKAGE));
        is_there.then_some(script)?
    };
    Some(Launch {
        program: "node".into(),
        arguments: vec![script.into_os_string()],
        environment: Vec::new(),
    })
}
