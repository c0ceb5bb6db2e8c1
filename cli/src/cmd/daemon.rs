//! `termctl daemon`: reloads, stops or restarts the daemon, with or without systemd.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use termd_client::escape::escaped;
use termd_client::{Link, StartPolicy};
use termd_proto::daemon::{DaemonInfo, GetDaemonInfo, GetDaemonStats};
use tokio::process::Command;
use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::Context;
use super::status::not_in_force;
use crate::args::{DaemonArgs, DaemonEndArgs, DaemonVerb};
use crate::confirm::agrees_at_tty;
use crate::daemon_error::DaemonError;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;

/// How long a reload may take: longer than the keeper's trial of a program that does not answer.
const RELOAD_DEADLINE: Duration = Duration::from_secs(30);
/// The pause between two looks whether the reload is over.
const RELOAD_PAUSE: Duration = Duration::from_millis(20);

pub(super) async fn run(context: Context, args: DaemonArgs) -> Result<ExitCode, CliError> {
    let link = Link::open(StartPolicy::Never).await?;
    let info = link.repeat(&GetDaemonInfo {}).await?;
    match args.verb {
        DaemonVerb::Reload => {
            let info = reload(&link, &info).await?;
            if context.json {
                output::print_json(&info)?;
            }
            let faults = not_in_force(&info);
            for line in &faults {
                output::note(line);
            }
            return Ok(if faults.is_empty() {
                ExitCode::OK
            } else {
                ExitCode::FAILED
            });
        }
        DaemonVerb::Stop(args) => {
            if !may_end(&link, args).await? {
                return Ok(ExitCode::FAILED);
            }
            stop(&info).await?;
        }
        DaemonVerb::Restart(args) => {
            if !may_end(&link, args).await? {
                return Ok(ExitCode::FAILED);
            }
            if let Some(unit) = &info.unit {
                restart_unit(unit).await?;
            } else {
                stop(&info).await?;
                Link::open(StartPolicy::Start).await?;
            }
        }
    }
    Ok(ExitCode::OK)
}

/// Whether nothing runs, or the person agrees that it ends.
async fn may_end(link: &Link, args: DaemonEndArgs) -> Result<bool, CliError> {
    let running = link.repeat(&GetDaemonStats {}).await?.terminals_running;
    if args.yes || running == 0 {
        return Ok(true);
    }
    let terminals = if running == 1 {
        "terminal that runs"
    } else {
        "terminals that run"
    };
    Ok(agrees_at_tty(&format!("end {running} {terminals}?")).await)
}

/// Reloads, and waits until another server serves, or the one before it goes on.
async fn reload(link: &Link, before: &DaemonInfo) -> Result<DaemonInfo, CliError> {
    keeper(before)?.signal(Signal::HUP)?;
    let begun = Instant::now();
    loop {
        let now = link.repeat(&GetDaemonInfo {}).await?;
        let is_replaced = now.server_pid != before.server_pid;
        let has_failed = now.reload_failed_at_ms != before.reload_failed_at_ms;
        match &now.reload_fault {
            Some(reason) if is_replaced || has_failed => {
                return Err(DaemonError::NewProgram(escaped(reason)).into());
            }
            None if is_replaced => return Ok(now),
            _ => {}
        }
        if begun.elapsed() > RELOAD_DEADLINE {
            return Err(DaemonError::ReloadTimeout(RELOAD_DEADLINE).into());
        }
        sleep(RELOAD_PAUSE).await;
    }
}

/// Stops the daemon, and waits for its end. A unit's main process that ends by SIGTERM has been stopped
/// as far as systemd is concerned.
async fn stop(info: &DaemonInfo) -> Result<(), CliError> {
    let keeper = keeper(info)?;
    keeper.signal(Signal::TERM)?;
    keeper.ended().await
}

async fn restart_unit(unit: &str) -> Result<(), DaemonError> {
    let mut command = Command::new("systemctl");
    command.args(["--user", "restart", unit]);
    let status = command.status().await.map_err(DaemonError::NoSystemctl)?;
    if status.success() {
        Ok(())
    } else {
        let unit = escaped(unit);
        Err(DaemonError::Systemctl { unit, status })
    }
}

/// The keeper's process, which no other one can be taken for.
struct Keeper {
    pid: i32,
    pidfd: OwnedFd,
}

fn keeper(info: &DaemonInfo) -> Result<Keeper, DaemonError> {
    let pid = info.keeper_pid;
    let opened = Pid::from_raw(pid)
        .ok_or(rustix::io::Errno::SRCH)
        .and_then(|pid| pidfd_open(pid, PidfdFlags::empty()));
    match opened {
        Ok(pidfd) => Ok(Keeper { pid, pidfd }),
        Err(error) => Err(DaemonError::Signal {
            pid,
            source: error.into(),
        }),
    }
}

impl Keeper {
    fn signal(&self, signal: Signal) -> Result<(), DaemonError> {
        pidfd_send_signal(&self.pidfd, signal).map_err(|error| DaemonError::Signal {
            pid: self.pid,
            source: error.into(),
        })
    }

    /// Resolves at its end.
    async fn ended(self) -> Result<(), CliError> {
        let wait = move || {
            // pidfd_open(2): it is readable once the process has ended.
            let mut fds = [PollFd::new(&self.pidfd, PollFlags::IN)];
            rustix::io::retry_on_intr(|| poll(&mut fds, None))
        };
        let ended = spawn_blocking(wait).await.map_err(io::Error::other);
        let ended = ended.and_then(|polled| polled.map_err(io::Error::from));
        ended
            .map(drop)
            .map_err(|error| CliError::Io("cannot wait for the daemon's end", error))
    }
}
