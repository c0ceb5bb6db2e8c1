//! Glyphs of characters: from the embedded font, else from the system's.
//!
//! The embedded font is `DejaVu` Sans Mono, regular and bold, without hinting and layout tables
//! (`cli/picture/assets`, with its licence). The caller skews the outlines of slanted letters.

use std::collections::HashMap;
use std::rc::Rc;

use ttf_parser::Face;

use super::PictureError;
use super::fallback::Fallback;
use super::glyph::{Glyph, Presentation, Weight, outline};

const REGULAR: &[u8] = include_bytes!("../assets/DejaVuSansMono.ttf");
const BOLD: &[u8] = include_bytes!("../assets/DejaVuSansMono-Bold.ttf");

/// The measures behind a cell's size, in ems.
#[derive(Debug, Clone, Copy)]
pub(super) struct Metrics {
    /// From one character to the next.
    pub(super) advance: f32,
    /// From the baseline up.
    pub(super) ascent: f32,
    /// From the baseline down.
    pub(super) descent: f32,
}

/// The embedded font's metrics.
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

/// The fonts, and the glyphs found in them so far.
pub(super) struct Fonts {
    regular: Face<'static>,
    bold: Face<'static>,
    fallback: Fallback,
    known: HashMap<(char, Weight, Presentation), Option<Rc<Glyph>>>,
}

impl Fonts {
    /// Reads the embedded fonts. The system's are looked up when a character needs them.
    pub(super) fn new(fallback: Fallback) -> Result<Self, PictureError> {
        Ok(Self {
            regular: parse(REGULAR)?,
            bold: parse(BOLD)?,
            fallback,
            known: HashMap::new(),
        })
    }

    /// A character's glyph; `None` if no font has one.
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
