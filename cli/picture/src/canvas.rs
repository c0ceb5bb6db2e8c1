//! What a picture is drawn on, and of: the seam between a screen's geometry and a file format.
//!
//! A canvas is given rows from top to bottom. Within a row coordinates are pixels from the row's
//! top left, as if it were of single size: the canvas enlarges double ones.

use termd_proto::palette::Rgb;
use termd_proto::screen::LineSize;

use super::PictureError;

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rect {
    /// Its left edge.
    pub(crate) x: f32,
    /// Its upper edge.
    pub(crate) y: f32,
    /// To its right edge.
    pub(crate) width: f32,
    /// To its lower edge.
    pub(crate) height: f32,
}

impl Rect {
    /// By its edges.
    pub(crate) fn between(left: f32, top: f32, right: f32, bottom: f32) -> Self {
        Self {
            x: left,
            y: top,
            width: right - left,
            height: bottom - top,
        }
    }

    /// So far to the right.
    pub(crate) fn shifted(self, by: f32) -> Self {
        Self {
            x: self.x + by,
            ..self
        }
    }
}

/// A step of a path, to a point or by way of two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Step {
    /// Begins.
    Move(f32, f32),
    /// Straight on.
    Line(f32, f32),
    /// A cubic curve: two control points, then its end.
    Cubic((f32, f32), (f32, f32), (f32, f32)),
    /// Back to where it began.
    Close,
}

/// An outline or a line.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Path {
    /// From its beginning.
    pub(crate) steps: Vec<Step>,
}

impl Path {
    /// Begins a part.
    pub(crate) fn move_to(&mut self, x: f32, y: f32) {
        self.steps.push(Step::Move(x, y));
    }

    /// Straight on to there.
    pub(crate) fn line_to(&mut self, x: f32, y: f32) {
        self.steps.push(Step::Line(x, y));
    }

    /// A curve to `end`.
    pub(crate) fn cubic_to(&mut self, first: (f32, f32), second: (f32, f32), end: (f32, f32)) {
        self.steps.push(Step::Cubic(first, second, end));
    }

    /// A circle.
    pub(crate) fn circle(x: f32, y: f32, radius: f32) -> Self {
        let mut path = Self::default();
        let bend = radius * 0.552_284_8;
        path.move_to(x + radius, y);
        for (from, to) in [
            ((1.0, 0.0), (0.0, 1.0)),
            ((0.0, 1.0), (-1.0, 0.0)),
            ((-1.0, 0.0), (0.0, -1.0)),
            ((0.0, -1.0), (1.0, 0.0)),
        ] {
            let point = |along: (f32, f32), by: f32, also: (f32, f32), by_also: f32| {
                (
                    x + along.0 * by + also.0 * by_also,
                    y + along.1 * by + also.1 * by_also,
                )
            };
            path.cubic_to(
                point(from, radius, to, bend),
                point(to, radius, from, bend),
                point(to, radius, to, 0.0),
            );
        }
        path.steps.push(Step::Close);
        path
    }

    /// So far to the right.
    pub(crate) fn shifted(mut self, by: f32) -> Self {
        for step in &mut self.steps {
            *step = match *step {
                Step::Move(x, y) => Step::Move(x + by, y),
                Step::Line(x, y) => Step::Line(x + by, y),
                Step::Cubic(a, b, c) => {
                    Step::Cubic((a.0 + by, a.1), (b.0 + by, b.1), (c.0 + by, c.1))
                }
                Step::Close => Step::Close,
            };
        }
        self
    }
}

/// A colour, so opaque in 255ths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ink {
    /// The colour.
    pub(crate) color: Rgb,
    /// 255 hides what is below.
    pub(crate) alpha: u8,
}

impl Ink {
    /// Hides what is below.
    pub(crate) fn opaque(color: Rgb) -> Self {
        Self { color, alpha: 255 }
    }
}

/// Of which face letters are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Face {
    /// Bold.
    pub(crate) bold: bool,
    /// Slanted.
    pub(crate) italic: bool,
}

/// Letters in their columns: ASCII, one a column; or one cell of whatever characters.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lettering {
    /// Its left edge.
    pub(crate) x: f32,
    /// How many columns it takes.
    pub(crate) columns: u16,
    /// The characters, safe to show.
    pub(crate) text: String,
    /// Their face.
    pub(crate) face: Face,
    /// Their colour.
    pub(crate) color: Rgb,
}

/// Where a screen is drawn.
pub(crate) trait Canvas {
    /// Begins the next row.
    fn begin_row(&mut self, size: LineSize);
    /// A filled rectangle.
    fn fill(&mut self, rect: Rect, ink: Ink);
    /// A filled outline.
    fn shape(&mut self, path: &Path, ink: Ink);
    /// A line of this width along a path, cut off straight at its ends.
    fn line(&mut self, path: &Path, width: f32, ink: Ink);
    /// Letters on the baseline.
    fn letters(&mut self, letters: &Lettering);
    /// Ends the row.
    fn end_row(&mut self) -> Result<(), PictureError>;
}
