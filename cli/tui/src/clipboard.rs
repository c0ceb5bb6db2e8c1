//! What makes a tty copy a text (OSC 52). Pure.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Longest text that is copied, in bytes: terminals take about so much (xterm 75,000 of base64).
pub const MAX_COPIED_BYTES: usize = 55_000;

/// The bytes for the tty.
pub fn copy(text: &str) -> Vec<u8> {
    format!("\x1b]52;c;{}\x1b\\", STANDARD.encode(text)).into_bytes()
}
