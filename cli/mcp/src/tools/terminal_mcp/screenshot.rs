//! `session_screenshot`.

use schemars::JsonSchema;
use serde::Deserialize;
use termd_picture::{CursorDrawing, Format, Look};
use termd_proto::TerminalRef;
use termd_proto::palette::Theme;
use termd_proto::screen::ReadScreen;

use super::params::SessionName;
use super::screen;
use crate::tool::{Call, Effect, Handler, Outcome, OutputSchema, Tool, ToolAnswer};

/// Most lines above the screen in a picture. Beyond it models see no letters.
const MAX_SCROLLBACK: u32 = 200;

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    session_id: SessionName,
    /// Lines above the screen
    #[schemars(range(min = 0, max = MAX_SCROLLBACK), extend("default" = 0))]
    scrollback: u32,
    #[schemars(extend("default" = "dark"))]
    theme: ThemeName,
    /// Pixels
    #[schemars(range(min = 6, max = 64), extend("default" = 14))]
    font_size: u16,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ThemeName {
    Dark,
    Light,
}

pub(super) fn tool() -> Tool {
    Tool {
        name: "session_screenshot",
        title: "Take a picture of a terminal",
        description: "The screen as a picture, where colours or layout matter.",
        effect: Effect::Reads,
        output: OutputSchema::Picture,
        handler: Handler::new(picture),
    }
}

async fn picture(call: Call, arguments: Arguments) -> Outcome {
    let id = call.backend().resolve(&arguments.session_id.0).await?;
    let request = ReadScreen {
        from_row: Some(-i64::from(arguments.scrollback)),
        ..ReadScreen::of(TerminalRef::from(&id))
    };
    let screen = screen::read(call.backend(), &request).await?.screen;
    let look = Look {
        theme: match arguments.theme {
            ThemeName::Dark => Theme::DARK,
            ThemeName::Light => Theme::LIGHT,
        },
        font_size: arguments.font_size,
        cursor: CursorDrawing::AsShown,
    };
    // Drawing takes milliseconds, for which other calls do not wait.
    let drawing =
        tokio::task::spawn_blocking(move || termd_picture::draw(&screen, &look, Format::Png));
    Ok(ToolAnswer::Picture(drawing.await??.bytes))
}
