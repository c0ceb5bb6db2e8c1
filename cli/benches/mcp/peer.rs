//! terminal-mcp 0.4.7, from `PyPI`, in a virtual environment that stays for the next run.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::launch::Launch;
use crate::place;

const PACKAGE: &str = "terminal-mcp==0.4.7";

/// The launch of terminal-mcp; `None` where it cannot be installed.
pub(crate) fn terminal_mcp() -> Option<Launch> {
    let directory = place::cache().join("terminal-mcp-0.4.7");
    let program = directory.join("bin/terminal-mcp");
    if !program.exists() {
        let created = run(Command::new("python3")
            .arg("-m")
            .arg("venv")
            .arg(&directory));
        let installed = created && run(pip(&directory).args(["install", "--quiet", PACKAGE]));
        if !installed {
            return None;
        }
    }
    Some(Launch {
        program,
        arguments: Vec::new(),
        environment: vec![("TERMINAL_MCP_MAX_SESSIONS".into(), "100".into())],
    })
}

fn pip(directory: &Path) -> Command {
    Command::new(directory.join("bin/pip"))
}

/// Runs a command to its end. Whether it succeeds.
pub(crate) fn run(command: &mut Command) -> bool {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
