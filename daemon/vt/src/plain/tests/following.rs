//! What a reader who follows gets, and when.

use super::*;
use crate::plain::{Screen, Until, first_switch, last_switch};

/// Feeds, emits, and compares the text and the offset to go on from.
fn steps(table: &[(&str, Until, &str)]) {
    let mut plain = PlainText::new(SIZE);
    for (raw, until, want) in table {
        plain.advance(raw.as_bytes());
        plain.give(*until);
        assert_eq!(plain.take().text, *want, "{raw:?} of {table:?}");
    }
}

use Until::{Final, Lines, Settled};

#[test]
fn lines_come_when_they_are_ended() {
    steps(&[
        ("one", Lines, ""),
        (" line\r", Lines, ""),
        ("\n", Lines, "one line\n"),
        ("two\r\nthree\r\nfou", Lines, "two\nthree\n"),
        ("r", Final, "four"),
        ("", Final, ""),
    ]);
}

#[test]
fn a_prompt_is_emitted_once_when_the_terminal_is_quiet() {
    steps(&[
        ("Password: ", Lines, ""),
        ("", Settled, "Password: "),
        ("", Settled, ""),
        ("\r\n", Lines, "\n"),
        ("$ ", Settled, "$ "),
        ("ls", Settled, "ls"),
        (" -l\r\nout\r\n", Lines, " -l\nout\n"),
        ("", Final, ""),
    ]);
}

#[test]
fn an_emitted_progress_bar_is_emitted_again_when_it_ends() {
    steps(&[
        ("10%", Settled, "10%"),
        ("\r20%", Settled, ""),
        ("\r30%", Settled, ""),
        ("\r100%\r\n", Lines, "\n100%\n"),
        ("next\r\n", Lines, "next\n"),
    ]);
}

#[test]
fn a_redraw_is_withheld_until_it_ends() {
    steps(&[
        ("a: 1\r\nb: 1\r\n\x1b[2A", Lines, ""),
        ("\x1b[2Ka: 2\r\n\x1b[2Kb: 2\r\n", Lines, ""),
        ("\x1b[2A\x1b[2Ka: 3\r\n\x1b[2Kb: 3\r\n", Lines, ""),
        ("", Settled, "a: 3\nb: 3\n"),
        ("", Final, ""),
    ]);
}

#[test]
fn a_row_that_changed_after_it_was_emitted_comes_once_more() {
    steps(
        &[
            ("a: 1\r\nb: 1\r\nc: 1\r\n", Lines, "a: 1\nb: 1\nc: 1\n"),
            ("\x1b[2A\x1b[2Kb: 2\r\x1b[2B", Lines, ""),
            ("\x1b[2A\x1b[2Kb: 3\r\x1b[2B", Settled, ""),
            ("end\r\n", Final, "end\n"),
        ][..3],
    );
    let mut plain = PlainText::new(SIZE);
    plain.advance(b"a\r\nb\r\n");
    plain.give(Lines);
    plain.advance(b"\x1b[2A\x1b[2KA\r\x1b[2B");
    plain.give(Final);
    assert_eq!(plain.take().text, "a\nb\nA\n");
}

#[test]
fn a_withheld_row_is_emitted_when_it_leaves_at_the_top() {
    let size = PlainSize { cols: 20, rows: 3 };
    let mut plain = PlainText::new(size);
    plain.advance(b"1\r\n2\r\n\x1b[A");
    plain.give(Lines);
    assert_eq!(plain.take().text, "1\n");
    plain.advance(b"\r\n3\r\n4\r\n");
    plain.give(Lines);
    assert_eq!(
        plain.take().text,
        "2\n",
        "the others are rows that were moved over"
    );
    plain.give(Settled);
    assert_eq!(plain.take().text, "3\n4\n");
}

