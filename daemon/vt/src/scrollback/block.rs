//! A block of packed rows with the styles and links that they use. It does not depend on the
//! model's tables, which may be swept.
//!
//! A row is packed as one header byte, a byte of line size where it is not single, the style runs,
//! and the text to the record's end:
//!
//! | Bits of the header | Meaning |
//! |---|---|
//! | 0 | wrapped |
//! | 1 | the text is UTF-8 with escapes ([`pack`](super::pack)); otherwise a byte a cell, 0 is blank |
//! | 2 | complex |
//! | 3 | a byte of line size follows |
//! | 4 to 7 | runs; 0: all in the default style; 15: more than 14 |
//!
//! A run is a style of the block and a count of cells, each a varint. The last run has no count and
//! goes to the end. If there are more than 14, [`END_OF_RUNS`] follows them.

use super::pack::{self, RowStyles, Shape, Text};
use crate::grid::cell::Cell;
use crate::grid::grapheme::Graphemes;
use crate::grid::row::Row;
use crate::grid::style::{Link, LinkId, Style, StyleId, Styles};

/// The bytes of a full block, tables included. Offsets in a block fit 16 bits.
pub(crate) const MAX_BLOCK_BYTES: usize = 64 << 10;
/// How many links are compared with a new one: a link is mostly used again soon.
const LINKS_LOOKED_AT: usize = 16;

pub(crate) const WRAPPED: u8 = 1;
pub(crate) const ESCAPED: u8 = 1 << 1;
pub(crate) const COMPLEX: u8 = 1 << 2;
pub(crate) const SIZED: u8 = 1 << 3;
pub(crate) const RUNS_SHIFT: u32 = 4;
/// This many runs or more end with [`END_OF_RUNS`].
pub(crate) const MANY_RUNS: usize = 15;
/// No varint begins with it.
pub(crate) const END_OF_RUNS: u8 = 0xff;

/// Packed rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Block {
    /// The rows' records, one after the other.
    pub(crate) bytes: Vec<u8>,
    /// Where each record begins.
    pub(crate) starts: Vec<u16>,
    /// The styles, from number 1 on; their links are the block's own.
    pub(crate) styles: Vec<Style>,
    /// The links, from number 1 on.
    pub(crate) links: Vec<Link>,
    /// Bytes of the links' texts.
    pub(crate) link_bytes: usize,
    /// Cells of the longest row.
    pub(crate) widest: usize,
    /// Whether a row continues in the next one, or is not single-width.
    pub(crate) has_lines: bool,
}

/// The block's number for each style of the model.
#[derive(Debug, Clone, Default)]
pub(crate) struct Numbers {
    generation: u64,
    styles: Vec<u16>,
}

impl Numbers {
    pub(crate) fn clear(&mut self) {
        self.styles.fill(0);
    }

    pub(crate) fn memory(&self) -> usize {
        self.styles.capacity() * size_of::<u16>()
    }

    #[inline]
    fn look_at(&mut self, generation: u64) {
        if self.generation != generation {
            self.generation = generation;
            self.clear();
        }
    }
}

impl Block {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Bytes in use.
    pub(crate) fn used(&self) -> usize {
        self.bytes.len()
            + self.starts.len() * size_of::<u16>()
            + self.styles.len() * size_of::<Style>()
            + self.links.len() * size_of::<Link>()
            + self.link_bytes
    }

    /// Bytes that it takes in memory.
    pub(crate) fn memory(&self) -> usize {
        size_of::<Self>()
            + self.bytes.capacity()
            + self.starts.capacity() * size_of::<u16>()
            + self.styles.capacity() * size_of::<Style>()
            + self.links.capacity() * size_of::<Link>()
            + self.link_bytes
    }

    /// Gives back unused memory.
    pub(crate) fn seal(&mut self) {
        self.bytes.shrink_to_fit();
        self.starts.shrink_to_fit();
        self.styles.shrink_to_fit();
        self.links.shrink_to_fit();
    }

    /// An empty block with the memory of this one.
    pub(crate) fn emptied(mut self) -> Self {
        self.bytes.clear();
        self.starts.clear();
        Self {
            bytes: self.bytes,
            starts: self.starts,
            ..Self::default()
        }
    }

    pub(crate) fn record(&self, index: usize) -> &[u8] {
        let Some(start) = self.starts.get(index) else {
            return &[];
        };
        let end = self
            .starts
            .get(index + 1)
            .map_or(self.bytes.len(), |end| usize::from(*end));
        self.bytes.get(usize::from(*start)..end).unwrap_or_default()
    }

    /// Drops the newest row. Its styles and links stay.
    pub(crate) fn pop(&mut self) {
        if let Some(start) = self.starts.pop() {
            self.bytes.truncate(usize::from(start));
        }
    }

    /// The most bytes that a row may take without its links. A block may be larger by the links of
    /// one row.
    #[inline]
    pub(crate) fn most_bytes(row: &Row, cells: &[Cell], shape: Shape) -> usize {
        // Its start, header, size, and one run.
        let row_itself = 16 + size_of::<Style>();
        // A character takes 4 bytes, its run 6, and its style may be new.
        let styled = 10 + size_of::<Style>();
        let each = match (shape.text, shape.styles) {
            (Text::Bytes, RowStyles::One(_)) => 1,
            (Text::Escaped, _) if row.complex => styled + pack::MAX_ESCAPE_BYTES,
            (Text::Bytes | Text::Escaped, _) => styled,
        };
        row_itself + cells.len() * each
    }

