//! The limit that ended a command, in `_meta.termd` beside the exit.

use serde_json::{Value, json};
use termd_test_support::resource_limits::{OVER_CPU_TIME, OVER_FILE_BYTES, daemon_with_limits};

use crate::harness::proxy::AcpProxy;
use crate::harness::proxy::named;

#[test]
fn an_agent_is_told_which_limit_ended_its_command() {
    let daemon = daemon_with_limits("acp");
    let mut proxy = AcpProxy::with_session(&daemon, &[]);
    for (script, cause, code, signal) in [
        (OVER_FILE_BYTES, "file_bytes", json!(153), Value::Null),
        (OVER_CPU_TIME, "cpu_time", Value::Null, json!("SIGXCPU")),
    ] {
        let id = proxy.script(&format!("echo full; {script}"));
        let exit = proxy.exit(&id);
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
        let output = proxy.ok("terminal/output", &named(&id));
        let termd = &output["_meta"]["termd"];
        assert_eq!(termd["end_cause"], cause, "{output}");
        assert_eq!(termd["start"], 0, "what was there stays: {output}");
        proxy.ok("terminal/release", &named(&id));
    }
    // Without a limit there is no cause.
    let id = proxy.script("exit 3");
    assert_eq!(proxy.exit(&id).get("_meta"), None);
    let output = proxy.ok("terminal/output", &named(&id));
    assert_eq!(output["_meta"]["termd"].get("end_cause"), None, "{output}");
}
