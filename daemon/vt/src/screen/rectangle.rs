//! Rectangles (VT420): DECCRA, DECERA, DECFRA, DECSERA, DECCARA, DECRARA, DECSACE.
//!
//! Corners count from 1 and from the origin; margins do not limit them.

use crate::modes::Modes;
use termd_proto::screen::{Color, Underline};

use crate::grid::cell::{Cell, Protection};
use crate::grid::style::{Attributes, Style};
use crate::grid::width::width;
use crate::modes::ChangeExtent;
use crate::parser::Params;
use crate::screen::Screen;

/// What DECCARA and DECRARA do to attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// DECCARA.
    Set,
    /// DECRARA.
    Reverse,
}

/// Rows and columns from 0. The ends are excluded; it is never empty.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rectangle {
    pub(crate) top: usize,
    pub(crate) left: usize,
    pub(crate) bottom: usize,
    pub(crate) right: usize,
}

impl Screen {
    /// The rectangle that four parameters from `first` on name; `None` where its corners are in the
    /// wrong order.
    pub(crate) fn rectangle(&self, params: &Params, first: usize) -> Option<Rectangle> {
        let (row, col) = self.origin();
        let size = self.size;
        // A missing corner is the origin, or the last cell of the screen.
        let at = |index: usize, default: usize, origin: usize, most: usize| {
            let value = match usize::from(params.get(first + index)) {
                0 => default,
                value => value,
            };
            (value + origin).min(most)
        };
        let rectangle = Rectangle {
            top: at(0, 1, row, size.rows) - 1,
            left: at(1, 1, col, size.cols) - 1,
            bottom: at(2, size.rows, row, size.rows),
            right: at(3, size.cols, col, size.cols),
        };
        (rectangle.top < rectangle.bottom && rectangle.left < rectangle.right).then_some(rectangle)
    }

    fn origin(&self) -> (usize, usize) {
        if self.cursor.origin {
            (self.margins.top, self.margins.left)
        } else {
            (0, 0)
        }
    }

    /// DECFRA: fills with the character of the first parameter, mapped by the character sets.
    pub(crate) fn fill_rectangle(&mut self, params: &Params) {
        let code = params.get(0);
        let c = match (u8::try_from(code), char::from_u32(u32::from(code))) {
            (Ok(0), _) if params.is_empty() => return,
            (Ok(0), _) => ' ',
            (Ok(byte @ 0x20..=0x7e), _) => self.cursor.charsets.left().map(byte),
            (Ok(0x80..=0x9f), _) => return,
            (_, Some(c)) if width(c) == 1 => c,
            _ => return,
        };
        if let Some(area) = self.rectangle(params, 1) {
            self.fill(area, c);
        }
    }

    /// DECERA: erases with the current attributes, protected cells as well.
    pub(crate) fn erase_rectangle(&mut self, params: &Params) {
        if let Some(area) = self.rectangle(params, 0) {
            self.fill(area, ' ');
        }
    }

    fn fill(&mut self, area: Rectangle, c: char) {
        let own = self.cursor.style;
        let colored = own.foreground != Color::Default || own.background != Color::Default;
        let protection = self.cursor.protection;
        for y in area.top..area.bottom {
            self.grid.split_wide_at(y, area.left);
            self.grid.split_wide_at(y, area.right);
            for x in area.left..area.right {
                let style = if colored {
                    self.cursor.style_id
                } else {
                    // Without a colour of its own the fill keeps the colours that it finds.
                    let found = self.styles.get(self.grid.row(y).cell(x).style());
                    self.styles.number(Style {
                        foreground: found.foreground,
                        background: found.background,
                        ..own
                    })
                };
                let cell = Cell::narrow(c, style).with_protection(protection);
                let row = self.grid.row_mut(y);
                row.complex |= protection != Protection::None;
                row.set(x, cell);
            }
        }
        // New styles may have made the table crowded.
        self.style_changed();
    }

