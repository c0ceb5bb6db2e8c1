//! The options of a read, once its params are known to go together.

use termd_proto::Offset;
use termd_proto::terminal::{Encoding, OutputStream, ReadFrom, ReadTerminal};
use termd_vt::plain::Styles;

use crate::terminal::error::TerminalError;

/// A checked [`ReadTerminal`].
#[derive(Debug, Clone)]
pub struct ReadOptions {
    pub from: ReadFrom,
    /// Read nothing from this offset on.
    pub until: Option<Offset>,
    /// Read only this stream.
    pub stream: Option<OutputStream>,
    /// Most bytes of output to look through.
    pub max_bytes: Option<u64>,
    /// Most lines to return.
    pub max_lines: Option<u64>,
    pub encoding: Encoding,
    /// How long to wait for a first byte, in milliseconds.
    pub wait_ms: Option<u64>,
}

/// Whether plain text in this encoding keeps its styles.
pub(crate) fn styles_of(encoding: Encoding) -> Styles {
    if encoding == Encoding::Styled {
        Styles::Kept
    } else {
        Styles::Dropped
    }
}

impl TryFrom<&ReadTerminal> for ReadOptions {
    type Error = TerminalError;

    /// At most one of the three params that say where to start may be given.
    fn try_from(params: &ReadTerminal) -> Result<Self, TerminalError> {
        let from = params.from().ok_or_else(|| TerminalError::Invalid {
            field: "since",
            problem: "goes without tail_bytes and tail_lines, and those one at a time".to_owned(),
        })?;
        Ok(Self {
            from,
            until: params.until,
            stream: params.stream,
            max_bytes: params.max_bytes,
            max_lines: params.max_lines,
            encoding: params.encoding.unwrap_or_default(),
            wait_ms: params.wait_ms,
        })
    }
}
