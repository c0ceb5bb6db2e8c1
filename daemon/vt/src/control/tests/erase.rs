//! ED, EL, ECH, DECSED, DECSEL, and protection.

use super::ROWS;
use crate::testing::{check, check_all, fed};

#[test]
fn displays_and_lines() {
    for (input, expected, cursor) in [
        ("\x1b[3;3H\x1b[J", vec!["aaaaa", "bbbbb", "cc"], (2, 2)),
        (
            "\x1b[3;3H\x1b[1J",
            vec!["", "", "   cc", "ddddd", "eeeee"],
            (2, 2),
        ),
        ("\x1b[3;3H\x1b[2J", vec![], (2, 2)),
        (
            "\x1b[3;3H\x1b[3J",
            vec!["aaaaa", "bbbbb", "ccccc", "ddddd", "eeeee"],
            (2, 2),
        ),
        (
            "\x1b[3;3H\x1b[K",
            vec!["aaaaa", "bbbbb", "cc", "ddddd", "eeeee"],
            (2, 2),
        ),
        (
            "\x1b[3;3H\x1b[1K",
            vec!["aaaaa", "bbbbb", "   cc", "ddddd", "eeeee"],
            (2, 2),
        ),
        (
            "\x1b[3;3H\x1b[2K",
            vec!["aaaaa", "bbbbb", "", "ddddd", "eeeee"],
            (2, 2),
        ),
        (
            "\x1b[3;3H\x1b[2X",
            vec!["aaaaa", "bbbbb", "cc  c", "ddddd", "eeeee"],
            (2, 2),
        ),
        // Margins do not limit them.
        ("\x1b[2;3r\x1b[1;1H\x1b[J", vec![], (0, 0)),
    ] {
        check(10, 5, &format!("{ROWS}{input}"), &expected, cursor);
    }
}

#[test]
fn wide_characters_are_not_split() {
    check_all(&[
        ("あいう\x1b[2G\x1b[K", &[], (1, 0)),
        ("あいう\x1b[3G\x1b[X", &["あ  う"], (2, 0)),
        ("あいう\x1b[3G\x1b[1K", &["    う"], (2, 0)),
    ]);
}

#[test]
fn decsca_protects_from_selective_erasing_alone() {
    check_all(&[
        ("a\x1b[1\"qb\x1b[2\"qc\x1b[?2J", &[" b"], (3, 0)),
        ("a\x1b[1\"qb\x1b[2\"qc\x1b[?2K", &[" b"], (3, 0)),
        ("a\x1b[1\"qb\x1b[2\"qc\x1b[?1K", &[" b"], (3, 0)),
        ("a\x1b[1\"qb\x1b[2\"qc\x1b[2J", &[], (3, 0)),
        ("a\x1b[1\"qb\x1b[\"qc\x1b[2K", &[], (3, 0)),
        ("a\x1b[1\"qb\x1b[2\"qc\r\x1b[9X", &[], (0, 0)),
    ]);
}

#[test]
fn spa_protects_from_all_erasing() {
    check_all(&[
        ("a\x1bVb\x1bWc\x1b[2J", &[" b"], (3, 0)),
        ("a\x1bVb\x1bWc\x1b[2K", &[" b"], (3, 0)),
        ("a\x1bVb\x1bWc\r\x1b[9X", &[" b"], (0, 0)),
        ("a\x1bVb\x1bWc\x1b[?2J", &[" b"], (3, 0)),
        // Until DECSCA protects in its own way.
        ("a\x1bVb\x1bWc\x1b[2\"q\x1b[2J", &[], (3, 0)),
    ]);
}

#[test]
fn erased_cells_keep_the_background() {
    use termd_proto::screen::Color;
    for input in [
        "\x1b[1;41mab\x1b[2K",
        "\x1b[1;41m\x1b[2J",
        "\x1b[1;41m\x1b[9X",
        "\x1b[1;41m\x1b[3@",
        "ab\r\x1b[41m\x1b[9P",
        "\x1b[41m\x1b[L",
        "\x1b[41m\x1b[5S",
        "\x1b[41m\x1b[T",
        "\x1b[41m\x1b[5;1H\n\x1b[H\x1bM",
    ] {
        let model = fed(10, 5, input);
        let cell = model.terminal.screen.grid.row(0).cell(1);
        let style = model.terminal.screen.styles.get(cell.style());
        let blank = model.terminal.screen.styles.get(cell.style()).erased();
        assert!(cell.is_blank(), "{input:?}");
        assert_eq!(style.background, Color::Indexed(1), "{input:?}");
        assert_eq!(style, blank, "{input:?}: nothing but the background");
    }
}

#[test]
fn ed_3_forgets_the_scrollback() {
    let mut model = fed(10, 2, "a\r\nb\r\nc\r\nd");
    assert_eq!(model.terminal.screen.scrollback.len(), 2);
    model.feed(b"\x1b[3J");
    assert_eq!(model.terminal.screen.scrollback.len(), 0);
}