    /// DECSERA: spares what DECSCA protected. Attributes stay.
    pub(crate) fn selective_erase_rectangle(&mut self, params: &Params, modes: &Modes) {
        let Some(area) = self.rectangle(params, 0) else {
            return;
        };
        let keeps = modes.protection == Protection::Selective;
        for y in area.top..area.bottom {
            self.grid.split_wide_at(y, area.left);
            self.grid.split_wide_at(y, area.right);
            let row = self.grid.row_mut(y);
            for cell in row.cells_mut(area.left, area.right) {
                if !keeps || cell.protection() == Protection::None {
                    *cell = Cell::ascii(b' ', cell.style());
                }
            }
            self.grid.blank_lone_halves(y);
        }
    }

    /// DECCRA. There is one page. Overlapping areas are copied as if at once.
    pub(crate) fn copy_rectangle(&mut self, params: &Params) {
        let Some(from) = self.rectangle(params, 0) else {
            return;
        };
        let (row, col) = self.origin();
        let top = (params.count(5) - 1 + row).min(self.size.rows - 1);
        let left = (params.count(6) - 1 + col).min(self.size.cols - 1);
        let right = (left + from.right - from.left).min(self.size.cols);
        let cells: Vec<Vec<Cell>> = (from.top..from.bottom)
            .map(|y| {
                let row = self.grid.row(y);
                (from.left..from.right).map(|x| row.cell(x)).collect()
            })
            .collect();
        let complex = (from.top..from.bottom).any(|y| self.grid.row(y).complex);
        for (y, cells) in (top..self.size.rows).zip(cells) {
            self.grid
                .write_cells(y, left, &cells[..right - left], complex);
        }
    }

    /// DECCARA, DECRARA. A stream leaves out cells that nothing was written to.
    pub(crate) fn change_attributes(
        &mut self,
        params: &Params,
        change: Change,
        extent: ChangeExtent,
    ) {
        let Some(area) = self.rectangle(params, 0) else {
            return;
        };
        let exact = extent == ChangeExtent::Rectangle;
        for y in area.top..area.bottom {
            let first = y == area.top;
            let last = y + 1 == area.bottom;
            let left = if exact || first { area.left } else { 0 };
            let right = if exact || last {
                area.right
            } else {
                self.size.cols
            };
            for x in left..right {
                let mut cell = self.grid.row(y).cell(x);
                if cell.is_blank() {
                    if !exact {
                        continue;
                    }
                    cell = Cell::ascii(b' ', cell.style());
                }
                let mut style = self.styles.get(cell.style());
                for value in params.values().get(4..).unwrap_or_default() {
                    match change {
                        Change::Set => set(&mut style, *value),
                        Change::Reverse => reverse(&mut style, *value),
                    }
                }
                let id = self.styles.number(style);
                self.grid.row_mut(y).set(x, cell.with_style(id));
            }
        }
        self.style_changed();
    }
}

/// The attributes that 0 stands for in DECCARA and DECRARA.
const ALL: [u16; 4] = [1, 4, 5, 7];

fn set(style: &mut Style, value: u16) {
    match value {
        0 => [22, 24, 25, 27].into_iter().for_each(|off| set(style, off)),
        1 => style.attributes.insert(Attributes::BOLD),
        4 => style.underline = Underline::Single,
        5 => style.attributes.insert(Attributes::BLINK),
        7 => style.attributes.insert(Attributes::INVERSE),
        8 => style.attributes.insert(Attributes::INVISIBLE),
        22 => style.attributes.remove(Attributes::BOLD),
        24 => style.underline = Underline::None,
        25 => style.attributes.remove(Attributes::BLINK),
        27 => style.attributes.remove(Attributes::INVERSE),
        28 => style.attributes.remove(Attributes::INVISIBLE),
        _ => {}
    }
}

fn reverse(style: &mut Style, value: u16) {
    match value {
        0 => ALL.into_iter().for_each(|one| reverse(style, one)),
        1 => style.attributes.toggle(Attributes::BOLD),
        4 => {
            style.underline = match style.underline {
                Underline::None => Underline::Single,
                _ => Underline::None,
            }
        }
        5 => style.attributes.toggle(Attributes::BLINK),
        7 => style.attributes.toggle(Attributes::INVERSE),
        8 => style.attributes.toggle(Attributes::INVISIBLE),
        _ => {}
    }
}
