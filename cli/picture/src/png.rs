//! PNG. Draws and writes one row of cells at a time, so that memory holds a row and not the picture.

use std::io::Write;
use std::ops::RangeInclusive;

use ::png::EncodingError;
use termd_proto::palette::Video;
use termd_proto::screen::{LineSize, Screen};
use tiny_skia::{
    Color, FillRule, FilterQuality, LineCap, PathBuilder, Pixmap, PixmapPaint, Stroke, Transform,
};

use super::canvas::{Canvas, Face, Ink, Lettering, Path, Rect, Step};
use super::cluster::Cluster;
use super::fallback::Fallback;
use super::fonts::Fonts;
use super::glyph::{Glyph, Presentation, Weight};
use super::stamp::{Stamp, Stamps};
use super::{Frame, Layout, Look, PictureError, grid};

/// How far the top of a slanted letter of height 1 leans to the right: `DejaVu`'s oblique has 11°.
const SLANT: f32 = 0.2;
/// The picture as a file, with the system's fonts.
pub(super) fn draw(screen: &Screen, look: &Look, layout: &Layout) -> Result<Vec<u8>, PictureError> {
    draw_with(screen, look, layout, Fallback::system())
}

/// The picture as a file.
pub(super) fn draw_with(
    screen: &Screen,
    look: &Look,
    layout: &Layout,
    fallback: Fallback,
) -> Result<Vec<u8>, PictureError> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, layout.width, layout.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    {
        let mut canvas = PngCanvas::new(*layout, fallback, writer.stream_writer()?)?;
        canvas.whole(screen, look)?;
        canvas.pixels.finish()?;
    }
    writer.finish()?;
    Ok(file)
}

/// An animation as a file that goes on for ever (APNG), with the system's fonts. Each picture holds the rows
/// that have changed.
pub(super) fn animate(
    frames: &[Frame],
    look: &Look,
    layout: &Layout,
) -> Result<Vec<u8>, PictureError> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, layout.width, layout.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let count = u32::try_from(frames.len()).map_err(|_| EncodingError::LimitsExceeded)?;
    encoder.set_animated(count, 0)?;
    let mut writer = encoder.write_header()?;
    let mut canvas = PngCanvas::new(*layout, Fallback::system(), Vec::new())?;
    let row_height = super::whole(layout.cell.height);
    let mut before: Option<&Screen> = None;
    for frame in frames {
        let screen = &frame.screen;
        let changed = before.and_then(|before| changed_rows(before, screen));
        if let Some((first, last)) = changed {
            let (Ok(top), Ok(rows)) = (u32::try_from(first), u32::try_from(last - first + 1))
            else {
                return Err(EncodingError::LimitsExceeded.into());
            };
            canvas.rows(screen, look, first..=last)?;
            writer.reset_frame_position()?;
            writer.set_frame_dimension(layout.width, rows * row_height)?;
            writer.set_frame_position(0, u32::from(layout.padding) + top * row_height)?;
        } else {
            canvas.whole(screen, look)?;
            writer.reset_frame_position()?;
            writer.set_frame_dimension(layout.width, layout.height)?;
        }
        writer.set_frame_delay(frame.shown_ms, 1_000)?;
        writer.write_image_data(&canvas.pixels)?;
        canvas.pixels.clear();
        before = Some(screen);
    }
    writer.finish()?;
    Ok(file)
}

/// The first and the last row that differ; `None` where the picture is to be drawn as a whole. Of two equal
/// screens the first row stands for all.
fn changed_rows(before: &Screen, now: &Screen) -> Option<(usize, usize)> {
    let is_of_one_kind = (before.cols, before.lines.len(), before.modes.reverse_video)
        == (now.cols, now.lines.len(), now.modes.reverse_video);
    if !is_of_one_kind {
        return None;
    }
    let has_cursor = |screen: &Screen, row: usize| {
        screen.cursor.visible && usize::from(screen.cursor.row) == row
    };
    let differs = |row: &usize| {
        let (one, other) = (&before.lines[*row], &now.lines[*row]);
        let is_cursors = has_cursor(before, *row) || has_cursor(now, *row);
        (one.size, &one.runs) != (other.size, &other.runs)
            || (is_cursors && before.cursor != now.cursor)
    };
    let mut changed = (0..now.lines.len()).filter(differs);
    let first = changed.next().unwrap_or(0);
    Some((first, changed.next_back().unwrap_or(first)))
}

