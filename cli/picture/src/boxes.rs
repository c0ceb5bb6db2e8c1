//! Box drawing, block elements, sextants and braille as exact geometry (U+2500 to U+259F, U+2800
//! to U+28FF, U+1FB00 to U+1FB3B): drawn to the cell's edges, so that neighbours join without gaps
//! whatever the font.
//!
//! Pure. Coordinates are pixels from the cell's top left; edges of lines lie on whole pixels.

use super::canvas::{Path, Rect};
use super::cell_box::CellBox;
use super::lines::{Weight, arms_of, band, rects};

/// A part of a character's drawing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Fill(Rect),
    /// A shade: a rectangle filled with this opacity, in 255ths.
    Shade(Rect, u8),
    /// A filled path.
    Shape(Path),
    /// A line of this width along the path.
    Line(Path, f32),
}

/// The parts of a character; `None` if the font draws the character.
pub(crate) fn parts_of(c: char, cell: CellBox) -> Option<Vec<Part>> {
    let code = u32::from(c);
    match code {
        0x2504..=0x250b | 0x254c..=0x254f => Some(dashes(code, cell)),
        0x256d..=0x2570 => Some(vec![arc(code, cell)]),
        0x2571..=0x2573 => Some(diagonals(code, cell)),
        0x2500..=0x257f => Some(fills(rects(arms_of(code)?, cell))),
        0x2591..=0x2593 => {
            let alpha = [0x40, 0x80, 0xc0];
            let alpha = alpha.get(usize::try_from(code - 0x2591).ok()?)?;
            Some(vec![Part::Shade(cell.part(0, 8, 0, 8), *alpha)])
        }
        0x2580..=0x259f => Some(fills(blocks(code, cell))),
        0x2800..=0x28ff => Some(braille(code - 0x2800, cell)),
        0x1fb00..=0x1fb3b => Some(fills(sextants(code - 0x1fb00, cell))),
        _ => None,
    }
}

fn fills(rects: Vec<Rect>) -> Vec<Part> {
    rects.into_iter().map(Part::Fill).collect()
}

/// U+2504 to U+250B in threes and fours, U+254C to U+254F in twos: light and heavy, horizontal
/// and vertical in turn.
fn dashes(code: u32, cell: CellBox) -> Vec<Part> {
    let count = match code {
        0x2504..=0x2507 => 3_u8,
        0x2508..=0x250b => 4,
        _ => 2,
    };
    let weight = if code.is_multiple_of(2) {
        Weight::Light
    } else {
        Weight::Heavy
    };
    let is_vertical = code & 2 != 0;
    let (length, across) = if is_vertical {
        (cell.height, cell.width)
    } else {
        (cell.width, cell.height)
    };
    let (low, high) = band(weight, across, cell.stroke);
    let pitch = length / f32::from(count);
    (0..count)
        .map(|dash| {
            let start = (f32::from(dash) + 0.2) * pitch;
            let end = start + pitch * 0.6;
            Part::Fill(if is_vertical {
                Rect::between(low, start, high, end)
            } else {
                Rect::between(start, low, end, high)
            })
        })
        .collect()
}

/// ╭ ╮ ╯ ╰: two straight ends and a quarter of a circle.
fn arc(code: u32, cell: CellBox) -> Part {
    let (x, y) = (cell.middle_x(), cell.middle_y());
    let radius = x.min(y).min(cell.width - x).min(cell.height - y);
    let goes_right = code == 0x256d || code == 0x2570;
    let goes_down = code == 0x256d || code == 0x256e;
    let (side, toward_side) = if goes_right {
        (cell.width, radius)
    } else {
        (0.0, -radius)
    };
    let (edge, toward_edge) = if goes_down {
        (cell.height, radius)
    } else {
        (0.0, -radius)
    };
    // A circle's quarter as a cubic curve.
    let bend = 1.0 - 0.552_284_8;
    let mut path = Path::default();
    path.move_to(x, edge);
    path.line_to(x, y + toward_edge);
    path.cubic_to(
        (x, y + toward_edge * bend),
        (x + toward_side * bend, y),
        (x + toward_side, y),
    );
    path.line_to(side, y);
    Part::Line(path, cell.stroke)
}

