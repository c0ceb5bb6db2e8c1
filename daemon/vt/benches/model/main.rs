//! The model beside `alacritty_terminal` and `vt100`: processor time and memory.
//!
//! `cargo bench -p termd-vt --bench model` prints a table and exits with 1 if a figure is beyond its
//! limit. Words after `--` select figures by their beginning.

mod counting;
mod inputs;

use std::num::NonZero;
use std::process::ExitCode;
use std::time::Duration;

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::term::{Config, Term};
use alacritty_terminal::vte::ansi::Processor;
use rustix::time::{ClockId, clock_gettime};
use termd_test_support::figures::{Limit, Report, mebibytes, millis};
use termd_vt::{Model, Scrollback, Size};

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

const SIZE: Size = Size { cols: 80, rows: 24 };
const SCROLLBACK_ROWS: usize = 1_000;
/// The most bytes that a read of a PTY returns.
const PIECE_BYTES: usize = 4_095;
/// The emulators take turns. The best round counts, as noise only makes a round slower.
const ROUNDS: usize = 5;
/// Linear means twice the time for twice the bytes. The rest allows for noise.
const LINEAR: f64 = 1.5;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"))
        .collect();
    let wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.starts_with(word));
    let mut report = Report::new();
    for input in inputs::all() {
        if wanted(input.name) {
            side_by_side(&mut report, &input);
        }
    }
    if wanted("linear") {
        linear(&mut report);
    }
    if wanted("reflow") {
        ten_thousand_lines(&mut report);
    }
    if wanted("memory") {
        memory(&mut report);
    }
    report.exit_code()
}

fn model(rows: usize) -> Model {
    Model::new(SIZE, Scrollback::new(rows, 64 << 20))
}

/// Processor time of this thread.
fn timed(work: impl FnOnce()) -> Duration {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(
            u64::try_from(time.tv_sec).unwrap_or(0),
            u32::try_from(time.tv_nsec).unwrap_or(0),
        )
    };
    let begin = now();
    work();
    now().saturating_sub(begin)
}

fn feed_termd(bytes: &[u8]) -> Duration {
    let mut model = model(SCROLLBACK_ROWS);
    timed(|| {
        for piece in bytes.chunks(PIECE_BYTES) {
            model.feed(piece);
        }
    })
}

struct AlacrittySize;

impl Dimensions for AlacrittySize {
    fn total_lines(&self) -> usize {
        SIZE.rows
    }

    fn screen_lines(&self) -> usize {
        SIZE.rows
    }

    fn columns(&self) -> usize {
        SIZE.cols
    }
}

fn feed_alacritty(bytes: &[u8]) -> Duration {
    let config = Config {
        scrolling_history: SCROLLBACK_ROWS,
        ..Config::default()
    };
    let mut term = Term::new(config, &AlacrittySize, VoidListener);
    let mut parser: Processor = Processor::new();
    timed(|| {
        for piece in bytes.chunks(PIECE_BYTES) {
            parser.advance(&mut term, piece);
        }
    })
}

fn feed_vt100(bytes: &[u8]) -> Duration {
    const ROWS: NonZero<u16> = NonZero::new(24).unwrap();
    const COLS: NonZero<u16> = NonZero::new(80).unwrap();
    let mut parser = vt100::Parser::new(ROWS, COLS, SCROLLBACK_ROWS);
    timed(|| {
        for piece in bytes.chunks(PIECE_BYTES) {
            parser.process(piece);
        }
    })
}

fn side_by_side(report: &mut Report, input: &inputs::Input) {
    let (mut ours, mut alacritty, mut vt100) = (Duration::MAX, Duration::MAX, Duration::MAX);
    // vt100 is slow, and only stands beside.
    let part = &input.bytes[..input.bytes.len() / 8];
    for _ in 0..ROUNDS {
        ours = ours.min(feed_termd(&input.bytes));
        alacritty = alacritty.min(feed_alacritty(&input.bytes));
        vt100 = vt100.min(feed_vt100(part));
    }
    let name = input.name;
    let rate = |bytes: usize, time: Duration| mebibytes(bytes as u64) / time.as_secs_f64();
    let (ours, alacritty) = (
        rate(input.bytes.len(), ours),
        rate(input.bytes.len(), alacritty),
    );
    report.beside(&format!("{name}: termd"), "MiB/s", ours);
    report.beside(&format!("{name}: alacritty_terminal"), "MiB/s", alacritty);
    report.beside(&format!("{name}: vt100"), "MiB/s", rate(part.len(), vt100));
    report.figure(
        &format!("{name}: termd as a multiple of alacritty_terminal"),
        "×",
        ours / alacritty,
        Limit::AtLeast(input.at_least),
    );
}

fn linear(report: &mut Report) {
    for (name, bytes) in [
        ("0xFF bytes", vec![0xff; 8 << 20]),
        ("random bytes", inputs::random(8 << 20)),
    ] {
        let best = |bytes: &[u8]| (0..ROUNDS).map(|_| feed_termd(bytes)).min();
        let short = best(&bytes[..1 << 20]).unwrap_or_default();
        let long = best(&bytes).unwrap_or_default();
        let rate = mebibytes(bytes.len() as u64) / long.as_secs_f64();
        report.beside(&format!("{name}: termd"), "MiB/s", rate);
        report.figure(
            &format!("{name}: a MiB of 8, as a multiple of a MiB alone"),
            "×",
            long.as_secs_f64() / 8.0 / short.as_secs_f64(),
            Limit::AtMost(LINEAR),
        );
    }
}

const MANY_LINES: usize = 10_000;

/// A terminal that has printed this many coloured lines.
fn with_lines(lines: usize) -> Model {
    let mut model = model(lines);
    let mut at = 0;
    while at < lines {
        model.feed(&inputs::cargo_line(at));
        at += 1;
    }
    // A build's progress lines are drawn over: what is missing is scrolled in.
    while model.rows_printed() < lines as u64 {
        model.feed(&inputs::cargo_line(at));
        at += 1;
    }
    model
}

fn ten_thousand_lines(report: &mut Report) {
    let mut model = with_lines(MANY_LINES);
    for cols in [40, 20, 132, 80] {
        let time = timed(|| drop(model.resize(Size { cols, ..SIZE })));
        let what = format!("reflow of 10,000 lines to {cols} columns");
        report.figure(&what, "ms", millis(time), Limit::AtMost(50.0));
    }
    let mut dump = Vec::new();
    let time = timed(|| dump = model.dump());
    report.figure(
        "dump of 10,000 lines",
        "ms",
        millis(time),
        Limit::AtMost(20.0),
    );
    let time = timed(|| {
        drop(Model::restored(
            Scrollback::new(MANY_LINES, 64 << 20),
            &dump,
        ));
    });
    report.beside("restoring them", "ms", millis(time));
}

fn memory(report: &mut Report) {
    const TERMINALS: usize = 100;
    let before = counting::held();
    let idle = model(SCROLLBACK_ROWS);
    let kibibytes = |bytes: usize| mebibytes(bytes as u64) * 1024.0;
    let held = kibibytes(counting::held() - before) + kibibytes(size_of_val(&idle));
    report.figure("an idle 80x24 terminal", "KiB", held, Limit::AtMost(30.0));
    drop(idle);

    let before = counting::held();
    let terminals: Vec<Model> = (0..TERMINALS).map(|_| with_lines(MANY_LINES)).collect();
    let held = mebibytes((counting::held() - before) as u64);
    let what = "100 terminals with 10,000 coloured lines";
    report.figure(what, "MiB", held, Limit::AtMost(60.0));
    drop(terminals);
}
