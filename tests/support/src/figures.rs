//! What the benchmarks print: a line a figure, with its limit and whether the figure holds.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

/// On which side of a limit a figure must be.
#[derive(Debug, Clone, Copy)]
pub enum Limit {
    /// The figure holds up to this value.
    AtMost(f64),
    /// The figure holds from this value on.
    AtLeast(f64),
}

/// A table on standard output, printed row by row.
#[derive(Debug)]
pub struct Report {
    all_held: bool,
}

impl Report {
    /// Prints the head of the table.
    #[allow(clippy::new_without_default)] // Printing is no default.
    pub fn new() -> Self {
        print_line("| figure | measured | limit | |\n|---|---|---|---|");
        Self { all_held: true }
    }

    /// Prints a figure with its limit.
    pub fn figure(&mut self, what: &str, unit: &str, value: f64, limit: Limit) {
        let (holds, bound) = match limit {
            Limit::AtMost(most) => (value <= most, format!("≤ {}", number(most))),
            Limit::AtLeast(least) => (value >= least, format!("≥ {}", number(least))),
        };
        self.all_held &= holds;
        let verdict = if holds { "holds" } else { "BEYOND" };
        print_line(&format!(
            "| {what} | {} {unit} | {bound} {unit} | {verdict} |",
            number(value)
        ));
    }

    /// Prints a figure without a limit, to compare with.
    pub fn beside(&self, what: &str, unit: &str, value: f64) {
        print_line(&format!("| {what} | {} {unit} | | |", number(value)));
    }

    /// Prints what was not measured, and why.
    pub fn skipped(&self, what: &str, why: &str) {
        print_line(&format!("| {what} | not measured: {why} | | |"));
    }

    /// Failure if a figure was beyond its limit.
    pub fn exit_code(&self) -> ExitCode {
        if self.all_held {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}

fn print_line(text: &str) {
    // A closed standard output ends no benchmark.
    let _ = writeln!(io::stdout(), "{text}");
}

fn number(value: f64) -> String {
    if value >= 100.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}

/// The median; the upper one of two.
pub fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort_unstable();
    samples.get(samples.len() / 2).copied().unwrap_or_default()
}

/// A duration in microseconds.
pub fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

/// A duration in milliseconds.
pub fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Bytes in MiB, exact below 2^52.
#[allow(clippy::cast_precision_loss)]
pub fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