struct PngCanvas<W> {
    layout: Layout,
    fonts: Fonts,
    /// The row.
    strip: Pixmap,
    stamps: Stamps,
    size: LineSize,
    /// From a row of single size to its place in the strip.
    transform: Transform,
    /// Takes the rows of pixels.
    pixels: W,
}

impl<W: Write> PngCanvas<W> {
    fn new(layout: Layout, fallback: Fallback, pixels: W) -> Result<Self, PictureError> {
        let too_large = || PictureError::TooLarge {
            width: layout.width.into(),
            height: layout.height.into(),
        };
        let height = super::whole(layout.cell.height);
        Ok(Self {
            strip: Pixmap::new(layout.width, height).ok_or_else(too_large)?,
            layout,
            fonts: Fonts::new(fallback)?,
            stamps: Stamps::default(),
            size: LineSize::Single,
            transform: Transform::identity(),
            pixels,
        })
    }

    /// Draws the picture with its padding. Rows that the screen lacks are empty.
    fn whole(&mut self, screen: &Screen, look: &Look) -> Result<(), PictureError> {
        let video = Video::of_mode(screen.modes.reverse_video);
        self.layout.paper = look.theme.defaults(video).1;
        let (height, row) = (self.layout.height, super::whole(self.layout.cell.height));
        let padding = u32::from(self.layout.padding);
        let drawn = u32::try_from(screen.lines.len())
            .unwrap_or(u32::MAX)
            .saturating_mul(row);
        self.empty_lines(padding)?;
        let layout = self.layout;
        grid::draw(screen, look, &layout, self)?;
        self.empty_lines(height.saturating_sub(drawn).saturating_sub(padding))
    }

    /// Draws some of the rows.
    fn rows(
        &mut self,
        screen: &Screen,
        look: &Look,
        rows: RangeInclusive<usize>,
    ) -> Result<(), PictureError> {
        let lines = screen.lines.get(rows).unwrap_or_default().to_vec();
        let part = Screen {
            lines,
            ..screen.clone()
        };
        let layout = self.layout;
        grid::draw(&part, look, &layout, self)
    }

    fn empty_lines(&mut self, lines: u32) -> Result<(), PictureError> {
        let paper = self.layout.paper;
        let width =
            usize::try_from(self.layout.width).map_err(|_| EncodingError::LimitsExceeded)?;
        let line = [paper.0, paper.1, paper.2].repeat(width);
        for _ in 0..lines {
            self.pixels.write_all(&line).map_err(EncodingError::from)?;
        }
        Ok(())
    }

    fn fill_path(&mut self, path: &tiny_skia::Path, ink: Ink, transform: Transform) {
        let paint = paint(ink);
        self.strip
            .fill_path(path, &paint, FillRule::Winding, transform, None);
    }

    /// A character, in the middle of its columns.
    fn character(&mut self, c: char, x: f32, width: f32, letters: &Lettering, kind: Presentation) {
        let weight = if letters.face.bold {
            Weight::Bold
        } else {
            Weight::Regular
        };
        let Some(glyph) = self.fonts.glyph(c, weight, kind) else {
            self.code_point(c, x, width, letters);
            return;
        };
        match &*glyph {
            Glyph::Outline { path, advance } => {
                if let Some(path) = path {
                    let size = self.layout.font_size;
                    let natural = advance * size;
                    // A glyph of another font that is too wide is made narrower.
                    let across = if natural > width {
                        width / natural
                    } else {
                        1.0
                    };
                    let place = Place {
                        left: (width - natural * across) / 2.0,
                        baseline: self.layout.baseline,
                        size,
                        across,
                    };
                    self.outline(c, path, &place, (x, width), letters);
                }
            }
            Glyph::Picture(picture) => self.picture(picture, x, width),
        }
    }

