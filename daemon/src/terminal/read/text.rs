//! Output bytes as text. Pure.
//!
//! The tty turned each LF of the program into CR LF; [`LineEnds::Fold`] turns it back. Bytes that are
//! not UTF-8 become U+FFFD, one for each maximal bad part (Unicode 3.9, best practice). The beginning
//! of a character, or of CR LF, is held back while more output can follow.

/// Whether more output can follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completeness {
    /// An unfinished character at the end is held back.
    MayGrow,
    /// Nothing follows: an unfinished character is a bad one.
    Final,
}

impl Completeness {
    pub fn after_exit(has_exited: bool) -> Self {
        if has_exited {
            Self::Final
        } else {
            Self::MayGrow
        }
    }
}

/// What becomes of CR LF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnds {
    Keep,
    /// CR LF becomes LF.
    Fold,
}

/// Where the bytes start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartsAt {
    /// At a character: bad bytes at the front are the program's own.
    Character,
    /// At any byte: continuation bytes at the front belong to a character that was cut off.
    AnyByte,
}

/// Text, and the bytes that it was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    pub text: String,
    /// The index of the first byte in the text.
    pub start: usize,
    /// The index after the last byte in the text.
    pub end: usize,
}

/// The longest UTF-8 sequence less one.
const MAX_UNFINISHED: usize = 3;

/// Renders bytes as text of at most `limit` bytes. Text beyond that is cut off at the front, at a
/// character boundary.
pub fn render(
    bytes: &[u8],
    starts_at: StartsAt,
    completeness: Completeness,
    line_ends: LineEnds,
    limit: usize,
) -> Rendered {
    let end = bytes.len() - held_back(bytes, completeness, line_ends);
    let first = match starts_at {
        StartsAt::Character => 0,
        StartsAt::AnyByte => leading_continuation(&bytes[..end]),
    };
    let length: usize = segments(&bytes[first..end], line_ends)
        .map(|s| s.text.len())
        .sum();
    let mut to_skip = length.saturating_sub(limit);
    let mut start = first;
    let mut text = String::with_capacity(length - to_skip);
    for segment in segments(&bytes[first..end], line_ends) {
        if to_skip == 0 {
            text.push_str(segment.text);
        } else if to_skip >= segment.text.len() || segment.kind == SegmentKind::Replacement {
            // A replacement character is not cut.
            to_skip = to_skip.saturating_sub(segment.text.len());
            start += segment.raw_len;
        } else {
            let mut cut = to_skip;
            while !segment.text.is_char_boundary(cut) {
                cut += 1;
            }
            text.push_str(&segment.text[cut..]);
            start += segment.raw_len - segment.text.len() + cut;
            to_skip = 0;
        }
    }
    Rendered { text, start, end }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SegmentKind {
    /// The bytes themselves, without the CR of a folded CR LF before them.
    Run,
    /// U+FFFD for bad bytes.
    Replacement,
}

struct Segment<'a> {
    kind: SegmentKind,
    raw_len: usize,
    text: &'a str,
}

/// Cuts the bytes into pieces of text, each with its length in bytes of output.
fn segments(bytes: &[u8], line_ends: LineEnds) -> impl Iterator<Item = Segment<'_>> {
    bytes.utf8_chunks().flat_map(move |chunk| {
        let raw_len = chunk.invalid().len();
        let bad = (raw_len > 0).then_some(Segment {
            kind: SegmentKind::Replacement,
            raw_len,
            text: "\u{fffd}",
        });
        runs(chunk.valid(), line_ends).chain(bad)
    })
}

/// Cuts valid text before each CR LF so that the CR can be left out. The CR counts to the run that
/// begins with its LF.
fn runs(text: &str, line_ends: LineEnds) -> impl Iterator<Item = Segment<'_>> {
    let mut rest = text;
    let mut dropped = 0;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let pair = match line_ends {
            LineEnds::Keep => None,
            LineEnds::Fold => rest.find("\r\n"),
        };
        let run = &rest[..pair.unwrap_or(rest.len())];
        let segment = Segment {
            kind: SegmentKind::Run,
            raw_len: run.len() + dropped,
            text: run,
        };
        dropped = usize::from(pair.is_some());
        rest = &rest[run.len() + dropped..];
        Some(segment)
    })
}

fn leading_continuation(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .take(MAX_UNFINISHED)
        .take_while(|byte| (0x80..0xc0).contains(*byte))
        .count()
}

fn held_back(bytes: &[u8], completeness: Completeness, line_ends: LineEnds) -> usize {
    if completeness == Completeness::Final {
        return 0;
    }
    if line_ends == LineEnds::Fold && bytes.last() == Some(&b'\r') {
        return 1;
    }
    unfinished_tail(bytes)
}

