//! ICH, DCH, IL, DL, REP, IRM.

use super::ROWS;
use crate::testing::{check, check_all};

#[test]
fn characters() {
    check_all(&[
        ("abcdef\x1b[3G\x1b[2@", &["ab  cdef"], (2, 0)),
        ("0123456789\x1b[3G\x1b[2@", &["01  234567"], (2, 0)),
        ("abcdef\x1b[3G\x1b[2P", &["abef"], (2, 0)),
        ("abcdef\x1b[3G\x1b[99P", &["ab"], (2, 0)),
        ("abcdef\x1b[3G\x1b[4hXY", &["abXYcdef"], (4, 0)),
        // Only inside the columns that scroll.
        (
            "0123456789\x1b[?69h\x1b[3;6s\x1b[1;4H\x1b[@",
            &["012 346789"],
            (3, 0),
        ),
        (
            "0123456789\x1b[?69h\x1b[3;6s\x1b[1;4H\x1b[P",
            &["01245 6789"],
            (3, 0),
        ),
        (
            "0123456789\x1b[?69h\x1b[3;6s\x1b[1;1H\x1b[@\x1b[P",
            &["0123456789"],
            (0, 0),
        ),
        // Wide characters that are cut become blanks.
        ("あいう\x1b[2G\x1b[@x", &[" x いう"], (2, 0)),
        ("あいう\x1b[2G\x1b[P", &[" いう"], (1, 0)),
        ("あいうえお\x1b[H\x1b[@", &[" あいうえ"], (0, 0)),
    ]);
}

#[test]
fn lines() {
    for (input, expected, cursor) in [
        (
            "\x1b[2;3H\x1b[L",
            ["aaaaa", "", "bbbbb", "ccccc", "ddddd"],
            (0, 1),
        ),
        (
            "\x1b[2;3H\x1b[2M",
            ["aaaaa", "ddddd", "eeeee", "", ""],
            (0, 1),
        ),
        (
            "\x1b[2;4r\x1b[2;3H\x1b[L",
            ["aaaaa", "", "bbbbb", "ccccc", "eeeee"],
            (0, 1),
        ),
        (
            "\x1b[2;4r\x1b[3;3H\x1b[M",
            ["aaaaa", "bbbbb", "ddddd", "", "eeeee"],
            (0, 2),
        ),
        (
            "\x1b[2;4r\x1b[5;3H\x1b[M\x1b[L",
            ["aaaaa", "bbbbb", "ccccc", "ddddd", "eeeee"],
            (2, 4),
        ),
        (
            "\x1b[?69h\x1b[2;3s\x1b[2;2H\x1b[L",
            ["aaaaa", "b  bb", "cbbcc", "dccdd", "eddee"],
            (1, 1),
        ),
    ] {
        check(10, 5, &format!("{ROWS}{input}"), &expected, cursor);
    }
}

#[test]
fn rep_repeats_only_the_character_right_before() {
    check_all(&[
        ("a\x1b[3b", &["aaaa"], (4, 0)),
        ("a\x1b[b", &["aa"], (2, 0)),
        ("あ\x1b[b", &["ああ"], (4, 0)),
        ("a\x1b[1m\x1b[3b", &["a"], (1, 0)),
        ("a\r\x1b[3b", &["a"], (0, 0)),
        ("a\x1b[11b", &["aaaaaaaaaa", "aa"], (2, 1)),
        ("\x1b[3b", &[], (0, 0)),
    ]);
}

#[test]
fn a_combining_character_joins_the_one_before_the_cursor() {
    check_all(&[
        ("e\u{301}x", &["e\u{301}x"], (2, 0)),
        ("012345678e\u{301}x", &["012345678e\u{301}", "x"], (1, 1)),
        ("e\x1b[1m\u{301}x", &["e\u{301}x"], (2, 0)),
        // Not as in xterm, where it goes to the one at the cursor if the cursor was placed.
        ("ab\x1b[1;2H\u{301}", &["a\u{301}b"], (1, 0)),
        ("\u{301}x", &["x"], (1, 0)),
        // A wide character whose right half the cursor is on stays whole.
        ("aあ\x08\u{301}", &["aあ\u{301}"], (2, 0)),
        ("aあb\x08\x08\u{301}", &["aあ\u{301}b"], (2, 0)),
    ]);
}
