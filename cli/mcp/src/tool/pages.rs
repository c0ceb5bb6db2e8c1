//! Reads of a part of a terminal's output.

use termd_client::ClientError;
use termd_proto::terminal::{Encoding, ReadFrom, ReadResult, ReadTerminal};
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
            ..ReadTerminal::new(TerminalRef::from(self.id), ReadFrom::Offset(from))
        };
        self.backend.pool().repeat(&request).await
    }

    /// How much lies between two offsets: lines where they are quickly counted, else bytes.
    pub(crate) async fn count(&self, from: Offset, to: Offset) -> Result<String, ClientError> {
        let bytes = to.since(from);
        if bytes <= MAX_OUTPUT_BYTES {
            let read = self.read((from, to), MAX_OUTPUT_BYTES, None).await?;
            let lines = read.text.unwrap_or_default().matches('\n').count();
            if lines > 0 {
                return Ok(format!("{lines} lines"));
            }
        }
        Ok(format!("{bytes} bytes"))
    }
}
