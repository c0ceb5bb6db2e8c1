//! Finding runs of one kind of bytes, many bytes at a time.

use memchr::memchr;

const DEL: u8 = 0x7f;

/// Counts the bytes of printable ASCII at the front.
#[inline]
pub(crate) fn ascii_run(bytes: &[u8]) -> usize {
    const BLOCK: usize = 32;
    // Between escape sequences there are a few bytes of text; a line has many.
    let mut at = 0;
    if let Some(word) = bytes.first_chunk() {
        match not_ascii(*word) {
            0 => at = size_of::<u64>(),
            other => return (other.trailing_zeros() / u8::BITS) as usize,
        }
    }
    for block in bytes[at..].chunks_exact(BLOCK) {
        let other = block.iter().fold(0_u8, |other, byte| {
            other | u8::from(byte.wrapping_sub(0x20) >= 0x5f)
        });
        if other != 0 {
            break;
        }
        at += BLOCK;
    }
    while let Some(word) = bytes[at..].first_chunk() {
        match not_ascii(*word) {
            0 => at += size_of::<u64>(),
            other => return at + (other.trailing_zeros() / u8::BITS) as usize,
        }
    }
    at + bytes[at..]
        .iter()
        .position(|byte| byte.wrapping_sub(0x20) >= 0x5f)
        .unwrap_or(bytes.len() - at)
}

/// Counts the bytes of printable ASCII at the front of eight.
#[inline]
pub(crate) fn ascii_in_word(bytes: [u8; 8]) -> usize {
    (not_ascii(bytes).trailing_zeros() / u8::BITS) as usize
}

/// Sets the high bit of each byte that is not printable ASCII; the first byte is the lowest.
#[inline]
fn not_ascii(bytes: [u8; 8]) -> u64 {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let word = u64::from_le_bytes(bytes);
    let low = word & (EACH * 0x7f);
    // Sums of seven bits do not carry into the next byte.
    let is_control = !(low + EACH * 0x60);
    let is_delete = low + EACH;
    (word | is_control | is_delete) & (EACH * 0x80)
}

/// Counts the bytes of text at the front: all but C0 and DEL.
pub(crate) fn text_run(bytes: &[u8]) -> usize {
    const BLOCK: usize = 32;
    let is_control = |byte: &u8| *byte < 0x20 || *byte == DEL;
    let mut at = 0;
    for block in bytes.chunks_exact(BLOCK) {
        if block.iter().fold(false, |any, byte| any | is_control(byte)) {
            break;
        }
        at += BLOCK;
    }
    at + bytes[at..]
        .iter()
        .position(is_control)
        .unwrap_or(bytes.len() - at)
}

/// Finds a C1 control in text: U+0080 to U+009F, which is C2 80 to C2 9F in UTF-8.
pub(crate) fn find_c1(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(found) = memchr(0xc2, bytes.get(at..)?) {
        if matches!(bytes.get(at + found + 1), Some(0x80..=0x9f)) {
            return Some(at + found);
        }
        at += found + 1;
    }
    None
}

/// Returns whether these bytes could become a character with more bytes after them.
pub(crate) fn is_unfinished(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}
