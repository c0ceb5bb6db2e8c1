//! Reads of a part of a terminal's output.

use termd_client::ClientError;
use termd_proto::terminal::{Encoding, OutputStream, ReadFrom, ReadResult, ReadTerminal};
use termd_proto::{Offset, TerminalId, TerminalRef};

use crate::backend::Backend;
use crate::settings::MAX_OUTPUT_BYTES;

/// The least that a read goes through: a whole character of UTF-8.
const MIN_READ_BYTES: u64 = 4;

/// The output of one terminal, to read pages of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pages<'a> {
    pub(crate) backend: &'a Backend,
    pub(crate) id: &'a TerminalId,
    pub(crate) encoding: Encoding,
    /// One stream of a terminal on pipes. `None`: all output.
    pub(crate) stream: Option<OutputStream>,
}

impl Pages<'_> {
    /// One read, bounded by bytes and lines.
    pub(crate) async fn read(
        &self,
        (from, until): (Offset, Offset),
        max_bytes: u64,
        max_lines: Option<u64>,
    ) -> Result<ReadResult, ClientError> {
        let request = ReadTerminal {
            until: Some(until),
            max_bytes: Some(max_bytes.clamp(MIN_READ_BYTES, MAX_OUTPUT_BYTES)),
            max_lines,
            encoding: Some(self.encoding),
            stream: self.stream,
            ..ReadTerminal::new(TerminalRef::from(self.id), ReadFrom::Offset(from))
        };
        let mut read = self.backend.pool().repeat(&request).await?;
        if read.cut_character
            && let Some(text) = &mut read.text
            && text.ends_with(char::REPLACEMENT_CHARACTER)
        {
            // The next read gives the character whole.
            text.pop();
        }
        Ok(read)
    }

    /// The last lines of all output.
    pub(crate) async fn last(&self, lines: u64, max_bytes: u64) -> Result<ReadResult, ClientError> {
        let from = ReadFrom::TailLines(lines);
        let request = ReadTerminal {
            max_bytes: Some(max_bytes),
            encoding: Some(self.encoding),
            stream: self.stream,
            ..ReadTerminal::new(TerminalRef::from(self.id), from)
        };
        self.backend.pool().repeat(&request).await
    }
}
