//! termd's figures, each beside its limit measured in the same run.
//!
//! `cargo build --release && cargo bench -p termd --bench terminals [NAME…]`: all, or those whose
//! name holds one of the words. What each means is in docs/benchmarks.md. Ends with 1 if a figure
//! is beyond its limit.
//!
//! A plain program, for the limits are other programs' figures (a bare PTY, a bare fork, tmux),
//! taken in turn with ours so that a busy machine slows both.

mod bare;
mod creating;
mod daemon;
mod flood;
mod guards;
mod idle;
mod memory;
mod reading;
mod thousand;
mod throughput;

use std::process::ExitCode;

use anyhow::Context;
use termd_test_support::figures::Report;

/// One benchmark: what selects it, and what it does.
type Benchmark = (&'static str, fn(&mut Report) -> anyhow::Result<()>);

const BENCHMARKS: [Benchmark; 9] = [
    ("throughput", throughput::run),
    ("create", creating::on_an_open_connection),
    ("termctl", creating::whole_termctl),
    ("guards", guards::run),
    ("output", reading::run),
    ("idle", idle::run),
    ("thousand", thousand::run),
    ("flood", flood::run),
    ("memory", memory::run),
];

fn main() -> anyhow::Result<ExitCode> {
    // cargo adds `--bench`.
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let mut report = Report::new();
    for (name, run) in BENCHMARKS {
        if wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str())) {
            run(&mut report).with_context(|| format!("the benchmark `{name}`"))?;
        }
    }
    Ok(report.exit_code())
}
