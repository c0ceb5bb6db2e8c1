//! A terminal's screen as it was when its output had come to an offset, or at a time.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use termd_proto::Offset;
use termd_proto::recording::Keyframe;
use termd_proto::screen::{Screen, ScreenRows};
use termd_vt::Model;

use super::restore::{MAX_REPLAY_BYTES, replay};
use super::size::Size;
use crate::store::Store;
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

/// The end of the output that a moment shows, of what is kept from `start` to `end`.
pub(crate) async fn offset_of(
    terminal: &Terminal,
    (start, end): (Offset, Offset),
    moment: Moment,
) -> Result<Offset, TerminalError> {
    let invalid = |field, problem| TerminalError::Invalid { field, problem };
    match moment {
        Moment::Offset(at) if at > end => {
            let problem = format!("is past the end of the output, which is {end}");
            Err(invalid("at", problem))
        }
        Moment::Offset(at) if at < start => {
            let problem = format!("is before the output that is kept, which begins at {start}");
            Err(invalid("at", problem))
        }
        Moment::Offset(at) => Ok(at),
        Moment::TimeMs(at_ms) => {
            let later = at_ms.saturating_sub(terminal.record.created_at_ms);
            let Ok(later) = u64::try_from(later) else {
                return Ok(start);
            };
            let arrived = terminal.transcript.arrived_by((start, end), later).await?;
            match arrived {
                Some(at) => Ok(at),
                None if start == end => Ok(end),
                None => {
                    let problem =
                        "is not known of this output, which is older than what notes times";
                    Err(invalid("at_ms", problem.to_owned()))
                }
            }
        }
    }
}

/// The screen that the output up to `at` has drawn. Its scrollback is what the rows ask for, as far as 64
/// MiB of output before make it.
pub(crate) async fn screen_at(
    store: &Store,
    terminal: &Terminal,
    at: Offset,
    rows: ScreenRows,
    look: impl Fn(&Model) -> Screen,
) -> Result<Screen, TerminalError> {
    let wanted_rows = rows.from_row.unwrap_or(0).min(0).unsigned_abs();
    let mut from = at;
    loop {
        let keyframe = store.keyframe(terminal.id(), from).await?;
        let keyframe_at = keyframe.as_ref().map(|keyframe| keyframe.at);
        let (record, transcript) = (&terminal.record, &terminal.transcript);
        let replayed = replay(store, record, transcript, (keyframe, at)).await?;
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
            _ => return Ok(screen),
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
