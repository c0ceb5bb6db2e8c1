//! Reading lines: bounded, whole, with their ends as they came.

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

use super::MAX_LINE_BYTES;

/// What is read at once. A pipe holds 64 KiB.
const CHUNK_BYTES: usize = 64 << 10;
/// A line's buffer above this is given back after it: long lines are rare.
const KEPT_BYTES: usize = 1 << 20;
/// How much of a line that is too long is kept, to find its id.
const KEPT_HEAD_BYTES: usize = 4 << 10;

/// Lines of a stream.
#[derive(Debug)]
pub(in crate::acp) struct Lines<R> {
    from: BufReader<R>,
    line: Vec<u8>,
}

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::acp) enum Read<'a> {
    /// A line, with its end if it has one: the last one may have none.
    Line(&'a [u8]),
    /// A line of more than [`MAX_LINE_BYTES`]: its first bytes. The rest of it was dropped.
    TooLong(&'a [u8]),
    /// There is no more.
    End,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Of this stream.
    pub(in crate::acp) fn of(from: R) -> Self {
        Self {
            from: BufReader::with_capacity(CHUNK_BYTES, from),
            line: Vec::new(),
        }
    }

    /// The next line. A stream that fails has ended. Not cancel safe.
    pub(in crate::acp) async fn next(&mut self) -> Read<'_> {
        self.line.clear();
        self.line.shrink_to(KEPT_BYTES);
        let mut is_too_long = false;
        loop {
            let Ok(chunk) = self.from.fill_buf().await else {
                return Read::End;
            };
            if chunk.is_empty() {
                return match (is_too_long, self.line.is_empty()) {
                    (true, _) => Read::TooLong(&self.line),
                    (false, false) => Read::Line(&self.line),
                    (false, true) => Read::End,
                };
            }
            let end = memchr::memchr(b'\n', chunk);
            let taken = end.map_or(chunk.len(), |end| end + 1);
            if !is_too_long {
                self.line
                    .extend_from_slice(chunk.get(..taken).unwrap_or_default());
                // The line's end is not counted.
                if self.line.len() - usize::from(end.is_some()) > MAX_LINE_BYTES {
                    is_too_long = true;
                    self.line.truncate(KEPT_HEAD_BYTES);
                }
            }
            self.from.consume(taken);
            if end.is_some() {
                return if is_too_long {
                    Read::TooLong(&self.line)
                } else {
                    Read::Line(&self.line)
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_come_with_their_ends() {
        let mut lines = Lines::of(&b"a\r\n\n \nlast"[..]);
        for want in [&b"a\r\n"[..], b"\n", b" \n", b"last"] {
            assert_eq!(lines.next().await, Read::Line(want));
        }
        assert_eq!(lines.next().await, Read::End);
    }

    #[tokio::test]
    async fn a_line_over_the_bound_is_dropped_and_the_next_one_comes() {
        let mut bytes = vec![b'x'; MAX_LINE_BYTES];
        bytes.extend_from_slice(b"\n");
        bytes.extend_from_slice(&vec![b'y'; MAX_LINE_BYTES + 1]);
        bytes.extend_from_slice(b"\nz");
        let mut lines = Lines::of(&bytes[..]);
        let Read::Line(line) = lines.next().await else {
            panic!("64 MiB are a line");
        };
        assert_eq!(line.len(), MAX_LINE_BYTES + 1);
        assert_eq!(
            lines.next().await,
            Read::TooLong(&[b'y'; KEPT_HEAD_BYTES][..])
        );
        assert_eq!(lines.next().await, Read::Line(b"z"));
        assert_eq!(lines.next().await, Read::End);
    }
}
