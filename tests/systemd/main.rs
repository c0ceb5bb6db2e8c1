//! termd under a real systemd user manager: the units as they are shipped, installed as the README
//! says, on a machine of the test's own ([`machine`]).
//!
//! Needs root, cgroup2, overlayfs, systemd, dbus-user-session and libpam-systemd. Where they are
//! not there each test says `SKIP systemd: …` and passes; with `TERMD_REQUIRE_SYSTEMD=1` it fails.

// All of it is test code; clippy knows that only of functions marked as tests.
#![allow(clippy::expect_used)]

mod audit_chain;
mod exposures;
mod installed;
mod lives;
mod machine;
mod scope_cost;
mod scopes;
mod units;
