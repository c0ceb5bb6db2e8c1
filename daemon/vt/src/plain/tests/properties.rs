//! Properties for any input.

use super::*;
use crate::plain::Until;

/// xorshift64: a small generator, so that a failure repeats.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    /// A mix of what programs write, and noise.
    fn output(&mut self, pieces: usize) -> Vec<u8> {
        let mut raw = Vec::new();
        for _ in 0..pieces {
            let number = self.below(30);
            match self.below(20) {
                0..=4 => raw.extend_from_slice(&b"some text and more of it, to the end"[number..]),
                5..=7 => raw.extend_from_slice(b"\r\n"),
                8 => raw.push(b'\r'),
                9 => raw.extend_from_slice("é漢😀e\u{301}\u{200d}\t".as_bytes()),
                10..=14 => {
                    let last = b"ABCDEFGHJKLMPSTXZ@`abdefhlmrsu"[number];
                    let (first, second) = (self.below(12), self.below(100));
                    raw.extend_from_slice(format!("\x1b[{first};{second}").as_bytes());
                    raw.push(last);
                }
                15 => raw.extend_from_slice(b"\x1b]0;title\x07\x1bPq\x1b\\"),
                16 => {
                    let last = if number < 20 { 'l' } else { 'h' };
                    raw.extend_from_slice(format!("\x1b[?1049{last}").as_bytes());
                }
                17 => raw.extend_from_slice(&[0x1b, b"78DEMc()"[number % 8], b'0']),
                18 => raw.push(0x08),
                _ => raw.extend(self.next().to_le_bytes()),
            }
        }
        raw
    }

    fn size(&mut self) -> PlainSize {
        let cols = u16::try_from(self.below(40)).unwrap();
        let rows = u16::try_from(self.below(12)).unwrap();
        PlainSize { cols, rows }
    }
}

#[test]
fn any_split_gives_the_same_text() {
    let mut random = Random(0x5eed);
    for round in 0..400 {
        let (raw, size) = (random.output(60), random.size());
        let whole = text_at(size, &raw);
        let mut plain = PlainText::new(size);
        let mut got = String::new();
        let mut rest = &raw[..];
        while !rest.is_empty() {
            let (head, tail) = rest.split_at(1 + random.below(rest.len().min(9)));
            plain.feed(head, &mut |part| got.push_str(part));
            assert_eq!(plain.fed(), (raw.len() - tail.len()) as u64);
            let soon = got.clone() + &plain.pending();
            assert!(soon.len() < 1 << 20, "round {round}");
            rest = tail;
        }
        got += &plain.finish();
        assert_eq!(got, whole, "round {round}: {}", raw.escape_ascii());
    }
}

#[test]
fn emitted_and_pending_text_is_all_text() {
    let mut random = Random(77);
    for _ in 0..300 {
        let (raw, size) = (random.output(40), random.size());
        let cut = random.below(raw.len() + 1);
        // A cut inside a character would be finished differently.
        let head = &raw[..cut];
        let mut plain = PlainText::new(size);
        let mut got = String::new();
        plain.feed(head, &mut |part| got.push_str(part));
        if plain.part.is_empty() {
            assert_eq!(got + &plain.pending(), text_at(size, head));
        }
    }
}

/// A reader who follows output without upward movement gets exactly its text, whenever it asks.
#[test]
fn a_follower_gets_each_plain_line_once() {
    let mut random = Random(4711);
    for _ in 0..200 {
        let mut raw = Vec::new();
        for _ in 0..random.below(80) {
            match random.below(4) {
                0 => raw.extend_from_slice(b"\r\n"),
                1 => raw.extend_from_slice("é漢\x1b[1m".as_bytes()),
                _ => raw.extend_from_slice(&b"words of some length"[random.below(20)..]),
            }
        }
        let size = random.size();
        let mut plain = PlainText::new(size);
        let mut got = String::new();
        for part in raw.chunks(1 + random.below(20)) {
            plain.advance(part);
            let untils = [Until::Lines, Until::Lines, Until::Settled];
            plain.give(untils[random.below(3)]);
            got += &plain.take().text;
            assert!(plain.next() <= plain.fed());
        }
        plain.give(Until::Final);
        got += &plain.take().text;
        assert_eq!(got, text_at(size, &raw), "{size:?} {}", raw.escape_ascii());
    }
}

/// For any output, following ends, emits text, and never goes back.
#[test]
fn following_anything_never_fails() {
    let mut random = Random(99);
    for _ in 0..300 {
        let (raw, size) = (random.output(60), random.size());
        let mut plain = PlainText::new(size);
        let mut next = 0;
        for part in raw.chunks(1 + random.below(30)) {
            plain.advance(part);
            let untils = [Until::Lines, Until::Settled, Until::Final];
            plain.give(untils[random.below(3)]);
            plain.take();
            assert!(plain.next() <= plain.fed());
            next = next.max(plain.next());
            if random.below(10) == 0 {
                plain.resize(random.size());
            }
        }
        plain.give(Until::Final);
        plain.take();
        plain.give(Until::Final);
        assert_eq!(plain.take().text, "");
    }
}

#[test]
fn memory_is_bounded() {
    let mut plain = PlainText::new(SIZE);
    let mut length = 0;
    let mut feed = |bytes: &[u8]| plain.feed(bytes, &mut |part| length += part.len());
    let block = vec![b'y'; 65_536];
    // A string without end, a line without end, marks without end, parameters without end.
    feed(b"\x1b]0;");
    (0..160).for_each(|_| feed(&block));
    feed(b"\x07");
    (0..16).for_each(|_| feed(&block));
    feed(b"\r\n");
    feed("\u{301}".repeat(1_000_000).as_bytes());
    feed(b"a");
    feed("\u{301}".repeat(1_000_000).as_bytes());
    feed("\rb\u{301}".repeat(100_000).as_bytes());
    feed(b"\x1b[");
    feed("65535;".repeat(100_000).as_bytes());
    feed(
        b"m\x1b[65535;65535H\x1b[65535b\x1b[65535@\x1b[65535L\x1b[65535S\x1b[65535T\x1b[65535Iend",
    );
    let pending = plain.pending();
    assert!(pending.len() < 64 << 10, "{}", pending.len());
    assert!(
        (16 * 65_536 - 80 * 24..17 * 65_536).contains(&length),
        "{length}"
    );
}
