//! What the guards cost on a create: rules, the audit record, and a sandbox with its limits.
//!
//! Beside a daemon without rules and without a sandbox. No daemon is without an audit: what a record
//! costs is measured by itself and added, with and without the wait for the disk.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::{Map, json};
use termd::store::{AuditAction, AuditEntry, AuditOutcome, Store};
use termd_proto::terminal::{Front, Owner};

use crate::bare::SyncedLog;
use crate::daemon::{Client, Daemon, string};
use termd_test_support::figures::{Limit, Report, median, millis};

const WARM_UP_ROUNDS: usize = 20;
const ROUNDS: usize = 201;
/// Rules that are gone through in vain.
const RULES: usize = 100;
/// Most that the guards may add, in milliseconds.
const MOST: f64 = 1.0;
/// The same where records wait for the disk.
const MOST_WITH_SYNC: f64 = 6.0;

/// A daemon, a client of it, and a repository to work in.
struct Guarded {
    client: Client,
    cwd: String,
    creates: Vec<Duration>,
    directory: PathBuf,
    _daemon: Daemon,
}

impl Guarded {
    fn start(config: &str) -> anyhow::Result<Self> {
        let daemon = Daemon::start_with(config)?;
        let project = daemon.directory().join("project");
        fs::create_dir_all(project.join(".git/hooks"))?;
        Ok(Self {
            client: daemon.connect()?,
            cwd: project.to_str().context("a path in UTF-8")?.to_owned(),
            creates: Vec::new(),
            directory: daemon.directory().to_owned(),
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
    let mut none = Guarded::start("")?;
    let mut guarded = Guarded::start(&config()?)?;
    let mut log = SyncedLog::create(&none.directory)?;
    let mut syncs = Vec::new();
    for round in 0..WARM_UP_ROUNDS + ROUNDS {
        let counts = if round < WARM_UP_ROUNDS {
            Counts::No
        } else {
            Counts::Yes
        };
        none.create(counts)?;
        guarded.create(counts)?;
        syncs.push(log.append()?);
    }
    let record = millis(median(audit_records(&none.directory)?));
    let sync = millis(median(syncs));
    let added = guarded.median() - none.median();
    report.beside("create with an audit record alone", "ms", none.median());
    report.beside("rules, sandbox and limits add", "ms", added);
    report.beside("an audit record, until it is on the disk", "ms", record);
    report.beside("write and fdatasync of one log frame of it", "ms", sync);
    report.figure(
        "rules, audit, sandbox and limits add, the disk aside",
        "ms",
        added + (record - sync).max(0.0),
        Limit::AtMost(MOST),
    );
    report.figure(
        "the same with the disk",
        "ms",
        added + record,
        Limit::AtMost(MOST_WITH_SYNC),
    );
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

/// What the record of a start costs by itself.
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
        action: AuditAction::TerminalCreate,
        outcome: AuditOutcome::Ok,
        actor: Owner {
            front: Front::Cli,
            uid: 1000,
            pid: 1,
            exe: Some("/usr/bin/agent".to_owned()),
            session: None,
            client: Some("bench".to_owned()),
            agent: None,
            terminal: None,
        },
        terminal: None,
        detail,
    }
}
