//! What a replay reads of the daemon: times, keyframes and output.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use termd_client::{BadAnswer, Link};
use termd_proto::command::{CommandFilter, CommandInfo};
use termd_proto::recording::{Keyframe, ReadKeyframe, ReadTimeline};
use termd_proto::terminal::{Encoding, MAX_READ_BYTES, ReadFrom, ReadTerminal};
use termd_proto::{Offset, TerminalRef};

use super::page::Page;
use super::playback::Need;
use super::range::Range;
use super::timeline::Timeline;
use crate::cmd::history::list;
use crate::error::CliError;

/// How long one call waits for more output of a live terminal, in milliseconds.
const WAIT_MS: u64 = 30_000;

/// Most commands that are known to a replay, the newest: a year of a busy shell.
const MAX_COMMANDS: u32 = 100_000;

/// What was read.
#[derive(Debug)]
pub(super) enum Loaded {
    Keyframe(Keyframe, Option<Vec<u8>>),
    Page(Page),
    Commands(Vec<CommandInfo>),
}

/// Reads one terminal.
#[derive(Debug, Clone, Copy)]
pub(in crate::cmd) struct Source<'a> {
    pub(in crate::cmd) link: &'a Link,
    pub(in crate::cmd) id: &'a TerminalRef,
}

impl Source<'_> {
    pub(super) async fn load(self, need: Need) -> Result<Loaded, CliError> {
        match need {
            Need::Keyframe(at) => {
                let (keyframe, dump) = self.keyframe(at).await?;
                Ok(Loaded::Keyframe(keyframe, dump))
            }
            Need::Page(from) => self.page(from, Some(WAIT_MS)).await.map(Loaded::Page),
            Need::Commands => self.commands().await.map(Loaded::Commands),
        }
    }

    /// What was run in the terminal.
    pub(super) async fn commands(self) -> Result<Vec<CommandInfo>, CliError> {
        let filter = CommandFilter {
            terminal: Some(self.id.clone()),
            ..CommandFilter::default()
        };
        list(self.link, &filter, MAX_COMMANDS).await
    }

    /// The last screen that is kept at or before an offset, and its dump.
    pub(in crate::cmd) async fn keyframe(
        self,
        at: Offset,
    ) -> Result<(Keyframe, Option<Vec<u8>>), CliError> {
        let id = self.id.clone();
        let keyframe = self.link.repeat(&ReadKeyframe { id, at }).await?;
        let dump = keyframe.dump.as_deref().map(|dump| STANDARD.decode(dump));
        let dump = dump.transpose().map_err(BadAnswer::from)?;
        Ok((keyframe, dump))
    }

    /// Output from an offset on. Where there is none it waits this long.
    pub(in crate::cmd) async fn page(
        self,
        from: Offset,
        wait_ms: Option<u64>,
    ) -> Result<Page, CliError> {
        let request = ReadTerminal {
            max_bytes: Some(MAX_READ_BYTES),
            encoding: Some(Encoding::Base64),
            wait_ms,
            times: Some(true),
            ..ReadTerminal::new(self.id.clone(), ReadFrom::Offset(from))
        };
        let read = self.link.repeat(&request).await?;
        let data = read.data.as_deref().unwrap_or_default();
        Ok(Page {
            start: read.start,
            end: read.end,
            bytes: STANDARD.decode(data).map_err(BadAnswer::from)?,
            gap: read.gap,
            times: read.times.unwrap_or_default(),
            sizes: read.sizes.unwrap_or_default(),
            at_end: read.at_end,
            state: read.state,
        })
    }

    /// When the output of a range came.
    pub(super) async fn timeline(self, range: Range, idle_ms: u64) -> Result<Timeline, CliError> {
        let mut timeline = Timeline::new(idle_ms);
        let mut since = range.start;
        loop {
            let request = ReadTimeline {
                id: self.id.clone(),
                since: Some(since),
                until: range.end,
                pause_ms: Some(idle_ms),
            };
            let answer = self.link.repeat(&request).await?;
            for span in answer.spans {
                timeline.push(span);
            }
            if answer.at_end || answer.end <= since {
                return Ok(timeline);
            }
            since = answer.end;
        }
    }
}
