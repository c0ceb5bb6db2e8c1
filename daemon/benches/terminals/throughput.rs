//! `cat` of a 64 MiB log, against a PTY that is read and forgotten.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::bare::{Tmux, drain_pty};
use crate::daemon::{Client, Daemon};
use termd_test_support::figures::{Limit, Report, mebibytes, median};

const LOG_BYTES: u64 = 64 << 20;
/// Odd, so that the median is a round's own figure; 21, because on a virtual machine equal rounds
/// differ by a fifth, and the median of seven still by six parts in a hundred.
const ROUNDS: usize = 21;
/// tmux is slow, and only a reference.
const TMUX_ROUNDS: usize = 3;
/// The share of a bare drain's rate that termd has to reach, with the transcript on.
const LEAST_SHARE: f64 = 0.90;

pub(crate) fn run(report: &mut Report) -> anyhow::Result<()> {
    let daemon = Daemon::start()?;
    let log = write_log(daemon.directory())?;
    let mut client = daemon.connect()?;
    // One round of each warms the page cache and the allocators.
    drain_pty(&log)?;
    cat_in_terminal(&mut client, &log)?;
    client.wait_until_stored()?;
    let (mut bare, mut ours, mut stored) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        bare.push(drain_pty(&log)?);
        let start = Instant::now();
        ours.push(cat_in_terminal(&mut client, &log)?);
        client.wait_until_stored()?;
        stored.push(start.elapsed());
    }
    let rate = |samples| mebibytes(LOG_BYTES) / median(samples).as_secs_f64();
    let (bare, ours, stored) = (rate(bare), rate(ours), rate(stored));
    report.beside("cat of a 64 MiB log, bare PTY drain", "MiB/s", bare);
    report.beside(
        "cat of a 64 MiB log, termd, until the exit is reported",
        "MiB/s",
        ours,
    );
    report.beside(
        "the same, until all of it is in the database",
        "MiB/s",
        stored,
    );
    report.figure(
        "termd's share of the bare drain",
        "",
        ours / bare,
        Limit::AtLeast(LEAST_SHARE),
    );

    let Some(tmux) = Tmux::start(daemon.directory()) else {
        report.skipped("cat of a 64 MiB log, tmux", "no tmux");
        return Ok(());
    };
    let mut samples = Vec::new();
    for _ in 0..TMUX_ROUNDS {
        samples.push(tmux.cat(&log)?);
    }
    report.beside("tmux's share of the bare drain", "", rate(samples) / bare);
    Ok(())
}

/// Until the exit is reported, which is when all output has been read.
fn cat_in_terminal(client: &mut Client, log: &Path) -> anyhow::Result<Duration> {
    let start = Instant::now();
    let id = client.create("cat", &[&log.to_string_lossy()])?;
    client.wait(&id)?;
    let elapsed = start.elapsed();
    client.close(&id)?;
    Ok(elapsed)
}

/// A log such as servers write: lines of about 100 bytes, alike but never the same.
fn write_log(directory: &Path) -> anyhow::Result<PathBuf> {
    let path = directory.join("log.txt");
    let mut file = BufWriter::new(File::create(&path)?);
    let (mut written, mut number) = (0, 0_u64);
    while written < LOG_BYTES {
        let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let line = format!(
            "2026-01-02T03:{:02}:{:02}.{:06}Z INFO request{{id={:016x}}}: served /item/{} in {} us\n",
            number / 60_000 % 60,
            number / 1_000 % 60,
            number % 1_000_000,
            mixed,
            mixed >> 44,
            mixed >> 50,
        );
        let rest = usize::try_from(LOG_BYTES - written)?;
        let line = &line.as_bytes()[..line.len().min(rest)];
        file.write_all(line)?;
        written += line.len() as u64;
        number += 1;
    }
    file.flush()?;
    Ok(path)
}
