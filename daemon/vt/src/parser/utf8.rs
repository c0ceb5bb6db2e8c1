//! UTF-8 beyond ASCII: characters, invalid bytes (shown as U+FFFD), C1 controls, and characters
//! that are cut.

use super::Handler;
use super::Parser;
use super::scan::{find_c1, is_unfinished, text_run};

/// How far text is searched at a time. It bounds what is searched again after a C1 control.
const TEXT_WINDOW: usize = 4_096;
/// The same where [`Handler::print_utf8`] found no text at the front: more bytes without sense
/// mostly follow.
const ODDITY_WINDOW: usize = 64;

impl Parser {
    /// Reads a run of UTF-8.
    pub(crate) fn characters(
        &mut self,
        handler: &mut impl Handler,
        bytes: &[u8],
        offset: u64,
    ) -> usize {
        let mut window = TEXT_WINDOW;
        if let Some(taken) = handler.print_utf8(bytes) {
            if taken > 0 {
                return taken;
            }
            window = ODDITY_WINDOW;
        }
        let end = text_run(&bytes[..bytes.len().min(window)]);
        let mut taken = 0;
        for chunk in bytes[..end].utf8_chunks() {
            let valid = chunk.valid();
            if let Some(before) = find_c1(valid) {
                handler.print(&valid[..before]);
                let c1 = valid.as_bytes()[before + 1];
                handler.set_offset(offset + (taken + before) as u64 + 2);
                self.c1(handler, c1);
                return taken + before + 2;
            }
            handler.print(valid);
            taken += valid.len();
            let bad = chunk.invalid();
            if bad.is_empty() {
                continue;
            }
            // A character that is cut by the end of the bytes may go on in the next ones.
            if taken + bad.len() == bytes.len() && is_unfinished(bad) {
                self.partial.len = bad.len();
                self.partial.bytes[..bad.len()].copy_from_slice(bad);
            } else if taken + bad.len() == window && is_unfinished(bad) {
                return taken;
            } else {
                handler.print_char('\u{fffd}');
            }
            taken += bad.len();
        }
        taken
    }

    /// Goes on with a character that was cut.
    pub(crate) fn finish_character(&mut self, handler: &mut impl Handler, bytes: &[u8]) -> usize {
        let mut partial = self.partial;
        self.partial.len = 0;
        partial.bytes[partial.len] = bytes[0];
        partial.len += 1;
        match std::str::from_utf8(&partial.bytes[..partial.len]) {
            Ok(text) => {
                if find_c1(text).is_some() {
                    self.c1(handler, partial.bytes[1]);
                } else {
                    handler.print(text);
                }
                1
            }
            Err(error) if error.error_len().is_none() => {
                self.partial = partial;
                1
            }
            Err(_) => {
                // The byte begins something else.
                handler.print_char('\u{fffd}');
                0
            }
        }
    }
}
