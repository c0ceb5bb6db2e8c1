//! SU, SD, margins, columns, IND, RI, NEL.

use super::ROWS;
use crate::testing::{check, fed};

#[test]
fn regions() {
    for (input, expected, cursor) in [
        ("\x1b[S", ["bbbbb", "ccccc", "ddddd", "eeeee", ""], (5, 4)),
        ("\x1b[2T", ["", "", "aaaaa", "bbbbb", "ccccc"], (5, 4)),
        ("\x1b[2^", ["", "", "aaaaa", "bbbbb", "ccccc"], (5, 4)),
        (
            "\x1b[2;4r\x1b[S",
            ["aaaaa", "ccccc", "ddddd", "", "eeeee"],
            (0, 0),
        ),
        (
            "\x1b[2;4r\x1b[4H\n",
            ["aaaaa", "ccccc", "ddddd", "", "eeeee"],
            (0, 3),
        ),
        (
            "\x1b[2;4r\x1b[5H\n",
            ["aaaaa", "bbbbb", "ccccc", "ddddd", "eeeee"],
            (0, 4),
        ),
        (
            "\x1b[2;4r\x1b[2;2H\x1bM",
            ["aaaaa", "", "bbbbb", "ccccc", "eeeee"],
            (1, 1),
        ),
        (
            "\x1b[2;4r\x1b[4;2H\x1bE",
            ["aaaaa", "ccccc", "ddddd", "", "eeeee"],
            (0, 3),
        ),
        (
            "\x1b[2;4r\x1b[4;2H\x1bD",
            ["aaaaa", "ccccc", "ddddd", "", "eeeee"],
            (1, 3),
        ),
        (
            "\x1b[?69h\x1b[2;4s\x1b[S",
            ["abbba", "bcccb", "cdddc", "deeed", "e   e"],
            (0, 0),
        ),
        (
            "\x1b[?69h\x1b[2;4s\x1b[T",
            ["a   a", "baaab", "cbbbc", "dcccd", "eddde"],
            (0, 0),
        ),
        // Outside the columns nothing scrolls.
        (
            "\x1b[?69h\x1b[2;4s\x1b[5;1H\n",
            ["aaaaa", "bbbbb", "ccccc", "ddddd", "eeeee"],
            (0, 4),
        ),
    ] {
        check(10, 5, &format!("{ROWS}{input}"), &expected, cursor);
    }
}

#[test]
fn columns() {
    for (input, expected, cursor) in [
        ("\x1b[2;2H\x1b['}", ["0 1234", "5 6789"], (1, 1)),
        ("\x1b[2;2H\x1b[2'~", ["034", "589"], (1, 1)),
        ("\x1b[2;1H\x1b6", [" 01234", " 56789"], (0, 1)),
        ("\x1b[2;2H\x1b6", ["01234", "56789"], (0, 1)),
        ("\x1b[2;10H\x1b9", ["1234", "6789"], (9, 1)),
        ("\x1b[2;2H\x1b9", ["01234", "56789"], (2, 1)),
        ("\x1b[2;2H\x1b[ @", ["1234", "6789"], (1, 1)),
        ("\x1b[2;2H\x1b[2 A", ["  01234", "  56789"], (1, 1)),
        (
            "\x1b[?69h\x1b[2;4s\x1b[1;2H\x1b['}",
            ["0 124", "5 679"],
            (1, 0),
        ),
        (
            "\x1b[?69h\x1b[2;4s\x1b[1;1H\x1b['}",
            ["01234", "56789"],
            (0, 0),
        ),
        (
            "\x1b[?69h\x1b[2;4s\x1b[1;2H\x1b[ A",
            ["0 124", "5 679"],
            (1, 0),
        ),
    ] {
        check(10, 5, &format!("01234\r\n56789{input}"), &expected, cursor);
    }
}

#[test]
fn rows_that_leave_the_primary_screen_go_to_the_scrollback() {
    for (input, rows) in [
        ("\x1b[S", 1),
        ("\x1b[H\x1b[2M", 2),
        ("\x1b[1;3r\x1b[3;1H\n", 1),
        ("\x1b[2;4r\x1b[4;1H\n", 0),
        ("\x1b[?47h\x1b[5;1H\n\n", 0),
        ("\x1b[?69h\x1b[1;5s\x1b[5;1H\n", 0),
        ("\x1b[2J", 0),
    ] {
        let model = fed(10, 5, &format!("{ROWS}{input}"));
        assert_eq!(model.terminal.screen.scrollback.len(), rows, "{input:?}");
    }
}

#[test]
fn memory_lock_keeps_the_rows_above() {
    check(
        10,
        5,
        &format!("{ROWS}\x1b[3;1H\x1bl\x1b[5;1H\n\x1bmx"),
        &["aaaaa", "bbbbb", "ddddd", "eeeee", "x"],
        (1, 4),
    );
}
