//! `session_screenshot`.

use serde::Deserialize;
use termd_picture::{CursorDrawing, Format, Look};
use termd_proto::TerminalRef;
use termd_proto::palette::Theme;
use termd_proto::screen::ReadScreen;

use super::{fields, screen};
use crate::answer::{Outcome, ToolAnswer, ToolError};
use crate::call::Call;
use crate::schema::{Field, Schema};
use crate::tool::{Effect, Tool, run};

/// Most lines above the screen in a picture: beyond it models see no letters.
const MAX_SCROLLBACK: u32 = 200;

#[derive(Debug, Deserialize)]
struct Arguments {
    session_id: String,
    scrollback: u32,
    theme: String,
    font_size: u16,
}

pub(super) fn tool() -> Tool {
    Tool {
        name: "session_screenshot",
        title: "Take a picture of a terminal",
        description: "The screen as a picture (PNG), where colours or layout matter; \
                      session_read with mode snapshot gives its text for fewer tokens.",
        effect: Effect::Reads,
        input: Schema::input(vec![
            fields::session_id(),
            Field::integer("scrollback", "Lines above the screen too")
                .between(0, MAX_SCROLLBACK)
                .default(0),
            Field::string("theme", "")
                .one_of(&["dark", "light"])
                .default("dark"),
            Field::integer("font_size", "Size of the letters in pixels")
                .between(6, 64)
                .default(14),
        ]),
        output: None,
        run: run(picture),
        error: ToolError::to_session_answer,
    }
}

async fn picture(call: Call) -> Outcome {
    let arguments: Arguments = call.arguments()?;
    let id = call.backend().resolve(&arguments.session_id).await?;
    let request = ReadScreen {
        from_row: Some(-i64::from(arguments.scrollback)),
        ..ReadScreen::of(TerminalRef::from(&id))
    };
    let screen = screen::ask(call.backend(), &request).await?.screen;
    let look = Look {
        theme: if arguments.theme == "light" {
            Theme::LIGHT
        } else {
            Theme::DARK
        },
        font_size: arguments.font_size,
        cursor: CursorDrawing::AsShown,
    };
    // Drawing takes milliseconds that other calls do not wait for.
    let drawing =
        tokio::task::spawn_blocking(move || termd_picture::draw(&screen, &look, Format::Png));
    Ok(ToolAnswer::Picture(drawing.await??.bytes))
}
