//! termd under a real systemd user manager: the shipped units, installed as the README says, on a
//! machine of the test's own ([`machine`]).
//!
//! The tests need root, cgroup2, overlayfs, systemd, dbus-user-session and libpam-systemd. Where
//! these are missing each test prints `SKIP systemd: …` and passes. With `TERMD_REQUIRE_SYSTEMD=1`
//! it fails.

// All of it is test code. Clippy exempts only functions that are marked as tests.
#![allow(clippy::expect_used)]

mod audit_chain;
mod delegation;
mod exposures;
mod failed_starts;
mod installed;
mod lives;
mod machine;
mod scope_cost;
mod scopes;
mod units;
