//! The exact bytes of a terminal's output, in whole lines.

use termd_proto::Offset;
use termd_vt::plain::{Anchor, Output};

use super::document::with_end;
use crate::terminal::output::transcript::{Transcript, TranscriptError};

/// Output read at a time.
const READ_BYTES: u64 = 64 << 10;
/// A longer line is cut, as one of plain text is.
const MAX_LINE_BYTES: usize = 1 << 20;

/// Reads output in whole lines. Bytes that are no UTF-8 are U+FFFD, as in an answer.
#[derive(Debug)]
pub(super) struct RawLines<'a> {
    transcript: &'a Transcript,
    at: Offset,
    /// The line that has not ended, and where it began.
    part: Vec<u8>,
    start: Offset,
}

impl<'a> RawLines<'a> {
    pub(super) fn new(transcript: &'a Transcript, at: Offset) -> Self {
        Self {
            transcript,
            at,
            part: Vec::new(),
            start: at,
        }
    }

    /// The next lines of the output before `end`; `None` behind the last one.
    pub(super) async fn next(&mut self, end: Offset) -> Result<Option<Output>, TranscriptError> {
        loop {
            let span = self
                .transcript
                .read_before(self.at, end, READ_BYTES)
                .await?;
            if span.bytes.is_empty() {
                self.at = end;
                let rest = self.part.len();
                return Ok((rest > 0).then(|| self.give(rest)));
            }
            if span.start > self.at && !self.part.is_empty() {
                // A line ends at a gap.
                let rest = self.part.len();
                return Ok(Some(self.give(rest)));
            }
            if self.part.is_empty() {
                self.start = span.start;
            }
            self.at = span.end();
            self.part.extend_from_slice(&span.bytes);
            let whole = memchr::memrchr(b'\n', &self.part).map_or(0, |newline| newline + 1);
            if whole > 0 {
                return Ok(Some(self.give(whole)));
            }
            if self.part.len() > MAX_LINE_BYTES {
                let rest = self.part.len();
                return Ok(Some(self.give(rest)));
            }
        }
    }

    fn give(&mut self, length: usize) -> Output {
        let rest = self.part.split_off(length);
        let bytes = std::mem::replace(&mut self.part, rest);
        let mut output = Output::default();
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            output.anchors.push(Anchor {
                text: output.text.len(),
                raw: self.start.0,
            });
            output.text.push_str(&String::from_utf8_lossy(line));
            self.start = self.start + line.len() as u64;
        }
        with_end(output, self.start.0)
    }
}
