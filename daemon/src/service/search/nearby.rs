//! When output came, and which commands printed it, read for the hits of one part of it together.

use termd_proto::Offset;
use termd_proto::command::CommandInfo;

use crate::store::{Arrival, Store};
use crate::terminal::Terminal;
use crate::terminal::error::TerminalError;

/// How much output before a hit is read about: one or two blocks of the database.
const WINDOW_BYTES: u64 = 64 << 10;

/// What is known of the output in a range of one terminal.
#[derive(Debug)]
pub(super) struct Nearby {
    start: Offset,
    end: Offset,
    arrivals: Vec<(Offset, Vec<Arrival>)>,
    /// Those that printed some of it, the last first.
    commands: Vec<CommandInfo>,
}

impl Nearby {
    /// Reads about the output before `end`, from some before `at` on: hits come the last first.
    pub(super) async fn read(
        store: &Store,
        terminal: &Terminal,
        (at, end): (Offset, Offset),
    ) -> Result<Self, TerminalError> {
        let start = at.back(WINDOW_BYTES);
        Ok(Self {
            start,
            end,
            arrivals: terminal.transcript.arrivals(start, end).await?,
            commands: store.commands_between(terminal.id(), start, end).await?,
        })
    }

    /// Whether it is about all from `at` to `end`.
    pub(super) fn has(&self, (at, end): (Offset, Offset)) -> bool {
        self.start <= at && end <= self.end
    }

    /// When the byte there came, or the first one behind it, in milliseconds since the terminal's start.
    pub(super) fn came_ms(&self, at: Offset) -> Option<u64> {
        let arrivals = self.arrivals.iter().flat_map(|(_, arrivals)| arrivals);
        let mut came = arrivals.skip_while(|arrival| arrival.end <= at);
        came.next().map(|arrival| arrival.at_ms)
    }

    /// The command that printed the byte there: a line of the shell, else the terminal's own.
    pub(super) fn command(&self, at: Offset) -> Option<&CommandInfo> {
        let mut commands = self.commands.iter();
        commands.find(|command| command.start <= at && command.end.is_none_or(|end| at < end))
    }
}
