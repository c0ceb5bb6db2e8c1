//! Pictures of a screen: PNG, SVG, and an HTML page around an SVG.
//!
//! One walk over the screen (`grid`) draws on any `canvas`. Box drawing is geometry (`boxes`,
//! `lines`), not letters. A cell is whole pixels wide and high, so columns never drift and neighbours
//! touch. A picture's pixels have a bound. PNG alone reads the system's fonts, for characters that the
//! embedded font lacks; everything else is pure.

mod boxes;
mod canvas;
mod cell_box;
mod cluster;
mod fallback;
mod fonts;
mod glyph;
mod grid;
mod lines;
mod png;
mod stamp;
mod svg;

#[cfg(test)]
mod tests;

use ::png::EncodingError;
use termd_proto::palette::{Rgb, Theme, Video};
use termd_proto::screen::Screen;
use thiserror::Error;

use cell_box::CellBox;

/// Most pixels of a picture; a viewer needs a GiB for them. termctl draws a row of cells at a time and
/// needs far less.
const MAX_PIXELS: u64 = 256 * 1024 * 1024;

/// Why there is no picture.
#[derive(Debug, Error)]
pub enum PictureError {
    /// More pixels than `MAX_PIXELS`.
    #[error(
        "a picture of {width}x{height} pixels is too large ({MAX_PIXELS} pixels at the most): \
         fewer rows or a smaller --font-size make it smaller"
    )]
    TooLarge {
        /// In pixels.
        width: u64,
        /// In pixels.
        height: u64,
    },
    /// An animation of nothing.
    #[error("there is nothing to show")]
    NoFrames,
    /// The embedded font cannot be read: this is a bug.
    #[error("the embedded font is damaged")]
    Font,
    /// The encoder refused.
    #[error("the picture cannot be encoded: {0}")]
    Encoding(#[from] EncodingError),
}

/// A file's format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Pixels.
    Png,
    /// Text and geometry, with the viewer's fonts.
    Svg,
    /// A page with the SVG in it.
    Html,
}

impl Format {
    /// The format of a file name's extension.
    pub fn of_extension(extension: &str) -> Option<Self> {
        match extension.to_ascii_lowercase().as_str() {
            "png" => Some(Self::Png),
            "svg" => Some(Self::Svg),
            "html" | "htm" => Some(Self::Html),
            _ => None,
        }
    }

    /// The format's name, which is also its extension.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Svg => "svg",
            Self::Html => "html",
        }
    }
}

/// Whether the cursor is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CursorDrawing {
    /// Where the program shows the cursor.
    AsShown,
    /// Not.
    Never,
}

/// The options of a picture.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// The colours.
    pub theme: Theme,
    /// The letters' size in pixels.
    pub font_size: u16,
    /// The cursor.
    pub cursor: CursorDrawing,
}

/// A file's content, and its size as a picture.
#[derive(Debug)]
pub struct Picture {
    /// The file's content.
    pub bytes: Vec<u8>,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
}

/// Draws a screen's `lines`, and the cursor if its row is among them.
pub fn draw(screen: &Screen, look: &Look, format: Format) -> Result<Picture, PictureError> {
    let layout = Layout::of(screen, look)?;
    let bytes = match format {
        Format::Png => png::draw(screen, look, &layout)?,
        Format::Svg => svg::draw(screen, look, &layout)?.into_bytes(),
        Format::Html => svg::page(screen, look, &layout)?.into_bytes(),
    };
    Ok(Picture {
        bytes,
        width: layout.width,
        height: layout.height,
    })
}

/// A picture of an animation.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// What it shows.
    pub screen: Screen,
    /// How long, in milliseconds.
    pub shown_ms: u16,
}

/// Draws screens one after the other, as a PNG that is animated and begins anew at its end. It is as large
/// as the largest of them.
pub fn animate(frames: &[Frame], look: &Look) -> Result<Picture, PictureError> {
    let first = frames.first().ok_or(PictureError::NoFrames)?;
    let cols = frames.iter().map(|frame| frame.screen.cols).max();
    let lines = frames.iter().map(|frame| frame.screen.lines.len()).max();
    let mut largest = first.screen.clone();
    largest.cols = cols.unwrap_or_default();
    if let Some(row) = largest.lines.last().cloned() {
        largest.lines.resize(lines.unwrap_or_default(), row);
    }
    let layout = Layout::of(&largest, look)?;
    Ok(Picture {
        bytes: png::animate(frames, look, &layout)?,
        width: layout.width,
        height: layout.height,
    })
}

/// The measures of a picture, in pixels.
#[derive(Debug, Clone, Copy)]
struct Layout {
    cell: CellBox,
    /// From a row's top to the baseline of its letters.
    baseline: f32,
    font_size: f32,
    /// A letter's own width: a cell's width before rounding.
    advance: f32,
    /// Empty space around the screen.
    padding: u16,
    cols: u16,
    /// The whole picture.
    width: u32,
    height: u32,
    /// The background.
    paper: Rgb,
}

impl Layout {
    fn of(screen: &Screen, look: &Look) -> Result<Self, PictureError> {
        let font_size = f32::from(look.font_size);
        let metrics = fonts::metrics()?;
        let cell = CellBox {
            width: (metrics.advance * font_size).round().max(1.0),
            height: ((metrics.ascent + metrics.descent) * font_size)
                .round()
                .max(1.0),
            // As thick as the upright of a letter, so that box drawing matches the text.
            stroke: (font_size / 14.0).round().max(1.0),
        };
        let padding = look.font_size / 2;
        let (width, height) = (
            u64::from(whole(cell.width)) * u64::from(screen.cols) + 2 * u64::from(padding),
            u64::from(whole(cell.height)) * screen.lines.len() as u64 + 2 * u64::from(padding),
        );
        let too_large = PictureError::TooLarge { width, height };
        if width.saturating_mul(height) > MAX_PIXELS {
            return Err(too_large);
        }
        let (Ok(width), Ok(height)) = (u32::try_from(width), u32::try_from(height)) else {
            return Err(too_large);
        };
        let video = Video::of_mode(screen.modes.reverse_video);
        Ok(Self {
            cell,
            baseline: (metrics.ascent * font_size).round(),
            font_size,
            advance: metrics.advance * font_size,
            padding,
            cols: screen.cols,
            width,
            height,
            paper: look.theme.defaults(video).1,
        })
    }

    /// The left edge of a column.
    fn x(&self, column: u16) -> f32 {
        f32::from(column) * self.cell.width
    }
}

/// The pixels of a length that is whole and small.
fn whole(length: f32) -> u32 {
    // Font sizes are a u16, and a cell is no larger than two of them.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let pixels = length as u32;
    pixels
}
