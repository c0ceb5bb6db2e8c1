//! Letters that are drawn once and stamped many times. Filling an outline costs some 80 µs, and a
//! screen has thousands of letters of a few dozen kinds.

use std::collections::HashMap;
use std::rc::Rc;

use termd_proto::palette::Rgb;
use tiny_skia::{Color, FillRule, Paint, Pixmap, Transform};

use super::canvas::Face;

/// Most memory of all stamps. When it is full, all stamps are dropped and drawn again.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// A letter, its face, and the number of its columns.
pub(super) type Key = (char, Face, u16);

/// A letter's opacity at each pixel of its columns, and of half their width on either side.
#[derive(Debug)]
pub(super) struct Stamp {
    width: usize,
    /// Pixels before the letter's columns.
    margin: usize,
    alpha: Vec<u8>,
}

impl Stamp {
    /// Draws an outline. `by` begins at the left edge of the letter's columns, which are `width` and
    /// `height` pixels large.
    pub(super) fn of(
        path: &tiny_skia::Path,
        by: Transform,
        width: u32,
        height: u32,
    ) -> Option<Self> {
        let margin = width.div_ceil(2);
        let mut pixmap = Pixmap::new(width + 2 * margin, height)?;
        let mut paint = Paint::default();
        paint.set_color(Color::WHITE);
        let margin = u16::try_from(margin).ok()?;
        let by = by.post_translate(f32::from(margin), 0.0);
        pixmap.fill_path(path, &paint, FillRule::Winding, by, None);
        Some(Self {
            width: usize::try_from(pixmap.width()).ok()?,
            margin: margin.into(),
            alpha: pixmap.pixels().iter().map(|pixel| pixel.alpha()).collect(),
        })
    }

    /// Inks an opaque picture of the same height, with the letter's columns beginning at `left`.
    pub(super) fn press(&self, onto: &mut Pixmap, left: usize, color: Rgb) {
        let Ok(stride) = usize::try_from(onto.width()) else {
            return;
        };
        // Pixels beyond the picture's left or right edge are skipped.
        let skipped = self.margin.saturating_sub(left);
        let first = left.saturating_sub(self.margin);
        let rows = onto.data_mut().chunks_exact_mut(stride * 4);
        for (row, alphas) in rows.zip(self.alpha.chunks_exact(self.width)) {
            let pixels = row.chunks_exact_mut(4).skip(first);
            for (pixel, &alpha) in pixels.zip(alphas.iter().skip(skipped)) {
                if alpha > 0 {
                    for (level, own) in pixel.iter_mut().zip([color.0, color.1, color.2]) {
                        *level = mixed(own, *level, alpha);
                    }
                }
            }
        }
    }
}

/// `alpha` 255ths of one level, and the rest of the other.
fn mixed(one: u8, other: u8, alpha: u8) -> u8 {
    let (one, other, alpha) = (u16::from(one), u16::from(other), u16::from(alpha));
    let sum = one * alpha + other * (255 - alpha) + 127;
    u8::try_from(sum / 255).unwrap_or(u8::MAX)
}

/// A cache of stamps.
#[derive(Debug, Default)]
pub(super) struct Stamps {
    known: HashMap<Key, Rc<Stamp>>,
    bytes: usize,
}

impl Stamps {
    /// The stamp of a letter; a new one is drawn now.
    pub(super) fn get(
        &mut self,
        key: Key,
        draw: impl FnOnce() -> Option<Stamp>,
    ) -> Option<Rc<Stamp>> {
        if let Some(known) = self.known.get(&key) {
            return Some(Rc::clone(known));
        }
        let stamp = Rc::new(draw()?);
        if self.bytes + stamp.alpha.len() > MAX_BYTES {
            self.known.clear();
            self.bytes = 0;
        }
        self.bytes += stamp.alpha.len();
        self.known.insert(key, Rc::clone(&stamp));
        Some(stamp)
    }
}

#[cfg(test)]
mod tests {
    use tiny_skia::{PathBuilder, Rect};

    use super::*;

    /// Inks a stamp of 4 columns of pixels, all full, on 6 pixels; which have ink?
    fn inked(left: usize) -> Vec<bool> {
        let everywhere = Rect::from_xywh(-9.0, -9.0, 30.0, 30.0).unwrap();
        let path = PathBuilder::from_rect(everywhere);
        let stamp = Stamp::of(&path, Transform::identity(), 2, 1).unwrap();
        let mut picture = Pixmap::new(6, 1).unwrap();
        picture.fill(Color::BLACK);
        stamp.press(&mut picture, left, Rgb(255, 255, 255));
        picture
            .pixels()
            .iter()
            .map(|pixel| pixel.red() == 255)
            .collect()
    }

    #[test]
    fn a_stamp_reaches_over_its_columns_and_never_over_the_picture() {
        assert_eq!(inked(2), [false, true, true, true, true, false]);
        assert_eq!(inked(0), [true, true, true, false, false, false]);
        assert_eq!(inked(4), [false, false, false, true, true, true]);
        assert_eq!(inked(9), [false; 6]);
    }

    #[test]
    fn colours_mix_by_opacity() {
        assert_eq!((mixed(200, 100, 0), mixed(200, 100, 255)), (100, 200));
        assert_eq!(mixed(200, 100, 128), 150);
    }
}
