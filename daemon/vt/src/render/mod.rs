//! What a [`Screen`] looks like: as text, as ANSI for another terminal, as HTML.
//!
//! Pure. **Promises:** no rendering fails or panics, whatever the screen says of itself; and no
//! control character that a program printed comes out of any, nor anything that a browser would
//! run. It must not know where a screen comes from.

mod ansi;
mod attach;
mod html;
mod sgr;
mod text;

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use termd_proto::screen::{LineSize, Screen, ScreenFormat, ScreenRow};

pub use ansi::ansi;
pub use attach::{View, attach};
pub use html::html;
pub use text::{WrappedLines, text};

/// A screen in the format that `session.screen` was asked for; none for JSON, whose rows are the
/// screen's own.
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

/// How many characters of normal width a row holds.
fn columns_of(row: &ScreenRow, cols: u16) -> u16 {
    match row.size {
        LineSize::Single => cols,
        LineSize::DoubleWidth | LineSize::DoubleHeightTop | LineSize::DoubleHeightBottom => {
            cols / 2
        }
    }
}

/// Writes formatted text; a `String` takes whatever it is given.
fn put(out: &mut String, formatted: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(formatted);
}
