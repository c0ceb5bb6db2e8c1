//! `termd-shell`: what agents call as their shell. Called by the name `bash`, `zsh` or `sh`, it runs the
//! real shell in a terminal of termd, with its own arguments, and passes on output, signals and the
//! exit code.
//!
//! The way through it: the real shell ([`real_shell`]), what this process has that the command is to
//! have ([`surroundings`], [`inherited`]), whose command it is ([`agent`]), the start ([`create`]), and
//! the time until its end ([`call`]).
//!
//! **Invariant:** a command never fails for termd's sake. What goes wrong before its start leads to the
//! real shell in this process's place ([`in_place`]). The gate's refusal alone does not.

// Rust's own start would ignore SIGPIPE and open closed descriptors. The command inherits both.
#![cfg_attr(not(test), no_main)]
// A test's build has no entry, so nothing is called there.
#![cfg_attr(test, allow(dead_code))]

mod agent;
mod call;
mod connection;
mod create;
mod error;
mod excerpt;
mod in_place;
mod inherited;
mod output;
mod page_pipe;
mod process;
mod pty;
mod real_shell;
mod refusal;
mod server;
mod signals;
mod socket;
mod standard_fds;
mod surroundings;
mod syntax_check;
mod sys;

use std::ffi::OsString;

use crate::call::Call;
use crate::create::{NotStarted, Start};
use crate::error::{EXIT_LOST, EXIT_NOT_FOUND, EXIT_REFUSED, print, print_line};
use crate::real_shell::RealShell;
use crate::standard_fds::StandardFds;

/// Runs the command that the arguments are: the exit code. `args` begins with the name by which this
/// program was called.
fn run(args: &[OsString]) -> i32 {
    let fds = StandardFds::reserve();
    let shell = match RealShell::find(args) {
        Ok(shell) => shell,
        Err(error) => {
            print_line(&error);
            return EXIT_NOT_FOUND;
        }
    };
    match Start::new(&shell, args, &fds).run() {
        Ok(started) => match Call::new(started).run() {
            Ok(code) => code,
            Err(error) => {
                print_line(&error);
                EXIT_LOST
            }
        },
        Err(NotStarted::InPlace) => {
            print_line(&in_place::execute(&shell, args));
            EXIT_REFUSED
        }
        Err(NotStarted::Refused(refusal)) => {
            print_line(&refusal);
            EXIT_REFUSED
        }
        Err(NotStarted::Unreadable(error)) => {
            print(&error.text);
            error.code
        }
        Err(NotStarted::Signalled(signal)) => signals::exit_code_of(signal),
    }
}
