//! One character's drawing, and the reading of outlines from font files.

use tiny_skia::{PathBuilder, Pixmap};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// The drawing of a character.
#[derive(Debug)]
pub(super) enum Glyph {
    /// An outline in ems, upwards from the baseline.
    Outline {
        /// `None` for a blank.
        path: Option<tiny_skia::Path>,
        /// From this character to the next.
        advance: f32,
    },
    /// A coloured picture.
    Picture(Pixmap),
}

/// The weight of letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Weight {
    Regular,
    Bold,
}

/// Whether a character is wanted as text or as a coloured picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Presentation {
    /// An outline in the text's colour.
    Text,
    /// A picture, if a font has one.
    Emoji,
}

/// Reads a glyph's outline.
pub(super) fn outline(face: &Face<'_>, glyph: GlyphId) -> Glyph {
    let em = f32::from(face.units_per_em()).max(1.0);
    let mut pen = Pen {
        path: PathBuilder::new(),
        scale: 1.0 / em,
    };
    let has_outline = face.outline_glyph(glyph, &mut pen).is_some();
    let advance = f32::from(face.glyph_hor_advance(glyph).unwrap_or_default()) / em;
    Glyph::Outline {
        path: has_outline.then(|| pen.path.finish()).flatten(),
        advance,
    }
}

/// Builds an outline in ems.
struct Pen {
    path: PathBuilder,
    scale: f32,
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(x * self.scale, y * self.scale);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(x * self.scale, y * self.scale);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let s = self.scale;
        self.path.quad_to(x1 * s, y1 * s, x * s, y * s);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let s = self.scale;
        self.path
            .cubic_to(x1 * s, y1 * s, x2 * s, y2 * s, x * s, y * s);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
