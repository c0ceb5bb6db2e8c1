//! Coding agents and the shell that they call: Claude Code, Codex, opencode and Gemini CLI, as their
//! users install them, each with a scripted model that asks for one command after another.
//!
//! Each agent is checked in two modes, with a daemon and a home of its own. In `plain` it has its own
//! shell: what is wrong then is reported and fails nothing. In `termd` its shell is `termd-shell`.
//! The agents run one at a time, and the last of the tests prints how many checks were right of all.

// A test fails by panicking, and says on stderr why it was skipped.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use termd_test_support::coding_agents::{CLAUDE, CODEX, CodingAgent, GEMINI, OPENCODE};
use termd_test_support::packages::{python, run_to_end};
use termd_test_support::scenario::{self, Outcome};
use termd_test_support::{TestDaemon, skip, termctl_binary, termd_shell_binary};

/// The minor version of Python 3 that the checks need.
const MIN_PYTHON: u32 = 11;
/// How long all checks of one agent may take. Without termd some 60 s, most of it in calls that
/// hang to their limit.
const MAX_DURATION: Duration = Duration::from_mins(8);

/// A line for each scenario that is over. Holding it is the right to run an agent: two at the same
/// time would not leave each other the processor.
static TOTALS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The shell of an agent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Its own.
    Plain,
    /// `termd-shell`.
    Termd,
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
            assert_eq!(failure, None, "{scenario}\n{report}");
        }
        Err(reason) => skip(scenario, reason),
    }
}

/// Runs a scenario, or says what it lacks.
fn run(scenario: &str, agent: &CodingAgent, mode: Mode) -> Result<Outcome, String> {
    let as_text = |error: termd_test_support::packages::Unavailable| error.to_string();
    let program = agent.program().map_err(as_text)?;
    let python = python(MIN_PYTHON).map_err(as_text)?;
    let scratch =
        tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).map_err(|error| error.to_string())?;
    let mut env: Vec<(&str, &Path)> = vec![("AGENT", &program), ("SCRATCH", scratch.path())];
    let shell = termd_shell_binary();
    if mode == Mode::Termd {
        let shell = shell.as_ref().ok_or("there is no termd-shell yet")?;
        env.push(("TERMD_SHELL", shell));
        if scenario.starts_with("codex") {
            let mut door = Command::new(termctl_binary());
            run_to_end(door.args(["codex-exec-server", "--help"])).map_err(as_text)?;
        }
    }
    let daemon = TestDaemon::start();
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

/// Two tests for each agent.
macro_rules! agents {
    ($($name:ident: $agent:expr;)*) => {
        $(mod $name {
            use super::*;

            #[test]
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
