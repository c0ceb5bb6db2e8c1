//! What a client has received of a terminal by `_meta`.

use std::sync::Arc;

use termd_proto::Offset;
use tokio::sync::Mutex;

use super::round::Round;
use crate::terminals::reader::TerminalReader;

/// A terminal that is shown as a stream.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) reader: Arc<TerminalReader>,
    pub(super) progress: Mutex<Progress>,
}

/// How far the client is.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) announced: bool,
    /// Where the output begins that was not sent yet.
    pub(super) next: Offset,
    /// That output begins within a line whose beginning is left out.
    pub(super) within_line: bool,
    pub(super) exit_sent: bool,
    /// The round of the tool call that carries the output.
    pub(super) carrier: Option<Round>,
}

impl Stream {
    pub(super) fn new(reader: Arc<TerminalReader>) -> Self {
        Self {
            reader,
            progress: Mutex::default(),
        }
    }

    pub(super) fn id(&self) -> &str {
        self.reader.id.as_str()
    }
}

impl Progress {
    /// Whether a tool call that carries the output still embeds the terminal.
    pub(super) fn is_carried(&self) -> bool {
        self.carrier.as_ref().is_some_and(Round::is_current)
    }
}
