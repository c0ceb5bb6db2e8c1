#![allow(clippy::print_stdout)]
//! How fast output becomes plain text: `cargo bench -p termd-vt --bench plain`.
//!
//! Prints MiB of raw output a second of processor time, the best of several rounds, for the kinds
//! of output that agents read. Log lines must reach 300.

use std::hint::black_box;
use std::time::Duration;

use termd_vt::plain::{PlainSize, PlainText, Until};

const SIZE: PlainSize = PlainSize { cols: 80, rows: 24 };
const BYTES: usize = 32 << 20;
/// Bytes that are fed at a time.
const CHUNK_BYTES: usize = 64 << 10;
const ROUNDS: usize = 5;
const LEAST_LOG_LINES: f64 = 300.0;

/// A name, and how its lines are made.
type Input = (&'static str, fn(usize) -> String);

fn main() {
    let inputs: [Input; 7] = [
        ("log lines", |n| {
            format!(
                "2026-01-02T03:04:05.{n:06}Z INFO worker: request {n} took 12 ms, status=200\r\n"
            )
        }),
        ("short lines", |n| format!("{n}\r\n")),
        ("long lines", |n| {
            format!("{n} {}\r\n", "lorem ipsum dolor sit amet ".repeat(20))
        }),
        ("coloured lines", |n| {
            format!("\x1b[32m   Compiling\x1b[0m crate-{n} \x1b[1;34mv0.{n}.0\x1b[0m (path)\r\n")
        }),
        ("a progress bar", |n| {
            format!(
                "\r\x1b[K[{:>3}%] {n} of many, {}",
                n % 100,
                "=".repeat(n % 40)
            )
        }),
        ("redrawn rows", |n| {
            format!("\x1b[2A\x1b[2Klayer a {n}\r\n\x1b[2Klayer b {n}\r\n")
        }),
        ("CJK", |n| {
            format!("{n} 端末の出力を文字として読む、漢字とかな\r\n")
        }),
    ];
    let mut too_slow = false;
    for (name, make) in inputs {
        let mut raw = String::with_capacity(BYTES + 1_000);
        let mut number = 0;
        while raw.len() < BYTES {
            raw += &make(number);
            number += 1;
        }
        let whole = best(|| resolve(raw.as_bytes(), false));
        let followed = best(|| resolve(raw.as_bytes(), true));
        let (whole, followed) = (rate(raw.len(), whole), rate(raw.len(), followed));
        println!("{name:<16} {whole:>7.0} MiB/s   followed {followed:>7.0} MiB/s");
        too_slow |= name == "log lines" && whole < LEAST_LOG_LINES;
    }
    if too_slow {
        println!("log lines are below their limit of {LEAST_LOG_LINES} MiB/s");
        std::process::exit(1);
    }
}

fn resolve(raw: &[u8], follow: bool) {
    let mut plain = PlainText::new(SIZE);
    for chunk in raw.chunks(CHUNK_BYTES) {
        if follow {
            plain.advance(chunk);
            plain.give(Until::Lines);
            black_box(plain.take());
        } else {
            plain.feed(chunk, &mut |text| {
                black_box(text);
            });
        }
    }
    black_box(plain.finish());
}

fn best(run: impl Fn()) -> Duration {
    let times = (0..ROUNDS).map(|_| {
        let start = cpu_time();
        run();
        cpu_time().saturating_sub(start)
    });
    times.min().unwrap_or_default()
}

/// Processor time of this thread, so that a busy machine does not count.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(
        time.tv_sec.try_into().unwrap_or_default(),
        time.tv_nsec.try_into().unwrap_or_default(),
    )
}

#[allow(clippy::cast_precision_loss)] // A figure for people.
fn rate(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / f64::from(1 << 20) / time.as_secs_f64()
}
