//! What is kept for `terminal/output`, without a terminal.

use super::*;

const SIZE: PlainSize = PlainSize { cols: 40, rows: 6 };

fn kept(raw: &[u8], limit: usize, step: usize) -> Kept {
    let mut kept = Kept::begin(SIZE, 0, Screen::Primary);
    for part in raw.chunks(step) {
        kept.feed(part, limit);
    }
    kept
}

fn lines() -> Vec<u8> {
    (0..20_000)
        .flat_map(|n| format!("line {n} é漢 \x1b[31mred\x1b[m\r\n").into_bytes())
        .collect()
}

/// However it came, and whatever was cut before: the last bytes of the text, at a character.
#[test]
fn the_tail_is_the_end_of_the_text() {
    let raw = lines();
    let whole = kept(&raw, usize::MAX, raw.len()).tail(usize::MAX);
    assert!(!whole.truncated && whole.start == Offset::ZERO);
    for step in [997, 65_536] {
        for limit in [0, 1, 100, 101, 102, 103, 4_096, 100_000] {
            let kept = kept(&raw, limit, step);
            assert!(kept.text.len() <= limit + limit / 4 + RING_SLACK_BYTES + 4_096);
            let tail = kept.tail(limit);
            assert!(tail.text.len() <= limit && tail.text.len() + 3 >= limit);
            assert!(
                whole.text.ends_with(&tail.text) && tail.truncated,
                "{limit}"
            );
            assert_eq!(tail.end.0, raw.len() as u64);
        }
    }
}

/// The offset is near the place: within what lies between two anchors.
#[test]
fn the_start_is_where_the_text_came_from() {
    let raw = lines();
    for limit in [50, 500, 5_000, 50_000] {
        let tail = kept(&raw, limit, 8_192).tail(limit);
        let start = usize::try_from(tail.start.0).unwrap();
        let from_there = kept(&raw[start..], usize::MAX, raw.len()).tail(usize::MAX);
        let difference = from_there.text.len().abs_diff(tail.text.len());
        assert!(difference < 400, "{limit}: {difference}");
    }
    // Text without controls: to the byte.
    let bare = vec![b'x'; 300_000];
    for limit in [0, 1, 99_999] {
        let tail = kept(&bare, limit, 4_096).tail(limit);
        assert_eq!(tail.start.0, (bare.len() - limit) as u64);
    }
}

/// A few bytes that make whole rows do not make much memory.
#[test]
fn expansion_is_bounded() {
    let raw = b"a\x1b[65535b\r\n".repeat(100_000);
    let kept = kept(&raw, 1_000, raw.len());
    assert!(kept.text.capacity() < 1 << 20, "{}", kept.text.capacity());
}

#[test]
fn the_last_lines_are_counted_in_plain_text() {
    let raw = b"one\r\n10%\r20%\r100%\r\n\x1b[1mthree\x1b[m\r\nfo";
    for (lines, text, start) in [
        (0, "", 35),
        (1, "fo", 33),
        (2, "three\nfo", 19),
        (3, "100%\nthree\nfo", 5),
        (4, "one\n100%\nthree\nfo", 0),
        (9, "one\n100%\nthree\nfo", 0),
    ] {
        let found = last_lines(raw, Offset::ZERO, Screen::Primary, SIZE, lines);
        assert_eq!((&*found.text, found.start.0), (text, start), "{lines}");
        assert_eq!(found.is_enough, lines < 4, "{lines}");
    }
}

#[test]
fn readers_states_are_few_and_found_by_offset() {
    let readers = Readers::default();
    for offset in 0..10 {
        readers.keep(
            None,
            Offset(offset),
            PlainText::at(SIZE, offset, Screen::Primary),
        );
    }
    assert_eq!(readers.states().len(), KEPT_READERS);
    assert_eq!(
        readers.at((None, Offset(9))).map(|plain| plain.fed()),
        Some(9)
    );
    assert!(readers.at((None, Offset(1))).is_none());
    let other = (Some(OutputStream::Stderr), Offset(9));
    assert!(readers.at(other).is_none());
    readers.forget();
    assert!(readers.at((None, Offset(9))).is_none());
}
