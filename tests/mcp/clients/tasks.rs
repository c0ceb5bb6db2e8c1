//! Tasks, by the schemas of their extension's own package.

use termd_test_support::packages::{NodeModules, run_to_end};
use termd_test_support::{TestDaemon, skip};

static EXT_TASKS: NodeModules =
    NodeModules::new("ext-tasks", &["@modelcontextprotocol/ext-tasks@0.2.2"]);

#[test]
fn tasks_are_as_the_extension_says() {
    let folder = match EXT_TASKS.folder() {
        Ok(folder) => folder.join("node_modules/@modelcontextprotocol/ext-tasks"),
        Err(reason) => return skip("tasks_are_as_the_extension_says", reason),
    };
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/mcp/clients/tasks.mjs"
    );
    let daemon = TestDaemon::start();
    let mut node = daemon.command("node");
    node.arg(script).arg(folder);
    node.env("TERMCTL", env!("CARGO_BIN_EXE_termctl"));
    run_to_end(&mut node).unwrap_or_else(|reason| panic!("{reason}"));
}
