//! Reading lines: bounded, whole, with their ends as they came.

use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::MAX_LINE_BYTES;

/// Room for what is read at once. A pipe holds 64 KiB.
const CHUNK_BYTES: usize = 64 << 10;
/// A buffer above this is given back after the line that needed it: long lines are rare.
const KEPT_BYTES: usize = 1 << 20;
/// How much of a line that is too long is kept, to find its id.
const KEPT_HEAD_BYTES: usize = 4 << 10;

/// Lines of a stream.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    from: R,
    /// What was read: a line is handed out where it stands here, and copied nowhere.
    buffer: Vec<u8>,
    /// Where the next line begins in it.
    begin: usize,
}

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read<'a> {
    /// A line, with its end if it has one: the last one may have none.
    Line(&'a [u8]),
    /// A line of more than [`MAX_LINE_BYTES`]: its first bytes. The rest of it was dropped.
    TooLong(&'a [u8]),
    /// There is no more.
    End,
}

/// More of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum More {
    /// Has been read.
    Came,
    /// Will not come.
    Never,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Of this stream.
    pub(crate) fn of(from: R) -> Self {
        Self {
            from,
            buffer: Vec::new(),
            begin: 0,
        }
    }

    /// The next line. A stream that fails has ended. Not cancel safe.
    pub(crate) async fn next(&mut self) -> Read<'_> {
        // No line's end was found before this place.
        let mut looked = self.begin;
        let end = loop {
            let fresh = self.buffer.get(looked..).unwrap_or_default();
            if let Some(position) = memchr::memchr(b'\n', fresh) {
                // Behind the line's end, which is not counted.
                let end = looked + position + 1;
                if end - 1 - self.begin > MAX_LINE_BYTES {
                    return self.too_long(end).await;
                }
                break end;
            }
            if self.buffer.len() - self.begin > MAX_LINE_BYTES {
                return self.too_long(self.buffer.len()).await;
            }
            looked = self.make_room();
            if self.read().await == More::Never {
                break self.buffer.len();
            }
        };
        let begin = std::mem::replace(&mut self.begin, end);
        match self.buffer.get(begin..end) {
            Some(line) if !line.is_empty() => Read::Line(line),
            _ => Read::End,
        }
    }

    /// Drops a line of which this much is known to be too long, and what of it is to come.
    async fn too_long(&mut self, known: usize) -> Read<'_> {
        let head = self.begin..self.begin + KEPT_HEAD_BYTES;
        let head = self.buffer.get(head).unwrap_or_default().to_vec();
        let mut end = known;
        while self.buffer.get(end - 1) != Some(&b'\n') {
            // From here on it is read over itself.
            self.buffer = Vec::with_capacity(CHUNK_BYTES);
            if self.read().await == More::Never {
                end = 0;
                break;
            }
            end = memchr::memchr(b'\n', &self.buffer).map_or(self.buffer.len(), |at| at + 1);
        }
        // The head stands in front of what follows the line.
        self.buffer.splice(..end, head.iter().copied());
        self.begin = head.len();
        Read::TooLong(self.buffer.get(..head.len()).unwrap_or_default())
    }

    /// Moves a line's beginning to the buffer's; where there is none, a long line's buffer is given
    /// back. How much is there.
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

    async fn read(&mut self) -> More {
        // Doubled where it is full: a long line is moved a few times and no more.
        if self.buffer.capacity() - self.buffer.len() < CHUNK_BYTES {
            self.buffer.reserve(CHUNK_BYTES);
        }
        match self.from.read_buf(&mut self.buffer).await {
            Ok(1..) => More::Came,
            Ok(0) | Err(_) => More::Never,
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
