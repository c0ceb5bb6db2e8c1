//! `termctl mcp` and real clients: the Python SDK of both eras, and the Inspector's command line.
//!
//! The clients are fetched by the tests, by exact version, from their registries, into
//! `target/tmp/registries`; the second run finds them there. Each story (a Python file beside this
//! one) is one test for each SDK, with a daemon of its own; its report is shown where it fails.

// A test's way to fail is to panic, and its way to say why it did not run is to print.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

#[path = "../../support/mod.rs"]
mod support;

mod inspector;
mod sdk;

/// One test a story and SDK.
macro_rules! stories {
    ($($sdk:ident: $($story:ident),*;)*) => {
        $(mod $sdk {
            $(#[test]
            fn $story() {
                crate::sdk::tell(&crate::sdk::$sdk, stringify!($story));
            })*
        })*
    };
}

stories! {
    initialize: protocol, waits, nothing_lost, typing_in, many, programs, survive, terminal_set;
    discover: protocol, waits, nothing_lost, typing_in, many, programs, survive, terminal_set;
}
