//! `termctl acp` end to end: the real binaries, with the test at both ends of the proxy.

// A test fails by panicking, and says on stderr why it was skipped.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]
// Expected output is built as it reads.
#![allow(clippy::format_collect)]

mod example_agent;
mod initialize;
mod own_messages;
mod sessions;
mod shutdown;

/// Terminals that tool calls embed, shown to a client that has none.
mod display {
    mod meta;
    mod text;
    mod tool_calls;
}

/// A proxy between two ends that the test holds, and the schema of what it writes.
mod harness {
    mod peer;
    pub(crate) mod proxy;
    pub(crate) mod proxy_process;
    pub(crate) mod schema;
    mod traffic_log;
}

/// What the proxy passes on.
mod passthrough {
    mod bytes;
    mod conversation;
}

/// `terminal/*` through the proxy.
mod terminals {
    mod cleanup;
    mod limit_causes;
    mod limits;
    mod methods;
    mod permission;
    mod timeout;
}
