//! A page of output, as a read has found it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use termd_proto::terminal::ReadResult;

/// What a read answers, with the bytes of the page beside it.
#[derive(Debug, Clone)]
pub struct Page {
    /// The answer, without `data`.
    pub(crate) answer: ReadResult,
    /// The bytes from `start` to `end`, where they are to be exact; of one stream, those of that stream.
    pub(crate) exact: Option<Vec<u8>>,
}

impl Page {
    /// The answer with exact bytes as base64.
    pub(crate) fn into_answer(self) -> ReadResult {
        ReadResult {
            data: self.exact.map(|bytes| BASE64.encode(bytes)),
            ..self.answer
        }
    }
}

impl From<ReadResult> for Page {
    /// A page of text.
    fn from(answer: ReadResult) -> Self {
        let exact = None;
        Self { answer, exact }
    }
}