    /// An outline over the columns from `x` on: stamped, or drawn if it is enlarged.
    fn outline(
        &mut self,
        c: char,
        path: &tiny_skia::Path,
        place: &Place,
        (x, width): (f32, f32),
        letters: &Lettering,
    ) {
        let by = place.transform(letters.face);
        if self.size != LineSize::Single {
            let transform = self.transform.pre_translate(x, 0.0).pre_concat(by);
            self.fill_path(path, Ink::opaque(letters.color), transform);
            return;
        }
        let (pixels, height) = (super::whole(width), self.strip.height());
        let columns = if letters.text.is_ascii() {
            1
        } else {
            letters.columns
        };
        let draw = || Stamp::of(path, by, pixels, height);
        let stamp = self.stamps.get((c, letters.face, columns), draw);
        let left = super::whole(x).saturating_add(self.layout.padding.into());
        if let (Some(stamp), Ok(left)) = (stamp, usize::try_from(left)) {
            stamp.press(&mut self.strip, left, letters.color);
        }
    }

    /// A picture as large as fits into its columns and the row.
    fn picture(&mut self, picture: &Pixmap, x: f32, width: f32) {
        let height = self.layout.cell.height;
        let (own_width, own_height) = (as_float(picture.width()), as_float(picture.height()));
        let scale = (width / own_width).min(height / own_height);
        let left = x + (width - own_width * scale) / 2.0;
        let top = (height - own_height * scale) / 2.0;
        let transform = Transform::from_row(scale, 0.0, 0.0, scale, left, top);
        let paint = PixmapPaint {
            quality: FilterQuality::Bicubic,
            ..PixmapPaint::default()
        };
        let transform = self.transform.pre_concat(transform);
        self.strip
            .draw_pixmap(0, 0, picture.as_ref(), &paint, transform, None);
    }

    /// In place of a character that no font has: its code point in hexadecimal, framed, in two lines.
    fn code_point(&mut self, c: char, x: f32, width: f32, letters: &Lettering) {
        let (height, stroke) = (self.layout.cell.height, self.layout.cell.stroke);
        let ink = Ink::opaque(letters.color);
        let (left, right) = (x + stroke, x + width - stroke);
        let (top, bottom) = (2.0 * stroke, height - 2.0 * stroke);
        for rect in [
            Rect::between(left, top, right, top + stroke),
            Rect::between(left, bottom - stroke, right, bottom),
            Rect::between(left, top, left + stroke, bottom),
            Rect::between(right - stroke, top, right, bottom),
        ] {
            self.fill(rect, ink);
        }
        let digits = format!("{:04X}", u32::from(c));
        let a_line = digits.len().div_ceil(2);
        let room = Rect::between(left + 2.0 * stroke, top, right - 2.0 * stroke, bottom);
        let pitch = room.width / f32::from(u8::try_from(a_line).unwrap_or(u8::MAX));
        let size = room.height * 0.5;
        for (line, digits) in digits.as_bytes().chunks(a_line).enumerate() {
            let baseline = if line == 0 {
                top + room.height * 0.47
            } else {
                top + room.height * 0.87
            };
            let mut left = room.x;
            for digit in digits {
                let glyph =
                    self.fonts
                        .glyph(char::from(*digit), Weight::Regular, Presentation::Text);
                if let Some(Glyph::Outline {
                    path: Some(path),
                    advance,
                }) = glyph.as_deref()
                {
                    let across = (pitch / (advance * size)).min(1.0);
                    let place = Place {
                        left,
                        baseline,
                        size,
                        across,
                    };
                    let transform = self.transform.pre_concat(place.transform(Face::default()));
                    self.fill_path(path, ink, transform);
                }
                left += pitch;
            }
        }
    }
}

