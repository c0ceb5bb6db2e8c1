//! Cursor movement, pending wrap, DECSC and DECRC, tabs.

use crate::testing::check_all;

#[test]
fn movement_stops_at_the_edges() {
    check_all(&[
        ("\x1b[3;4H", &[], (3, 2)),
        ("\x1b[99;99H", &[], (9, 4)),
        ("\x1b[0;0H", &[], (0, 0)),
        ("\x1b[3;4f\x1b[99A", &[], (3, 0)),
        ("\x1b[3;4H\x1b[99B", &[], (3, 4)),
        ("\x1b[3;4H\x1b[99C", &[], (9, 2)),
        ("\x1b[3;4H\x1b[99D", &[], (0, 2)),
        ("\x1b[3;4H\x1b[E", &[], (0, 3)),
        ("\x1b[3;4H\x1b[2F", &[], (0, 0)),
        ("\x1b[3;4H\x1b[7G", &[], (6, 2)),
        ("\x1b[3;4H\x1b[7`", &[], (6, 2)),
        ("\x1b[3;4H\x1b[2a", &[], (5, 2)),
        ("\x1b[3;4H\x1b[d", &[], (3, 0)),
        ("\x1b[2;4H\x1b[2e", &[], (3, 3)),
    ]);
}

#[test]
fn margins_stop_only_from_inside() {
    let at = |margins: &str, rest: &str| format!("\x1b[{margins}r{rest}");
    for (input, cursor) in [
        (at("2;4", "\x1b[3;1H\x1b[9A"), (0, 1)),
        (at("2;4", "\x1b[1;1H\x1b[9B"), (0, 3)),
        (at("2;4", "\x1b[5;1H\x1b[9A"), (0, 1)),
        (at("2;4", "\x1b[5;1H\x1b[B"), (0, 4)),
        (at("2;4", "\x1b[2;1H\x1bM\x1b[1;1H\x1bM"), (0, 0)),
        (at("4;2", "\x1b[3;3H"), (2, 2)),
        (at("3;3", "\x1b[3;3H"), (2, 2)),
        // Columns too, where DECLRMM is set.
        ("\x1b[?69h\x1b[3;7s\x1b[1;5H\x1b[9C".into(), (6, 0)),
        ("\x1b[?69h\x1b[3;7s\x1b[1;5H\x1b[9D".into(), (2, 0)),
        ("\x1b[?69h\x1b[3;7s\x1b[1;9H\x1b[9C".into(), (9, 0)),
        ("\x1b[?69h\x1b[3;7s\x1b[1;1H\x1b[D\x1b[C".into(), (1, 0)),
        ("\x1b[?69h\x1b[3;7s\x1b[1;5H\r".into(), (2, 0)),
        ("\x1b[?69h\x1b[3;7s\x1b[1;2H\r".into(), (0, 0)),
        ("\x1b[?69h\x1b[3;7s\x1b[1;5H\x1b[9a".into(), (9, 0)),
    ] {
        crate::testing::check(10, 5, &input, &[], cursor);
    }
}

#[test]
fn origin_mode_counts_from_the_margins() {
    check_all(&[
        ("\x1b[2;4r\x1b[?6h", &[], (0, 1)),
        ("\x1b[2;4r\x1b[?6h\x1b[9;9H", &[], (8, 3)),
        ("\x1b[2;4r\x1b[?6h\x1b[2d", &[], (0, 2)),
        ("\x1b[2;4r\x1b[?6h\x1b[?6l", &[], (0, 0)),
        ("\x1b[?69h\x1b[3;7s\x1b[?6h\x1b[1;9H", &[], (6, 0)),
        ("\x1b[?69h\x1b[3;7s\x1b[?6h\x1b[2G", &[], (3, 0)),
    ]);
}

