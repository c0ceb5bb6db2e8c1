//! Coding agents and the shell that they call: Claude Code, Codex, opencode and Gemini CLI, as their
//! users install them, each with a scripted model that asks for one command after another.
//!
//! Each agent is checked in two modes, with a daemon and a home of its own. In `plain` it has its own
//! shell: what is wrong then is reported and fails nothing. In `termd` its shell is `termd-shell`.
//! The agents run one at a time, and the last of the tests prints how many checks were right of all.

// A test fails by panicking, and says on stderr why it was skipped.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

use std::os::unix::fs::chown;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use termd_test_support::coding_agents::{CLAUDE, CODEX, CodingAgent, GEMINI, OPENCODE};
use termd_test_support::packages::{python, run_to_end};
use termd_test_support::scenario::{self, Outcome};
use termd_test_support::{
    TestDaemon, is_root, skip, termctl_binary, termd_binary, termd_shell_binary,
};

/// The minor version of Python 3 that the checks need.
const MIN_PYTHON: u32 = 11;
/// How long all checks of one agent may take. Without termd some 60 s, most of it in calls that
/// hang to their limit.
const MAX_DURATION: Duration = Duration::from_mins(8);

/// For the checks of hooks: a program that nothing else runs.
const DENIES_FROB: &str = "[[policy.rules]]\nprogram = \"frob\"\neffect = \"deny\"\n";
/// Why the second mode cannot be checked.
const NO_SHELL: &str = "there is no termd-shell yet";
/// The user that root runs the tests of `termd-shell` as once more.
const NOBODY: u32 = 65534;

/// A line for each scenario that is over. Holding it is the right to run an agent: two at the same
/// time would not leave each other the processor.
static TOTALS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Where the homes of agents are made, for a user who cannot write where the build is.
const HOMES_VARIABLE: &str = "TERMD_TEST_AGENTS_HOMES";

/// The shell of an agent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Its own.
    Plain,
    /// `termd-shell`.
    Termd,
    /// Its own, and the agent asks the gate by a hook.
    Hooks,
}

fn check(scenario: &str, agent: &CodingAgent, mode: Mode) {
    let mut totals = TOTALS.lock().unwrap_or_else(PoisonError::into_inner);
    match run(scenario, agent, mode) {
        Ok(Outcome { report, failure }) => {
            eprintln!("{scenario}\n{report}");
            let total = report.lines().find_map(|line| line.strip_prefix("total "));
            totals.push(format!("{scenario:16} {}", total.unwrap_or("not over")));
            eprintln!("checks that are right\n{}", totals.join("\n"));
            // Not with the lock: the other tests go on.
            drop(totals);
            assert_eq!(failure, None, "{scenario}: its report is above");
        }
        Err(reason) => skip(scenario, reason),
    }
}

/// Runs a scenario, or says what it lacks.
fn run(scenario: &str, agent: &CodingAgent, mode: Mode) -> Result<Outcome, String> {
    let as_text = |error: termd_test_support::packages::Unavailable| error.to_string();
    let program = agent.program().map_err(as_text)?;
    let python = python(MIN_PYTHON).map_err(as_text)?;
    let homes = std::env::var_os(HOMES_VARIABLE);
    let homes = homes.unwrap_or_else(|| env!("CARGO_TARGET_TMPDIR").into());
    let scratch = tempfile::tempdir_in(homes).map_err(|error| error.to_string())?;
    let mut env: Vec<(&str, &Path)> = vec![("AGENT", &program), ("SCRATCH", scratch.path())];
    let shell = termd_shell_binary();
    if mode == Mode::Termd {
        let shell = shell.as_ref().ok_or(NO_SHELL)?;
        env.push(("TERMD_SHELL", shell));
        if scenario.starts_with("codex") {
            let mut exec_server = Command::new(termctl_binary());
            run_to_end(exec_server.args(["codex-exec-server", "--help"])).map_err(as_text)?;
        }
    }
    let daemon = TestDaemon::configured(DENIES_FROB);
    let folder = "shell/clients";
    Ok(scenario::outcome(
        &daemon,
        &python,
        folder,
        scenario,
        &env,
        MAX_DURATION,
    ))
}

/// Where root runs the tests: this program once more as `nobody`, with the tests of `termd-shell`.
#[test]
fn as_ordinary_user() {
    let test = "as_ordinary_user";
    if !is_root() {
        return skip(test, "the other tests run as one");
    }
    if termd_shell_binary().is_none() {
        return skip(test, NO_SHELL);
    }
    let totals = TOTALS.lock().unwrap_or_else(PoisonError::into_inner);
    let homes = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    chown(homes.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    // Root builds and fetches what is missing.
    for agent in [&CLAUDE, &CODEX, &GEMINI, &OPENCODE] {
        let _ = agent.program();
    }
    let user = NOBODY.to_string();
    let status = Command::new("setpriv")
        .args(["--reuid", &user, "--regid", &user, "--clear-groups"])
        .arg(std::env::current_exe().unwrap())
        .args(["::termd", "--nocapture"])
        .env("CARGO_BIN_EXE_termd", termd_binary())
        .env(HOMES_VARIABLE, homes.path())
        .current_dir("/")
        .status();
    drop(totals);
    match status {
        Ok(status) => assert!(status.success(), "{test}: {status}"),
        Err(error) => skip(test, format_args!("setpriv does not run: {error}")),
    }
}

/// An agent whose commands are judged by a hook.
macro_rules! hooks {
    ($($name:ident: $agent:expr;)*) => {
        mod hooks {
            use super::*;

            $(#[test]
            fn $name() {
                check(concat!(stringify!($name), "-hooks"), &$agent, Mode::Hooks);
            })*
        }
    };
}

hooks! {
    claude: CLAUDE;
    gemini: GEMINI;
}

/// Two tests for each agent.
macro_rules! agents {
    ($($name:ident: $agent:expr;)*) => {
        $(mod $name {
            use super::*;

            #[test]
            #[ignore = "what agents do without termd: it fails nothing and takes minutes"]
            fn plain() {
                check(concat!(stringify!($name), "-plain"), &$agent, Mode::Plain);
            }

            #[test]
            fn termd() {
                check(concat!(stringify!($name), "-termd"), &$agent, Mode::Termd);
            }
        })*
    };
}

agents! {
    claude: CLAUDE;
    codex: CODEX;
    gemini: GEMINI;
    opencode: OPENCODE;
}
