//! Faults in the middle of a terminal's output.

use serde_json::json;
use termd_test_support::{TestDaemon, wait_until};

use crate::Fault;

/// The end of a terminal's output and whether it runs, by whichever server answers.
pub(crate) fn output_end(daemon: &TestDaemon, id: &str) -> (u64, bool) {
    loop {
        let mut client = daemon.client();
        let sent = client.try_send("session.show", &json!({ "id": id }));
        // An error means that the server of this connection is gone. The next server takes the
        // next connection.
        if let Ok(answer) = sent.and_then(|request| client.try_answer(request)) {
            let info = &answer["result"];
            let end = info["end"].as_u64().unwrap_or_else(|| panic!("{answer}"));
            return (end, info["state"] == "running");
        }
    }
}

/// Makes a fault this many times while a terminal prints, each after at least `between` more bytes:
/// how many were made before the terminal's command ended. There must be one.
#[track_caller]
pub(crate) fn strike_during_output(
    daemon: &TestDaemon,
    id: &str,
    fault: Fault,
    count: u32,
    between: u64,
) -> u32 {
    let (mut last, _) = output_end(daemon, id);
    let mut strikes = 0;
    while strikes < count {
        let mut running = true;
        wait_until("the flood goes on", || {
            let (end, runs) = output_end(daemon, id);
            running = runs;
            let moved = end > last + between;
            last = if moved { end } else { last };
            moved || !runs
        });
        if !running {
            break;
        }
        fault.strike(daemon);
        strikes += 1;
    }
    assert!(strikes > 0, "the flood was over before the first strike");
    strikes
}
