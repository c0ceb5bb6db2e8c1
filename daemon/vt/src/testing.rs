//! Helpers of the unit tests: feeding a screen and reading it.

use crate::{Fed, Model, Scrollback, Size};

const SCROLLBACK_ROWS: usize = 100;

pub(crate) fn fed(cols: usize, rows: usize, input: &str) -> Model {
    let mut model = Model::new(
        Size { cols, rows },
        Scrollback::new(SCROLLBACK_ROWS, 1 << 20),
    );
    model.feed(input.as_bytes());
    model
}

/// The rows' text, without the blanks at the ends.
pub(crate) fn rows(model: &Model) -> Vec<String> {
    (0..model.size().rows).map(|y| model.row_text(y)).collect()
}

/// Feeds a fresh terminal and compares what it shows. `expected` may leave out empty rows at the
/// end; `cursor` is a column and a row, from 0.
#[track_caller]
pub(crate) fn check(
    cols: usize,
    rows_: usize,
    input: &str,
    expected: &[&str],
    cursor: (usize, usize),
) {
    let model = fed(cols, rows_, input);
    let mut seen = rows(&model);
    while seen.len() > expected.len() && seen.last().is_some_and(String::is_empty) {
        seen.pop();
    }
    assert_eq!(
        (seen.as_slice(), model.cursor()),
        (
            expected
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .as_slice(),
            cursor
        ),
        "after {input:?}"
    );
}

/// Checks such cases on a screen of 10 by 5.
#[track_caller]
pub(crate) fn check_all(cases: &[(&str, &[&str], (usize, usize))]) {
    for (input, expected, cursor) in cases {
        check(10, 5, input, expected, *cursor);
    }
}

/// The reply to some bytes on a screen of 80 by 24, which must be the same byte by byte.
#[track_caller]
pub(crate) fn answer(input: &[u8]) -> Vec<u8> {
    let whole = fed(80, 24, "").feed(input);
    let mut model = fed(80, 24, "");
    let mut cut = Fed::default();
    for byte in input {
        let fed = model.feed(&[*byte]);
        cut.replies.extend(fed.replies);
        cut.events.extend(fed.events);
    }
    assert_eq!(whole, cut, "cut: {:?}", String::from_utf8_lossy(input));
    whole.replies
}

/// Checks questions and their replies.
#[track_caller]
pub(crate) fn check_answers(table: &[(&str, &str)]) {
    for (input, want) in table {
        let got = answer(input.as_bytes());
        assert_eq!(String::from_utf8_lossy(&got), *want, "to {input:?}");
    }
}
