//! Figures: medians, and a line a figure with its limit and whether it holds. Pure but for the
//! printing.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

/// Which side of the limit a figure has to be on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

/// Prints figures as they come, and remembers whether all held.
pub(crate) struct Report {
    all_held: bool,
}

impl Report {
    pub(crate) fn new() -> Self {
        let report = Self { all_held: true };
        report.line("| figure | measured | limit | |\n|---|---|---|---|");
        report
    }

    /// A figure with a limit.
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

    /// A figure to compare with; nothing depends on it.
    pub(crate) fn beside(&self, what: &str, unit: &str, value: f64) {
        self.line(&format!("| {what} | {} {unit} | | |", number(value)));
    }

    /// What was not measured, and why.
    pub(crate) fn skipped(&self, what: &str, why: &str) {
        self.line(&format!("| {what} | not measured: {why} | | |"));
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        if self.all_held {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }

    #[allow(clippy::unused_self)] // A line is printed by whoever has the report.
    fn line(&self, text: &str) {
        // Nobody to tell where stdout is closed.
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

/// The median; the upper one of two.
pub(crate) fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort_unstable();
    samples.get(samples.len() / 2).copied().unwrap_or_default()
}

pub(crate) fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

pub(crate) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Bytes as MiB, for rates and sizes: exact enough below 2^52.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
