//! Starting a command: on an open connection, and as a whole `termctl`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::ensure;

use crate::bare::{SyncedLog, Tmux, run_true};
use crate::daemon::{Client, Daemon};
use termd_test_support::figures::{Limit, Report, median, micros, millis};

const WARM_UP_ROUNDS: usize = 20;
const ROUNDS: usize = 201;
/// Whole processes take milliseconds.
const PROCESS_ROUNDS: usize = 151;
/// How many bare fork+exec+wait a create may cost, a synced audit record aside.
const MOST_FORKS: f64 = 2.0;

/// From the request to the answer with the id.
pub(crate) fn on_an_open_connection(report: &mut Report) -> anyhow::Result<()> {
    let daemon = Daemon::start()?;
    let mut client = daemon.connect()?;
    let mut log = SyncedLog::create(daemon.directory())?;
    let (mut creates, mut forks, mut syncs) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..WARM_UP_ROUNDS + ROUNDS {
        let start = Instant::now();
        let id = client.create("/bin/true", &[])?;
        let create = start.elapsed();
        settle(&mut client, &id)?;
        let (fork, sync) = (run_true()?, log.append()?);
        if round >= WARM_UP_ROUNDS {
            creates.push(create);
            forks.push(fork);
            syncs.push(sync);
        }
    }
    let (create, fork, sync) = (
        micros(median(creates)),
        micros(median(forks)),
        micros(median(syncs)),
    );
    report.beside("fork+exec+wait of `true`", "µs", fork);
    report.beside("write and fdatasync of one database log frame", "µs", sync);
    let limit = Limit::AtMost(MOST_FORKS * fork + sync);
    report.figure(
        "create on an open connection, until the id is there",
        "µs",
        create,
        limit,
    );
    Ok(())
}

/// `termctl create -- true` from exec to exit, against `tmux new-session -d true`.
pub(crate) fn whole_termctl(report: &mut Report) -> anyhow::Result<()> {
    let what = "`termctl create -- true`, the whole process";
    let Some(termctl) = find_termctl() else {
        report.skipped(what, "no termctl beside termd: `cargo build --release`");
        return Ok(());
    };
    let daemon = Daemon::start()?;
    let Some(tmux) = Tmux::start(daemon.directory()) else {
        report.skipped(what, "no tmux to compare with");
        return Ok(());
    };
    let mut client = daemon.connect()?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..PROCESS_ROUNDS {
        let start = Instant::now();
        let id = termctl_create(&termctl, &daemon)?;
        ours.push(start.elapsed());
        settle(&mut client, &id)?;
        theirs.push(tmux.new_session()?);
    }
    let tmux = millis(median(theirs));
    report.beside("`tmux new-session -d true`, the whole process", "ms", tmux);
    report.figure(what, "ms", millis(median(ours)), Limit::AtMost(tmux));
    Ok(())
}

/// Lets a terminal end and go, so that what it leaves to do does not fall into the next figure.
fn settle(client: &mut Client, id: &str) -> anyhow::Result<()> {
    client.wait(id)?;
    client.close(id)?;
    client.wait_until_stored()
}

fn termctl_create(termctl: &Path, daemon: &Daemon) -> anyhow::Result<String> {
    let mut command = Command::new(termctl);
    command.args(["--no-start", "create", "--", "true"]);
    command
        .env_remove("TERMD_SOCKET")
        .envs(daemon.environment());
    let output = command.stdin(Stdio::null()).output()?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "termctl create: {}: {errors}",
        output.status
    );
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The one that `TERMCTL` names, or the one beside termd.
fn find_termctl() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_BIN_EXE_termd")).with_file_name("termctl");
    std::env::var_os("TERMCTL")
        .map(PathBuf::from)
        .or_else(|| beside.exists().then_some(beside))
}
