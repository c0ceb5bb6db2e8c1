//! A range of a recording as an animated PNG.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use termd_client::{BadAnswer, Link};
use termd_picture::{Look, Picture};
use termd_proto::recording::ReadKeyframe;
use termd_proto::terminal::{Stdio, TerminalInfo};
use termd_proto::{Offset, TerminalRef};
use termd_vt::{Model, Scrollback};

use super::film::{Film, MAX_FRAMES, TooMany, size};
use crate::args::{AnimationArgs, ScreenshotArgs};
use crate::cmd::export::cast::Event;
use crate::cmd::export::playback::Playback;
use crate::cmd::gaps;
use crate::cmd::output_offset::range_of;
use crate::cmd::show::show;
use crate::error::CliError;
use crate::usage_error::UsageError;

/// Rows of scrollback that the model keeps: a screen that grows takes rows back from there.
const SCROLLBACK_ROWS: usize = 1_000;
/// Bytes of it.
const SCROLLBACK_BYTES: usize = 1 << 20;

/// Draws what a range of the output has shown. Returns the picture and the number of frames.
pub(super) async fn draw(
    link: &Link,
    args: &ScreenshotArgs,
    look: &Look,
) -> Result<(Picture, usize), CliError> {
    let AnimationArgs {
        from,
        to,
        idle,
        speed,
        animate: _,
    } = args.animation;
    let info = show(link, &TerminalRef(args.terminal.clone())).await?;
    gaps::note_beginning(&info);
    let (start, end) = range_of(link, &info, (from, to)).await?;
    if from.is_some() && end.is_none() && start >= info.end {
        return Err(UsageError::NothingAfter.into());
    }
    let model = screen_at(link, &info, start).await?;
    let idle_ms = u64::try_from(idle.as_millis()).unwrap_or(u64::MAX);
    let mut film = Film::new(model, idle_ms, speed.0);
    let playback = Playback::open(link, &info, &[], start).await?.until(end);
    playback
        .run(|at_ms, event| {
            let changed = match event {
                Event::Output(bytes) => film.change(at_ms, |model| drop(model.feed(&bytes))),
                Event::Resize { cols, rows } => {
                    film.change(at_ms, |model| drop(model.resize(size(cols, rows))))
                }
                Event::Marker(_) | Event::Exit(_) => Ok(()),
            };
            changed.map_err(too_many)
        })
        .await?;
    let frames = film.finish().map_err(too_many)?;
    let picture = termd_picture::animate(&frames, look)?;
    Ok((picture, frames.len()))
}

fn too_many(_: TooMany) -> CliError {
    UsageError::TooManyFrames(MAX_FRAMES).into()
}

/// The screen that the output before an offset has drawn: the last one that was kept, and what came after it.
async fn screen_at(link: &Link, info: &TerminalInfo, at: Offset) -> Result<Model, CliError> {
    let id = TerminalRef::from(&info.id);
    let keyframe = link.repeat(&ReadKeyframe { id, at }).await?;
    let dump = keyframe.dump.as_deref().map(|dump| STANDARD.decode(dump));
    let dump = dump.transpose().map_err(BadAnswer::from)?;
    let scrollback = || Scrollback::new(SCROLLBACK_ROWS, SCROLLBACK_BYTES);
    // A dump of another version of termd is none: it begins empty.
    let restored = dump.and_then(|dump| Model::restored(scrollback(), &dump));
    let model =
        restored.unwrap_or_else(|| Model::new(size(keyframe.cols, keyframe.rows), scrollback()));
    let mut model = match info.stdio {
        Stdio::Pty => model,
        Stdio::Pipes => model.with_new_lines(),
    };
    if keyframe.at < at {
        let playback = Playback::open(link, info, &[], keyframe.at).await?;
        let before = playback.until(Some(at)).run(|_, event| {
            match event {
                Event::Output(bytes) => drop(model.feed(&bytes)),
                Event::Resize { cols, rows } => drop(model.resize(size(cols, rows))),
                Event::Marker(_) | Event::Exit(_) => {}
            }
            Ok(())
        });
        before.await?;
    }
    Ok(model)
}
