//! A table of figures and their limits.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

/// On which side of a limit a figure must be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

/// Prints figures as they come, and remembers whether all are within their limits.
pub(crate) struct Report {
    all_held: bool,
}

impl Report {
    pub(crate) fn new() -> Self {
        let report = Self { all_held: true };
        report.line("| figure | measured | limit | |\n|---|---|---|---|");
        report
    }

    pub(crate) fn figure(&mut self, what: &str, unit: &str, value: f64, limit: Limit) {
        let (holds, bound) = match limit {
            Limit::AtMost(most) => (value <= most, format!("≤ {}", number(most))),
            Limit::AtLeast(least) => (value >= least, format!("≥ {}", number(least))),
        };
        self.all_held &= holds;
        let verdict = if holds { "holds" } else { "BEYOND" };
        self.line(&format!(
            "| {what} | {} {unit} | {bound} {unit} | {verdict} |",
            number(value)
        ));
    }

    /// Prints a figure without a limit, to compare with.
    pub(crate) fn beside(&self, what: &str, unit: &str, value: f64) {
        self.line(&format!("| {what} | {} {unit} | | |", number(value)));
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        if self.all_held {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }

    #[allow(clippy::unused_self)]
    fn line(&self, text: &str) {
        // Where stdout is closed there is nobody to tell.
        let _ = writeln!(io::stdout(), "{text}");
    }
}

fn number(value: f64) -> String {
    if value >= 100.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}

pub(crate) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Bytes as MiB, for rates and sizes: exact enough below 2^52.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
