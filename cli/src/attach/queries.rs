//! A filter for queries in output that is shown again.
//!
//! Pure. A terminal answers a query by typing. When a person's tty shows a program's output, its
//! answers would be typed into that program, which termd has answered already, or into the shell. The
//! filter drops each sequence that makes a terminal answer, or use its owner's clipboard, and passes
//! all else byte for byte. Sources: ECMA-48, xterm's "Control Sequences", kitty's keyboard and
//! graphics protocols.

use crate::splitter::{Piece, Splitter};

/// Removes queries from a stream, chunk by chunk.
#[derive(Debug, Default)]
pub(crate) struct QueryFilter {
    splitter: Splitter,
}

impl QueryFilter {
    /// The chunk without its queries. A sequence is returned when its end has come.
    pub(crate) fn feed(&mut self, chunk: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(chunk.len());
        self.splitter.feed(chunk, |piece| match piece {
            Piece::Text(text) => out.extend(text),
            // ENQ asks for the answerback string.
            Piece::Control(0x05) | Piece::Overlong => {}
            Piece::Control(byte) => out.push(byte),
            Piece::Sequence(sequence) => {
                if !asks(sequence) {
                    out.extend(sequence);
                }
            }
        });
        out
    }
}

/// Whether a terminal answers this sequence, or does anything else but draw.
fn asks(sequence: &[u8]) -> bool {
    match sequence {
        [0x1b, b'[', body @ .., last] => csi_asks(body, *last),
        [0x1b, b']', body @ ..] => osc_asks(body),
        // DECRQSS and XTGETTCAP ask; of the other strings none draws text. APC may be kitty's
        // graphics, which answers; PM and SOS are for nobody. DECID asks.
        [0x1b, b'P' | b'_' | b'^' | b'X', ..] | [0x1b, b'Z'] => true,
        _ => false,
    }
}

fn csi_asks(body: &[u8], last: u8) -> bool {
    let marker = body
        .first()
        .copied()
        .filter(|byte| matches!(byte, b'<'..=b'?'));
    let intermediate = body
        .last()
        .copied()
        .filter(|byte| matches!(byte, b' '..=b'/'));
    let bare = marker.is_none() && intermediate.is_none();
    match last {
        // DA1, DA2, DA3.
        b'c' => true,
        // DSR and its DEC forms; `CSI > n` switches off a key mode.
        b'n' => matches!(marker, None | Some(b'?')),
        // DECREQTPARM; XTWINOPS, which reports from 11 on and moves the window below.
        b'x' | b't' => bare,
        // XTVERSION.
        b'q' => marker == Some(b'>'),
        // XTSMGRAPHICS; XTQMODKEYS.
        b'S' | b'm' => marker == Some(b'?'),
        // Kitty's keyboard flags; DECRQTSR; DECRQUPSS.
        b'u' => marker == Some(b'?') || matches!(intermediate, Some(b'$' | b'&')),
        // DECRQM.
        b'p' => intermediate == Some(b'$'),
        // DECRQCRA.
        b'y' => intermediate == Some(b'*'),
        // DECRQPSR; DECEFR, DECRQLP: the locator asks and reports.
        b'w' | b'|' => matches!(intermediate, Some(b'$' | b'\'')),
        _ => false,
    }
}

fn osc_asks(body: &[u8]) -> bool {
    let payload = body
        .strip_suffix(b"\x1b\\")
        .or_else(|| body.strip_suffix(b"\x07"))
        .unwrap_or(body);
    let mut fields = payload.split(|&byte| byte == b';');
    // 52 sets or asks for the clipboard; 60 to 62 ask for xterm's features.
    let number = fields.next().unwrap_or_default();
    matches!(number, b"52" | b"60" | b"61" | b"62" | b"99" | b"5522")
        || fields.any(|field| field == b"?" || field.ends_with(b"=?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &[u8], want: &[u8]) {
        for cut in 0..=input.len() {
            let mut filter = QueryFilter::default();
            let (head, tail) = input.split_at(cut);
            let mut got = filter.feed(head);
            got.extend(filter.feed(tail));
            assert_eq!(
                got.escape_ascii().to_string(),
                want.escape_ascii().to_string(),
                "{} cut at {cut}",
                input.escape_ascii()
            );
        }
    }

    #[test]
    fn what_asks_is_dropped_wherever_it_is_cut() {
        let queries: [&[u8]; 29] = [
            b"\x1b[c",
            b"\x1b[0c",
            b"\x1b[>c",
            b"\x1b[=c",
            b"\x1b[5n",
            b"\x1b[6n",
            b"\x1b[?6n",
            b"\x1b[?996n",
            b"\x1b[>q",
            b"\x1b[>0q",
            b"\x1b[?2026$p",
            b"\x1b[4$p",
            b"\x1b[x",
            b"\x1b[14t",
            b"\x1b[18t",
            b"\x1b[21t",
            b"\x1b[?u",
            b"\x1b[?4m",
            b"\x1b[1;1;1;1;1;1*y",
            b"\x1bP+q544e\x1b\\",
            b"\x1bP$qm\x1b\\",
            b"\x1b]10;?\x07",
            b"\x1b]11;?\x1b\\",
            b"\x1b]4;1;?\x07",
            b"\x1b]52;c;aGk=\x07",
            b"\x1b]52;c;?\x1b\\",
            b"\x1b_Gi=1,a=q;AAAA\x1b\\",
            b"\x05",
            b"\x1bZ",
        ];
        for query in queries {
            let mut input = b"a".to_vec();
            input.extend(query);
            input.extend("é\r\n".as_bytes());
            check(&input, "aé\r\n".as_bytes());
        }
    }

    #[test]
    fn what_draws_passes_byte_for_byte() {
        let drawn: [&[u8]; 14] = [
            b"\x1b[1;31mred\x1b[0m\r\n",
            b"\x1b[2J\x1b[H",
            b"\x1b[?1049h\x1b[?25l",
            b"\x1b]0;what? a title\x07",
            b"\x1b]8;;https://example.org/?q=1\x1b\\link\x1b]8;;\x1b\\",
            b"\x1b(0lqk\x1b(B",
            b"\x1b[4:3m\x1b[58:2::255:0:0m",
            b"\x1b[2 q",
            b"\x1b[>1u\x1b[<u",
            b"\x1b[!p",
            b"\x1b[s\x1b[u",
            b"\x1b[5S",
            "漢字\t✓".as_bytes(),
            b"\x1b[>4;2m",
        ];
        for bytes in drawn {
            check(bytes, bytes);
        }
    }
}