    /// Packs a row after the others.
    #[inline]
    pub(crate) fn push(
        &mut self,
        row: &Row,
        cells: &[Cell],
        shape: Shape,
        numbers: &mut Numbers,
        styles: &Styles,
        graphemes: &Graphemes,
    ) {
        let start = u16::try_from(self.bytes.len()).unwrap_or(u16::MAX);
        self.starts.push(start);
        self.widest = self.widest.max(cells.len());
        let mut header = 0;
        if row.wrapped {
            header |= WRAPPED;
            self.has_lines = true;
        }
        if row.complex {
            header |= COMPLEX;
        }
        if row.size != termd_proto::screen::LineSize::Single {
            header |= SIZED;
            self.has_lines = true;
        }
        numbers.look_at(styles.generation());
        if shape.text == Text::Escaped {
            header |= ESCAPED;
        }
        let at = self.bytes.len();
        self.bytes.push(header);
        if header & SIZED != 0 {
            self.bytes.push(pack::line_size_byte(row.size));
        }
        let runs = match shape.styles {
            RowStyles::One(style) => self.push_one_run(style, numbers, styles),
            RowStyles::Many => self.push_runs(cells, numbers, styles),
        };
        self.bytes[at] |= u8::try_from(runs.min(MANY_RUNS)).unwrap_or(0) << RUNS_SHIFT;
        if shape.text == Text::Escaped {
            pack::push_escaped(&mut self.bytes, cells, graphemes);
        } else {
            pack::push_bytes(&mut self.bytes, cells);
        }
    }

    /// The most bytes that a row of ASCII takes.
    #[inline]
    pub(crate) fn most_text_bytes(text: &[u8]) -> usize {
        16 + size_of::<Style>() + text.len()
    }

    /// Packs a row of ASCII in one style.
    #[inline]
    pub(crate) fn push_text(
        &mut self,
        text: &[u8],
        style: StyleId,
        wrapped: bool,
        numbers: &mut Numbers,
        styles: &Styles,
    ) {
        let start = u16::try_from(self.bytes.len()).unwrap_or(u16::MAX);
        self.starts.push(start);
        self.widest = self.widest.max(text.len());
        let mut header = 0;
        if wrapped {
            header |= WRAPPED;
            self.has_lines = true;
        }
        numbers.look_at(styles.generation());
        let at = self.bytes.len();
        self.bytes.push(header);
        if !text.is_empty() {
            let runs = self.push_one_run(style, numbers, styles);
            self.bytes[at] |= u8::try_from(runs).unwrap_or(0) << RUNS_SHIFT;
        }
        self.bytes.extend_from_slice(text);
    }

    #[inline]
    fn push_one_run(&mut self, style: StyleId, numbers: &mut Numbers, styles: &Styles) -> usize {
        if style.0 == 0 {
            return 0;
        }
        let number = self.number(style, numbers, styles);
        pack::push_varint(&mut self.bytes, number.into());
        1
    }

    /// Packs the runs of a row of several styles.
    fn push_runs(&mut self, cells: &[Cell], numbers: &mut Numbers, styles: &Styles) -> usize {
        let mut rest = cells;
        let mut runs = 0;
        while let Some(first) = rest.first() {
            let number = self.number(first.style(), numbers, styles);
            pack::push_varint(&mut self.bytes, number.into());
            let count = pack::run_length(rest);
            rest = &rest[count..];
            if !rest.is_empty() {
                let count = u32::try_from(count).unwrap_or(u32::MAX);
                pack::push_varint(&mut self.bytes, count);
            }
            runs += 1;
        }
        if runs >= MANY_RUNS {
            self.bytes.push(END_OF_RUNS);
        }
        runs
    }

    /// The block's number of a style of the model.
    #[inline]
    fn number(&mut self, id: StyleId, numbers: &mut Numbers, styles: &Styles) -> u16 {
        if id.0 == 0 {
            return 0;
        }
        match numbers.styles.get(id.0 as usize) {
            Some(number) if *number != 0 => *number,
            _ => self.new_number(id, numbers, styles),
        }
    }

    fn new_number(&mut self, id: StyleId, numbers: &mut Numbers, styles: &Styles) -> u16 {
        let mut style = styles.get(id);
        style.link = self.link_number(style.link, styles);
        self.styles.push(style);
        // A block is full before: a style takes more than one byte of its 64 KiB.
        let number = u16::try_from(self.styles.len()).unwrap_or(0);
        let at = id.0 as usize;
        if numbers.styles.len() <= at {
            numbers.styles.resize(at + 1, 0);
        }
        numbers.styles[at] = number;
        number
    }

    fn link_number(&mut self, id: LinkId, styles: &Styles) -> LinkId {
        let Some(link) = styles.link(id) else {
            return LinkId(0);
        };
        let recent = self.links.len().saturating_sub(LINKS_LOOKED_AT);
        let known = self.links[recent..].iter().position(|known| known == link);
        let index = known.map_or(self.links.len(), |at| recent + at);
        if index == self.links.len() {
            self.links.push(link.clone());
            self.link_bytes += link.text_bytes();
        }
        LinkId(u32::try_from(index + 1).unwrap_or(0))
    }
}
