//! Runs a conformance suite, or shows what one of its cases would.
//!
//! `conformance COLS ROWS < BYTES` prints the rows, without the blanks at their ends, and then
//! `\x1ecursor X Y`, counted from 0. `conformance SUITE.jsonl [ID...]` runs the cases of a file,
//! one JSON object a line, and prints what differs and how many pass; with ids, only the cases whose
//! id contains one of them.

use std::io::{self, BufRead, Read, Write};
use std::process::ExitCode;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use termd_vt::{Model, Scrollback, Size};
use thiserror::Error;

/// Scrollback of a case, in rows and bytes.
const HISTORY_ROWS: usize = 10_000;
const HISTORY_BYTES: usize = 64 << 20;

/// Marks a resize in a case's input. `COLS ; ROWS BEL` follows.
const RESIZE: &[u8] = b"\x1b]9999;resize;";

#[derive(Debug, Error)]
enum ScreenError {
    #[error("usage: conformance COLS ROWS < BYTES, or conformance SUITE.jsonl [ID...]")]
    Usage,
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A line of the suite is not a case.
    #[error("line {line} of the suite: {cause}")]
    Case {
        /// From 1.
        line: usize,
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
    let args: Vec<String> = std::env::args().skip(1).collect();
    let result = match args.as_slice() {
        [cols, rows] if let (Ok(cols), Ok(rows)) = (cols.parse(), rows.parse()) => show(cols, rows),
        [suite, ids @ ..] => run_suite(suite, ids),
        [] => Err(ScreenError::Usage),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(io::stderr(), "conformance: {error}");
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

/// Shows the screen that standard input makes.
fn show(cols: usize, rows: usize) -> Result<ExitCode, ScreenError> {
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

/// Feeds bytes, and resizes where a marker stands.
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
fn run_suite(path: &str, ids: &[String]) -> Result<ExitCode, ScreenError> {
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
        if !ids.is_empty() && !ids.iter().any(|part| case.id.contains(part)) {
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

/// Prints what differs. Returns in how many rows.
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
