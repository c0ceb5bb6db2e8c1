//! Runs of `termctl` in a home.

use std::ffi::OsStr;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use termd_test_support::{Home, TestDaemon, termd_binary};

/// The output and the exit of a run of `termctl`.
#[derive(Debug)]
pub(crate) struct TermctlOutput {
    /// The exit code, or `None` after a signal.
    pub(crate) code: Option<i32>,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

impl TermctlOutput {
    /// The output of a child.
    pub(crate) fn of(output: &Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The output of a child, after its end.
    pub(crate) fn wait(child: Child) -> Self {
        Self::of(&child.wait_with_output().unwrap())
    }

    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Checks that standard error is one line for a person.
    #[track_caller]
    pub(crate) fn assert_one_line(&self) {
        assert_eq!(self.err.trim_end().lines().count(), 1, "{}", self.err);
        assert!(self.err.starts_with("termctl: "), "{}", self.err);
    }
}

/// `termctl` with these arguments, in this home.
pub(crate) fn command<S: AsRef<OsStr>>(home: &Home, args: &[S]) -> Command {
    // The start on demand needs the daemon's binary.
    termd_binary();
    let mut command = home.command(env!("CARGO_BIN_EXE_termctl"));
    command.args(args).stdin(Stdio::null());
    command
}

/// Starts `termctl` with pipes for standard output and standard error.
pub(crate) fn spawn<S: AsRef<OsStr>>(home: &Home, args: &[S]) -> Child {
    let mut command = command(home, args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Runs `termctl` to its end.
pub(crate) fn termctl<S: AsRef<OsStr>>(home: &Home, args: &[S]) -> TermctlOutput {
    TermctlOutput::of(&command(home, args).output().unwrap())
}

/// Runs `termctl`, which must succeed: standard output without the last newline.
#[track_caller]
pub(crate) fn ok<S: AsRef<OsStr>>(home: &Home, args: &[S]) -> String {
    let output = termctl(home, args);
    assert_eq!(output.code, Some(0), "{output:?}");
    output.out.trim_end().to_owned()
}

/// `termctl create` of a shell script, which has printed `ready`: the id.
#[track_caller]
pub(crate) fn ready_terminal(daemon: &TestDaemon, script: &str) -> String {
    let id = ok(daemon, &["create", "--", "sh", "-c", script]);
    daemon.client().wait_for_text(&id, "ready");
    id
}
