//! `termctl mcp` and real clients: the Python SDK of both eras, the Inspector's command line, and
//! three agents with a scripted model.
//!
//! The tests fetch the clients by exact version into `target/tmp/registries`, where the second run
//! finds them. Each scenario is a Python file beside this one. It is one test for each SDK, with a
//! daemon of its own, and its report is shown where it fails.

// A test fails by panicking, and says on stderr why it was skipped.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

mod agents;
mod inspector;
mod sdk;
mod tasks;

/// One test for each scenario and SDK.
macro_rules! scenarios {
    ($($sdk:ident: $($scenario:ident),*;)*) => {
        $(mod $sdk {
            $(#[test]
            fn $scenario() {
                crate::sdk::run_scenario(&crate::sdk::$sdk, stringify!($scenario));
            })*
        })*
    };
}

scenarios! {
    initialize: protocol, waits, nothing_lost, typing_in, many, survive, terminal_set;
    discover: protocol, waits, nothing_lost, typing_in, many, survive, terminal_set;
}
