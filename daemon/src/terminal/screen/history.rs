//! A terminal's screen as it was when its output had come to an offset, or at a time.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use termd_proto::Offset;
use termd_proto::recording::Keyframe;
use termd_proto::screen::{Screen, ScreenRows};
use termd_proto::terminal::Gap;
use termd_vt::Model;

use super::restore::{MAX_REPLAY_BYTES, replay};
use super::size::Size;
use crate::store::{SizeChange, Store};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;

/// A moment in a terminal's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// When its output had come to here.
    Offset(Offset),
    /// A time, in milliseconds since the Unix epoch.
    TimeMs(i64),
}

/// What a moment shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Past {
    /// The end of the output.
    pub(crate) end: Offset,
    /// The time, in milliseconds since the terminal's start: a size that was set after all of the output may
    /// be set later still. `None`: each size that was set there counts.
    by_ms: Option<u64>,
}

impl Past {
    fn has(&self, change: &SizeChange) -> bool {
        let is_later = matches!((change.at_ms, self.by_ms), (Some(at), Some(by)) if at > by);
        change.at < self.end || !is_later
    }
}

/// What a moment shows of the output that is kept from `start` to `end`.
pub(crate) async fn past_of(
    terminal: &Terminal,
    (start, end): (Offset, Offset),
    moment: Moment,
) -> Result<Past, TerminalError> {
    match moment {
        Moment::Offset(at) => Ok(Past {
            end: offset_within((start, end), at)?,
            by_ms: None,
        }),
        Moment::TimeMs(at_ms) => {
            let later = at_ms.saturating_sub(terminal.record.created_at_ms);
            let Ok(later) = u64::try_from(later) else {
                return Err(invalid(
                    "at_ms",
                    "is before the terminal's start".to_owned(),
                ));
            };
            let by_ms = Some(later);
            let arrived = terminal.transcript.arrived_by((start, end), later).await?;
            match arrived {
                Some(end) => Ok(Past { end, by_ms }),
                None if start == end => Ok(Past { end, by_ms }),
                None => {
                    let problem =
                        "is not known of this output, which is older than what notes times";
                    Err(invalid("at_ms", problem.to_owned()))
                }
            }
        }
    }
}

/// An offset, if it is of the output that is kept from `start` to `end`.
pub(crate) fn offset_within(
    (start, end): (Offset, Offset),
    at: Offset,
) -> Result<Offset, TerminalError> {
    let problem = if at > end {
        format!("is past the end of the output, which is {end}")
    } else if at < start {
        format!("is before the output that is kept, which begins at {start}")
    } else {
        return Ok(at);
    };
    Err(invalid("at", problem))
}

fn invalid(field: &'static str, problem: String) -> TerminalError {
    TerminalError::Invalid { field, problem }
}

/// A screen as it was.
#[derive(Debug)]
pub(crate) struct PastScreen {
    pub(crate) screen: Screen,
    /// Output that is not kept, between the screen that was kept and this one.
    pub(crate) gap: Option<Gap>,
}

/// The screen that was shown then. Its scrollback is what the rows ask for, as far as 64 MiB of output before
/// make it.
pub(crate) async fn screen_at(
    store: &Store,
    terminal: &Terminal,
    past: Past,
    rows: ScreenRows,
    look: impl Fn(&Model) -> Screen,
) -> Result<PastScreen, TerminalError> {
    let wanted_rows = rows.from_row.unwrap_or(0).min(0).unsigned_abs();
    let at = past.end;
    let sizes = terminal.transcript.sizes(at).await?;
    // A screen that was kept at the same offset may have had the later size.
    let is_before_size = sizes
        .iter()
        .any(|change| change.at == at && !past.has(change));
    let mut from = if is_before_size { at.back(1) } else { at };
    loop {
        let keyframe = store.keyframe(terminal.id(), from).await?;
        let keyframe = keyframe.filter(|keyframe| !is_before_size || keyframe.at < at);
        let keyframe_at = keyframe.as_ref().map(|keyframe| keyframe.at);
        let (record, transcript) = (&terminal.record, &terminal.transcript);
        let has = |change: &SizeChange| past.has(change);
        let replayed = replay(store, record, transcript, (keyframe, at), has).await?;
        let screen = look(&replayed.model);
        match keyframe_at {
            // A keyframe has little scrollback. An earlier one with the output after it has more.
            Some(before)
                if screen.scrollback_rows < wanted_rows
                    && before > Offset::ZERO
                    && at.since(before) < MAX_REPLAY_BYTES =>
            {
                from = before.back(at.since(before).max(1));
            }
            _ => {
                let gaps = terminal.transcript.gaps().await?;
                let gap = gaps.first_within(keyframe_at.unwrap_or_default(), at);
                return Ok(PastScreen { screen, gap });
            }
        }
    }
}

/// The last screen that is kept at or before an offset, for a client that plays on from it.
pub(crate) async fn keyframe(
    store: &Store,
    terminal: &Terminal,
    (start, at): (Offset, Offset),
) -> Result<Keyframe, TerminalError> {
    let kept = store.keyframe(terminal.id(), at).await?;
    let kept = kept.filter(|kept| kept.at >= start);
    let from = kept.as_ref().map_or(start, |kept| kept.at);
    let changes = terminal.transcript.sizes(from).await?;
    let in_force = changes.iter().take_while(|change| change.at <= from);
    let size = in_force
        .last()
        .map_or(terminal.record.first_size(), |last| Size {
            cols: last.cols,
            rows: last.rows,
        });
    Ok(Keyframe {
        at: from,
        cols: size.cols,
        rows: size.rows,
        dump: kept.map(|kept| BASE64.encode(kept.dump)),
    })
}
