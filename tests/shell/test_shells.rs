//! A daemon, and the shell by its names.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use termd_test_support::TestDaemon;

/// What came of a command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ended {
    #[track_caller]
    pub(crate) fn run(command: &mut Command) -> Self {
        Self::of(&command.output().unwrap())
    }

    pub(crate) fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            code: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }
}

/// A daemon, and the shell by its names.
pub(crate) struct TestShells {
    pub(crate) daemon: TestDaemon,
}

impl TestShells {
    pub(crate) fn open() -> Self {
        Self::of(TestDaemon::start())
    }

    pub(crate) fn of(daemon: TestDaemon) -> Self {
        std::fs::create_dir(daemon.path("shells")).unwrap();
        for name in ["bash", "sh"] {
            let link = daemon.path("shells").join(name);
            symlink(env!("CARGO_BIN_EXE_termd-shell"), link).unwrap();
        }
        Self { daemon }
    }

    /// The path of the shell.
    pub(crate) fn bash(&self) -> PathBuf {
        self.daemon.path("shells/bash")
    }

    /// A call of the shell, with standard input from `/dev/null`.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.daemon.command(self.bash());
        command.args(args).stdin(Stdio::null());
        command
    }

    /// Runs a line.
    #[track_caller]
    pub(crate) fn run(&self, line: &str) -> Ended {
        Ended::run(&mut self.command(&["-c", line]))
    }

    /// All terminals that there have been, closed ones too.
    pub(crate) fn terminals(&self) -> Vec<Value> {
        let page = self
            .daemon
            .client()
            .ok("session.list", &json!({ "scope": "all" }));
        page["terminals"].as_array().unwrap().clone()
    }

    /// The reasons of the commands that ran in place.
    pub(crate) fn in_place(&self) -> Vec<String> {
        let filter = json!({ "action": "shell.in_place" });
        let records = self.daemon.client().audit_records(&filter);
        let reasons = records.iter().map(|record| &record["detail"]["reason"]);
        reasons
            .map(|reason| reason.as_str().unwrap().to_owned())
            .collect()
    }
}
