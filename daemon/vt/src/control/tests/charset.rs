//! SCS, shifts, DOCS, and VT52 mode's graphics.

use crate::testing::{check, check_all, rows};
use crate::{Model, Scrollback, Size};

#[test]
fn charsets_are_designated_and_shifted() {
    check_all(&[
        ("\x1b(0qx\x1b(Bq", &["─│q"], (3, 0)),
        ("\x1b)0\x0eq\x0fq", &["─q"], (2, 0)),
        ("\x1b*0\x1bnq\x0fq", &["─q"], (2, 0)),
        ("\x1b+0\x1boq\x0fq", &["─q"], (2, 0)),
        ("\x1b*0q\x1bNqq", &["q─q"], (3, 0)),
        ("\x1b+0q\x1bOqq", &["q─q"], (3, 0)),
        // The British set is a national one, but on a VT100.
        ("\x1b(A#\x1b(B#", &["##"], (2, 0)),
        ("\x1b[?42h\x1b(A#\x1b(B#", &["£#"], (2, 0)),
        ("\x1b[61\"p\x1b(A#\x1b(B#", &["£#"], (2, 0)),
        // A VT100 has no single shifts.
        ("\x1b[61\"p\x1b*0\x1bNq", &["q"], (1, 0)),
        // What a VT520 has comes with its level.
        ("\x1b[?42h\x1b(&5a", &["a"], (1, 0)),
        ("\x1b[65\"p\x1b[?42h\x1b(&5a", &["А"], (1, 0)),
        ("\x1b(%5A\x1b(>a", &["Áα"], (2, 0)),
        // A national set needs DECNRCM when it is designated.
        ("\x1b(K[", &["["], (1, 0)),
        ("\x1b[?42h\x1b(K[\x1b[?42l[", &["ÄÄ"], (2, 0)),
        // A set that is not known is ASCII.
        ("\x1b(0\x1b(%qq", &["q"], (1, 0)),
        ("\x1b(0é", &["é"], (1, 0)),
    ]);
}

#[test]
fn without_utf_8_high_bytes_use_gr() {
    let mut model = Model::new(Size { cols: 10, rows: 1 }, Scrollback::new(0, 0));
    model.feed(b"\x1b%@\xe9\x1b-A\x1b}\xe9\x1b)0\x1b~\xf1\x9b1mx\x1b%G\xc3\xa9");
    assert_eq!(rows(&model), ["éé─xé"]);
}

#[test]
fn sets_of_96_characters_are_a_vt520s() {
    for (input, expected) in [
        (&b"\x1b[65\"p\x1b%@\x1b.F\xe1"[..], "α"),
        (b"\x1b[65\"p\x1b%@\x1b-H\x1b~\xe0a", "אa"),
        (b"\x1b[65\"p\x1b%@\x1b.L\xd0\x1bnP", "аа"),
        (b"\x1b%@\x1b.F\xe1", "á"),
        (b"\x1b[65\"p\x1b%@\x1b*F\xe1", "á"),
    ] {
        let mut model = Model::new(Size { cols: 10, rows: 1 }, Scrollback::new(0, 0));
        model.feed(input);
        assert_eq!(model.row_text(0), expected, "{input:?}");
    }
}

#[test]
fn vt52_mode() {
    for (input, expected, cursor) in [
        (
            "abc\x1b[?2l\x1bY\"#x\x1bAy",
            vec!["abc", "    y", "   x"],
            (5, 1),
        ),
        ("\x1b[?2labc\x1bH\x1bK", vec![], (0, 0)),
        ("\x1b[?2l\x1bFqa\x1bGq", vec!["⎼▮q"], (3, 0)),
        ("\x1b[?2l0123456789ab", vec!["012345678b"], (9, 0)),
        ("\x1b[?2l\x1b[A\x1b<\x1b[3;3H", vec!["A"], (2, 2)),
        ("\x1b[?2l\x1b<0123456789a", vec!["0123456789", "a"], (1, 1)),
        // An address outside the screen leaves the row or the column as it is.
        ("\x1b[2;2H\x1b[?2l\x1bYZ#x", vec!["", "   x"], (4, 1)),
        ("\x1b[2;2H\x1b[?2l\x1bY\"Zx", vec!["", "", " x"], (2, 2)),
        // Back in ANSI mode it is a VT100.
        ("\x1b[?2l\x1b<\x1b(A#", vec!["£"], (1, 0)),
        ("a\r\nb\x1b[?2l\x1bH\x1bI", vec!["", "a", "b"], (0, 0)),
        ("a\r\nb\x1b[?2l\x1bH\x1bJ", vec![], (0, 0)),
        (
            "\x1b[2;2Ha\x1b[?2l\x1bD\x1bD\x1bBb\x1bCc",
            vec!["", " a", "b c"],
            (3, 2),
        ),
    ] {
        check(10, 5, input, &expected, cursor);
    }
}

#[test]
fn vt52_identifies_itself() {
    let mut model = Model::new(Size { cols: 10, rows: 1 }, Scrollback::new(0, 0));
    assert_eq!(model.feed(b"\x1b[?2l\x1bZ").replies, b"\x1b/Z");
}
