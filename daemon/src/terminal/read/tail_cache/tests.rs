//! The text of `terminal/output`, without a terminal.

use super::*;

const SIZE: PlainSize = PlainSize { cols: 40, rows: 6 };

fn tail_of(raw: &[u8], limit: usize, step: usize) -> TailCache {
    let mut cache = TailCache::begin(SIZE, 0, Screen::Primary);
    for part in raw.chunks(step) {
        cache.feed(part, limit);
    }
    cache
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
    let whole = tail_of(&raw, usize::MAX, raw.len()).tail(usize::MAX);
    assert!(!whole.truncated && whole.start == Offset::ZERO);
    for step in [997, 65_536] {
        for limit in [0, 1, 100, 101, 102, 103, 4_096, 100_000] {
            let cache = tail_of(&raw, limit, step);
            assert!(cache.text.len() <= limit + limit / 4 + RING_SLACK_BYTES + 4_096);
            let tail = cache.tail(limit);
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
        let tail = tail_of(&raw, limit, 8_192).tail(limit);
        let start = usize::try_from(tail.start.0).unwrap();
        let from_there = tail_of(&raw[start..], usize::MAX, raw.len()).tail(usize::MAX);
        let difference = from_there.text.len().abs_diff(tail.text.len());
        assert!(difference < 400, "{limit}: {difference}");
    }
    // Text without controls: to the byte.
    let bare = vec![b'x'; 300_000];
    for limit in [0, 1, 99_999] {
        let tail = tail_of(&bare, limit, 4_096).tail(limit);
        assert_eq!(tail.start.0, (bare.len() - limit) as u64);
    }
}

/// A few bytes that make whole rows do not make much memory.
#[test]
fn expansion_is_bounded() {
    let raw = b"a\x1b[65535b\r\n".repeat(100_000);
    let cache = tail_of(&raw, 1_000, raw.len());
    assert!(cache.text.capacity() < 1 << 20, "{}", cache.text.capacity());
}
