//! A line that starts termctl is judged as what termctl would do.

use serde_json::json;
use termd_test_support::TestDaemon;

use crate::Attack;

pub(crate) const ATTACKS: &[Attack] = &[(
    "termctl_in_a_line_is_asked_about",
    termctl_in_a_line_is_asked_about,
)];

/// An agent that starts termctl would be a person to the daemon.
fn termctl_in_a_line_is_asked_about() {
    let daemon = TestDaemon::start();
    let mut agent = daemon.client();
    agent.ok(
        "daemon.hello",
        &json!({ "client": "an agent", "front": "mcp" }),
    );
    let lines = [
        "termctl run -- rm -rf x",
        "termctl run --confirmed -- rm -rf x",
        "termctl run -- termctl approve 1",
        "termctl create -- termctl approve --always 1",
        "t=$(termctl create -- bash); termctl send $t 'termctl approve 1' -e",
        "termctl attach t",
        "setsid -f env -i termctl approve 1",
    ];
    for line in lines {
        let call = json!({ "command": "bash", "args": ["-c", line] });
        let error = agent.err("session.create", &call);
        assert_eq!(error.kind(), "confirmation_required", "{line}: {error:?}");
    }
}
