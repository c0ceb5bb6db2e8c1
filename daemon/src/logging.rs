//! The log: to the journal for a daemon that systemd or `termctl` started, else to stderr.
//!
//! **Invariant:** no output of a terminal is ever a field of a log line.

use std::env;
use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The variable with the filter, in the syntax of `tracing_subscriber`'s `EnvFilter`; default `info`.
pub const LOG_VARIABLE: &str = "TERMD_LOG";

/// Starts logging for this process; a second call changes nothing.
pub fn start() {
    let filter = EnvFilter::try_from_env(LOG_VARIABLE).unwrap_or_else(|_| EnvFilter::new("info"));
    let registry = tracing_subscriber::registry().with(filter);
    // Under systemd stderr leads to the journal too, but without fields and levels.
    let wants_journal = env::var_os("JOURNAL_STREAM").is_some();
    let journal = wants_journal
        .then(tracing_journald::layer)
        .and_then(Result::ok);
    let started = match journal {
        Some(layer) => registry
            .with(layer.with_syslog_identifier("termd".to_owned()))
            .try_init(),
        None => registry
            .with(
                tracing_subscriber::fmt::layer()
                    .with_ansi(std::io::stderr().is_terminal())
                    .with_writer(std::io::stderr),
            )
            .try_init(),
    };
    if started.is_err() {
        tracing::debug!("logging had been started before");
    }
}
