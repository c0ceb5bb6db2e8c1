//! Modes that a program may leave switched on in a person's terminal, and their reset.
//!
//! Pure. Most modes are reset blindly, which does no harm if they are off. The alternate screen is
//! tracked instead, because leaving it while it is off moves the cursor (xterm, DECSET 1049).

use crate::splitter::{Piece, Splitter};

/// Mouse reports and their encodings, focus reports, bracketed paste, application cursor keys and
/// keypad, insert mode, new-line mode, a hidden cursor, wrapping, reverse video, synchronized output,
/// margins, tab stops, colours, character sets, kitty's keyboard flags and xterm's modifyOtherKeys.
const RESET: &[u8] = b"\x1b[?2026l\x1b[?9;1000;1001;1002;1003;1004;1005;1006;1015;1016;2004l\
\x1b[?1l\x1b>\x1b[4l\x1b[20l\x1b[?7h\x1b[?5l\x1b[?25h\x1b[<u\x1b[=0u\x1b[>4m\x1b[?5W\x1b7\x1b[?69l\x1b[r\x1b8\x1b[0m\x0f\x1b(B\
\x1b[0 q";

/// Tracks the modes of the output to a tty.
#[derive(Debug, Default)]
pub(crate) struct Residue {
    splitter: Splitter,
    /// The mode that switched the alternate screen on.
    alternate: Option<u16>,
}

impl Residue {
    /// Reads output to the tty.
    pub(crate) fn watch(&mut self, written: &[u8]) {
        let alternate = &mut self.alternate;
        self.splitter.feed(written, |piece| {
            if let Piece::Sequence([0x1b, b'[', b'?', modes @ .., last @ (b'h' | b'l')]) = piece {
                for mode in modes.split(|&byte| byte == b';') {
                    let number = match mode {
                        b"47" => 47,
                        b"1047" => 1047,
                        b"1049" => 1049,
                        _ => continue,
                    };
                    *alternate = (*last == b'h').then_some(number);
                }
            }
        });
    }

    /// The output that resets the tty for the person's shell.
    pub(crate) fn reset(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if self.splitter.is_inside() {
            // CAN ends an unfinished sequence.
            out.push(0x18);
        }
        if let Some(mode) = self.alternate {
            out.extend(format!("\x1b[?{mode}l").bytes());
        }
        out.extend(RESET);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_alternate_screen_is_left_only_where_it_is_on() {
        let table: [(&[&[u8]], &[u8]); 8] = [
            (&[b"plain"], b""),
            (&[b"\x1b[?1049h"], b"\x1b[?1049l"),
            (&[b"\x1b[?10", b"49h vim"], b"\x1b[?1049l"),
            (&[b"\x1b[?1049h", b"\x1b[?1049l"], b""),
            (&[b"\x1b[?47h"], b"\x1b[?47l"),
            (&[b"\x1b[?25;1047h"], b"\x1b[?1047l"),
            (&[b"\x1b[1049h\x1b[?2004h"], b""),
            (&[b"\x1b[?1049h\x1b]0;cut"], b"\x18\x1b[?1049l"),
        ];
        for (chunks, prefix) in table {
            let mut residue = Residue::default();
            for chunk in chunks {
                residue.watch(chunk);
            }
            let want = [prefix, RESET].concat();
            assert_eq!(
                residue.reset().escape_ascii().to_string(),
                want.escape_ascii().to_string()
            );
        }
    }
}
