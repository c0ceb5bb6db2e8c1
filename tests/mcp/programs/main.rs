//! Programs as agents drive them through `termctl mcp`: each line that is typed, and what
//! is right to say then.
//!
//! Right is: where things stand, told no earlier and no later than it is so; the exit code; the output to
//! the letter, without the echo and the prompt; and the prompt apart from it.

// A test fails by panicking, and says on stderr why it was skipped.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

mod driver;
mod repls;
mod scenario;
mod screens;
mod shells;
mod sshd;

use std::time::Duration;

use serde_json::json;
use termd_test_support::{McpClient, Postgres, TestDaemon, is_installed};

use driver::{Answer, Driver, Set};
use scenario::{Scenario, State, Step};
use shells::Shell;

/// How late an answer may be on a machine that builds beside it.
const LATE: Duration = Duration::from_secs(4);

/// How many scenarios are played in one terminal. Those of shells depend on none before them.
const PART: usize = 40;

/// A program and what is known of it.
#[derive(Debug, Clone, Copy)]
struct Program<'a> {
    name: &'static str,
    command: &'a str,
    /// Whether each command has an exit code.
    has_codes: bool,
}

impl Program<'_> {
    /// What is wrong with an answer.
    fn faults(&self, set: Set, step: &Step, answer: &Answer) -> Vec<String> {
        let mut faults = Vec::new();
        if answer.state != step.state.word() {
            faults.push(format!("state: not {}", step.state.word()));
        }
        let code = step.exit_code.filter(|_| step.state == State::Done);
        let is_absent = answer.exit_code.is_none() && !self.has_codes;
        if code.is_some() && answer.exit_code != code && !is_absent {
            faults.push(format!("exit code: not {code:?}"));
        }
        if !step.output.is(&answer.output) {
            faults.push(format!("output: not {:?}", step.output));
        }
        // That the next command is taken is what `done` says in `lean`.
        let has_prompt = set == Set::Lean || answer.prompt.is_some();
        if step.state == State::Done && !has_prompt {
            faults.push("prompt: none".to_owned());
        }
        if answer.elapsed > LATE + Duration::from_millis(step.takes_ms)
            && step.state != State::Running
        {
            faults.push("late".to_owned());
        }
        faults
    }

    /// Plays one scenario: what went wrong.
    fn play(&self, driver: &mut Driver, scenario: &Scenario) -> Result<(), String> {
        for step in &scenario.steps {
            let answer = driver.step(step);
            let faults = self.faults(driver.set(), step, &answer);
            if !faults.is_empty() {
                return Err(format!(
                    "{:.80?}: {}\n    {answer}",
                    step.typed,
                    faults.join("; ")
                ));
            }
        }
        Ok(())
    }

    /// Plays all scenarios by one set: how many are right, and what is wrong.
    fn play_all(
        &self,
        daemon: &TestDaemon,
        set: Set,
        scenarios: &[&Scenario],
    ) -> (usize, Vec<String>) {
        let env = [("TERMCTL_MCP_TOOLS", set.name())];
        let client = McpClient::start_with(daemon, &env, &json!({}));
        let mut driver = Driver::start(client, set, self.command);
        let mut faults = Vec::new();
        for scenario in scenarios {
            if let Err(fault) = self.play(&mut driver, scenario) {
                faults.push(format!("{}/{}: {fault}", self.name, scenario.name));
                // The next one begins anew.
                driver = Driver::start(driver.close(), set, self.command);
            }
        }
        (scenarios.len() - faults.len(), faults)
    }

    /// Plays all scenarios by the sets at once, a long table in two terminals. All have to be right. `lean`
    /// shares the waits of `session`, and plays those of several lines alone.
    fn check(&self, scenarios: &[Scenario]) {
        let daemon = TestDaemon::start();
        let all: Vec<&Scenario> = scenarios.iter().collect();
        let of_lines: Vec<&Scenario> = scenarios.iter().filter(|it| it.has_lines()).collect();
        let sets = [
            (Set::Session, &all),
            (Set::Terminal, &all),
            (Set::Lean, &of_lines),
        ];
        let results = std::thread::scope(|scope| {
            let plays = sets.map(|(set, scenarios)| {
                let daemon = &daemon;
                let play = |part| scope.spawn(move || self.play_all(daemon, set, part));
                scenarios.chunks(PART).map(play).collect::<Vec<_>>()
            });
            plays.map(|parts| {
                let parts = parts.into_iter().map(|part| part.join().unwrap());
                parts.fold((0, Vec::new()), |mut all, (right, faults)| {
                    all.1.extend(faults);
                    (all.0 + right, all.1)
                })
            })
        });
        let mut wrong = Vec::new();
        for ((set, scenarios), (right, faults)) in sets.into_iter().zip(results) {
            let (name, set, all) = (self.name, set.name(), scenarios.len());
            eprintln!("{name} by {set}: {right} of {all} right");
            wrong.extend(faults.into_iter().map(|fault| format!("{set} {fault}")));
        }
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    }
}

fn shell(name: &'static str, shell: Shell) {
    if is_installed(name, name) {
        let program = Program {
            name,
            command: name,
            has_codes: true,
        };
        program.check(&shells::scenarios(shell));
    }
}

fn repl(name: &'static str, command: &str, scenarios: &[Scenario]) {
    if is_installed(name, name) {
        let program = Program {
            name,
            command,
            has_codes: false,
        };
        program.check(scenarios);
    }
}

fn in_bash(name: &'static str, scenarios: &[Scenario]) {
    if is_installed(name, name) {
        let program = Program {
            name,
            command: "bash",
            has_codes: true,
        };
        program.check(scenarios);
    }
}

#[test]
fn bash() {
    shell("bash", Shell::Bash);
}

#[test]
fn zsh() {
    shell("zsh", Shell::Zsh);
}

#[test]
fn fish() {
    shell("fish", Shell::Fish);
}

#[test]
fn dash() {
    shell("dash", Shell::Dash);
}

#[test]
fn ssh() {
    if let Some(sshd) = sshd::Sshd::start("ssh") {
        repl("ssh", &sshd.login(), &shells::scenarios(Shell::Remote));
    }
}

#[test]
fn python3() {
    repl("python3", "python3 -q", &repls::python());
}

#[test]
fn node() {
    repl("node", "node", &repls::node());
}

#[test]
fn sqlite3() {
    repl("sqlite3", "sqlite3", &repls::sqlite());
}

#[test]
fn psql() {
    if let Some(postgres) = Postgres::start("psql") {
        let command = format!("psql -X -h {} -U tester postgres", postgres.host());
        repl("psql", &command, &repls::psql());
    }
}

#[test]
fn gdb() {
    repl("gdb", "gdb -q -nx", &repls::gdb());
}

#[test]
fn bc() {
    repl("bc", "bc -q", &repls::bc());
}

#[test]
fn vim() {
    in_bash("vim", &screens::vim());
}

#[test]
fn less() {
    in_bash("less", &screens::less());
}

#[test]
fn top() {
    in_bash("top", &screens::top());
}
