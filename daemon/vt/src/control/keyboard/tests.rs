//! Keyboard modes that are set and asked for, by the bytes of the replies.

use crate::testing::check_answers;

#[test]
fn keyboards() {
    check_answers(&[
        ("\x1b[?u", "\x1b[?0u"),
        ("\x1b[>1u\x1b[>31u\x1b[?u", "\x1b[?31u"),
        ("\x1b[>1u\x1b[>31u\x1b[<u\x1b[?u", "\x1b[?1u"),
        ("\x1b[>1u\x1b[<5u\x1b[?u", "\x1b[?0u"),
        ("\x1b[=5u\x1b[=2;2u\x1b[=1;3u\x1b[?u", "\x1b[?6u"),
        ("\x1b[>255u\x1b[?u", "\x1b[?31u"),
        // Each screen has its own.
        (
            "\x1b[>1u\x1b[?1049h\x1b[?u\x1b[?1049l\x1b[?u",
            "\x1b[?0u\x1b[?1u",
        ),
        ("\x1b[>1u\x1bc\x1b[?u", "\x1b[?0u"),
        ("\x1b[?4m", "\x1b[>4;0m"),
        ("\x1b[>4;2m\x1b[?4m", "\x1b[>4;2m"),
        ("\x1b[>4;2m\x1b[>4m\x1b[?4m", "\x1b[>4;0m"),
        ("\x1b[>4;2m\x1b[>4n\x1b[?4m", "\x1b[>4;0m"),
        ("\x1b[>1;1m\x1b[>m\x1b[?1m", "\x1b[>1;2m"),
        ("\x1b[?9m", "\x1b[>9m"),
        // SGR is none of these.
        ("\x1b[>4;1m\x1bP$qm\x1b\\", "\x1bP1$r0m\x1b\\"),
    ]);
}
