//! A home of the benchmark's own with a running termd in it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use anyhow::{Context, bail};
use tempfile::TempDir;
use termd_test_support::{children_named, private_bytes};

use crate::launch::Launch;

/// The time for the daemon to start.
const DEADLINE: Duration = Duration::from_secs(20);
/// The time between two looks at a socket that has no event to wait for.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// A home with a daemon; dropping it ends the daemon.
pub(crate) struct Place {
    home: TempDir,
    keeper: Child,
}

impl Place {
    pub(crate) fn new() -> anyhow::Result<Self> {
        let home = tempfile::Builder::new().prefix("termctl-bench").tempdir()?;
        let run = home.path().join("run");
        fs::create_dir(&run)?;
        rustix::fs::chmod(&run, rustix::fs::Mode::RWXU)?;
        let daemon = termctl().with_file_name("termd");
        let mut keeper = Command::new(&daemon);
        let keeper = keeper
            .envs(environment(home.path()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| {
                format!(
                    "starting {}: `cargo build --release` first",
                    daemon.display()
                )
            })?;
        let mut place = Self { home, keeper };
        let begun = Instant::now();
        while !place.home.path().join("run/termd/termd.sock").exists() {
            if place.keeper.try_wait()?.is_some() || begun.elapsed() > DEADLINE {
                bail!("termd does not start");
            }
            pause(LOOK_AGAIN);
        }
        Ok(place)
    }

    /// How to start `termctl mcp` with this daemon and the tools of a set.
    pub(crate) fn ours(&self, toolset: &str) -> Launch {
        let mut environment = environment(self.home.path());
        environment.push(("TERMD_MAX_SESSIONS".into(), "100".into()));
        Launch {
            program: termctl(),
            arguments: ["mcp", "--tools", toolset].map(Into::into).to_vec(),
            environment,
        }
    }

    /// Private bytes of keeper and server.
    pub(crate) fn daemon_memory(&self) -> u64 {
        let keeper = self.keeper.id().cast_signed();
        let servers = children_named(keeper, "termd");
        private_bytes(keeper) + servers.into_iter().map(private_bytes).sum::<u64>()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let pid = i32::try_from(self.keeper.id());
        if let Some(pid) = pid.ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        let _ = self.keeper.wait();
    }
}

/// The directory that stays for the next run.
pub(crate) fn cache() -> PathBuf {
    let target = termctl().ancestors().nth(2).map(Path::to_owned);
    target.unwrap_or_default().join("bench-peers")
}

fn termctl() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_termctl"))
}

fn environment(home: &Path) -> Vec<(OsString, OsString)> {
    let at = |name: &str| home.join(name).into_os_string();
    vec![
        ("HOME".into(), home.into()),
        ("XDG_RUNTIME_DIR".into(), at("run")),
        ("XDG_STATE_HOME".into(), at("state")),
        ("XDG_CONFIG_HOME".into(), at("config")),
    ]
}

/// Sleeps, where there is no event to wait for.
#[allow(clippy::disallowed_methods)]
pub(crate) fn pause(time: Duration) {
    thread::sleep(time);
}
