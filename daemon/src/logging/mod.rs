//! The log: to the journal for a daemon that systemd started, else to stderr, which is `termd.log`
//! for a daemon that `termctl` started.
//!
//! **Invariants:** no output of a terminal is ever a field of a log line, and nothing that a program or
//! a client repeats fills the disk: `LineLimit`, `LogFile`.

mod line_limit;
mod log_file;

use std::env;
use std::io::IsTerminal;
use std::path::PathBuf;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use self::line_limit::LineLimit;
use self::log_file::LogFile;

/// The variable with the filter, in the syntax of `tracing_subscriber`'s `EnvFilter`; default `info`.
pub const LOG_VARIABLE: &str = "TERMD_LOG";

/// Starts logging for this process; a second call changes nothing. `path` is where stderr leads for
/// a daemon without a journal.
pub fn start(path: PathBuf) {
    let filter = EnvFilter::try_from_env(LOG_VARIABLE).unwrap_or_else(|_| EnvFilter::new("info"));
    let registry = tracing_subscriber::registry()
        .with(filter)
        .with(LineLimit::default());
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
                    .with_writer(move || LogFile::new(path.clone())),
            )
            .try_init(),
    };
    if started.is_err() {
        tracing::debug!("logging had been started before");
    }
}