/// The place of a letter.
struct Place {
    left: f32,
    baseline: f32,
    size: f32,
    /// 1, or less for a narrowed letter.
    across: f32,
}

impl Place {
    /// The transform of an outline of size 1 that goes upwards.
    fn transform(&self, face: Face) -> Transform {
        let lean = if face.italic { SLANT } else { 0.0 };
        Transform::from_row(
            self.size * self.across,
            0.0,
            self.size * lean,
            -self.size,
            self.left,
            self.baseline,
        )
    }
}

impl<W: Write> Canvas for PngCanvas<W> {
    fn begin_row(&mut self, size: LineSize) {
        self.size = size;
        let paper = self.layout.paper;
        self.strip
            .fill(Color::from_rgba8(paper.0, paper.1, paper.2, 255));
        let height = self.layout.cell.height;
        let left = f32::from(self.layout.padding);
        self.transform = match size {
            LineSize::Single => Transform::from_translate(left, 0.0),
            LineSize::DoubleWidth => Transform::from_row(2.0, 0.0, 0.0, 1.0, left, 0.0),
            LineSize::DoubleHeightTop => Transform::from_row(2.0, 0.0, 0.0, 2.0, left, 0.0),
            LineSize::DoubleHeightBottom => Transform::from_row(2.0, 0.0, 0.0, 2.0, left, -height),
        };
    }

    fn fill(&mut self, rect: Rect, ink: Ink) {
        if let Some(rect) = tiny_skia::Rect::from_xywh(rect.x, rect.y, rect.width, rect.height) {
            self.strip
                .fill_rect(rect, &paint(ink), self.transform, None);
        }
    }

    fn shape(&mut self, path: &Path, ink: Ink) {
        if let Some(path) = built(path) {
            self.fill_path(&path, ink, self.transform);
        }
    }

    fn line(&mut self, path: &Path, width: f32, ink: Ink) {
        if let Some(path) = built(path) {
            let stroke = Stroke {
                width,
                line_cap: LineCap::Butt,
                ..Stroke::default()
            };
            self.strip
                .stroke_path(&path, &paint(ink), &stroke, self.transform, None);
        }
    }

    fn letters(&mut self, letters: &Lettering) {
        let column = self.layout.cell.width;
        if letters.text.is_ascii() {
            let mut x = letters.x;
            for c in letters.text.chars() {
                if c != ' ' {
                    self.character(c, x, column, letters, Presentation::Text);
                }
                x += column;
            }
            return;
        }
        let width = column * f32::from(letters.columns);
        match Cluster::of(letters) {
            Cluster::Flag(text) => self.letters(&Lettering {
                text,
                ..letters.clone()
            }),
            Cluster::Characters(characters, presentation) => {
                for c in characters {
                    self.character(c, letters.x, width, letters, presentation);
                }
            }
        }
    }

    fn end_row(&mut self) -> Result<(), PictureError> {
        let mut line = Vec::with_capacity(self.strip.data().len() / 4 * 3);
        for pixel in self.strip.pixels() {
            line.extend([pixel.red(), pixel.green(), pixel.blue()]);
        }
        Ok(self.pixels.write_all(&line).map_err(EncodingError::from)?)
    }
}

fn paint(ink: Ink) -> tiny_skia::Paint<'static> {
    let mut paint = tiny_skia::Paint::default();
    paint.set_color_rgba8(ink.color.0, ink.color.1, ink.color.2, ink.alpha);
    paint
}

fn built(path: &Path) -> Option<tiny_skia::Path> {
    let mut builder = PathBuilder::new();
    for step in &path.steps {
        match *step {
            Step::Move(x, y) => builder.move_to(x, y),
            Step::Line(x, y) => builder.line_to(x, y),
            Step::Cubic(a, b, c) => builder.cubic_to(a.0, a.1, b.0, b.1, c.0, c.1),
            Step::Close => builder.close(),
        }
    }
    builder.finish()
}

fn as_float(pixels: u32) -> f32 {
    u16::try_from(pixels).map_or(f32::from(u16::MAX), f32::from)
}
