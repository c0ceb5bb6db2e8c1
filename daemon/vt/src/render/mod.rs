//! A [`Screen`] as text, as ANSI for another terminal, and as HTML.
//!
//! **Promises:** no rendering fails or panics, whatever the screen holds. No control character that
//! a program printed gets into a rendering, and nothing that a browser would run.

mod ansi;
mod attach;
mod html;
pub(crate) mod sgr;
mod text;

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use termd_proto::screen::{LineSize, Screen, ScreenFormat, ScreenRow};

pub use ansi::ansi;
pub use attach::{View, attach};
pub use html::html;
pub use sgr::Pen;
pub use text::{WrappedLines, text};

/// Renders a screen in a format; `None` for JSON, which is the screen itself.
pub fn render(screen: &Screen, format: ScreenFormat) -> Option<String> {
    match format {
        ScreenFormat::Json => None,
        ScreenFormat::Text => Some(text(screen, WrappedLines::Apart)),
        ScreenFormat::TextJoined => Some(text(screen, WrappedLines::Joined)),
        ScreenFormat::Ansi => Some(ansi(screen)),
        ScreenFormat::Attach => {
            let (cols, rows) = (screen.cols, screen.rows);
            Some(attach(screen, View { cols, rows }))
        }
        ScreenFormat::Html => Some(html(screen)),
    }
}

/// How many characters of normal width fit a row.
fn columns_of(row: &ScreenRow, cols: u16) -> u16 {
    match row.size {
        LineSize::Single => cols,
        LineSize::DoubleWidth | LineSize::DoubleHeightTop | LineSize::DoubleHeightBottom => {
            cols / 2
        }
    }
}

/// A write to a `String` does not fail.
fn put(out: &mut String, formatted: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(formatted);
}
