//! What red teams did to termd, done again: each attack against the real binaries, as an ordinary
//! user. A file holds the attacks on one promise. docs/testing.md lists them.

// A test fails by panicking, and says on stderr why it was skipped.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

mod agents;
mod agents_processes;
mod consent;
mod daemon_files;
mod ends;
mod environment;
mod files;
mod output_secrets;
mod protected;
mod record;
mod rules;
mod termctl_lines;
mod tty;
mod typed_lines;

use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Trial};
use termd_test_support::{is_root, termd_binary};

/// An attack: its name and what it does.
type Attack = (&'static str, fn());

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == RELAY)
        && let Some(socket) = arguments.next()
    {
        return relay(Path::new(&socket));
    }
    if is_root() {
        return run_as_ordinary_user();
    }
    let attacks = [
        agents::ATTACKS,
        agents_processes::ATTACKS,
        consent::ATTACKS,
        daemon_files::ATTACKS,
        ends::ATTACKS,
        environment::ATTACKS,
        files::ATTACKS,
        output_secrets::ATTACKS,
        protected::ATTACKS,
        record::ATTACKS,
        rules::ATTACKS,
        termctl_lines::ATTACKS,
        tty::ATTACKS,
        typed_lines::ATTACKS,
    ];
    let trial = |(name, attack): &Attack| {
        let attack = *attack;
        Trial::test(*name, move || {
            attack();
            Ok(())
        })
    };
    let trials = attacks.concat().iter().map(trial).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The argument that makes this program a connection to the socket behind it.
const RELAY: &str = "relay";

/// Passes lines from standard input to a socket, and those from the socket to standard output: a
/// process of an agent's that speaks with termd itself.
fn relay(socket: &Path) -> ExitCode {
    let socket = UnixStream::connect(socket).unwrap();
    let mut answers = socket.try_clone().unwrap();
    let passing = std::thread::spawn(move || io::copy(&mut answers, &mut io::stdout()));
    let _ = io::copy(&mut io::stdin(), &mut &socket);
    let _ = socket.shutdown(Shutdown::Write);
    let _ = passing.join();
    ExitCode::SUCCESS
}

/// Runs this program again as `nobody`. Root may do what an attacker may not.
fn run_as_ordinary_user() -> ExitCode {
    // Root builds the binary where it is missing.
    let termd = termd_binary();
    let error = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(std::env::current_exe().unwrap())
        .args(std::env::args_os().skip(1))
        .env("CARGO_BIN_EXE_termd", termd)
        .exec();
    eprintln!("setpriv: {error}");
    ExitCode::FAILURE
}
