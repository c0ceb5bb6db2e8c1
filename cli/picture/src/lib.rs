//! Pictures of a screen: PNG, SVG, and an HTML page around an SVG.
//!
//! Pure but for the system's fonts, which PNG looks into for characters that the embedded font
//! lacks. One walk over the screen (`grid`) draws on any `canvas`; box drawing is geometry
//! (`boxes`, `lines`), not letters. It promises whole pixels for a cell, so that columns never
//! drift and neighbours touch, and a bound on the pixels. It must not know the daemon.

mod boxes;
mod canvas;
mod cluster;
mod fallback;
mod font;
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

use boxes::CellBox;

/// Most pixels of a picture: what a viewer needs a GiB for. A row of cells is drawn at a time, so
/// termctl itself needs far less.
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
        /// Its width in pixels.
        width: u64,
        /// Its height in pixels.
        height: u64,
    },
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
    /// As a file name's extension says.
    pub fn of_extension(extension: &str) -> Option<Self> {
        match extension.to_ascii_lowercase().as_str() {
            "png" => Some(Self::Png),
            "svg" => Some(Self::Svg),
            "html" | "htm" => Some(Self::Html),
            _ => None,
        }
    }

    /// Its name.
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
    /// Where the program shows it.
    AsShown,
    /// Not.
    Never,
}

/// How a picture is to be.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Its colours.
    pub theme: Theme,
    /// The letters' size in pixels.
    pub font_size: u16,
    /// The cursor.
    pub cursor: CursorDrawing,
}

/// A file's content, and its size as a picture.
#[derive(Debug)]
pub struct Picture {
    /// What to write into the file.
    pub bytes: Vec<u8>,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
}

/// Takes the picture of a screen: of its `lines`, and the cursor where its row is among them.
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

/// Where things are, in pixels.
#[derive(Debug, Clone, Copy)]
struct Layout {
    /// A cell, and its lines.
    cell: CellBox,
    /// From a row's top to the baseline of its letters.
    baseline: f32,
    /// The letters' size.
    font_size: f32,
    /// How wide a letter is by itself: a cell's width before it was rounded.
    advance: f32,
    /// Empty space around.
    padding: u16,
    /// Columns.
    cols: u16,
    /// The whole picture.
    width: u32,
    height: u32,
    /// What there is where nothing is drawn.
    paper: Rgb,
}

impl Layout {
    fn of(screen: &Screen, look: &Look) -> Result<Self, PictureError> {
        let font_size = f32::from(look.font_size);
        let metrics = font::metrics()?;
        let cell = CellBox {
            width: (metrics.advance * font_size).round().max(1.0),
            height: ((metrics.ascent + metrics.descent) * font_size)
                .round()
                .max(1.0),
            // As thick as the upright of a letter: box drawing goes with the text.
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

/// A length that is whole and small already.
fn whole(length: f32) -> u32 {
    // Font sizes are a u16, and a cell is no larger than two of them.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let pixels = length as u32;
    pixels
}
