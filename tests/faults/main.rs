//! The server dies in the middle of its work, again and again: no byte, no exit code and no key is
//! lost.
//!
//! `TERMD_FAULT_ROUNDS` sets how often.

// A test fails by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

mod away;
mod flood;
mod flood_faults;
mod pipes;
mod quota;
mod screen;

use termd_test_support::TestDaemon;

/// How often each fault is made without `TERMD_FAULT_ROUNDS`.
const DEFAULT_ROUNDS: u32 = 5;

/// How often each fault is made.
fn rounds() -> u32 {
    let set = std::env::var("TERMD_FAULT_ROUNDS").ok();
    set.and_then(|text| text.parse().ok())
        .unwrap_or(DEFAULT_ROUNDS)
}

/// A way to end the server.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// SIGKILL to the server.
    Kill,
    /// SIGHUP to the keeper: the server hands over to the next one.
    Replace,
}

impl Fault {
    /// Ends the server. The next one may not be there yet.
    #[track_caller]
    fn strike(self, daemon: &TestDaemon) {
        match self {
            Self::Kill => daemon.kill_server(),
            Self::Replace => daemon.replace_server(),
        }
    }
}
