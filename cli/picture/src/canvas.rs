//! The interface between a screen's geometry and a file format.
//!
//! A canvas gets rows from top to bottom. Within a row, coordinates are pixels from the row's top
//! left, as if the row were of single size. The canvas enlarges rows of double size.

use termd_proto::palette::Rgb;
use termd_proto::screen::LineSize;

use super::PictureError;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rect {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) width: f32,
    pub(crate) height: f32,
}

impl Rect {
    /// The rectangle between these edges.
    pub(crate) fn between(left: f32, top: f32, right: f32, bottom: f32) -> Self {
        Self {
            x: left,
            y: top,
            width: right - left,
            height: bottom - top,
        }
    }

    /// Moved right by this distance.
    pub(crate) fn shifted(self, by: f32) -> Self {
        Self {
            x: self.x + by,
            ..self
        }
    }
}

/// A step of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Step {
    Move(f32, f32),
    Line(f32, f32),
    /// A cubic curve: two control points, then its end.
    Cubic((f32, f32), (f32, f32), (f32, f32)),
    Close,
}

/// An outline or a line.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Path {
    pub(crate) steps: Vec<Step>,
}

impl Path {
    pub(crate) fn move_to(&mut self, x: f32, y: f32) {
        self.steps.push(Step::Move(x, y));
    }

    pub(crate) fn line_to(&mut self, x: f32, y: f32) {
        self.steps.push(Step::Line(x, y));
    }

    pub(crate) fn cubic_to(&mut self, first: (f32, f32), second: (f32, f32), end: (f32, f32)) {
        self.steps.push(Step::Cubic(first, second, end));
    }

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

    /// Moved right by this distance.
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

/// A colour and its opacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ink {
    pub(crate) color: Rgb,
    /// In 255ths.
    pub(crate) alpha: u8,
}

impl Ink {
    pub(crate) fn opaque(color: Rgb) -> Self {
        Self { color, alpha: 255 }
    }
}

/// The face of letters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Face {
    pub(crate) bold: bool,
    pub(crate) italic: bool,
}

/// Letters in their columns: ASCII, one in each column, or any characters of one cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lettering {
    /// The left edge.
    pub(crate) x: f32,
    pub(crate) columns: u16,
    /// Without control characters.
    pub(crate) text: String,
    pub(crate) face: Face,
    pub(crate) color: Rgb,
}

/// A drawing surface of one file format.
pub(crate) trait Canvas {
    fn begin_row(&mut self, size: LineSize);
    fn fill(&mut self, rect: Rect, ink: Ink);
    fn shape(&mut self, path: &Path, ink: Ink);
    /// A line of this width along a path, cut off straight at its ends.
    fn line(&mut self, path: &Path, width: f32, ink: Ink);
    /// Letters on the baseline.
    fn letters(&mut self, letters: &Lettering);
    fn end_row(&mut self) -> Result<(), PictureError>;
}
