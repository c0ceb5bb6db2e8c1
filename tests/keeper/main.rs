//! The keeper with real processes: this program is the test, the keeper under test (by
//! [`support::ROLE_VARIABLE`]), and the server that this keeper starts (by `--server`).
// clippy.toml allows these in #[test] functions; this program has a main of its own.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

mod attacks;
mod bubblewrap;
mod bubblewrap_lies;
mod bubblewrap_own;
mod confine;
mod confine_limits;
mod confine_links;
mod confine_outside;
mod confine_partly;
mod confine_running;
mod confined_work;
mod exec_gate;
mod ground;
mod orphans;
mod pid_namespace;
mod pipes;
mod replacing;
mod server;
mod spawning;
mod starting;
mod support;
mod tree_kill;
mod user;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

/// One test.
type Test = (&'static str, fn());

fn main() -> ExitCode {
    termd_keeper::run_launcher_if_requested();
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|arg| arg == "--server") {
        return server::run(args.get(1).map(String::as_str));
    }
    if args.first().is_some_and(|arg| arg == "--attack") {
        return attacks::run(&args[1]);
    }
    if let Some(code) = support::run_keeper_role() {
        return code;
    }
    let filter = args.iter().find(|arg| !arg.starts_with('-'));
    let tests: Vec<Test> = [
        starting::TESTS,
        spawning::TESTS,
        tree_kill::TESTS,
        pipes::TESTS,
        exec_gate::TESTS,
        replacing::TESTS,
        confine::TESTS,
        confine_limits::TESTS,
        confine_links::TESTS,
        confine_outside::TESTS,
        confine_partly::TESTS,
        confine_running::TESTS,
        confined_work::TESTS,
        orphans::TESTS,
        pid_namespace::AGAIN,
        pid_namespace::TESTS,
        bubblewrap::CROSSINGS,
        bubblewrap_own::TESTS,
        bubblewrap_lies::TESTS,
    ]
    .concat()
    .into_iter()
    .filter(|(name, _)| filter.is_none_or(|filter| name.contains(filter.as_str())))
    .collect();
    if args.iter().any(|arg| arg == "--list") {
        for (name, _) in &tests {
            println!("{name}: test");
        }
        return ExitCode::SUCCESS;
    }
    let failed = tests
        .iter()
        .filter(|(name, test)| {
            let passed = catch_unwind(AssertUnwindSafe(test)).is_ok();
            println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
            !passed
        })
        .count();
    println!("{} passed; {failed} failed", tests.len() - failed);
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
