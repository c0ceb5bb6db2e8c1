//! A variable that makes a program run another one is part of what is asked.

use serde_json::json;
use termd_test_support::TestDaemon;

use crate::Attack;

pub(crate) const ATTACKS: &[Attack] = &[(
    "variables_in_a_line_are_judged",
    variables_in_a_line_are_judged,
)];

/// Each of these ran its command, and the gate called the line safe.
fn variables_in_a_line_are_judged() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.client();
    agent.ok(
        "daemon.hello",
        &json!({ "client": "an agent", "front": "mcp" }),
    );
    let lines = [
        "BASH_ENV='$(rm -rf x)' bash -c :",
        "env 'BASH_FUNC_echo%%=() { rm -rf x; }' bash -c 'echo hi'",
        "GIT_PAGER='rm -rf x' git -p --version",
        "export GIT_EXTERNAL_DIFF='rm -rf x'; git diff --no-index a b",
        "LD_PRELOAD=./x.so true",
        "env NODE_OPTIONS='--require /tmp/x.js' node -v",
    ];
    for line in lines {
        let call = json!({ "command": "bash", "args": ["-c", line] });
        let error = agent.err("session.create", &call);
        assert_eq!(error.kind(), "confirmation_required", "{line}: {error:?}");
    }
}
