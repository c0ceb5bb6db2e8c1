//! Shows the screen that bytes make, or runs a conformance suite.
//!
//! `cargo run -p termd --example screen -- COLS ROWS < bytes` prints the rows, each without the
//! blanks at its end, then `\x1ecursor X Y`, from 0. With `TERMD_VT_SUITE=FILE.jsonl` in the
//! environment it runs the cases of that file, prints how many pass, and what differs in the others;
//! with further arguments, only the cases whose ids hold one of them.

use std::io::{self, BufRead, Read, Write};
use std::process::ExitCode;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use termd_vt::{Model, Scrollback, Size};
use thiserror::Error;

/// Scrollback of a case, in rows and bytes: none needs more.
const HISTORY_ROWS: usize = 10_000;
const HISTORY_BYTES: usize = 64 << 20;

/// In a case's input: the window takes another size. `COLS ; ROWS BEL` follows.
const RESIZE: &[u8] = b"\x1b]9999;resize;";

/// Why nothing could be shown.
#[derive(Debug, Error)]
enum ScreenError {
    /// The arguments are not two numbers.
    #[error("usage: screen COLS ROWS < BYTES")]
    Usage,
    /// Reading or writing.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A line of the suite is not a case.
    #[error("line {line} of the suite: {cause}")]
    Case {
        /// From 1.
        line: usize,
        /// What is wrong.
        cause: String,
    },
}

/// A case of a suite.
#[derive(Debug, Deserialize)]
struct Case {
    id: String,
    cols: usize,
    rows: usize,
    #[serde(rename = "in")]
    input: String,
    screen: Vec<String>,
    cursor: Option<(usize, usize)>,
}

fn main() -> ExitCode {
    let result = match std::env::var_os("TERMD_VT_SUITE") {
        Some(path) => run_suite(&path),
        None => show(),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(io::stderr(), "screen: {error}");
            ExitCode::FAILURE
        }
    }
}

fn model(cols: usize, rows: usize) -> Model {
    Model::new(
        Size { cols, rows },
        Scrollback::new(HISTORY_ROWS, HISTORY_BYTES),
    )
}

/// The screen of what comes on standard input.
fn show() -> Result<ExitCode, ScreenError> {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse().ok());
    let (Some(Some(cols)), Some(Some(rows))) = (numbers.next(), numbers.next()) else {
        return Err(ScreenError::Usage);
    };
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    let mut model = model(cols, rows);
    play(&mut model, &bytes);
    let mut out = io::stdout().lock();
    for row in screen(&model) {
        writeln!(out, "{row}")?;
    }
    let (x, y) = model.cursor();
    writeln!(out, "\x1ecursor {x} {y}")?;
    Ok(ExitCode::SUCCESS)
}

fn screen(model: &Model) -> Vec<String> {
    (0..model.size().rows).map(|y| model.row_text(y)).collect()
}

/// Feeds bytes, and takes another size where a marker says so.
fn play(model: &mut Model, bytes: &[u8]) {
    let mut rest = bytes;
    while let Some(at) = rest
        .windows(RESIZE.len())
        .position(|window| window == RESIZE)
    {
        model.feed(&rest[..at]);
        rest = &rest[at + RESIZE.len()..];
        let end = rest.iter().position(|byte| *byte == 0x07);
        let Some((marker, after)) = end.map(|end| (&rest[..end], &rest[end + 1..])) else {
            return;
        };
        if let Some(size) = size(marker) {
            model.resize(size);
        }
        rest = after;
    }
    model.feed(rest);
}

/// `COLS;ROWS`
fn size(marker: &[u8]) -> Option<Size> {
    let (cols, rows) = std::str::from_utf8(marker).ok()?.split_once(';')?;
    Some(Size {
        cols: cols.trim().parse().ok()?,
        rows: rows.trim().parse().ok()?,
    })
}

/// Runs the cases of a file.
fn run_suite(path: &std::ffi::OsStr) -> Result<ExitCode, ScreenError> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let mut out = io::stdout().lock();
    let (mut passed, mut failed) = (0, Vec::new());
    for (index, line) in io::BufReader::new(std::fs::File::open(path)?)
        .lines()
        .enumerate()
    {
        let wrong = |cause: String| ScreenError::Case {
            line: index + 1,
            cause,
        };
        let case: Case = serde_json::from_str(&line?).map_err(|error| wrong(error.to_string()))?;
        if !wanted.is_empty() && !wanted.iter().any(|part| case.id.contains(part)) {
            continue;
        }
        let input = STANDARD
            .decode(&case.input)
            .map_err(|error| wrong(error.to_string()))?;
        let mut model = model(case.cols, case.rows);
        play(&mut model, &input);
        if differences(&mut out, &case, &model)? == 0 {
            passed += 1;
        } else {
            failed.push(case.id);
        }
    }
    writeln!(out, "{passed} of {} pass", passed + failed.len())?;
    for id in &failed {
        writeln!(out, "  {id}")?;
    }
    Ok(if failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Prints what differs, and how many rows it was.
fn differences(out: &mut impl Write, case: &Case, model: &Model) -> io::Result<usize> {
    let seen = screen(model);
    let mut count = 0;
    let no_row = String::new();
    for y in 0..seen.len().max(case.screen.len()) {
        let expected = case.screen.get(y).unwrap_or(&no_row);
        let row = seen.get(y).unwrap_or(&no_row);
        if row != expected {
            count += 1;
            writeln!(
                out,
                "{} row {y}\n  expected {expected:?}\n      seen {row:?}",
                case.id
            )?;
        }
    }
    if let Some(cursor) = case.cursor
        && cursor != model.cursor()
    {
        count += 1;
        writeln!(
            out,
            "{} cursor expected {cursor:?} seen {:?}",
            case.id,
            model.cursor()
        )?;
    }
    Ok(count)
}
