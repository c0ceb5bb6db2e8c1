//! Reading a packed row.

use termd_proto::screen::LineSize;

use super::block::{Block, COMPLEX, END_OF_RUNS, ESCAPED, MANY_RUNS, RUNS_SHIFT, SIZED, WRAPPED};
use super::pack::{self, Unpacked};
use crate::grid::cell::{Cell, Content};
use crate::grid::grapheme::Graphemes;
use crate::grid::row::Row;
use crate::grid::style::{Link, Style, StyleId, Styles};

#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredRow<'a> {
    block: &'a Block,
    header: u8,
    size: LineSize,
    runs: &'a [u8],
    text: &'a [u8],
}

/// A cell of a packed row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredCell<'a> {
    /// Content and flags; a grapheme's number means nothing.
    pub cell: Cell,
    pub grapheme: Option<&'a str>,
}

/// Neighbouring cells of one style.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct StoredStyle<'a> {
    /// The style; its link's number means nothing to the model.
    pub style: Style,
    pub link: Option<&'a Link>,
}

impl<'a> StoredRow<'a> {
    pub(crate) fn new(block: &'a Block, index: usize) -> Self {
        let record = block.record(index);
        let (header, mut rest) = match record.split_first() {
            Some((header, rest)) => (*header, rest),
            None => (0, record),
        };
        let mut size = LineSize::Single;
        if header & SIZED != 0
            && let Some((byte, after)) = rest.split_first()
        {
            size = pack::line_size(*byte);
            rest = after;
        }
        let runs = rest;
        let count = usize::from(header >> RUNS_SHIFT);
        let mut text = rest;
        for run in 1.. {
            if count == 0 || pack::take_varint(&mut text).is_none() {
                break;
            }
            if count < MANY_RUNS {
                if run == count || pack::take_varint(&mut text).is_none() {
                    break;
                }
            } else if let Some((&END_OF_RUNS, after)) = text.split_first() {
                text = after;
                break;
            } else if pack::take_varint(&mut text).is_none() {
                break;
            }
        }
        Self {
            block,
            header,
            size,
            runs: &runs[..runs.len() - text.len()],
            text,
        }
    }

    pub(crate) fn wrapped(&self) -> bool {
        self.header & WRAPPED != 0
    }

    /// Whether it may belong to a line of more rows, or is not single-width.
    pub(crate) fn is_line(&self) -> bool {
        self.header & (WRAPPED | SIZED) != 0
    }

    /// How many cells there are; `None` where the record is damaged.
    pub(crate) fn sound_cells(&self) -> Option<usize> {
        let (mut cells, mut is_sound) = (0, true);
        self.for_each_cell(|stored| {
            cells += 1;
            let text = stored.grapheme.unwrap_or_default();
            is_sound &= !text.chars().any(char::is_control);
            if let Content::Char(c) = stored.cell.content() {
                is_sound &= !c.is_control();
            }
        });
        is_sound.then_some(cells)
    }

    /// The runs: each style and its count of cells. The last run goes to the end of the row and has
    /// `usize::MAX`.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (StoredStyle<'a>, usize)> + '_ {
        self.numbered_runs().map(|(number, cells)| {
            let style = self.style(number);
            let link = (style.link.0 as usize)
                .checked_sub(1)
                .and_then(|at| self.block.links.get(at));
            (StoredStyle { style, link }, cells)
        })
    }

    /// The cells up to the last one that is not a default blank.
    pub(crate) fn for_each_cell(&self, mut each: impl FnMut(StoredCell<'a>)) {
        self.unpack_cells(|unpacked| {
            each(match unpacked {
                Unpacked::Cell(low) => StoredCell {
                    cell: Cell::from_low(low, StyleId(0)),
                    grapheme: None,
                },
                Unpacked::Grapheme(low, text) => StoredCell {
                    cell: Cell::from_low(low, StyleId(0)),
                    grapheme: Some(text),
                },
            });
        });
    }

    /// Appends the text, blanks as spaces. The column that a wide character left free is left out.
    pub(crate) fn push_text(&self, out: &mut String) {
        self.unpack_cells(|unpacked| match unpacked {
            Unpacked::Grapheme(_, text) => out.push_str(text),
            Unpacked::Cell(low) => {
                let cell = Cell::from_low(low, StyleId(0));
                match cell.content() {
                    Content::Char(c) => out.push(c),
                    Content::Blank if !cell.is_filler() => out.push(' '),
                    _ => {}
                }
            }
        });
    }

    /// The row with its styles and graphemes in the model's tables.
    pub(crate) fn to_row(self, styles: &mut Styles, graphemes: &mut Graphemes) -> Row {
        let mut row = Row::default();
        row.wrapped = self.wrapped();
        row.size = self.size;
        row.complex = self.header & COMPLEX != 0;
        let mut runs = self.runs();
        let mut next = |styles: &mut Styles| {
            let Some((run, cells)) = runs.next() else {
                return (StyleId(0), usize::MAX);
            };
            let mut style = run.style;
            style.link = run
                .link
                .map(|link| styles.link_number(link.clone()))
                .unwrap_or_default();
            (styles.number(style), cells)
        };
        if self.header & ESCAPED == 0 {
            let mut text = self.text;
            row.reserve(text.len());
            while !text.is_empty() {
                let (style, cells) = next(styles);
                let (run, rest) = text.split_at(cells.min(text.len()));
                row.extend(run.iter().map(|byte| Cell::ascii(*byte, style)));
                text = rest;
            }
            return row;
        }
        let (mut style, mut left) = next(styles);
        self.unpack_cells(|unpacked| {
            while left == 0 {
                (style, left) = next(styles);
            }
            left -= 1;
            row.push(match unpacked {
                Unpacked::Cell(low) => Cell::from_low(low, style),
                Unpacked::Grapheme(low, text) => {
                    let cell = Cell::from_low(low, style);
                    graphemes
                        .number(text)
                        .map_or(Cell::narrow('\u{fffd}', style), |number| {
                            cell.with_grapheme(number)
                        })
                }
            });
        });
        row
    }

    fn unpack_cells(&self, mut each: impl FnMut(Unpacked<'a>)) {
        if self.header & ESCAPED == 0 {
            for byte in self.text {
                each(Unpacked::Cell(u32::from(*byte)));
            }
        } else {
            pack::for_each_escaped(self.text, each);
        }
    }

    fn style(&self, number: u32) -> Style {
        (number as usize)
            .checked_sub(1)
            .and_then(|at| self.block.styles.get(at))
            .copied()
            .unwrap_or_default()
    }

    fn numbered_runs(&self) -> impl Iterator<Item = (u32, usize)> + 'a {
        let mut runs = self.runs;
        let mut ended = false;
        let mut first = true;
        std::iter::from_fn(move || {
            if ended {
                return None;
            }
            let begins = std::mem::take(&mut first);
            let Some(number) = pack::take_varint(&mut runs) else {
                ended = true;
                return begins.then_some((0, usize::MAX));
            };
            let cells = match runs.first() {
                None | Some(&END_OF_RUNS) => usize::MAX,
                Some(_) => pack::take_varint(&mut runs).map_or(usize::MAX, |cells| cells as usize),
            };
            ended = cells == usize::MAX;
            Some((number, cells))
        })
    }
}