/// ╱ ╲ ╳, a little over the corners, so that a stair of them is one line.
fn diagonals(code: u32, cell: CellBox) -> Vec<Part> {
    let (width, height) = (cell.width, cell.height);
    let over_x = cell.stroke / 2.0 * width / height;
    let over_y = cell.stroke / 2.0;
    let mut parts = Vec::new();
    if code != 0x2572 {
        let mut path = Path::default();
        path.move_to(width + over_x, -over_y);
        path.line_to(-over_x, height + over_y);
        parts.push(Part::Line(path, cell.stroke));
    }
    if code != 0x2571 {
        let mut path = Path::default();
        path.move_to(-over_x, -over_y);
        path.line_to(width + over_x, height + over_y);
        parts.push(Part::Line(path, cell.stroke));
    }
    parts
}

/// U+2580 to U+259F without the shades.
fn blocks(code: u32, cell: CellBox) -> Vec<Rect> {
    let eighths = |from: u32, to: u32| u8::try_from(from.abs_diff(to)).unwrap_or_default();
    match code {
        0x2580 => vec![cell.part(0, 8, 0, 4)],
        0x2581..=0x2588 => vec![cell.part(0, 8, 8 - eighths(code, 0x2580), 8)],
        0x2589..=0x258f => vec![cell.part(0, eighths(0x2590, code), 0, 8)],
        0x2590 => vec![cell.part(4, 8, 0, 8)],
        0x2594 => vec![cell.part(0, 8, 0, 1)],
        0x2595 => vec![cell.part(7, 8, 0, 8)],
        _ => {
            let quadrants: &[(u8, u8)] = match code {
                0x2596 => &[(0, 4)],
                0x2597 => &[(4, 4)],
                0x2598 => &[(0, 0)],
                0x2599 => &[(0, 0), (0, 4), (4, 4)],
                0x259a => &[(0, 0), (4, 4)],
                0x259b => &[(0, 0), (4, 0), (0, 4)],
                0x259c => &[(0, 0), (4, 0), (4, 4)],
                0x259d => &[(4, 0)],
                0x259e => &[(4, 0), (0, 4)],
                _ => &[(4, 0), (0, 4), (4, 4)],
            };
            quadrants
                .iter()
                .map(|&(x, y)| cell.part(x, x + 4, y, y + 4))
                .collect()
        }
    }
}

/// Two columns of three: bit 0 top left, 1 top right, and so on. The range skips the patterns of the
/// half blocks and of the full block.
fn sextants(index: u32, cell: CellBox) -> Vec<Rect> {
    let pattern = index + 1;
    let pattern = pattern + u32::from(pattern >= 0b01_01_01);
    let pattern = pattern + u32::from(pattern >= 0b10_10_10);
    let x = [0.0, (cell.width / 2.0).round(), cell.width];
    let y = [
        0.0,
        (cell.height / 3.0).round(),
        (cell.height * 2.0 / 3.0).round(),
        cell.height,
    ];
    let mut rects = Vec::new();
    for (row, vertical) in y.windows(2).enumerate() {
        for (column, horizontal) in x.windows(2).enumerate() {
            let is_set = pattern & (1 << (row * 2 + column)) != 0;
            if let (true, &[left, right], &[top, bottom]) = (is_set, horizontal, vertical) {
                rects.push(Rect::between(left, top, right, bottom));
            }
        }
    }
    rects
}

/// Dots 1 to 3 and 7 are the left column, 4 to 6 and 8 the right one.
fn braille(dots: u32, cell: CellBox) -> Vec<Part> {
    const PLACES: [(f32, f32); 8] = [
        (0.25, 0.125),
        (0.25, 0.375),
        (0.25, 0.625),
        (0.75, 0.125),
        (0.75, 0.375),
        (0.75, 0.625),
        (0.25, 0.875),
        (0.75, 0.875),
    ];
    let radius = (cell.width / 2.0).min(cell.height / 4.0) * 0.36;
    PLACES
        .iter()
        .enumerate()
        .filter(|(bit, _)| dots & (1 << bit) != 0)
        .map(|(_, (x, y))| Part::Shape(Path::circle(x * cell.width, y * cell.height, radius)))
        .collect()
}
