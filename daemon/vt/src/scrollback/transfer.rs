//! Packed rows in a dump: the blocks as they are.
//!
//! What is read is checked, so that no damaged dump gives rows that cannot be read.

use termd_proto::screen::{Color, Underline};

use super::block::{Block, MAX_BLOCK_BYTES};
use super::{Scrollback, StoredRow};
use crate::codec::{Reader, Writer};
use crate::grid::Size;
use crate::grid::grapheme::Graphemes;
use crate::grid::row::Row;
use crate::grid::style::{Attributes, Link, LinkId, Style, Styles};

/// A style in a dump.
const STYLE_BYTES: usize = 19;

impl Scrollback {
    pub(crate) fn write(&self, out: &mut Writer) {
        out.u64(self.pushed());
        out.count(self.gone);
        out.count(self.full.len() + 1);
        for block in self.full.iter().map(|(_, block)| block).chain([&self.open]) {
            block.write(out);
        }
    }

    /// Reads rows into an empty scrollback, whose bounds may differ from those of the dump.
    pub(crate) fn read(&mut self, from: &mut Reader<'_>) -> Option<()> {
        let pushed = from.u64()?;
        self.gone = usize::try_from(from.u32()?).ok()?;
        let blocks = (0..from.count(1)?)
            .map(|_| Block::read(from))
            .collect::<Option<Vec<_>>>()?;
        let held: usize = blocks.iter().map(Block::len).sum();
        self.rows = held.checked_sub(self.gone)?;
        let mut first = pushed.checked_sub(held as u64)?;
        self.pushed = pushed;
        for mut block in blocks {
            block.seal();
            self.full_bytes += block.memory();
            let rows = block.len() as u64;
            if rows > 0 {
                self.full.push_back((first, block));
            }
            first += rows;
        }
        if let Some((_, last)) = self.full.pop_back() {
            self.full_bytes -= last.memory();
            self.open = last;
        }
        self.keep_bounds();
        Some(())
    }
}

impl Scrollback {
    /// The newest rows, packed anew.
    pub(crate) fn newest(&self, rows: usize) -> Self {
        let from = self.len().saturating_sub(rows);
        let mut newest = Self::new(usize::MAX, usize::MAX);
        newest.pushed = self.oldest() + from as u64;
        let (mut styles, mut graphemes) = (Styles::default(), Graphemes::default());
        for row in (from..self.len()).filter_map(|at| self.row(at)) {
            let row = row.to_row(&mut styles, &mut graphemes);
            newest.push(&row, &styles, &graphemes);
        }
        newest
    }
}

/// Packs the rows of a screen into a dump.
pub(crate) fn write_rows<'a>(
    out: &mut Writer,
    rows: impl Iterator<Item = &'a Row>,
    styles: &Styles,
    graphemes: &Graphemes,
) {
    let mut packed = Scrollback::new(usize::MAX, usize::MAX);
    for row in rows {
        packed.push(row, styles, graphemes);
    }
    packed.write(out);
}

pub(crate) fn read_rows(
    from: &mut Reader<'_>,
    size: Size,
    styles: &mut Styles,
    graphemes: &mut Graphemes,
) -> Option<Vec<Row>> {
    let mut packed = Scrollback::new(usize::MAX, usize::MAX);
    packed.read(from)?;
    if packed.len() > size.rows {
        return None;
    }
    let rows = (0..packed.len()).filter_map(|at| packed.row(at));
    Some(
        rows.map(|row| {
            let mut row = row.to_row(styles, graphemes);
            row.truncate(size.cols);
            row
        })
        .collect(),
    )
}

impl Block {
    fn write(&self, out: &mut Writer) {
        out.bytes(&self.bytes);
        out.count(self.starts.len());
        for start in &self.starts {
            out.u16(*start);
        }
        out.count(self.styles.len());
        for style in &self.styles {
            write_style(out, style);
        }
        out.count(self.links.len());
        for link in &self.links {
            write_link(out, link);
        }
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let bytes = from.bytes()?.to_vec();
        let starts = (0..from.count(2)?)
            .map(|_| from.u16())
            .collect::<Option<Vec<_>>>()?;
        let styles = (0..from.count(STYLE_BYTES)?)
            .map(|_| read_style(from))
            .collect::<Option<Vec<_>>>()?;
        let links = (0..from.count(5)?)
            .map(|_| read_link(from))
            .collect::<Option<Vec<_>>>()?;
        let is_in_order = starts.is_sorted_by(|a, b| a < b)
            && starts.first().is_none_or(|first| *first == 0)
            && starts
                .last()
                .is_none_or(|last| usize::from(*last) < bytes.len());
        if !is_in_order || starts.len() > MAX_BLOCK_BYTES {
            return None;
        }
        let mut block = Self {
            bytes,
            starts,
            styles,
            link_bytes: links.iter().map(Link::text_bytes).sum(),
            links,
            widest: 0,
            has_lines: false,
        };
        for at in 0..block.len() {
            let row = StoredRow::new(&block, at);
            let (is_line, cells) = (row.is_line(), row.sound_cells()?);
            block.has_lines |= is_line;
            block.widest = block.widest.max(cells);
        }
        (block.widest <= Size::MAX_COLS).then_some(block)
    }
}

pub(crate) fn write_link(out: &mut Writer, link: &Link) {
    out.bytes(link.uri.as_bytes());
    match &link.id {
        None => out.u8(0),
        Some(id) => {
            out.u8(1);
            out.bytes(id.as_bytes());
        }
    }
}

pub(crate) fn read_link(from: &mut Reader<'_>) -> Option<Link> {
    let uri = from.text()?.into();
    let id = match from.u8()? {
        0 => None,
        _ => Some(from.text()?.into()),
    };
    Some(Link { id, uri })
}

fn write_style(out: &mut Writer, style: &Style) {
    for color in [style.foreground, style.background, style.underline_color] {
        let bytes = match color {
            Color::Default => [0; 4],
            Color::Indexed(index) => [1, index, 0, 0],
            Color::Rgb(r, g, b) => [2, r, g, b],
        };
        out.raw(&bytes);
    }
    out.u8(match style.underline {
        Underline::None => 0,
        Underline::Single => 1,
        Underline::Double => 2,
        Underline::Curly => 3,
        Underline::Dotted => 4,
        Underline::Dashed => 5,
    });
    out.u16(style.attributes.bits());
    out.u32(style.link.0);
}

fn read_style(from: &mut Reader<'_>) -> Option<Style> {
    let mut color = || {
        Some(match (from.u8()?, from.u8()?, from.u8()?, from.u8()?) {
            (0, ..) => Color::Default,
            (1, index, ..) => Color::Indexed(index),
            (_, r, g, b) => Color::Rgb(r, g, b),
        })
    };
    Some(Style {
        foreground: color()?,
        background: color()?,
        underline_color: color()?,
        underline: match from.u8()? {
            1 => Underline::Single,
            2 => Underline::Double,
            3 => Underline::Curly,
            4 => Underline::Dotted,
            5 => Underline::Dashed,
            _ => Underline::None,
        },
        attributes: Attributes::from_bits(from.u16()?),
        link: LinkId(from.u32()?),
    })
}
