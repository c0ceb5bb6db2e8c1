//! The server dies, again and again, in the middle of its work: no byte, no exit code and no key
//! pressed is lost.
//!
//! `TERMD_FAULT_ROUNDS` sets how often; CI does a handful.

// A test fails by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

mod away;
mod flood;
mod pipes;
mod quota;
mod screen;

use termd_test_support::TestDaemon;

/// How often each fault is made where `TERMD_FAULT_ROUNDS` does not say.
const DEFAULT_ROUNDS: u32 = 5;

/// How often each fault is made.
fn rounds() -> u32 {
    let set = std::env::var("TERMD_FAULT_ROUNDS").ok();
    set.and_then(|text| text.parse().ok())
        .unwrap_or(DEFAULT_ROUNDS)
}

/// How a server is made to go.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// SIGKILL to the server: it has no say in it.
    Kill,
    /// SIGHUP to the keeper: the server hands over.
    Replace,
}

impl Fault {
    /// Makes the server go, and waits until it is gone; the next one may not be there yet.
    #[track_caller]
    fn strike(self, daemon: &TestDaemon) {
        match self {
            Self::Kill => daemon.kill_server(),
            Self::Replace => daemon.replace_server(),
        }
    }
}
