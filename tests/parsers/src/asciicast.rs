//! What holds for every file that `termctl import` reads.

use std::io::{BufRead, BufReader};

use termd_asciicast::{CastError, CastEvent, CastReader};
use termd_proto::import::{ImportEvent, ImportEventKind, MAX_IMPORT_MS};
use termd_proto::terminal::{MAX_DIMENSION, MIN_COLS};

/// Longest description of a fault, in characters: one line of a tty or two.
const MAX_PROBLEM_CHARS: usize = 201;

/// Any bytes are a recording or have a fault in one of their lines. Times never go back, sizes are those of a
/// terminal, no output is made up, and it does not matter in which pieces the file is read.
pub fn holds(data: &[u8]) {
    let (events, fault) = read(data);
    assert_eq!(
        read(BufReader::with_capacity(1, data)),
        (events.clone(), fault.clone())
    );
    let (mut before, mut printed) = (0, 0);
    for event in events {
        let CastEvent::Happened(ImportEvent { at_ms, kind }) = event else {
            continue;
        };
        assert!(before <= at_ms && at_ms <= MAX_IMPORT_MS);
        before = at_ms;
        match kind {
            ImportEventKind::Output(text) | ImportEventKind::Marker(text) => printed += text.len(),
            ImportEventKind::Size { cols, rows } => {
                assert!((MIN_COLS..=MAX_DIMENSION).contains(&cols));
                assert!((1..=MAX_DIMENSION).contains(&rows));
            }
        }
    }
    assert!(printed <= data.len(), "JSON writes no character shorter");
    if let Some((line, problem)) = fault {
        let lines = data.split(|byte| *byte == b'\n').count();
        assert!((1..=lines).contains(&line), "line {line} of {lines}");
        assert!(problem.chars().count() <= MAX_PROBLEM_CHARS, "{problem}");
    }
}

/// The events, and the line and description of the fault that ends them.
fn read(input: impl BufRead) -> (Vec<CastEvent>, Option<(usize, String)>) {
    let mut events = Vec::new();
    let read = CastReader::open(input).and_then(|mut reader| {
        while let Some(event) = reader.next_event()? {
            events.push(event);
        }
        Ok(())
    });
    let fault = read.err().map(|error| match error {
        CastError::Line { line, problem } => (line, problem),
        CastError::Io(error) => panic!("memory cannot be read: {error}"),
    });
    (events, fault)
}
