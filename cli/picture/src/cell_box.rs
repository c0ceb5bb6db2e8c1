//! The box of one cell, in whole pixels from its top left.

use super::canvas::Rect;

/// A cell's size and the thickness of its lines, in whole pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CellBox {
    pub(crate) width: f32,
    pub(crate) height: f32,
    /// The thickness of a light line.
    pub(crate) stroke: f32,
}

impl CellBox {
    /// From and to these eighths of the width and the height, on whole pixels.
    pub(super) fn part(self, left: u8, right: u8, top: u8, bottom: u8) -> Rect {
        let x = |eighths| (self.width * f32::from(eighths) / 8.0).round();
        let y = |eighths| (self.height * f32::from(eighths) / 8.0).round();
        Rect::between(x(left), y(top), x(right), y(bottom))
    }

    /// The middle of a light vertical line.
    pub(super) fn middle_x(self) -> f32 {
        ((self.width - self.stroke) / 2.0).floor() + self.stroke / 2.0
    }

    /// The middle of a light horizontal line.
    pub(super) fn middle_y(self) -> f32 {
        ((self.height - self.stroke) / 2.0).floor() + self.stroke / 2.0
    }
}
