//! Reads whole lines of a bounded length, with their ends as they came.

use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::MAX_LINE_BYTES;

/// Least free space before a read. A pipe holds 64 KiB.
const CHUNK_BYTES: usize = 64 << 10;
/// A buffer above this is shrunk after the line that needed it: long lines are rare.
const KEPT_BYTES: usize = 1 << 20;
/// How much of a too long line is kept to find its id.
const KEPT_HEAD_BYTES: usize = 4 << 10;

/// The lines of a stream.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    from: R,
    /// A line is borrowed from here and never copied.
    buffer: Vec<u8>,
    /// Where the next line begins in the buffer.
    begin: usize,
}

/// The result of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read<'a> {
    /// A line with its end; the last line may have none.
    Line(&'a [u8]),
    /// The first bytes of a line above [`MAX_LINE_BYTES`]. The rest was dropped.
    TooLong(&'a [u8]),
    /// The stream has ended.
    End,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(crate) fn new(from: R) -> Self {
        Self {
            from,
            buffer: Vec::new(),
            begin: 0,
        }
    }

    /// Reads the next line. A stream that fails has ended. Not cancel safe.
    pub(crate) async fn next(&mut self) -> Read<'_> {
        // There is no line end before this offset.
        let mut searched = self.begin;
        let end = loop {
            let fresh = self.buffer.get(searched..).unwrap_or_default();
            if let Some(position) = memchr::memchr(b'\n', fresh) {
                // Behind the line's end, which is not counted.
                let end = searched + position + 1;
                if end - 1 - self.begin > MAX_LINE_BYTES {
                    return self.too_long(end).await;
                }
                break end;
            }
            if self.buffer.len() - self.begin > MAX_LINE_BYTES {
                return self.too_long(self.buffer.len()).await;
            }
            searched = self.make_room();
            if !self.read().await {
                break self.buffer.len();
            }
        };
        let begin = std::mem::replace(&mut self.begin, end);
        match self.buffer.get(begin..end) {
            Some(line) if !line.is_empty() => Read::Line(line),
            _ => Read::End,
        }
    }

    /// Drops a too long line: the `known` bytes of the buffer, and the rest as it comes.
    async fn too_long(&mut self, known: usize) -> Read<'_> {
        let head = self.begin..self.begin + KEPT_HEAD_BYTES;
        let head = self.buffer.get(head).unwrap_or_default().to_vec();
        let mut end = known;
        while self.buffer.get(end - 1) != Some(&b'\n') {
            // Each read replaces the one before it.
            self.buffer = Vec::with_capacity(CHUNK_BYTES);
            if !self.read().await {
                end = 0;
                break;
            }
            end = memchr::memchr(b'\n', &self.buffer).map_or(self.buffer.len(), |at| at + 1);
        }
        // The head is put in front of what follows the line.
        self.buffer.splice(..end, head.iter().copied());
        self.begin = head.len();
        Read::TooLong(self.buffer.get(..head.len()).unwrap_or_default())
    }

    /// Moves the line to the start of the buffer, and shrinks a buffer that a long line has grown.
    /// Returns the length of the buffered text.
    fn make_room(&mut self) -> usize {
        if self.begin > 0 {
            self.buffer.drain(..self.begin);
            self.begin = 0;
        }
        if self.buffer.len() < KEPT_BYTES / 2 {
            self.buffer.shrink_to(KEPT_BYTES);
        }
        self.buffer.len()
    }

    /// Reads more; `false` at the end of the stream.
    async fn read(&mut self) -> bool {
        // A full buffer is doubled, so a long line is moved only a few times.
        if self.buffer.capacity() - self.buffer.len() < CHUNK_BYTES {
            self.buffer.reserve(CHUNK_BYTES);
        }
        matches!(self.from.read_buf(&mut self.buffer).await, Ok(1..))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_come_with_their_ends() {
        let mut lines = LineReader::new(&b"a\r\n\n \nlast"[..]);
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
        let mut lines = LineReader::new(&bytes[..]);
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