/// The length of an unfinished UTF-8 sequence at the end, in bytes.
pub(crate) fn unfinished_tail(bytes: &[u8]) -> usize {
    let tail = &bytes[bytes.len().saturating_sub(MAX_UNFINISHED)..];
    (0..tail.len())
        .find(|&at| {
            let part = &tail[at..];
            part[0] >= 0xc0
                && std::str::from_utf8(part)
                    .err()
                    .is_some_and(|e| e.valid_up_to() == 0 && e.error_len().is_none())
        })
        .map_or(0, |at| tail.len() - at)
}

/// The index after the first `lines` lines; `None` where there are fewer.
pub(crate) fn after_lines(bytes: &[u8], lines: u64) -> Option<usize> {
    let lines = usize::try_from(lines).ok()?;
    match lines.checked_sub(1) {
        None => Some(0),
        Some(before) => memchr::memchr_iter(b'\n', bytes)
            .nth(before)
            .map(|at| at + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(bytes: &[u8], completeness: Completeness, limit: usize) -> (String, usize, usize) {
        let r = render(
            bytes,
            StartsAt::Character,
            completeness,
            LineEnds::Fold,
            limit,
        );
        (r.text, r.start, r.end)
    }

    #[test]
    fn line_ends_are_the_programs_own() {
        let table: [(&[u8], &str); 6] = [
            (b"a\r\nb\r\n", "a\nb\n"),
            (b"a\r\r\nb", "a\r\nb"),
            (b"a\rb", "a\rb"),
            (b"\r\n\r\n", "\n\n"),
            (b"\n\r", "\n\r"),
            (b"", ""),
        ];
        for (bytes, text) in table {
            assert_eq!(folded(bytes, Completeness::Final, 99).0, text, "{bytes:?}");
        }
    }

    #[test]
    fn the_front_is_cut_at_a_character_boundary() {
        let text = "é✓😀x";
        for limit in 0..=text.len() + 1 {
            let (out, start, end) = folded(text.as_bytes(), Completeness::Final, limit);
            assert!(
                out.len() <= limit && text.ends_with(&out),
                "{limit}: {out:?}"
            );
            assert!(
                out.len() + 4 > limit.min(text.len()),
                "{limit}: {out:?} is too short"
            );
            assert_eq!((&text[start..], end), (&*out, text.len()), "{limit}");
        }
    }

    #[test]
    fn a_cut_counts_raw_bytes_where_line_ends_were_folded() {
        let raw = b"ab\r\ncd\r\nef";
        for (limit, text, start) in [
            (8, "ab\ncd\nef", 0),
            (6, "\ncd\nef", 2),
            (5, "cd\nef", 4),
            (2, "ef", 8),
            (0, "", 10),
        ] {
            assert_eq!(
                folded(raw, Completeness::Final, limit),
                (text.to_owned(), start, 10)
            );
        }
    }

    #[test]
    fn what_may_become_whole_is_held_back() {
        let table: [(&[u8], &str, usize); 7] = [
            (b"a\xe2\x9c", "a", 1),
            (b"a\xf0\x9f\x98", "a", 1),
            (b"a\xe2\x9c\x93", "a\u{2713}", 4),
            (b"a\xff", "a\u{fffd}", 2),
            (b"a\xe2x", "a\u{fffd}x", 3),
            (b"a\r", "a", 1),
            (b"a\x93", "a\u{fffd}", 2),
        ];
        for (bytes, text, end) in table {
            let growing = folded(bytes, Completeness::MayGrow, 99);
            assert_eq!(growing, (text.to_owned(), 0, end), "{bytes:?}");
            assert_eq!(
                folded(bytes, Completeness::Final, 99).2,
                bytes.len(),
                "{bytes:?}"
            );
        }
    }

    #[test]
    fn a_character_that_we_cut_is_left_out_and_not_called_bad() {
        let r = render(
            b"\x9c\x93ok",
            StartsAt::AnyByte,
            Completeness::Final,
            LineEnds::Keep,
            99,
        );
        assert_eq!((&*r.text, r.start), ("ok", 2));
    }

    #[test]
    fn a_replacement_is_never_longer_than_the_limit() {
        for limit in 0..7 {
            let (text, ..) = folded(b"\xff\xfe", Completeness::Final, limit);
            assert_eq!(text.len(), limit / 3 * 3, "{limit}");
        }
    }

    #[test]
    fn any_split_of_a_growing_stream_gives_the_same_text() {
        let raw = "é\r\n✓\r\r\n😀\r"
            .as_bytes()
            .iter()
            .chain(b"\xff\xe2\x9cz")
            .copied();
        let raw: Vec<u8> = raw.collect();
        let whole = folded(&raw, Completeness::Final, 99).0;
        for split in 0..=raw.len() {
            let (head, _, next) = folded(&raw[..split], Completeness::MayGrow, 99);
            let (tail, ..) = folded(&raw[next..], Completeness::Final, 99);
            assert_eq!(head + &tail, whole, "{split}");
        }
    }
}
