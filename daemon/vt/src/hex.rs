//! Hexadecimal digits: titles (XTSMTITLE), capabilities (XTGETTCAP), and escapes in paths.

use std::fmt::Write;

/// The bytes that digits stand for; `None` where they are not pairs of digits.
pub(crate) fn decode(digits: &[u8]) -> Option<Vec<u8>> {
    let value = |digit: u8| char::from(digit).to_digit(16);
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits
        .chunks_exact(2)
        .map(|pair| u8::try_from(value(pair[0])? << 4 | value(pair[1])?).ok())
        .collect()
}

/// Appends the digits of a text's bytes.
pub(crate) fn encode(out: &mut String, text: &str) {
    for byte in text.bytes() {
        let _ = write!(out, "{byte:02X}");
    }
}
