//! The system's fonts, for characters that the embedded one lacks: CJK, emoji, other scripts.
//!
//! A font file is untrusted input: an unreadable one is skipped, and look-ups and decoding have bounds.

use fontdb::{Database, FaceInfo, ID, Style};
use tiny_skia::{Pixmap, PremultipliedColorU8};
use ttf_parser::{Face, GlyphId, RasterImageFormat};

use super::glyph::{Glyph, Presentation, Weight, outline};

/// Different characters looked up for one picture. Each look-up may open every font.
const MAX_LOOKUPS: u32 = 2_000;
/// The largest width and height of a character's picture. Common fonts have 136 pixels.
const MAX_GLYPH_PIXELS: u32 = 512;

/// A bounded search through the system's fonts.
pub(super) struct Fallback {
    fonts: Option<SystemFonts>,
    lookups: u32,
}

/// Faces, in the order of the search.
struct SystemFonts {
    database: Database,
    regular: Vec<ID>,
    bold: Vec<ID>,
    emoji: Vec<ID>,
}

impl Fallback {
    /// The system's fonts, read at the first look-up.
    pub(super) fn system() -> Self {
        Self {
            fonts: None,
            lookups: 0,
        }
    }

    /// No fonts: pictures are the same on every machine.
    #[cfg(test)]
    pub(super) fn none() -> Self {
        Self {
            fonts: None,
            lookups: MAX_LOOKUPS,
        }
    }

    /// The glyph of the first font that has the character.
    pub(super) fn find(
        &mut self,
        c: char,
        weight: Weight,
        presentation: Presentation,
    ) -> Option<Glyph> {
        if self.lookups >= MAX_LOOKUPS {
            return None;
        }
        self.lookups += 1;
        let fonts = self.fonts.get_or_insert_with(SystemFonts::read);
        let text = match weight {
            Weight::Regular => &mut fonts.regular,
            Weight::Bold => &mut fonts.bold,
        };
        let (first, second) = match presentation {
            Presentation::Text => (&*text, &fonts.emoji),
            Presentation::Emoji => (&fonts.emoji, &*text),
        };
        let found = first
            .iter()
            .chain(second)
            .enumerate()
            .find_map(|(at, &id)| {
                let glyph = fonts
                    .database
                    .with_face_data(id, |data, index| glyph_of(data, index, c))??;
                Some((at, glyph))
            });
        let (at, glyph) = found?;
        // The next character of this script is most likely in the same face.
        if presentation == Presentation::Text
            && let Some(faces) = text.get_mut(..=at)
        {
            faces.rotate_right(1);
        }
        Some(glyph)
    }
}

impl SystemFonts {
    fn read() -> Self {
        let mut database = Database::new();
        database.load_system_fonts();
        let is_of = |face: &FaceInfo, word: &str| {
            let mut names = face.families.iter().map(|(name, _)| name);
            names.any(|name| name.contains(word))
        };
        // Preferred, in this order: upright, the right weight, monospaced, without serifs.
        let ordered = |weight: u16| {
            let text = database.faces().filter(|face| !is_of(face, "Emoji"));
            let mut faces: Vec<_> = text.collect();
            faces.sort_by_key(|face| {
                (
                    face.style != Style::Normal,
                    face.weight.0.abs_diff(weight),
                    !(face.monospaced || is_of(face, "Mono")),
                    is_of(face, "Serif"),
                )
            });
            faces.iter().map(|face| face.id).collect()
        };
        let emoji = database.faces().filter(|face| is_of(face, "Emoji"));
        let emoji = emoji.map(|face| face.id).collect();
        let (regular, bold) = (ordered(400), ordered(700));
        Self {
            database,
            regular,
            bold,
            emoji,
        }
    }
}

fn glyph_of(data: &[u8], index: u32, c: char) -> Option<Glyph> {
    let face = Face::parse(data, index).ok()?;
    let glyph = face.glyph_index(c).filter(|glyph| *glyph != GlyphId(0))?;
    if let Some(image) = face.glyph_raster_image(glyph, u16::MAX)
        && image.format == RasterImageFormat::PNG
        && let Some(picture) = decode(image.data)
    {
        return Some(Glyph::Picture(picture));
    }
    let outline = outline(&face, glyph);
    let is_drawn = matches!(&outline, Glyph::Outline { path: Some(_), .. });
    // Colour fonts of other formats have empty outlines. A blank is a blank in any font.
    (is_drawn || c.is_whitespace()).then_some(outline)
}

fn decode(data: &[u8]) -> Option<Pixmap> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(data));
    decoder.set_transformations(
        png::Transformations::normalize_to_color8() | png::Transformations::ALPHA,
    );
    let mut reader = decoder.read_info().ok()?;
    let (width, height) = reader.info().size();
    if width > MAX_GLYPH_PIXELS || height > MAX_GLYPH_PIXELS {
        return None;
    }
    let mut bytes = vec![0; reader.output_buffer_size()?];
    let info = reader.next_frame(&mut bytes).ok()?;
    let mut picture = Pixmap::new(width, height)?;
    let channels = info.color_type.samples();
    for (pixel, samples) in picture
        .pixels_mut()
        .iter_mut()
        .zip(bytes.chunks_exact(channels))
    {
        let (red, green, blue, alpha) = match *samples {
            [grey, alpha] => (grey, grey, grey, alpha),
            [red, green, blue, alpha] => (red, green, blue, alpha),
            _ => return None,
        };
        let by_alpha =
            |level: u8| u8::try_from(u16::from(level) * u16::from(alpha) / 255).unwrap_or(alpha);
        *pixel =
            PremultipliedColorU8::from_rgba(by_alpha(red), by_alpha(green), by_alpha(blue), alpha)?;
    }
    Some(picture)
}
