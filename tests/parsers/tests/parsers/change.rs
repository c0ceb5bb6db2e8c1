//! Changes to seeds, as a fuzzer makes them. The same number, the same change.

/// Pieces that matter to one parser or another.
const PIECES: [&[u8]; 40] = [
    b"\0",
    b"\n",
    b"\r",
    b"\t",
    b"\x1b",
    b"\x1b[",
    b"\x07",
    b"\x7f",
    b" ",
    b"'",
    b"\"",
    b"\\",
    b"$(",
    b"`",
    b"${",
    b"<<E\n",
    b";",
    b"|",
    b"&&",
    b"#",
    b"{",
    b"}",
    b"[",
    b"]",
    b"(",
    b")",
    b"=",
    b":",
    b",",
    b"-",
    b"\xff",
    b"\xff\xff\xff\xff",
    b"\0\0\0\0",
    b"\xc3",
    "é\u{301}".as_bytes(),
    b"1e999",
    b"-1",
    b"null",
    b"\\u0000",
    b"99999999999999999999",
];

/// Marsaglia's xorshift64: the same seed, the same numbers.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `end`, 0 where that is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 16) % end.max(1) as u64).unwrap_or(0)
    }
}

/// One of the seeds with some changes.
pub(crate) fn changed(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = seeds[random.below(seeds.len())].clone();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(12)).min(bytes.len());
        match random.below(7) {
            0 if at < bytes.len() => bytes[at] = u8::try_from(random.below(256)).unwrap_or(0),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let again = bytes[at..end].to_vec();
                bytes.splice(at..at, again);
            }
            3 => bytes.truncate(at),
            4 => {
                let other = &seeds[random.below(seeds.len())];
                let from = random.below(other.len() + 1);
                bytes.splice(at.., other[from..].iter().copied());
            }
            _ => {
                let piece = PIECES[random.below(PIECES.len())];
                bytes.splice(at..at, piece.iter().copied());
            }
        }
    }
    bytes
}
