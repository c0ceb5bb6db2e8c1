//! One row of the live region: its cells, and what the reader has of it.

use super::output::Emitted;
use crate::codec::{Reader, Writer};
use crate::grid::style::Style;
use crate::model::screen::without_link;
use crate::render::sgr::Pen;

/// The most bytes of a character and its combining marks; further marks are dropped. The longest
/// emoji sequence takes 35.
const MAX_CLUSTER_BYTES: usize = 64;
/// The most bytes of all characters with combining marks in a row.
const MAX_ROW_CLUSTER_BYTES: usize = 16 << 10;
/// The most cells of a row that was printed when the screen was wider: columns are 16 bits.
const MAX_CELLS: usize = 1 << 16;
/// How many ASCII cells are written out at a time.
const ASCII_STEP: usize = 128;

/// Nothing was printed here, or it was erased.
const BLANK: Cell = 0;
/// The right half of a wide character.
const WIDE_TAIL: Cell = 1;
/// A further column of the tab to the left.
const TAB_TAIL: Cell = 2;
const TAB: Cell = 9;
const SPACE: Cell = 0x20;
/// The lower bits are an index into the row's clusters.
const CLUSTER: Cell = 0x8000_0000;

/// A character's code point, or one of the constants above. It is small because most of the time is
/// spent on rows.
type Cell = u32;

/// How the line goes on below the row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum RowEnd {
    /// It has not ended.
    #[default]
    Open,
    /// A line feed ended it.
    Line,
    /// The row was full (autowrap): the next row is the same line.
    Wrap,
}

impl RowEnd {
    pub(super) fn dump(self, out: &mut Writer) {
        out.u8(match self {
            Self::Open => 0,
            Self::Line => 1,
            Self::Wrap => 2,
        });
    }

    pub(super) fn restore(from: &mut Reader<'_>) -> Option<Self> {
        Some(match from.u8()? {
            0 => Self::Open,
            1 => Self::Line,
            2 => Self::Wrap,
            _ => return None,
        })
    }
}

/// A row of the live region.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    /// Unique among the rows of one resolver.
    pub(super) id: u64,
    /// The raw offset at which it began.
    pub(super) start: u64,
    /// What ended it.
    pub(super) end: RowEnd,
    /// The cursor was moved up over it, so a program redraws it.
    pub(super) held: bool,
    /// What the reader has of it.
    pub(super) emitted: Option<Emitted>,
    /// Something was printed over its text, so spaces at its end were printed to erase.
    redrawn: bool,
    cells: Vec<Cell>,
    /// The style of each cell; cells beyond its end have the default one.
    styles: Vec<Style>,
    clusters: Option<Box<Clusters>>,
}

/// Characters with combining marks.
#[derive(Debug, Clone, Default)]
struct Clusters {
    /// Marks at the start of the line, and a byte order mark, which have no base.
    lead: String,
    texts: Vec<String>,
    bytes: usize,
    /// It holds too many bytes; further marks are dropped until it is cleared.
    full: bool,
}

impl Row {
    /// Without its styles.
    pub(super) fn dump(&self, out: &mut Writer) {
        out.u64(self.id);
        out.u64(self.start);
        self.end.dump(out);
        out.u8(u8::from(self.held));
        out.u8(u8::from(self.redrawn));
        out.u8(u8::from(self.emitted.is_some()));
        if let Some(emitted) = &self.emitted {
            emitted.dump(out);
        }
        // Most cells are ASCII, and packing makes little of the rest.
        let is_ascii = self.cells.iter().all(|cell| *cell < 0x80);
        out.count(self.cells.len());
        out.u8(u8::from(is_ascii));
        for cell in &self.cells {
            match u8::try_from(*cell) {
                Ok(byte) if is_ascii => out.u8(byte),
                _ => out.u32(*cell),
            }
        }
        out.u8(u8::from(self.clusters.is_some()));
        if let Some(clusters) = &self.clusters {
            clusters.dump(out);
        }
    }

