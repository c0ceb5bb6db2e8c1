//! A terminal's recording from an offset on, as events in time.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use termd_client::{BadAnswer, Link, gap_note};
use termd_proto::command::CommandInfo;
use termd_proto::terminal::{
    Encoding, MAX_READ_BYTES, OutputSize, ReadFrom, ReadResult, ReadTerminal, TerminalInfo,
};
use termd_proto::{Offset, TerminalRef};

use super::cast::Event;
use super::recording::Recording;
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;

/// A recording that is read page by page.
#[derive(Debug)]
pub(in crate::cmd) struct Playback<'a> {
    link: &'a Link,
    info: &'a TerminalInfo,
    recording: Recording,
    /// The page that is next.
    page: ReadResult,
    until: Option<Offset>,
}

impl<'a> Playback<'a> {
    /// Reads the first page. The commands become markers.
    pub(in crate::cmd) async fn open(
        link: &'a Link,
        info: &'a TerminalInfo,
        commands: &[CommandInfo],
        from: Offset,
    ) -> Result<Self, CliError> {
        Ok(Self {
            link,
            info,
            recording: Recording::new(info.created_at_ms, commands),
            page: read(link, info, from).await?,
            until: None,
        })
    }

    /// Ends it before this offset.
    #[must_use]
    pub(in crate::cmd) fn until(self, until: Option<Offset>) -> Self {
        Self { until, ..self }
    }

    /// The size where it begins: columns and rows.
    pub(in crate::cmd) fn size(&self) -> (u16, u16) {
        let first = self.page.sizes.as_ref().and_then(|sizes| sizes.first());
        let last = OutputSize {
            at: self.page.start,
            cols: self.info.cols,
            rows: self.info.rows,
            at_ms: None,
        };
        let size = first.copied().unwrap_or(last);
        (size.cols, size.rows)
    }

    /// Gives each event with its time, in milliseconds since the Unix epoch, and the exit last. Returns the
    /// time of the last output.
    pub(in crate::cmd) async fn run(
        mut self,
        mut each: impl FnMut(i64, Event) -> Result<(), CliError>,
    ) -> Result<i64, CliError> {
        loop {
            if let Some(gap) = self.page.gap {
                output::note(&gap_note(gap));
                if let Some((at_ms, event)) = self.recording.gap() {
                    each(at_ms, event)?;
                }
            }
            let data = self.page.data.as_deref().unwrap_or_default();
            let mut bytes = STANDARD.decode(data).map_err(BadAnswer::from)?;
            let times = self.page.times.take().unwrap_or_default();
            let sizes = self.page.sizes.take().unwrap_or_default();
            // The first was in force before.
            let mut sizes = sizes.get(1..).unwrap_or_default();
            let (start, end) = (self.page.start, self.page.end);
            let is_cut = self.until.is_some_and(|until| until < end);
            if let Some(until) = self.until.filter(|_| is_cut) {
                bytes.truncate(usize::try_from(until.since(start)).unwrap_or(usize::MAX));
                sizes = &sizes[..sizes.partition_point(|size| size.at < until)];
            }
            for (at_ms, event) in self.recording.page((start, &bytes), &times, sizes) {
                each(at_ms, event)?;
            }
            if is_cut {
                return Ok(self.recording.now_ms());
            }
            if self.page.at_end {
                for (at_ms, event) in self.recording.finish(end) {
                    each(at_ms, event)?;
                }
                let exit = self.page.exit_status.as_ref().zip(self.info.exited_at_ms);
                if let Some((status, at_ms)) = exit {
                    each(at_ms, Event::Exit(ExitCode::of_command(status).0))?;
                }
                return Ok(self.recording.now_ms());
            }
            self.page = read(self.link, self.info, end).await?;
        }
    }
}

async fn read(link: &Link, info: &TerminalInfo, from: Offset) -> Result<ReadResult, CliError> {
    let request = ReadTerminal {
        max_bytes: Some(MAX_READ_BYTES),
        encoding: Some(Encoding::Base64),
        times: Some(true),
        ..ReadTerminal::new(TerminalRef::from(&info.id), ReadFrom::Offset(from))
    };
    Ok(link.repeat(&request).await?)
}
