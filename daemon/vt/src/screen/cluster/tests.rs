//! Grapheme clusters and their columns, with mode 2027 and without.

use crate::{Model, Scrollback, Size};

fn fed(cols: usize, input: &str) -> Model {
    let mut model = Model::new(Size { cols, rows: 3 }, Scrollback::new(10, 1 << 16));
    model.feed(input.as_bytes());
    model
}

#[test]
fn a_grapheme_cluster_takes_one_cell() {
    // Text, its columns with mode 2027, and without.
    let table = [
        ("e\u{301}", 1, 1),
        ("👩\u{200d}👧\u{200d}👦", 2, 6),
        ("👍🏽", 2, 4),
        ("🏳\u{fe0f}\u{200d}🌈", 2, 3),
        ("🇩🇪", 2, 2),
        ("🇩🇪🇫🇷", 4, 4),
        ("❤\u{fe0f}", 2, 1),
        ("⌚\u{fe0e}", 1, 2),
        ("1\u{fe0f}\u{20e3}", 2, 1),
        // Hangul from its parts; Devanagari's conjunct and spacing mark.
        ("\u{1100}\u{1161}\u{11a8}", 2, 2),
        ("क\u{94d}ष", 2, 2),
        ("नि", 2, 2),
        ("字", 2, 2),
        ("ab", 2, 2),
        // Ambiguous is narrow.
        ("§", 1, 1),
    ];
    for (text, clustered, single) in table {
        let model = fed(40, &format!("\x1b[?2027h{text}"));
        assert_eq!(model.cursor(), (clustered, 0), "{text:?}, clusters");
        assert_eq!(model.row_text(0), text, "{text:?}, clusters");
        let model = fed(40, text);
        assert_eq!(model.cursor(), (single, 0), "{text:?}, code points");
        assert_eq!(model.row_text(0), text, "{text:?}, code points");
    }
}

#[test]
fn any_cut_gives_the_same_text() {
    let text = "\x1b[?2027ha👩\u{200d}👧🇩🇪❤\u{fe0f}b字\u{1100}\u{1161}c";
    let whole = fed(40, text);
    for cut in 0..text.len() {
        let mut model = fed(40, "");
        model.feed(&text.as_bytes()[..cut]);
        model.feed(&text.as_bytes()[cut..]);
        assert_eq!(model.row_text(0), whole.row_text(0), "cut at {cut}");
        assert_eq!(model.cursor(), whole.cursor(), "cut at {cut}");
    }
}

#[test]
fn clusters_at_the_edge_and_over_other_characters() {
    // At the right edge there is no second column to take.
    let model = fed(4, "\x1b[?2027habc❤\u{fe0f}d");
    assert_eq!(model.row_text(0), "abc❤\u{fe0f}");
    assert_eq!(model.row_text(1), "d");
    // A cluster that widens takes the column of what was there; half a wide one becomes blank.
    let model = fed(10, "\x1b[?2027habcdef\r❤\u{fe0f}");
    assert_eq!(model.row_text(0), "❤\u{fe0f}cdef");
    let model = fed(10, "\x1b[?2027ha字def\r❤\u{fe0f}");
    assert_eq!(model.row_text(0), "❤\u{fe0f} def");
    // One that narrows gives it back.
    let model = fed(4, "\x1b[?2027hab⌚\u{fe0e}c");
    assert_eq!(model.row_text(0), "ab⌚\u{fe0e}c");
}

#[test]
fn a_flood_of_marks_on_one_character_cost_nothing() {
    for mode in ["", "\x1b[?2027h"] {
        let mut model = fed(10, mode);
        model.feed(b"a");
        for _ in 0..50 {
            model.feed("\u{301}".repeat(1_000).as_bytes());
        }
        assert_eq!(model.cursor(), (1, 0));
        assert!(model.row_text(0).len() <= 64);
    }
}