    /// What [`dump`](Self::dump) wrote.
    pub(super) fn restore(from: &mut Reader<'_>, columns: usize) -> Option<Self> {
        let (id, start) = (from.u64()?, from.u64()?);
        let end = RowEnd::restore(from)?;
        let (held, redrawn) = (from.flag()?, from.flag()?);
        let emitted = if from.flag()? {
            Some(Emitted::restore(from)?)
        } else {
            None
        };
        let cells = from
            .count(1)
            .filter(|cells| *cells <= columns.max(MAX_CELLS))?;
        let is_ascii = from.flag()?;
        let cell = |_| {
            if is_ascii {
                from.u8().map(Cell::from)
            } else {
                from.u32()
            }
        };
        let cells = (0..cells).map(cell).collect::<Option<_>>()?;
        let clusters = if from.flag()? {
            Some(Box::new(Clusters::restore(from)?))
        } else {
            None
        };
        Some(Self {
            id,
            start,
            end,
            held,
            emitted,
            redrawn,
            cells,
            styles: Vec::new(),
            clusters,
        })
    }

    /// Makes it an empty row in the same memory.
    pub(super) fn renew(&mut self, id: u64, start: u64) {
        self.id = id;
        self.start = start;
        self.end = RowEnd::Open;
        self.held = false;
        self.emitted = None;
        self.redrawn = false;
        self.cells.clear();
        self.styles.clear();
        self.clusters = None;
    }

    /// Gives these columns a style.
    pub(super) fn paint(&mut self, from: usize, to: usize, style: Style) {
        if self.styles.len() < to && style != Style::default() {
            self.styles.resize(to, Style::default());
        }
        let end = to.min(self.styles.len());
        if let Some(styles) = self.styles.get_mut(from..end) {
            styles.fill(style);
        }
    }

    /// Whether the text ends in another style than the default one.
    pub(super) fn ends_styled(&self) -> bool {
        let last = self.text_end().checked_sub(1);
        let style = last.and_then(|last| self.styles.get(last));
        style.is_some_and(|style| *style != Style::default())
    }

    /// Whether there is no text on it.
    pub(super) fn is_blank(&self) -> bool {
        self.text_end() == 0 && self.lead().is_empty()
    }

    /// Columns of the text, without blanks at its end that were not printed.
    fn text_end(&self) -> usize {
        let blank = if self.redrawn { SPACE } else { BLANK };
        self.cells
            .iter()
            .rposition(|cell| *cell != BLANK && *cell != blank)
            .map_or(0, |last| last + 1)
    }

    fn lead(&self) -> &str {
        self.clusters.as_ref().map_or("", |clusters| &clusters.lead)
    }

    /// Writes printable ASCII. It must fit the screen.
    pub(super) fn put_ascii(&mut self, column: usize, text: &[u8]) {
        let end = column + text.len();
        let length = self.cells.len();
        if column < length {
            self.sever(column);
            self.sever(end);
        } else {
            self.cells.resize(column, BLANK);
        }
        let over = length.saturating_sub(column).min(text.len());
        self.redrawn |= over > 0;
        let (over, beyond) = text.split_at(over);
        for (cell, byte) in self.cells.iter_mut().skip(column).zip(over) {
            *cell = u32::from(*byte);
        }
        self.cells
            .extend(beyond.iter().map(|byte| u32::from(*byte)));
    }

    /// Writes one character of one or two columns.
    pub(super) fn put(&mut self, column: usize, character: char, columns: usize) {
        let end = column + columns;
        self.sever(column);
        self.sever(end);
        self.redrawn |= column < self.cells.len();
        if self.cells.len() < end {
            self.cells.resize(end, BLANK);
        }
        if let Some([cell, tail @ ..]) = self.cells.get_mut(column..end) {
            *cell = u32::from(character);
            tail.fill(WIDE_TAIL);
        }
    }

