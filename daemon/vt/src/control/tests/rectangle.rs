//! DECCRA, DECERA, DECFRA, DECSERA, DECCARA, DECRARA, DECALN, line sizes.

use termd_proto::screen::LineSize;

use super::ROWS;
use crate::grid::style::Attributes;
use crate::testing::{check, fed};

#[test]
fn rectangles_are_filled_erased_and_copied() {
    for (input, expected) in [
        (
            "\x1b[88;2;2;3;3$x",
            ["aaaaa", "bXXbb", "cXXcc", "ddddd", "eeeee"],
        ),
        (
            "\x1b[2;2;3;3$z",
            ["aaaaa", "b  bb", "c  cc", "ddddd", "eeeee"],
        ),
        (
            "\x1b[2;2;3;3${",
            ["aaaaa", "b  bb", "c  cc", "ddddd", "eeeee"],
        ),
        (
            "\x1b[3;3;2;2$z",
            ["aaaaa", "bbbbb", "ccccc", "ddddd", "eeeee"],
        ),
        ("\x1b[5;5$z", ["aaaaa", "bbbbb", "ccccc", "ddddd", "eeee"]),
        (
            "\x1b[2;2;3;3;1;4;4;1$v",
            ["aaaaa", "bbbbb", "ccccc", "dddbb", "eeecc"],
        ),
        // Overlapping, and over the edge.
        (
            "\x1b[1;1;3;3;1;2;2;1$v",
            ["aaaaa", "baaab", "cbbbc", "dcccd", "eeeee"],
        ),
        (
            "\x1b[1;1;1;5;1;5;8;1$v",
            ["aaaaa", "bbbbb", "ccccc", "ddddd", "eeeee  aaa"],
        ),
        // From the origin.
        (
            "\x1b[2;4r\x1b[?6h\x1b[1;1;1;2$z",
            ["aaaaa", "  bbb", "ccccc", "ddddd", "eeeee"],
        ),
        // What is protected: DECERA does not look, DECSERA does.
        (
            "\x1b[1;1H\x1b[1\"qP\x1b[1;1;1;3${",
            ["P  aa", "bbbbb", "ccccc", "ddddd", "eeeee"],
        ),
        (
            "\x1b[1;1H\x1b[1\"qP\x1b[0\"q\x1b[1;1;1;3$z",
            ["   aa", "bbbbb", "ccccc", "ddddd", "eeeee"],
        ),
        // A level that has them not.
        (
            "\x1b[63;1\"p\x1b[2;2;3;3$z",
            ["aaaaa", "bbbbb", "ccccc", "ddddd", "eeeee"],
        ),
    ] {
        let model = fed(10, 5, &format!("{ROWS}{input}"));
        assert_eq!(crate::testing::rows(&model), expected, "{input:?}");
    }
}

/// Shows which characters are bold.
fn bold(input: &str) -> Vec<String> {
    let model = fed(10, 5, &format!("{ROWS}{input}"));
    let terminal = &model.terminal;
    let mark = |y: usize, x: usize| {
        let style = terminal
            .screen
            .styles
            .get(terminal.screen.grid.row(y).cell(x).style());
        if style.attributes.contains(Attributes::BOLD) {
            '#'
        } else {
            '.'
        }
    };
    (0..3)
        .map(|y| (0..7).map(|x| mark(y, x)).collect())
        .collect()
}

#[test]
fn attributes_of_rectangles_are_changed() {
    for (input, expected) in [
        (
            "\x1b[2*x\x1b[1;2;2;6;1$r",
            [".#####.", ".#####.", "......."],
        ),
        ("\x1b[1;2;2;3;1$r", [".####..", "###....", "......."]),
        (
            "\x1b[2*x\x1b[1;2;2;3;1$t",
            [".##....", ".##....", "......."],
        ),
        (
            "\x1b[2*x\x1b[1;2;2;3;1$t\x1b[1;1;1;2;1$t",
            ["#.#....", ".##....", "......."],
        ),
        (
            "\x1b[2*x\x1b[1;2;2;3;1$r\x1b[1;1;1;2;0$r",
            ["..#....", ".##....", "......."],
        ),
        (
            "\x1b[2*x\x1b[1;2;2;3;1$r\x1b[1;1;1;2;22$r",
            ["..#....", ".##....", "......."],
        ),
    ] {
        assert_eq!(bold(input), expected, "{input:?}");
    }
}

#[test]
fn decaln_fills_the_screen() {
    let e = "EEEEEEEEEE";
    check(10, 3, "ab\x1b[2;3r\x1b[?6h\x1b#8", &[e, e, e], (0, 0));
    check(10, 3, "\x1b[2;3r\x1b#8\x1b[3;1H\n", &[e, e], (0, 2));
}

#[test]
fn double_lines_have_half_the_columns() {
    check(10, 5, "\x1b#6abcdefg", &["abcde", "fg"], (2, 1));
    check(10, 5, "abcdefg\x1b#6", &["abcdefg"], (4, 0));
    check(
        10,
        5,
        "\x1b#6abcdefg\x1b[H\x1b[99C",
        &["abcde", "fg"],
        (4, 0),
    );
    for (input, size) in [
        ("\x1b#3", LineSize::DoubleHeightTop),
        ("\x1b#4", LineSize::DoubleHeightBottom),
        ("\x1b#6", LineSize::DoubleWidth),
        ("\x1b#6\x1b#5", LineSize::Single),
        ("\x1b#6\x1b[2J", LineSize::Single),
        ("\x1b#6\x1b[?69h", LineSize::Single),
        ("\x1b[?69h\x1b#6", LineSize::Single),
    ] {
        let model = fed(10, 5, input);
        assert_eq!(model.terminal.screen.grid.row(0).size, size, "{input:?}");
    }
}
