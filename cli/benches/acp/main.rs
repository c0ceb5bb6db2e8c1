//! What `termctl acp` adds to a message: the same agent spoken to by bare pipes and through the
//! proxy, in turn.
//!
//! `cargo bench -p termctl --bench acp`. Ends with 1 if a median is beyond 100 µs. The agent is this
//! program; no daemon is needed.

mod peer;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use peer::{ECHO, Peer};
use termd_test_support::figures::{Limit, Report, mebibytes, median, micros, millis};

/// Most that a message may take longer, in microseconds.
const MOST: f64 = 100.0;
/// Pairs of exchanges before the first one counts.
const WARM_UP: usize = 300;
/// Pairs of exchanges that count.
const PAIRS: usize = 3_001;
/// How many times a start is measured.
const STARTS: usize = 51;
/// The shortest message, in bytes: what is exchanged for the measured one.
const SHORT: usize = 200;
/// The measured ones.
const SIZES: [usize; 2] = [4 << 10, 64 << 10];

/// The times of pairs of exchanges.
struct Pairs {
    bare: Vec<Duration>,
    proxied: Vec<Duration>,
}

impl Pairs {
    /// Exchanges messages of these sizes with both, in turn.
    fn measure(
        bare: &mut Peer,
        proxied: &mut Peer,
        to: usize,
        from: usize,
    ) -> anyhow::Result<Self> {
        let mut pairs = Self {
            bare: Vec::new(),
            proxied: Vec::new(),
        };
        for round in 0..WARM_UP + PAIRS {
            // Neither is always the first of a pair.
            let (first, second) = if round % 2 == 0 {
                let first = bare.exchange(to, from)?;
                (first, proxied.exchange(to, from)?)
            } else {
                let second = proxied.exchange(to, from)?;
                (bare.exchange(to, from)?, second)
            };
            if round >= WARM_UP {
                pairs.bare.push(first);
                pairs.proxied.push(second);
            }
        }
        Ok(pairs)
    }

    /// What an exchange takes longer, in microseconds: the median over the pairs.
    fn added(&self) -> f64 {
        let mut added: Vec<f64> = (self.proxied.iter().zip(&self.bare))
            .map(|(proxied, bare)| micros(*proxied) - micros(*bare))
            .collect();
        added.sort_unstable_by(f64::total_cmp);
        added.get(added.len() / 2).copied().unwrap_or_default()
    }

    fn tell(&self, report: &Report, what: &str) {
        for (how, times) in [("bare pipes", &self.bare), ("termctl acp", &self.proxied)] {
            let what = format!("{what} and back, {how}");
            report.beside(
                &format!("{what}: median"),
                "µs",
                micros(median(times.clone())),
            );
            report.beside(&format!("{what}: p99"), "µs", micros(high(times.clone())));
        }
    }
}

fn main() -> anyhow::Result<ExitCode> {
    if std::env::args()
        .nth(1)
        .is_some_and(|argument| argument == ECHO)
    {
        peer::echo()?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut report = Report::new();
    let mut bare = Peer::bare()?;
    let mut proxied = Peer::proxied()?;
    let short = Pairs::measure(&mut bare, &mut proxied, SHORT, SHORT)?;
    short.tell(&report, "200 B");
    // Two messages make an exchange.
    let of_short = short.added() / 2.0;
    report.figure(
        "added to a message of 200 B",
        "µs",
        of_short,
        Limit::AtMost(MOST),
    );
    for size in SIZES {
        for (way, to, from) in [
            ("to the agent", size, SHORT),
            ("to the client", SHORT, size),
        ] {
            let pairs = Pairs::measure(&mut bare, &mut proxied, to, from)?;
            let kib = size >> 10;
            pairs.tell(&report, &format!("{kib} KiB {way}"));
            report.figure(
                &format!("added to a message of {kib} KiB {way}"),
                "µs",
                pairs.added() - of_short,
                Limit::AtMost(MOST),
            );
        }
    }
    let (proxy, supervisor) = proxied.memory();
    report.beside("termctl acp, VmRSS", "MiB", mebibytes(proxy));
    report.beside("its supervisor, VmRSS", "MiB", mebibytes(supervisor));
    starts(&report)?;
    Ok(report.exit_code())
}

/// From the start of a process to the agent's first answer.
fn starts(report: &Report) -> anyhow::Result<()> {
    let (mut bare, mut proxied) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let begun = Instant::now();
        Peer::bare()?.exchange(SHORT, SHORT)?;
        bare.push(begun.elapsed());
        let begun = Instant::now();
        Peer::proxied()?.exchange(SHORT, SHORT)?;
        proxied.push(begun.elapsed());
    }
    report.beside(
        "start to the first answer, bare pipes",
        "ms",
        millis(median(bare)),
    );
    report.beside(
        "start to the first answer, termctl acp",
        "ms",
        millis(median(proxied)),
    );
    Ok(())
}

/// The 99th percentile.
fn high(mut samples: Vec<Duration>) -> Duration {
    samples.sort_unstable();
    samples
        .get(samples.len() * 99 / 100)
        .copied()
        .unwrap_or_default()
}
