//! Which limit ended a command, in `_meta.termd` beside the exit.

use serde_json::{Value, json};

use crate::calls::named;
use crate::proxied::Proxied;
use crate::support::TestDaemon;

const LIMITED: &str = "\
kill_grace_ms = 300
[policy.fronts.acp]
profile = 'held'
[policy.profiles.held]
limits = { cpu_time = '1s', file_bytes = '4KiB' }
";

#[test]
fn an_agent_is_told_which_limit_ended_its_command() {
    let daemon = TestDaemon::configured(LIMITED);
    let mut proxied = Proxied::with_session(&daemon, &[]);
    for (script, cause, code, signal) in [
        (
            "echo full; head -c 10000 /dev/zero > grown; exit $?",
            "file_bytes",
            json!(153),
            Value::Null,
        ),
        (
            "echo full; while :; do :; done",
            "cpu_time",
            Value::Null,
            json!("SIGXCPU"),
        ),
    ] {
        let id = proxied.script(script);
        let exit = proxied.exit(&id);
        assert_eq!(
            (&exit["exitCode"], &exit["signal"]),
            (&code, &signal),
            "{exit}"
        );
        assert_eq!(
            exit["_meta"]["termd"],
            json!({ "end_cause": cause }),
            "{exit}"
        );
        let output = proxied.ok("terminal/output", &named(&id));
        let termd = &output["_meta"]["termd"];
        assert_eq!(termd["end_cause"], cause, "{output}");
        assert_eq!(termd["start"], 0, "what was there stays: {output}");
        proxied.ok("terminal/release", &named(&id));
    }
    // Where no limit has ended it, nothing is said.
    let id = proxied.script("exit 3");
    assert_eq!(proxied.exit(&id).get("_meta"), None);
    let output = proxied.ok("terminal/output", &named(&id));
    assert_eq!(output["_meta"]["termd"].get("end_cause"), None, "{output}");
}