    /// Writes a tab that ends before `stop`, where there is nothing from `column` on.
    pub(super) fn put_tab(&mut self, column: usize, stop: usize) {
        if self.cells.len() <= column && stop > column {
            self.cells.resize(column, BLANK);
            self.cells.push(TAB);
            self.cells.resize(stop, TAB_TAIL);
        }
    }

    /// Adds a mark without a column of its own to the character left of `column`.
    pub(super) fn put_mark(&mut self, column: usize, mark: char) {
        if self.cells.len() < column {
            self.cells.resize(column, BLANK);
        }
        let base = self
            .cells
            .iter()
            .take(column)
            .rposition(|cell| *cell != WIDE_TAIL);
        let clusters = self.clusters.get_or_insert_with(Box::default);
        let Some(cell) = base.and_then(|at| self.cells.get_mut(at)) else {
            if clusters.lead.len() + mark.len_utf8() <= MAX_CLUSTER_BYTES {
                clusters.lead.push(mark);
            }
            return;
        };
        if *cell & CLUSTER != 0 {
            clusters.extend(*cell, mark);
        } else if *cell != TAB_TAIL && *cell != TAB {
            if clusters.bytes >= MAX_ROW_CLUSTER_BYTES && !clusters.full {
                let kept = clusters.compact(&mut self.cells);
                if kept {
                    self.put_mark(column, mark);
                }
                return;
            }
            if let Some(index) = clusters.add(printed(*cell), mark) {
                *cell = CLUSTER | index;
            }
        }
    }

    /// Erases columns (EL, ECH, and ED for its rows).
    pub(super) fn erase(&mut self, from: usize, to: usize) {
        if from == 0 && to >= self.cells.len() {
            self.cells.clear();
            self.styles.clear();
            self.clusters = None;
            self.redrawn = false;
            return;
        }
        self.sever(from);
        self.sever(to);
        self.paint(from, to.min(self.styles.len()), Style::default());
        if to >= self.cells.len() {
            self.cells.truncate(from);
        } else if let Some(cells) = self.cells.get_mut(from..to) {
            cells.fill(BLANK);
        }
        if from == 0
            && let Some(clusters) = &mut self.clusters
        {
            clusters.lead.clear();
        }
    }

    /// ICH. What leaves the screen on the right is gone.
    pub(super) fn insert(&mut self, column: usize, count: usize, columns: usize) {
        if column < self.cells.len() {
            self.sever(column);
            let count = count.min(columns.saturating_sub(column));
            let blanks = std::iter::repeat_n(BLANK, count);
            self.cells.splice(column..column, blanks);
            if column < self.styles.len() {
                let default = std::iter::repeat_n(Style::default(), count);
                self.styles.splice(column..column, default);
                self.styles.truncate(columns);
            }
            self.sever(columns);
            self.cells.truncate(columns);
        }
    }

    /// DCH. What is right of the columns moves left.
    pub(super) fn delete(&mut self, column: usize, count: usize) {
        let end = column.saturating_add(count).min(self.cells.len());
        if column < end {
            self.sever(column);
            self.sever(end);
            self.cells.drain(column..end);
            let styled = self.styles.len();
            self.styles.drain(column.min(styled)..end.min(styled));
        }
    }

    /// Makes a character blank that lies on both sides of this column's left edge.
    fn sever(&mut self, column: usize) {
        let is_tail = |cell: &Cell| matches!(*cell, WIDE_TAIL | TAB_TAIL);
        if !self.cells.get(column).is_some_and(is_tail) {
            return;
        }
        let tail = self.cells.iter().skip(column).take_while(|c| is_tail(c));
        let end = column + tail.count();
        let head = self.cells.iter().take(column).rposition(|c| !is_tail(c));
        if let Some(cells) = self.cells.get_mut(head.unwrap_or(0)..end) {
            cells.fill(BLANK);
        }
    }

