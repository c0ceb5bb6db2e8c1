//! Control functions, one by one.

use super::*;

#[test]
fn text_without_controls_is_unchanged() {
    let long = "x".repeat(1_000);
    let wide = "漢字".repeat(100);
    for raw in [
        "",
        "a",
        "a\n",
        "a\n\n\nb",
        "\n",
        "  a  \n  ",
        "tab\there\t\n",
        "\t\tdeep\n",
        "é✓😀\n",
        "e\u{301}\u{323}x",
        "\u{feff}bom\n",
        "\u{301}mark first",
        "👩‍👩‍👧‍👦 family\n",
        "न\u{94d}ते\n",
        &long,
        &wide,
        "a\u{200b}b\u{fe0f}",
    ] {
        assert_eq!(text(raw), raw, "{raw:?}");
        let crlf = raw.replace('\n', "\r\n");
        assert_eq!(text(&crlf), raw, "{crlf:?}");
    }
    let tabbed = "0123456789\t".repeat(40);
    assert_eq!(text(&tabbed), tabbed);
}

#[test]
fn a_redrawn_line_is_its_last_state() {
    check(&[
        ("abc\rX", "Xbc"),
        ("10%\r20%\r100%\r\n", "100%\n"),
        ("end\r", "end"),
        ("abc\x08\x08XY", "aXY"),
        ("\x08\x08a", "a"),
        ("a\x08ab\x08b", "ab"),
        ("_\x08a_\x08b", "ab"),
        ("long line\rdone     \r\n", "done\n"),
        ("done   \r\n", "done   \n"),
        ("abc\r   \rde\n", "de\n"),
        ("abc\r\x1b[Kde", "de"),
        ("abc\x1b[2K\rde", "de"),
        (
            "abcdef\x1b[3D\x1b[1Kx",
            "    ef".replacen("    ", "   x", 1).as_str(),
        ),
        ("abc\x1b[5Cx\x1b[1D\x1b[K\n", "abc\n"),
        ("abcdef\r\x1b[2X", "  cdef"),
        ("abcdef\r\x1b[2P", "cdef"),
        ("abcdef\r\x1b[2@", "  abcdef"),
        ("abc\x1b[2G#\x1b[5`!", "a#c !"),
        ("ab\x1b[3bc", "abbbbc"),
        ("\x07\x05\0\x7fa", "a"),
        ("a\x0bb\x0cc\x1bEd", "a\nb\nc\nd"),
        ("abcdefghij\r\tX", "abcdefghXj"),
        ("a\tb\r  \x1b[6C", "        b"),
    ]);
}

#[test]
fn sequences_leave_no_text() {
    check(&[
        ("\x1b[1;31mred\x1b[0m\n", "red\n"),
        ("\x1b[38:2::1:2:3mx\x1b[4:3my", "xy"),
        ("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", "ab"),
        (
            "\x1bP+q54\x1b\\a\x1b_Gx\x1b\\b\x1b^p\x1b\\c\x1bXs\x1b\\d",
            "abcd",
        ),
        ("\x1b]0;broken\x1b[1mA", "A"),
        ("\x1b[1\x08mA", "A"),
        ("\x1b[1\x18A\x1b]0;t\x1aB", "AB"),
        ("\x1b[2 q\x1b[>4;2m\x1b[?2004hx\x1b[?25l\x1b=\x1b>", "x"),
        ("\x1b[1;<mA\x1b[\u{e9}mB", "AB"),
        ("\x1b(0lqqk\x1b(B\n\x1b)0\x0ex\x0fx", "┌──┐\n│x"),
        ("a\u{85}b\u{9b}31mc", "ab31mc"),
        ("a\x1b[", "a"),
        ("a\x1b]52;c;", "a"),
    ]);
}

#[test]
fn bad_bytes_are_replaced_part_by_part() {
    let table: [(&[u8], &str); 6] = [
        (b"a\xffb", "a\u{fffd}b"),
        (b"\xc3(", "\u{fffd}("),
        (b"\xed\xa0\x80x", "\u{fffd}\u{fffd}\u{fffd}x"),
        (b"\xf0\x9f\x98z", "\u{fffd}z"),
        (b"ok\xe2\x9c", "ok\u{fffd}"),
        (b"ok\xe2\x9c\n", "ok\u{fffd}\n"),
    ];
    for (raw, want) in table {
        assert_eq!(text_at(SIZE, raw), want, "{}", raw.escape_ascii());
    }
}

