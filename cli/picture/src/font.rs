//! Outlines of characters: from the embedded font, else from the system's.
//!
//! The embedded font is `DejaVu` Sans Mono, regular and bold, without hinting and layout tables
//! (`cli/assets`, with its licence). Slanted letters are skewed by who draws them.

use std::collections::HashMap;
use std::rc::Rc;

use tiny_skia::{PathBuilder, Pixmap};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

use super::PictureError;
use super::fallback::Fallback;

const REGULAR: &[u8] = include_bytes!("../assets/DejaVuSansMono.ttf");
const BOLD: &[u8] = include_bytes!("../assets/DejaVuSansMono-Bold.ttf");

/// What decides the size of a cell, in parts of the letters' size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Metrics {
    /// From one character to the next.
    pub(super) advance: f32,
    /// From the baseline up.
    pub(super) ascent: f32,
    /// From the baseline down.
    pub(super) descent: f32,
}

/// The embedded font's.
pub(super) fn metrics() -> Result<Metrics, PictureError> {
    let face = parse(REGULAR)?;
    let em = f32::from(face.units_per_em());
    let glyph = face.glyph_index('M').ok_or(PictureError::Font)?;
    let advance = face.glyph_hor_advance(glyph).ok_or(PictureError::Font)?;
    Ok(Metrics {
        advance: f32::from(advance) / em,
        ascent: f32::from(face.ascender()) / em,
        descent: -f32::from(face.descender()) / em,
    })
}

fn parse(data: &'static [u8]) -> Result<Face<'static>, PictureError> {
    Face::parse(data, 0).map_err(|_| PictureError::Font)
}

/// What is drawn for a character.
#[derive(Debug)]
pub(super) enum Glyph {
    /// An outline, in parts of the letters' size, upwards from the baseline; none for a blank.
    Outline {
        /// The outline.
        path: Option<tiny_skia::Path>,
        /// From this character to the next.
        advance: f32,
    },
    /// A coloured picture.
    Picture(Pixmap),
}

/// How heavy letters are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Weight {
    /// 400.
    Regular,
    /// 700.
    Bold,
}

/// Whether a character is wanted as text or as a coloured picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Presentation {
    /// An outline in the text's colour.
    Text,
    /// A picture, where there is a font with one.
    Emoji,
}

/// The fonts, and what was found in them.
pub(super) struct Fonts {
    regular: Face<'static>,
    bold: Face<'static>,
    fallback: Fallback,
    known: HashMap<(char, Weight, Presentation), Option<Rc<Glyph>>>,
}

impl Fonts {
    /// Reads the embedded ones; the system's are looked for when a character needs them.
    pub(super) fn new(fallback: Fallback) -> Result<Self, PictureError> {
        Ok(Self {
            regular: parse(REGULAR)?,
            bold: parse(BOLD)?,
            fallback,
            known: HashMap::new(),
        })
    }

    /// What to draw for a character; none where no font has it.
    pub(super) fn glyph(
        &mut self,
        c: char,
        weight: Weight,
        presentation: Presentation,
    ) -> Option<Rc<Glyph>> {
        let key = (c, weight, presentation);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let own = match weight {
            Weight::Regular => &self.regular,
            Weight::Bold => &self.bold,
        };
        let embedded = || {
            let mut faces = [own, &self.regular].into_iter();
            faces.find_map(|face| Some(outline(face, face.glyph_index(c)?)))
        };
        let system = &mut self.fallback;
        let found = match presentation {
            Presentation::Text => embedded().or_else(|| system.find(c, weight, presentation)),
            Presentation::Emoji => system.find(c, weight, presentation).or_else(embedded),
        };
        let found = found.map(Rc::new);
        self.known.insert(key, found.clone());
        found
    }
}

/// A glyph's outline.
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

/// Writes an outline in parts of an em.
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
