//! Bytes in, lines out: newline-delimited, CRLF accepted.
//!
//! Promises: never holds more than one longest line and one read; a longer line is reported once
//! and the rest of it skipped without being kept; memory shrinks again after a big line.
//! Must not know: JSON, sockets.

use super::limits::READ_CHUNK_BYTES;

/// What was cut from the stream.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A line without its end; never blank.
    Line(&'a [u8]),
    /// A line over the limit began; what is left of it is being skipped.
    TooLong,
}

/// Where the stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Collecting a line.
    Collecting,
    /// In a line that is too long, until its end.
    Skipping,
}

/// The bytes read and not yet consumed.
#[derive(Debug)]
pub struct LineBuffer {
    /// Behind what is filled: initialized, for recvmsg(2).
    bytes: Vec<u8>,
    /// How many bytes are there.
    filled: usize,
    /// Where the next line begins.
    start: usize,
    /// No line end before here.
    scanned: usize,
    state: State,
    line_bytes_max: usize,
}

impl LineBuffer {
    pub fn new(line_bytes_max: usize) -> Self {
        Self {
            bytes: Vec::new(),
            filled: 0,
            start: 0,
            scanned: 0,
            state: State::Collecting,
            line_bytes_max,
        }
    }

    /// Where to read to, for [`fill`](Self::fill). It has room for a read, growing with the line.
    pub fn space(&mut self) -> &mut [u8] {
        self.compact();
        if self.bytes.len() - self.filled < READ_CHUNK_BYTES / 2 {
            let room = READ_CHUNK_BYTES.max(self.filled);
            self.bytes.resize(self.filled + room, 0);
        }
        &mut self.bytes[self.filled..]
    }

    /// Takes this many bytes that were read to [`space`](Self::space).
    pub fn fill(&mut self, count: usize) {
        self.filled = self.bytes.len().min(self.filled + count);
    }

    /// The next line, if all of it is there.
    pub fn next_frame(&mut self) -> Option<Frame<'_>> {
        loop {
            let line_end = self.bytes[self.scanned..self.filled]
                .iter()
                .position(|byte| *byte == b'\n');
            let Some(length) = line_end else {
                self.scanned = self.filled;
                return self.unfinished();
            };
            let (start, end) = (self.start, self.scanned + length);
            self.start = end + 1;
            self.scanned = self.start;
            match self.state {
                State::Skipping => self.state = State::Collecting,
                State::Collecting => {
                    let line = &self.bytes[start..end];
                    let line = line.strip_suffix(b"\r").unwrap_or(line);
                    if line.len() > self.line_bytes_max {
                        return Some(Frame::TooLong);
                    }
                    if !line.trim_ascii().is_empty() {
                        // Sliced again: the borrow checker does not see that we return here.
                        return Some(Frame::Line(self.bytes[start..end].trim_ascii()));
                    }
                }
            }
        }
    }

    /// After EOF: what stands after the last line end is a line too (`printf` without `\n`).
    pub fn last_line(&mut self) -> Option<&[u8]> {
        let (start, state) = (self.start, self.state);
        self.start = self.filled;
        self.scanned = self.start;
        let line = self.bytes[start..self.filled].trim_ascii();
        (state == State::Collecting && !line.is_empty()).then_some(line)
    }

    /// No line end in sight: goes on collecting, or gives the line up.
    fn unfinished(&mut self) -> Option<Frame<'static>> {
        match self.state {
            State::Skipping => {
                self.start = self.filled;
                None
            }
            // One byte more than the limit may be the CR of a CRLF.
            State::Collecting if self.filled - self.start <= self.line_bytes_max + 1 => None,
            State::Collecting => {
                self.start = self.filled;
                self.state = State::Skipping;
                Some(Frame::TooLong)
            }
        }
    }

    /// Moves the unfinished line to the front, and gives back what a big line took.
    pub fn compact(&mut self) {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.filled, 0);
            self.filled -= self.start;
            self.scanned -= self.start;
            self.start = 0;
        }
        if self.filled < READ_CHUNK_BYTES && self.bytes.len() > 2 * READ_CHUNK_BYTES {
            self.bytes.truncate(READ_CHUNK_BYTES);
            self.bytes.shrink_to_fit();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 10;

    fn push(buffer: &mut LineBuffer, piece: &[u8]) {
        for part in piece.chunks(READ_CHUNK_BYTES / 2) {
            buffer.space()[..part.len()].copy_from_slice(part);
            buffer.fill(part.len());
        }
    }

    /// Feeds `input` in pieces of `piece` bytes and writes down what comes out.
    fn frames(input: &[u8], piece: usize) -> Vec<String> {
        let mut buffer = LineBuffer::new(MAX);
        let mut seen = Vec::new();
        for piece in input.chunks(piece) {
            push(&mut buffer, piece);
            while let Some(frame) = buffer.next_frame() {
                seen.push(match frame {
                    Frame::Line(line) => String::from_utf8_lossy(line).into_owned(),
                    Frame::TooLong => "TOO LONG".to_owned(),
                });
            }
        }
        seen.extend(
            buffer
                .last_line()
                .map(|line| format!("{}$", line.escape_ascii())),
        );
        seen
    }

    #[test]
    fn lines_are_the_same_however_they_arrive() {
        let table: [(&str, &[&str]); 9] = [
            ("", &[]),
            ("a\nb\n", &["a", "b"]),
            ("a\r\n\r\n  \n\nb\r\n", &["a", "b"]),
            ("a\nrest", &["a", "rest$"]),
            ("0123456789\n", &["0123456789"]),
            ("0123456789\r\n", &["0123456789"]),
            ("0123456789a\nb\n", &["TOO LONG", "b"]),
            ("0123456789abcdefghijklmnop\nb\n", &["TOO LONG", "b"]),
            ("0123456789abcdefghijklmnop", &["TOO LONG"]),
        ];
        for (input, expected) in table {
            for piece in [1, 2, 3, 7, 100] {
                assert_eq!(
                    frames(input.as_bytes(), piece),
                    expected,
                    "{input:?} by {piece}"
                );
            }
        }
    }

    #[test]
    fn memory_shrinks_after_a_big_line() {
        let mut buffer = LineBuffer::new(1 << 20);
        for _ in 0..100 {
            push(&mut buffer, &[b'x'; 10_000]);
            assert_eq!(buffer.next_frame(), None);
        }
        assert!(buffer.bytes.capacity() >= 1_000_000);
        push(&mut buffer, b"\n");
        assert!(matches!(buffer.next_frame(), Some(Frame::Line(line)) if line.len() == 1_000_000));
        assert_eq!(buffer.next_frame(), None);
        buffer.space();
        assert!(
            buffer.bytes.capacity() <= 2 * READ_CHUNK_BYTES,
            "{}",
            buffer.bytes.capacity()
        );
    }

    #[test]
    fn a_skipped_line_is_not_kept() {
        let mut buffer = LineBuffer::new(1 << 20);
        let mut reports = 0;
        for _ in 0..1000 {
            push(&mut buffer, &[b'x'; 10_000]);
            reports += usize::from(buffer.next_frame() == Some(Frame::TooLong));
        }
        assert_eq!(reports, 1);
        assert!(
            buffer.bytes.capacity() <= 4 * READ_CHUNK_BYTES,
            "{}",
            buffer.bytes.capacity()
        );
    }
}