#[test]
fn rows_above_are_redrawn() {
    check(&[
        (
            "one\r\ntwo\r\n\x1b[2A\x1b[2KONE\r\n\x1b[2KTWO\r\n",
            "ONE\nTWO\n",
        ),
        ("one\r\ntwo\x1b[Fx", "xne\ntwo"),
        ("one\r\n\x1b[A\x1b[3Cx\x1b[Ey", "onex\ny"),
        ("a\r\nb\x1bM\x1b[2K\rA\x1bDB", "A\nbB"),
        ("\x1b7a\r\nb\x1b8X", "X\nb"),
        ("\x1b[sa\r\nb\x1b[uX", "X\nb"),
        ("\x1b[2;3Hx\x1b[1;1Hy", "y\n  x"),
        ("\x1b[3dx", "\n\nx"),
        ("a\r\nb\r\nc\x1b[2A\x1b[J\r", "a"),
        ("a\r\nb\r\nc\x1b[1A\r\x1b[J", "a\n"),
        ("a\r\nb\r\nc\x1b[2;1H\x1b[Lx", "a\nx\nb\nc"),
        ("a\r\nb\r\nc\x1b[2;1H\x1b[M", "a\nc"),
        ("a\r\n\r\n\r\n\x1b[3A", "a\n"),
    ]);
}

#[test]
fn rows_are_final_when_they_leave_at_the_top() {
    let size = PlainSize { cols: 10, rows: 3 };
    let raw = b"1\r\n2\r\n3\r\n4\x1b[9AX";
    assert_eq!(text_at(size, raw), "1\n2X\n3\n4");
    assert_eq!(text_at(size, b"1\r\n2\r\n3\x1b[S4"), "1\n2\n3\n 4");
    assert_eq!(text_at(size, b"1\r\n2\x1b[Tx"), "\n1x\n2");
    // The margins: what scrolls out below a fixed top is gone, as on the terminal.
    assert_eq!(text_at(size, b"\x1b[1;2ra\r\nb\r\nc"), "a\nb\nc");
}

#[test]
fn a_wrapped_line_is_one_line() {
    let size = PlainSize { cols: 5, rows: 4 };
    let table: [(&str, &str); 7] = [
        ("abcdefgh\r\nx", "abcdefgh\nx"),
        ("abcde\r\nx", "abcde\nx"),
        ("abcde\x1b[K\r\nx", "abcde\nx"),
        ("abcdefgh\rX", "abcdeXgh"),
        ("abcdefg\x1b[A\rXYZ\x1b[B", "XYZdefg"),
        ("漢漢漢", "漢漢漢"),
        ("\x1b[?7labcdefgh", "abcdh"),
    ];
    for (raw, want) in table {
        assert_eq!(text_at(size, raw.as_bytes()), want, "{raw:?}");
    }
    // A progress line that wraps is redrawn two rows up.
    let raw = "working 10%\r\x1b[2A\x1b[Jworking 20%\r\x1b[2A\x1b[Jworking 30%\r\n";
    assert_eq!(text_at(size, raw.as_bytes()), "working 30%\n");
}

#[test]
fn overwriting_half_a_wide_character_erases_it() {
    check(&[
        ("漢字\rx", "x 字"),
        ("漢字\r\x1b[Cx", " x字"),
        ("ab漢\x1b[3D漢", "a漢"),
        ("漢字\r\x1b[X", "  字"),
        ("e\u{301}a\rx", "xa"),
        ("漢\u{301}字\r\x1b[2Cx", "漢\u{301}x"),
    ]);
}

#[test]
fn clearing_loses_no_text() {
    check(&[
        ("before\r\n\x1b[H\x1b[2Jafter", "before\nafter"),
        ("before\x1b[2J\x1b[Hafter", "before\nafter"),
        ("before\r\n\x1b[H\x1b[Jafter", "before\nafter"),
        ("before\r\n\x1b[H\x1b[m\x1b[Jafter", "before\nafter"),
        ("before\r\n\x1b[H\x1b[2J\x1b[3Jafter", "before\nafter"),
        ("before\x1bcafter", "before\nafter"),
        ("\x1b[H\x1b[2J\x1b[H\x1b[2Jonly", "only"),
        ("a\r\nb\x1b[H\x1b[2J", "a\nb\n"),
    ]);
}

#[test]
fn the_alternate_screen_is_left_out() {
    check(&[
        (
            "$ vim\r\n\x1b[?1049h\x1b[2J\x1b[5;5Htilde\r\n~\x1b[?1049l$ ",
            "$ vim\n$ ",
        ),
        ("a\x1b[?47hb\x1b[?47lc", "ac"),
        ("a\x1b[?1047hb\x1b[?25;1047lc", "ac"),
        ("a\x1b[?1049h\x1bcb", "a\nb"),
        ("a\x1b[?1049hnever left", "a"),
        ("a\x1b[?1049lb", "ab"),
    ]);
}
