//! The commands that were run in a terminal's shell, by where their output begins. Pure.

use termd_proto::Offset;
use termd_proto::command::CommandInfo;

use super::range::Range;
use super::timeline::Timeline;

/// A command, and where its output begins.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Command {
    start: Offset,
    text: String,
}

/// The commands of a replay, in order.
#[derive(Debug)]
pub(super) struct Commands {
    commands: Vec<Command>,
    /// The play times of the commands, and the length of which they are.
    ticks: (u64, Vec<u64>),
    /// The shell has reported a newer one.
    lacks_newest: bool,
}

impl Commands {
    /// Those within a range. The terminal's own command is none of its shell's.
    pub(super) fn new(all: &[CommandInfo], range: Range) -> Self {
        let is_within = |command: &&CommandInfo| {
            command.number > 0
                && command.start >= range.start
                && range.end.is_none_or(|end| command.start < end)
        };
        let each = all.iter().filter(is_within).map(|command| Command {
            start: command.start,
            text: command.text.clone(),
        });
        let mut commands: Vec<_> = each.collect();
        commands.sort_by_key(|command| command.start);
        Self {
            commands,
            ticks: (u64::MAX, Vec::new()),
            lacks_newest: false,
        }
    }

    /// A command has begun to print here.
    pub(super) fn began_at(&mut self, start: Offset) {
        let newest = self.commands.last().map(|command| command.start);
        self.lacks_newest |= newest < Some(start);
    }

    pub(super) fn lacks_newest(&self) -> bool {
        self.lacks_newest
    }

    /// The line that runs, or ran last, where the output up to here is shown.
    pub(super) fn text_at(&self, shown_to: Offset) -> Option<&str> {
        let next = self
            .commands
            .partition_point(|command| command.start <= shown_to);
        let command = self.commands.get(next.checked_sub(1)?)?;
        Some(&command.text)
    }

    /// The last beginning before an offset, but for one.
    pub(super) fn before(&self, offset: Offset, but: Option<Offset>) -> Option<Offset> {
        let starts = self.commands.iter().rev().map(|command| command.start);
        let mut before = starts.filter(|start| *start < offset && Some(*start) != but);
        before.next()
    }

    /// The first beginning after an offset.
    pub(super) fn after(&self, offset: Offset) -> Option<Offset> {
        let mut starts = self.commands.iter().map(|command| command.start);
        starts.find(|start| *start > offset)
    }

    /// About when each began, in play time, as of the last [`place`](Self::place).
    pub(super) fn ticks(&self) -> &[u64] {
        &self.ticks.1
    }

    /// Finds out when each began, if the timeline has grown.
    pub(super) fn place(&mut self, timeline: &Timeline) {
        let length_ms = timeline.length_ms();
        if self.ticks.0 != length_ms {
            let each = self.commands.iter();
            let ticks = each.map(|command| timeline.play_ms(command.start, None));
            self.ticks = (length_ms, ticks.collect());
        }
    }
}