#[test]
fn a_wrap_waits_for_the_next_character() {
    check_all(&[
        ("0123456789", &["0123456789"], (9, 0)),
        ("0123456789a", &["0123456789", "a"], (1, 1)),
        ("0123456789\ra", &["a123456789"], (1, 0)),
        ("0123456789\na", &["0123456789", "         a"], (9, 1)),
        ("0123456789\x08a", &["01234567a9"], (9, 0)),
        // A tab, SGR and a saved cursor leave it.
        ("0123456789\ta", &["0123456789", "a"], (1, 1)),
        ("0123456789\x1b[1ma", &["0123456789", "a"], (1, 1)),
        ("0123456789\x1b7\x1b[H\x1b8a", &["0123456789", "a"], (1, 1)),
        // Erasing, ICH, and moving nowhere end it.
        ("0123456789\x1b[Ka", &["012345678a"], (9, 0)),
        ("0123456789\x1b[Ca", &["012345678a"], (9, 0)),
        ("0123456789\x1b[@a", &["012345678a"], (9, 0)),
        ("0123456789\x1b[Xa", &["012345678a"], (9, 0)),
        ("\x1b[?7l0123456789ab", &["012345678b"], (9, 0)),
        // Into the next row of the region, and at its end the region scrolls.
        (
            "\x1b[1;2r\x1b[2;1H0123456789a",
            &["0123456789", "a"],
            (1, 1),
        ),
        // Margins wrap as edges do, and a cursor past them goes to the left margin.
        ("\x1b[?69h\x1b[3;5s\x1b[1;3Habcd", &["  abc", "  d"], (3, 1)),
        (
            "\x1b[?69h\x1b[3;5s\x1b[1;8Habcd",
            &["       abc", "  d"],
            (3, 1),
        ),
    ]);
}

#[test]
fn reverse_wrap_goes_back_over_wrapped_lines() {
    check_all(&[
        ("0123456789ab\x08\x08\x08", &["0123456789", "ab"], (0, 1)),
        (
            "\x1b[?45h0123456789ab\x08\x08\x08",
            &["0123456789", "ab"],
            (9, 0),
        ),
        // Not over a line's end, except with 1045, which goes from the top to the bottom too.
        ("\x1b[?45ha\r\nb\x08\x08", &["a", "b"], (0, 1)),
        ("\x1b[?1045ha\r\nb\x08\x08", &["a", "b"], (9, 0)),
        ("\x1b[?1045ha\x08\x08", &["a"], (9, 4)),
        ("\x1b[?45h0123456789\x08", &["0123456789"], (9, 0)),
        ("\x1b[?45h0123456789a\x1b[12D", &["0123456789", "a"], (0, 0)),
        (
            "\x1b[?45;7l\x1b[?45h0123456789\x08",
            &["0123456789"],
            (8, 0),
        ),
    ]);
}

#[test]
fn decrc_restores_all_that_decsc_saved() {
    check_all(&[
        ("\x1b[3;3H\x1b7\x1b[H\x1b8", &[], (2, 2)),
        ("\x1b[3;3H\x1b[s\x1b[H\x1b[u", &[], (2, 2)),
        // Never saved: home, without origin mode or sets.
        ("\x1b(0\x1b[3;3H\x1b8q", &["q"], (1, 0)),
        ("\x1b(0\x1b7\x1b(B\x1b8q", &["─"], (1, 0)),
        ("\x0e\x1b)0\x1b7\x0f\x1b8q", &["─"], (1, 0)),
        // Origin mode, and the place inside margins that changed.
        ("\x1b[?6h\x1b7\x1b[2;4r\x1b[?6l\x1b8", &[], (0, 1)),
        // Each screen has its own.
        (
            "\x1b[2;2H\x1b7\x1b[?47h\x1b[4;4H\x1b7\x1b[?47l\x1b8",
            &[],
            (1, 1),
        ),
    ]);
}

#[test]
fn tabs() {
    check_all(&[
        ("\tx", &["        x"], (9, 0)),
        ("\t\tx", &["         x"], (9, 0)),
        ("\x1b[4G\x1bH\r\tx", &["   x"], (4, 0)),
        ("\x1b[9G\x1b[g\r\tx", &["         x"], (9, 0)),
        ("\x1b[3g\tx", &["         x"], (9, 0)),
        ("\x1b[3g\x1b[?5W\tx", &["        x"], (9, 0)),
        ("\x1b[10G\x1b[Z", &[], (8, 0)),
        ("\x1b[10G\x1b[9Z", &[], (0, 0)),
        ("\x1b[4G\x1bH\x1b[8G\x1bH\r\x1b[2I", &[], (7, 0)),
        ("\x1b[?69h\x1b[1;6s\t", &[], (5, 0)),
        ("\x1b[?69h\x1b[4;10s\x1b[?6h\x1b[4G\x1b[9Z", &[], (3, 0)),
    ]);
}
