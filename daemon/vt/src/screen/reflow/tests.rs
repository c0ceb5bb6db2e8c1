//! Where text, cursor and marks are after a resize.

use crate::screen::marks::MarkKind;
use crate::{Model, Scrollback, Size};

fn model(cols: usize, rows: usize, input: &str) -> Model {
    let mut model = Model::new(Size { cols, rows }, Scrollback::new(100, 1 << 20));
    model.feed(input.as_bytes());
    model
}

fn rows(model: &Model) -> Vec<String> {
    (0..model.size().rows).map(|y| model.row_text(y)).collect()
}

#[test]
fn lines_are_broken_anew_and_the_cursor_stays_on_its_character() {
    type Case<'a> = (
        (usize, usize),
        &'a str,
        (usize, usize),
        &'a [&'a str],
        (usize, usize),
    );
    let cases: [Case<'_>; 15] = [
        // Narrower, wider.
        ((8, 3), "abcdefgh", (4, 3), &["abcd", "efgh", ""], (3, 1)),
        ((4, 3), "abcdefgh", (8, 3), &["abcdefgh", "", ""], (7, 0)),
        ((4, 3), "abcdef\r\nx", (6, 3), &["abcdef", "x", ""], (1, 1)),
        // The cursor in the middle of a line, and behind the text.
        (
            (8, 3),
            "abcdefgh\x1b[1;6H",
            (4, 3),
            &["abcd", "efgh", ""],
            (1, 1),
        ),
        ((8, 3), "ab\x1b[1;8H", (4, 3), &["ab", "", ""], (3, 0)),
        // A wide character at the edge.
        ((6, 3), "abc宽d", (4, 3), &["abc", "宽d", ""], (3, 1)),
        ((4, 3), "abc宽d", (6, 3), &["abc宽d", "", ""], (5, 0)),
        // Lower: blank rows below the cursor go first, then the top leaves.
        ((4, 4), "a\r\nb", (4, 2), &["a", "b"], (1, 1)),
        ((4, 3), "a\r\nb\r\nc", (4, 2), &["b", "c"], (1, 1)),
        ((4, 3), "a\r\nb\r\nc\x1b[H", (4, 2), &["a", "b"], (0, 0)),
        // Higher: what left comes back.
        ((4, 2), "a\r\nb\r\nc", (4, 3), &["a", "b", "c"], (1, 2)),
        ((4, 2), "a", (4, 3), &["a", "", ""], (1, 0)),
        // Colour to the end of a row is not text.
        (
            (6, 2),
            "ab\x1b[41m\x1b[K\x1b[m",
            (3, 2),
            &["ab", ""],
            (2, 0),
        ),
        // A line of double width is cut, not broken.
        (
            (8, 3),
            "\x1b#6abcd\r\nx",
            (4, 3),
            &["abcd", "x", ""],
            (1, 1),
        ),
        // The alternate screen is cut.
        (
            (6, 3),
            "\x1b[?1049habcdef\r\nx",
            (3, 2),
            &["abc", "x"],
            (1, 1),
        ),
    ];
    for ((cols, height), input, (new_cols, new_rows), expected, cursor) in cases {
        let mut model = model(cols, height, input);
        model.resize(Size {
            cols: new_cols,
            rows: new_rows,
        });
        assert_eq!(rows(&model), expected, "{input:?} at {new_cols}x{new_rows}");
        assert_eq!(model.cursor(), cursor, "{input:?} at {new_cols}x{new_rows}");
    }
}

#[test]
fn the_primary_screen_is_broken_anew_behind_the_alternate_one() {
    let mut model = model(8, 3, "abcdefgh\x1b[?1049hfull\x1b[H");
    model.resize(Size { cols: 4, rows: 3 });
    model.feed(b"\x1b[?1049l");
    assert_eq!(rows(&model), ["abcd", "efgh", ""]);
    assert_eq!(model.cursor(), (3, 1));
}

#[test]
fn marks_stay_on_their_characters() {
    let mut model = model(10, 3, "one\r\ntwo long x");
    model.terminal.screen.mark(MarkKind::PromptStart);
    model.feed(b"\r\nthree\r\nfour\r\n");
    let place = |model: &Model| {
        let mark = model.marks().next().unwrap();
        (mark.row, mark.col)
    };
    assert_eq!(place(&model), (1, 10));
    model.resize(Size { cols: 4, rows: 3 });
    assert_eq!(place(&model), (3, 2));
    model.resize(Size { cols: 40, rows: 10 });
    assert_eq!(place(&model), (1, 10));
    model.feed(b"\x1b[3J");
    model.resize(Size { cols: 40, rows: 1 });
    assert_eq!(place(&model), (1, 10));
    model.feed(b"\x1b[3J");
    assert_eq!(model.marks().count(), 0, "gone with its row");
}

#[test]
fn margins_are_reset_and_tab_stops_stay() {
    let mut model = model(20, 5, "\x1b[2;3r\x1b[1;5H\x1bH");
    model.resize(Size { cols: 30, rows: 6 });
    model.feed(b"\r\tx\x1b[9B");
    assert_eq!(model.row_text(model.cursor().1), "");
    assert_eq!(model.cursor(), (5, 5), "the stop at 4, and no margin below");
}