    /// Writes the text. The style at its end is left on.
    pub(super) fn write(&self, out: &mut String) {
        out.push_str(self.lead());
        if !self.styles.is_empty() {
            return self.write_styled(out);
        }
        let mut rest = self.cells.get(..self.text_end()).unwrap_or_default();
        while !rest.is_empty() {
            let step = rest.len().min(ASCII_STEP);
            let (cells, after) = rest.split_at(step);
            let mut ascii = [0_u8; ASCII_STEP];
            let mut all_printable = true;
            for (byte, cell) in ascii.iter_mut().zip(cells) {
                all_printable &= cell.wrapping_sub(0x20) < 0x5f;
                *byte = (cell & 0x7f) as u8;
            }
            match ascii.get(..step).map(std::str::from_utf8) {
                Some(Ok(text)) if all_printable => out.push_str(text),
                _ => cells.iter().for_each(|cell| self.write_cell(*cell, out)),
            }
            rest = after;
        }
    }

    fn write_styled(&self, out: &mut String) {
        let mut pen = Pen::default();
        let mut style = Style::default();
        let styles = self.styles.iter().copied();
        let styles = styles.chain(std::iter::repeat(Style::default()));
        for (cell, next) in self.cells.iter().take(self.text_end()).zip(styles) {
            if next != style {
                style = next;
                pen.take(&without_link(style), out);
            }
            self.write_cell(*cell, out);
        }
    }

    fn write_cell(&self, cell: Cell, out: &mut String) {
        if cell & CLUSTER != 0 {
            let index = (cell & !CLUSTER) as usize;
            let texts = self.clusters.as_ref().map(|clusters| &clusters.texts);
            if let Some(text) = texts.and_then(|texts| texts.get(index)) {
                out.push_str(text);
            }
        } else if !matches!(cell, WIDE_TAIL | TAB_TAIL) {
            out.push(printed(cell));
        }
    }
}

fn printed(cell: Cell) -> char {
    match cell {
        BLANK => ' ',
        cell => char::from_u32(cell).unwrap_or(char::REPLACEMENT_CHARACTER),
    }
}

impl Clusters {
    fn dump(&self, out: &mut Writer) {
        out.bytes(self.lead.as_bytes());
        out.count(self.texts.len());
        for text in &self.texts {
            out.bytes(text.as_bytes());
        }
        out.count(self.bytes);
        out.u8(u8::from(self.full));
    }

    fn restore(from: &mut Reader<'_>) -> Option<Self> {
        let lead = from.text()?.to_owned();
        let count = from.count(size_of::<u32>())?;
        let texts = (0..count).map(|_| from.text().map(str::to_owned));
        Some(Self {
            lead,
            texts: texts.collect::<Option<_>>()?,
            bytes: from.u32()? as usize,
            full: from.flag()?,
        })
    }

    fn add(&mut self, base: char, mark: char) -> Option<u32> {
        if self.full {
            return None;
        }
        let index = u32::try_from(self.texts.len()).ok()?;
        let text = String::from_iter([base, mark]);
        self.bytes += text.len();
        self.texts.push(text);
        Some(index)
    }

    fn extend(&mut self, cell: Cell, mark: char) {
        let text = self.texts.get_mut((cell & !CLUSTER) as usize);
        if let Some(text) = text
            && text.len() + mark.len_utf8() <= MAX_CLUSTER_BYTES
            && self.bytes < MAX_ROW_CLUSTER_BYTES
        {
            text.push(mark);
            self.bytes += mark.len_utf8();
        }
    }

    /// Drops clusters that were overwritten. Returns whether there is room again.
    fn compact(&mut self, cells: &mut [Cell]) -> bool {
        let old = std::mem::take(&mut self.texts);
        self.bytes = 0;
        for cell in cells.iter_mut().filter(|cell| **cell & CLUSTER != 0) {
            let text = old.get((*cell & !CLUSTER) as usize).cloned();
            let text = text.unwrap_or_default();
            self.bytes += text.len();
            *cell = u32::try_from(self.texts.len()).map_or(BLANK, |index| CLUSTER | index);
            self.texts.push(text);
        }
        // Otherwise it would be compacted again at each of the next marks.
        self.full = self.bytes > MAX_ROW_CLUSTER_BYTES / 2;
        !self.full
    }
}
