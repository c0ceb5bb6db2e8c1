//! `termctl mcp` beside terminal-mcp: the same calls to both, in one run.
//!
//! `cargo build --release && cargo bench -p termctl --bench mcp`. terminal-mcp is installed from
//! `PyPI` into a virtual environment under `target/` the first time. Ends with 1 if a figure is
//! beyond its limit: a tenth of the other's time, half of its memory.

mod launch;
mod peer;
mod place;
mod server;
mod stories;

use std::process::ExitCode;
use std::time::Duration;

use launch::Launch;
use place::Place;
use termd_test_support::figures::{Limit, Report, mebibytes, median, millis};

/// How many times a quick thing is measured; the median counts.
const ROUNDS: usize = 9;
/// Ours may take this part of the other's time.
const TIME_SHARE: f64 = 0.1;
/// Ours may take this part of the other's memory.
const MEMORY_SHARE: f64 = 0.5;

/// A story that takes a time.
type Story = (&'static str, usize, fn(&Launch) -> anyhow::Result<Duration>);

const STORIES: [Story; 6] = [
    (
        "spawn to an answered initialize",
        ROUNDS,
        stories::initialize,
    ),
    ("session_create of `bash`", ROUNDS, stories::create),
    ("session_exec of `echo hi`", 3, stories::exec),
    (
        "session_interact, waiting for what was echoed",
        ROUNDS,
        stories::interact,
    ),
    (
        "session_create while 8 waits pend",
        3,
        stories::create_beside_waits,
    ),
    (
        "exit after end of input, with 10 sessions",
        3,
        stories::exit_at_end_of_input,
    ),
];

fn main() -> anyhow::Result<ExitCode> {
    let mut report = Report::new();
    let place = Place::new()?;
    let ours = place.ours("session");
    let Some(theirs) = peer::terminal_mcp() else {
        report.skipped("everything", "terminal-mcp 0.4.7 could not be installed");
        return Ok(ExitCode::FAILURE);
    };
    for (what, rounds, story) in STORIES {
        let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            our_times.push(story(&ours)?);
            their_times.push(story(&theirs)?);
        }
        compare_times(&mut report, what, median(our_times), median(their_times));
    }
    drain(&mut report, &ours, &theirs)?;
    // As fresh as the other's process.
    let place = Place::new()?;
    let ours = place.ours("session");
    for sessions in [1, 10] {
        let what = format!("private memory with {sessions} sessions");
        let our_bytes = stories::memory(&ours, sessions, || place.daemon_memory())?;
        let their_bytes = stories::memory(&theirs, sessions, || 0)?;
        let their_mib = mebibytes(their_bytes);
        report.beside(&format!("{what}: terminal-mcp"), "MiB", their_mib);
        report.figure(
            &format!("{what}: termctl mcp and termd"),
            "MiB",
            mebibytes(our_bytes),
            Limit::AtMost(their_mib * MEMORY_SHARE),
        );
    }
    Ok(report.exit_code())
}

fn compare_times(report: &mut Report, what: &str, ours: Duration, theirs: Duration) {
    report.beside(&format!("{what}: terminal-mcp"), "ms", millis(theirs));
    let most = millis(theirs) * TIME_SHARE;
    report.figure(what, "ms", millis(ours), Limit::AtMost(most));
}

/// The whole of `seq 1 1000000`, by paging: how long, and how many lines never came.
fn drain(report: &mut Report, ours: &Launch, theirs: &Launch) -> anyhow::Result<()> {
    let our_drain = stories::drain(ours)?;
    let their_drain = stories::drain(theirs)?;
    compare_times(
        report,
        "`seq 1 1000000` read whole",
        our_drain.took,
        their_drain.took,
    );
    let lost = |lines: usize| f64::from(u32::try_from(lines).unwrap_or(u32::MAX));
    report.beside("lines of it lost: terminal-mcp", "", lost(their_drain.lost));
    report.figure(
        "lines of it lost",
        "",
        lost(our_drain.lost),
        Limit::AtMost(0.0),
    );
    Ok(())
}
