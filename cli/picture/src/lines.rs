//! The lines of box drawing: four arms of four weights, and how they meet.
//!
//! Pure. An arm runs from the middle of an edge inwards. Its length depends on the arms across it.

use super::canvas::Rect;
use super::cell_box::CellBox;

/// An arm's weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    None,
    Light,
    /// One line of double thickness.
    Heavy,
    /// Two lines, a line's thickness apart.
    Double,
}

/// Weights of the arms: left, right, up, down.
pub(super) type Arms = [Weight; 4];

/// U+2500 to U+257F, four digits a character: left, right, up, down; 0 none, 1 light, 2 heavy,
/// 3 double. Dashes, arcs and diagonals are drawn elsewhere, and are 0000 here.
const ARMS: &[u8; 128 * 4] = b"\
1100220000110022000000000000000000000000000000000101020101020202\
1001200110022002011002100120022010102010102020200111021101210112\
0122022102120222101120111021101210222021201220221101210112012201\
1102210212022202111021101210221011202120122022201111211112112211\
1121111211222121122121121212222122122122122222220000000000000000\
3300003303010103030330011003300303100130033030101030303003110133\
0333301110333033330111033303331011303330331111333333000000000000\
0000000000000000100000100100000120000020020000021200001221000021";

/// The arms of a character; `None` outside U+2500 to U+257F.
pub(super) fn arms_of(code: u32) -> Option<Arms> {
    let at = usize::try_from(code.checked_sub(0x2500)?).ok()? * 4;
    let digits = ARMS.get(at..at + 4)?;
    let mut arms = [Weight::None; 4];
    for (arm, digit) in arms.iter_mut().zip(digits) {
        *arm = match digit {
            b'1' => Weight::Light,
            b'2' => Weight::Heavy,
            b'3' => Weight::Double,
            _ => Weight::None,
        };
    }
    Some(arms)
}

/// Where a line of this weight lies across a cell, from and to. For a double line: the space between
/// its two lines.
pub(super) fn band(weight: Weight, across: f32, stroke: f32) -> (f32, f32) {
    let low = ((across - stroke) / 2.0).floor();
    match weight {
        Weight::Heavy => {
            let low = low - (stroke / 2.0).floor();
            (low, low + 2.0 * stroke)
        }
        Weight::None | Weight::Light | Weight::Double => (low, low + stroke),
    }
}

/// How far an arm reaches, seen from its edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// To the nearer line of a double line that crosses the arm.
    Near,
    /// Over the middle, to the far side of a line of this weight.
    Middle(Weight),
    /// To the farther line of a double line at which the arm ends.
    Far,
}

/// The rectangles of a character's arms.
pub(super) fn rects(arms: Arms, cell: CellBox) -> Vec<Rect> {
    let [left, right, up, down] = arms;
    let mut rects = Vec::new();
    for (weight, opposite, comes_from) in [(left, right, End::Low), (right, left, End::High)] {
        for (low, high, reach) in strips(weight, opposite, [up, down], cell.height, cell.stroke) {
            let (from, to) = extent(reach, comes_from, cell.width, cell.stroke);
            rects.push(Rect::between(from, low, to, high));
        }
    }
    for (weight, opposite, comes_from) in [(up, down, End::Low), (down, up, End::High)] {
        for (low, high, reach) in strips(weight, opposite, [left, right], cell.width, cell.stroke) {
            let (from, to) = extent(reach, comes_from, cell.height, cell.stroke);
            rects.push(Rect::between(low, from, high, to));
        }
    }
    rects
}

/// The edge of an arm: left or upper, or right or lower.
#[derive(Debug, Clone, Copy)]
enum End {
    Low,
    High,
}

/// An arm's lines: where each line lies across the arm, and how far it reaches. `beside` are the two
/// arms across this one, the lower coordinate first.
fn strips(
    weight: Weight,
    opposite: Weight,
    beside: [Weight; 2],
    across: f32,
    stroke: f32,
) -> Vec<(f32, f32, Reach)> {
    let doubles = beside.map(|weight| weight == Weight::Double);
    let heaviest = if beside.contains(&Weight::Heavy) {
        Weight::Heavy
    } else {
        Weight::Light
    };
    let middle = Reach::Middle(heaviest);
    let goes_on = opposite != Weight::None;
    let (low, high) = band(weight, across, stroke);
    match weight {
        Weight::None => Vec::new(),
        Weight::Light | Weight::Heavy => {
            let reach = match doubles {
                _ if goes_on => middle,
                [true, true] => Reach::Near,
                [false, false] => middle,
                [true, false] | [false, true] => Reach::Far,
            };
            vec![(low, high, reach)]
        }
        Weight::Double => {
            let reach = |own_side: bool, other_side: bool| match (own_side, other_side) {
                (true, _) => Reach::Near,
                (false, true) if !goes_on => Reach::Far,
                (false, _) => middle,
            };
            let [lower, higher] = doubles;
            vec![
                (low - stroke, low, reach(lower, higher)),
                (high, high + stroke, reach(higher, lower)),
            ]
        }
    }
}

/// The two ends of a line along its arm.
fn extent(reach: Reach, comes_from: End, length: f32, stroke: f32) -> (f32, f32) {
    let (low, high) = band(Weight::Light, length, stroke);
    match (comes_from, reach) {
        (End::Low, Reach::Near) => (0.0, low),
        (End::Low, Reach::Middle(weight)) => (0.0, band(weight, length, stroke).1),
        (End::Low, Reach::Far) => (0.0, high + stroke),
        (End::High, Reach::Near) => (high, length),
        (End::High, Reach::Middle(weight)) => (band(weight, length, stroke).0, length),
        (End::High, Reach::Far) => (low - stroke, length),
    }
}
