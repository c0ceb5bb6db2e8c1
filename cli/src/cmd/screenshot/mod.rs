//! `termctl screenshot`: a picture of the screen, or an animation of what it has shown, into a file.

mod animation;
mod film;

use std::ffi::OsStr;

use serde_json::json;
use termd_picture::{CursorDrawing, Format, Look};
use termd_proto::TerminalRef;
use termd_proto::palette::Theme;
use termd_proto::screen::ReadScreen;

use super::screen::look_back;
use super::{Context, gaps};
use crate::args::{ScreenshotArgs, ThemeArg};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::output_file::OutputFile;
use crate::usage_error::UsageError;

pub(super) async fn run(context: Context, args: &ScreenshotArgs) -> Result<ExitCode, CliError> {
    let extension = args.output.extension().and_then(OsStr::to_str);
    let extension = extension.unwrap_or_default();
    let look = Look {
        theme: match args.theme {
            ThemeArg::Dark => Theme::DARK,
            ThemeArg::Light => Theme::LIGHT,
        },
        font_size: args.font_size,
        cursor: if args.no_cursor {
            CursorDrawing::Never
        } else {
            CursorDrawing::AsShown
        },
    };
    if args.animation.animate {
        let is_png = ["png", "apng"]
            .iter()
            .any(|known| extension.eq_ignore_ascii_case(known));
        if !is_png {
            return Err(UsageError::AnimationExtension.into());
        }
        let link = context.open().await?;
        let (picture, frames) = animation::draw(&link, args, &look).await?;
        OutputFile::write_all(&args.output, &picture.bytes)?;
        if context.json {
            output::print_json(&json!({
                "file": args.output,
                "format": "apng",
                "width": picture.width,
                "height": picture.height,
                "bytes": picture.bytes.len(),
                "frames": frames,
            }))?;
        }
        return Ok(ExitCode::OK);
    }
    let format = Format::of_extension(extension).ok_or(UsageError::PictureExtension)?;
    let link = context.open().await?;
    let id = TerminalRef(args.terminal.clone());
    let mut request = ReadScreen {
        from_row: Some(-i64::from(args.scrollback)),
        ..ReadScreen::of(id.clone())
    };
    let past = match args.at {
        Some(position) => Some(look_back(&link, &mut request, position).await?),
        None => None,
    };
    let shown = link.repeat(&request).await?;
    match &past {
        Some(info) => gaps::note_before(info, request.at, &shown),
        None => gaps::note_empty(&link, &id, &shown.screen).await?,
    }
    let screen = shown.screen;
    let picture = termd_picture::draw(&screen, &look, format)?;
    OutputFile::write_all(&args.output, &picture.bytes)?;
    if context.json {
        output::print_json(&json!({
            "file": args.output,
            "format": format.as_str(),
            "width": picture.width,
            "height": picture.height,
            "bytes": picture.bytes.len(),
            "seq": screen.seq,
        }))?;
    }
    Ok(ExitCode::OK)
}
