//! Whether memory comes back: the server's private memory before 200 terminals that print 1 MiB
//! each, and a minute after the last of them is closed.

use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::json;
use termd_test_support::figures::{Limit, Report, mebibytes};
use termd_test_support::private_bytes;

use crate::daemon::{Daemon, pause, unsigned};

const TERMINALS: usize = 200;
/// 131,072 lines of eight bytes: 1 MiB.
const PRINTS: &str = "yes 1234567 | head -n 131072; exec cat";
/// How many times its first memory the server may have afterwards.
const MOST_TIMES: f64 = 1.5;
/// For what the last call left to do.
const SETTLE: Duration = Duration::from_secs(2);
/// Until when memory has to be back.
const PATIENCE: Duration = Duration::from_mins(1);
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

pub(crate) fn run(report: &mut Report) -> anyhow::Result<()> {
    let daemon = Daemon::start()?;
    let mut client = daemon.connect()?;
    let info = client.call("daemon.info", &json!({}))?;
    let server = i32::try_from(unsigned(&info, "server_pid")?).context("server_pid")?;
    // What the first terminal of all needs stays.
    let first = client.create("true", &[])?;
    client.wait(&first)?;
    client.close(&first)?;
    pause(SETTLE);
    let before = mebibytes(private_bytes(server));
    let mut ids = Vec::new();
    for _ in 0..TERMINALS {
        ids.push(client.create("sh", &["-c", PRINTS])?);
    }
    client.wait_until_stored()?;
    let most = mebibytes(private_bytes(server));
    for id in ids {
        client.close(&id)?;
    }
    let closed = Instant::now();
    let mut after = mebibytes(private_bytes(server));
    while after > before * MOST_TIMES && closed.elapsed() < PATIENCE {
        pause(BETWEEN_LOOKS);
        after = mebibytes(private_bytes(server));
    }
    report.beside("server before 200 terminals", "MiB", before);
    report.beside("server with 200 terminals of 1 MiB each", "MiB", most);
    let what = format!(
        "server {} s after the last was closed",
        closed.elapsed().as_secs()
    );
    report.figure(&what, "MiB", after, Limit::AtMost(before * MOST_TIMES));
    Ok(())
}
