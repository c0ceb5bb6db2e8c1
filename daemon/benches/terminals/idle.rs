//! What termd costs while nothing happens: memory, and wake-ups.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::time::Duration;

use anyhow::Context;
use serde_json::json;

use crate::daemon::{Client, Daemon, pause, unsigned};
use termd_test_support::figures::{Limit, Report, mebibytes};
use termd_test_support::private_bytes;

const TERMINALS: u32 = 100;
const MOST_SERVER_MIB: f64 = 8.0;
const MOST_KEEPER_MIB: f64 = 2.0;
const MOST_KIB_PER_TERMINAL: f64 = 100.0;
const MOST_SWITCHES_PER_SECOND: f64 = 5.0;
/// For what the last call left to do.
const SETTLE: Duration = Duration::from_secs(2);
/// Long enough for the keeper's ping, which comes every ten seconds.
const WATCHED: Duration = Duration::from_secs(20);

pub(crate) fn run(report: &mut Report) -> anyhow::Result<()> {
    let daemon = Daemon::start()?;
    let mut client = daemon.connect()?;
    let info = client.call("daemon.info", &json!({}))?;
    let keeper = unsigned(&info, "keeper_pid")?;
    let server = unsigned(&info, "server_pid")?;
    pause(SETTLE);
    let at_most = |mib| Limit::AtMost(mib);
    report.figure(
        "empty: server, private memory",
        "MiB",
        private(server)?,
        at_most(MOST_SERVER_MIB),
    );
    report.figure(
        "empty: keeper, private memory",
        "MiB",
        private(keeper)?,
        at_most(MOST_KEEPER_MIB),
    );

    let before = held(&mut client, keeper, server)?;
    for _ in 0..TERMINALS {
        // A prompt, and then nothing.
        client.create("sh", &["-c", "printf 'user@host:~$ '; exec cat"])?;
    }
    client.wait_until_stored()?;
    pause(SETTLE);
    let after = held(&mut client, keeper, server)?;
    let each = (after - before) * 1024.0 / f64::from(TERMINALS);
    let what = "each of 100 idle terminals: private memory of keeper and server, and spools";
    report.figure(what, "KiB", each, at_most(MOST_KIB_PER_TERMINAL));

    pause(SETTLE);
    let first = (switches(keeper)?, switches(server)?);
    pause(WATCHED);
    let more =
        more_switches(&first.0, &switches(keeper)?) + more_switches(&first.1, &switches(server)?);
    let count = u32::try_from(more)?;
    let rate = f64::from(count) / WATCHED.as_secs_f64();
    let what = "100 idle terminals: context switches of every thread, over 20 s";
    report.figure(what, "/s", rate, at_most(MOST_SWITCHES_PER_SECOND));
    Ok(())
}

/// Private memory of both processes, and the spools, which are memory files, in MiB.
fn held(client: &mut Client, keeper: u64, server: u64) -> anyhow::Result<f64> {
    let spools = unsigned(&client.call("daemon.stats", &json!({}))?, "spool_bytes")?;
    Ok(private(keeper)? + private(server)? + mebibytes(spools))
}

/// Private memory, in MiB.
fn private(pid: u64) -> anyhow::Result<f64> {
    Ok(mebibytes(private_bytes(i32::try_from(pid)?)))
}

/// Voluntary and other context switches so far, by thread.
fn switches(pid: u64) -> anyhow::Result<BTreeMap<OsString, u64>> {
    let mut by_thread = BTreeMap::new();
    for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
        let thread = thread?;
        let status = fs::read_to_string(thread.path().join("status"))?;
        let count = status_field(&status, "voluntary_ctxt_switches:")?
            + status_field(&status, "nonvoluntary_ctxt_switches:")?;
        by_thread.insert(thread.file_name(), count);
    }
    Ok(by_thread)
}

/// How many more there are now. A thread that ended meanwhile takes its last few with it.
fn more_switches(before: &BTreeMap<OsString, u64>, now: &BTreeMap<OsString, u64>) -> u64 {
    let since = |(thread, count): (&OsString, &u64)| {
        count.saturating_sub(before.get(thread).copied().unwrap_or(0))
    };
    now.iter().map(since).sum()
}

fn status_field(status: &str, name: &str) -> anyhow::Result<u64> {
    let value = status
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .and_then(|rest| rest.split_whitespace().next())
        .with_context(|| format!("no {name} in /proc/PID/status"))?;
    Ok(value.parse()?)
}
