//! What the guards cost on a create: rules, the audit record, and a sandbox with its limits.
//!
//! Beside a daemon without rules and without a sandbox. No daemon is without an audit: what a record
//! costs is measured by itself and added. On a file system in memory nothing waits for a disk; the
//! other figure is of one that does.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::{Map, json};
use termd::store::{AuditEntry, Store};
use termd_proto::terminal::{Front, Owner};

use crate::daemon::{Client, Daemon, string};
use crate::figures::{Limit, Report, median, micros, millis};

const WARM_UP_ROUNDS: usize = 20;
const ROUNDS: usize = 201;
/// Rules that are gone through in vain.
const RULES: usize = 100;
/// A file system in memory, on every Linux that has POSIX shared memory.
const IN_MEMORY: &str = "/dev/shm";
/// Most that the guards may add, in milliseconds.
const MOST: f64 = 1.0;
/// The same where records wait for the disk.
const MOST_WITH_SYNC: f64 = 6.0;

/// A daemon, a client of it, and a repository to work in.
struct Guarded {
    client: Client,
    cwd: String,
    creates: Vec<Duration>,
    _daemon: Daemon,
}

impl Guarded {
    fn start(parent: &Path, config: &str) -> anyhow::Result<Self> {
        let daemon = Daemon::start_in(parent, config)?;
        let project = daemon.directory().join("project");
        fs::create_dir_all(project.join(".git/hooks"))?;
        Ok(Self {
            client: daemon.connect()?,
            cwd: project.to_str().context("a path in UTF-8")?.to_owned(),
            creates: Vec::new(),
            _daemon: daemon,
        })
    }

    fn create(&mut self, counts: Counts) -> anyhow::Result<()> {
        let params = json!({ "command": "/bin/true", "args": [], "cwd": self.cwd });
        let start = Instant::now();
        let info = self.client.call("session.create", &params)?;
        let took = start.elapsed();
        let id = string(&info, "id")?;
        self.client.wait(&id)?;
        self.client.close(&id)?;
        if counts == Counts::Yes {
            self.creates.push(took);
        }
        Ok(())
    }

    fn median(&self) -> f64 {
        millis(median(self.creates.clone()))
    }
}

/// Whether a round is one of the figure, or only warms up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counts {
    Yes,
    No,
}

pub(crate) fn run(report: &mut Report) -> anyhow::Result<()> {
    let memory = Path::new(IN_MEMORY);
    if !memory.is_dir() {
        report.skipped("what the guards add to a create", "no /dev/shm");
        return Ok(());
    }
    let disk = std::env::temp_dir();
    let config = config()?;
    let mut none = Guarded::start(memory, "")?;
    let mut guarded = Guarded::start(memory, &config)?;
    let mut synced = Guarded::start(&disk, &config)?;
    for round in 0..WARM_UP_ROUNDS + ROUNDS {
        let counts = if round < WARM_UP_ROUNDS {
            Counts::No
        } else {
            Counts::Yes
        };
        for daemon in [&mut none, &mut guarded, &mut synced] {
            daemon.create(counts)?;
        }
    }
    let record = median(audit_records(memory)?);
    let bare = none.median() - millis(record);
    report.beside("an audit record, database in memory", "µs", micros(record));
    report.beside("create without guards, that record left out", "ms", bare);
    for (what, daemon, most) in [
        ("rules, audit, sandbox and limits add", &guarded, MOST),
        (
            "the same, records waiting for the disk",
            &synced,
            MOST_WITH_SYNC,
        ),
    ] {
        report.figure(what, "ms", daemon.median() - bare, Limit::AtMost(most));
    }
    Ok(())
}

fn config() -> anyhow::Result<String> {
    let mut config = String::from(
        "[policy.fronts.cli]\nprofile = \"agent\"\n\
         [policy.profiles.agent]\nsandbox = \"workspace\"\ntimeout = \"30m\"\n\
         [policy.profiles.agent.limits]\nopen_files = 1024\ncpu_time = \"10m\"\n",
    );
    for number in 0..RULES {
        write!(
            config,
            "[[policy.rules]]\neffect = \"deny\"\nprogram = \"program-{number}\"\nhas = [\"-f|--force\"]\n"
        )?;
    }
    Ok(config)
}

/// What the record of a start costs where no disk is waited for.
fn audit_records(parent: &Path) -> anyhow::Result<Vec<Duration>> {
    let directory = tempfile::tempdir_in(parent)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let store = Store::open(directory.path().join("termd.sqlite")).await?;
        let mut samples = Vec::new();
        for _ in 0..ROUNDS {
            let start = Instant::now();
            store.audit(record()).await?;
            samples.push(start.elapsed());
        }
        store.close().await?;
        Ok(samples)
    })
}

fn record() -> AuditEntry {
    let mut detail = Map::new();
    detail.insert("argv".to_owned(), json!(["cargo", "test", "--workspace"]));
    detail.insert("cwd".to_owned(), json!("/home/user/project"));
    AuditEntry {
        at_ms: 1,
        action: "terminal.create",
        outcome: "ok".to_owned(),
        actor: Owner {
            front: Front::Cli,
            uid: 1000,
            pid: 1,
            exe: Some("/usr/bin/agent".to_owned()),
            session: None,
            client: Some("bench".to_owned()),
        },
        terminal: None,
        detail,
    }
}