#[test]
fn a_wrapped_line_is_emitted_whole() {
    let mut plain = PlainText::new(PlainSize { cols: 4, rows: 5 });
    let mut step = |raw: &[u8], until| {
        plain.advance(raw);
        plain.give(until);
        plain.take().text
    };
    assert_eq!(step(b"abcdef", Lines), "");
    assert_eq!(step(b"gh\r\n", Lines), "abcdefgh\n");
    assert_eq!(step(b"abcdef", Settled), "abcdef");
    assert_eq!(step(b"gh\r\nx", Settled), "gh\nx");
}

#[test]
fn the_alternate_screen_settles_what_was_before() {
    steps(&[
        ("$ vi", Lines, ""),
        ("\x1b[?1049h\x1b[Hfull", Lines, "$ vi"),
        ("screen\r\n\r\n", Lines, ""),
        ("\x1b[?1049l\r\nback\r\n", Lines, "\nback\n"),
    ]);
}

/// A new `PlainText` emits the rest from the offset at which a reader goes on.
#[test]
fn reading_resumes_from_any_next() {
    let raw: String = (0..200)
        .map(|n| format!("\x1b[3{}mline {n}\x1b[m of the output, é漢\r\n", n % 8))
        .collect();
    let raw = raw.as_bytes();
    let whole = text_at(SIZE, raw);
    for step in [1, 7, 64, 333, 5_000] {
        let mut got = String::new();
        let (mut from, mut to) = (0, 0);
        while to < raw.len() {
            to = (to + step).min(raw.len());
            // Kept for nobody: each time from the output before alone.
            let mut plain = PlainText::resume(SIZE, 0, Screen::Primary, &raw[..from]);
            plain.advance(&raw[from..to]);
            plain.give(if to == raw.len() { Final } else { Lines });
            got += &plain.take().text;
            from = usize::try_from(plain.next()).unwrap();
            to = to.max(from);
        }
        assert!(got == whole, "in steps of {step}");
    }
}

#[test]
fn next_is_before_what_is_unfinished() {
    let table: [(&[u8], u64); 7] = [
        (b"", 0),
        (b"abc", 0),
        (b"abc\r\n", 5),
        (b"abc\r\nde", 5),
        (b"abc\r\n\x1b[3", 5),
        (b"abc\r\n\xe2\x9c", 5),
        (b"abc\r\n\x1b[?1049h full screen", 25),
    ];
    for (raw, next) in table {
        let mut plain = PlainText::new(SIZE);
        plain.advance(raw);
        plain.give(Lines);
        assert_eq!(plain.next(), next, "{}", raw.escape_ascii());
    }
}

#[test]
fn anchors_say_where_text_came_from() {
    let mut plain = PlainText::new(SIZE);
    let line = format!("\x1b[1m{}\x1b[m\r\n", "z".repeat(70));
    for _ in 0..100 {
        plain.advance(line.as_bytes());
    }
    let out = plain.take();
    assert!(out.anchors.len() > 10);
    for anchor in out.anchors {
        assert_eq!(
            anchor.text / 71,
            usize::try_from(anchor.raw).unwrap() / line.len()
        );
        assert_eq!(anchor.raw % line.len() as u64, 0);
    }
}

#[test]
fn switches_of_screens_are_found_anywhere() {
    let table: [(&str, Option<Screen>, Option<Screen>); 6] = [
        ("plain \x1b[1m \x1b[?25l", None, None),
        (
            "a\x1b[?1049hb",
            Some(Screen::Alternate),
            Some(Screen::Alternate),
        ),
        (
            "\x1b[?25;47lx\x1b[?1047h",
            Some(Screen::Primary),
            Some(Screen::Alternate),
        ),
        (
            "\x1b]0;open\x1b[?1049l",
            Some(Screen::Primary),
            Some(Screen::Primary),
        ),
        ("\x1b[?1049", None, None),
        ("\x1b[?10491h\x1b[1049h", None, None),
    ];
    for (raw, first, last) in table {
        assert_eq!(first_switch(raw.as_bytes()), first, "{raw:?}");
        assert_eq!(last_switch(raw.as_bytes()), last, "{raw:?}");
    }
}
