//! Rows packed and unpacked, bounds, ids.

use super::Scrollback;
use crate::grid::cell::{Cell, Protection};
use crate::grid::grapheme::Graphemes;
use crate::grid::row::Row;
use crate::grid::style::{Attributes, Link, Style, StyleId, Styles};
use termd_proto::screen::{Color, LineSize};

fn row(text: &str, style: StyleId) -> Row {
    let mut row = Row::default();
    row.extend(text.chars().map(|c| Cell::narrow(c, style)));
    row
}

fn style(styles: &mut Styles, color: u8) -> StyleId {
    styles.number(Style {
        foreground: Color::Indexed(color),
        ..Style::default()
    })
}

fn text(scrollback: &Scrollback, index: usize) -> String {
    let mut text = String::new();
    scrollback.row(index).unwrap().push_text(&mut text);
    text
}

/// Rows of every kind.
fn kinds(styles: &mut Styles, graphemes: &mut Graphemes) -> Vec<Row> {
    let red = style(styles, 1);
    let mut rows = vec![Row::default(), row("plain", StyleId(0)), row("red", red)];
    let mut many = Row::default();
    for at in 0..100_u8 {
        many.push(Cell::ascii(b'a' + at % 26, style(styles, at % 40)));
    }
    rows.push(many);
    let mut long_runs = row(&"x".repeat(64), red);
    long_runs.extend((0..4_000).map(|_| Cell::ascii(b'y', StyleId(0))));
    long_runs.push(Cell::ascii(b'z', red));
    rows.push(long_runs);
    let mut blanks = row("bce", StyleId(0));
    blanks.extend((0..5).map(|_| Cell::erased(red)));
    blanks.wrapped = true;
    rows.push(blanks);
    let mut sized = row("double", StyleId(0));
    sized.size = LineSize::DoubleHeightBottom;
    rows.push(sized);
    let mut wide = row("é", red);
    wide.complex = true;
    wide.push(Cell::wide('宽', red));
    wide.push(Cell::tail(red));
    wide.push(Cell::filler(red));
    let number = graphemes.number("e\u{301}").unwrap();
    wide.push(Cell::narrow('e', red).with_grapheme(number));
    let number = graphemes.number("👩\u{200d}💻").unwrap();
    wide.push(Cell::wide('👩', red).with_grapheme(number));
    wide.push(Cell::tail(red));
    for protection in [Protection::Selective, Protection::Guarded] {
        wide.push(Cell::wide('宽', red).with_protection(protection));
        wide.push(Cell::tail(red).with_protection(protection));
    }
    // Halves that lost the other one, and widths that are not the table's.
    wide.push(Cell::wide('宽', red));
    wide.push(Cell::narrow('宽', red));
    wide.push(Cell::tail(red));
    wide.push(Cell::wide('❤', red));
    wide.push(Cell::tail(red));
    rows.push(wide);
    let link = styles.link_number(Link {
        id: Some("id".into()),
        uri: "https://example.org/".into(),
    });
    let linked = styles.number(Style {
        link,
        attributes: Attributes::BOLD,
        ..Style::default()
    });
    rows.push(row("a link", linked));
    rows
}

#[test]
fn a_row_is_unpacked_as_it_was_packed() {
    let (mut styles, mut graphemes) = (Styles::default(), Graphemes::default());
    let rows = kinds(&mut styles, &mut graphemes);
    let mut scrollback = Scrollback::new(1_000, 1 << 20);
    for _ in 0..3 {
        for row in &rows {
            scrollback.push(row, &styles, &graphemes);
        }
    }
    for index in 0..scrollback.len() {
        let row = &rows[index % rows.len()];
        let stored = scrollback.row(index).unwrap();
        let unpacked = stored.to_row(&mut styles, &mut graphemes);
        assert_eq!(unpacked.cells(), &row.cells()[..row.occupied()], "{index}");
        assert_eq!(unpacked.wrapped, row.wrapped);
        assert_eq!(unpacked.size, row.size);
        assert_eq!(unpacked.complex, row.complex);
    }
    for row in rows.iter().rev() {
        let popped = scrollback.pop_newest(&mut styles, &mut graphemes).unwrap();
        assert_eq!(popped.cells(), &row.cells()[..row.occupied()]);
    }
}

#[test]
fn a_block_owns_its_styles_and_outlives_a_sweep() {
    let (mut styles, graphemes) = (Styles::default(), Graphemes::default());
    let mut scrollback = Scrollback::new(10, 1 << 20);
    let (red, green) = (style(&mut styles, 1), style(&mut styles, 2));
    scrollback.push(&row("red", red), &styles, &graphemes);
    let sweep = styles.sweep(&[green], &[]);
    // Green has red's number now.
    scrollback.push(&row("green", sweep.style(green)), &styles, &graphemes);
    let colors = (0..2).map(|index| {
        let (run, _) = scrollback.row(index).unwrap().runs().next().unwrap();
        run.style.foreground
    });
    assert_eq!(
        colors.collect::<Vec<_>>(),
        [Color::Indexed(1), Color::Indexed(2)]
    );
}

#[test]
fn rows_and_bytes_are_bounded_and_ids_go_on() {
    let (styles, graphemes) = (Styles::default(), Graphemes::default());
    for (max_rows, max_bytes) in [(0, 1 << 20), (1, 0), (7, 1 << 20), (100_000, 64 << 10)] {
        let mut scrollback = Scrollback::new(max_rows, max_bytes);
        for number in 0..20_000 {
            let printed = row(&format!("line {number}"), StyleId(0));
            scrollback.push(&printed, &styles, &graphemes);
            assert!(scrollback.len() <= max_rows);
        }
        assert_eq!(scrollback.pushed(), 20_000);
        // Two blocks are always allowed, and the tables take a little.
        assert!(scrollback.bytes() < max_bytes.max(8 << 10) + (4 << 10));
        assert!(max_rows == 0 || scrollback.len() > 0);
        for index in [0, scrollback.len() / 2, scrollback.len().saturating_sub(1)] {
            if index < scrollback.len() {
                let id = scrollback.oldest() + index as u64;
                assert_eq!(text(&scrollback, index), format!("line {id}"));
            }
        }
        assert!(scrollback.row(scrollback.len()).is_none());
        scrollback.clear();
        assert_eq!((scrollback.len(), scrollback.pushed()), (0, 20_000));
    }
}

#[test]
fn a_block_stays_within_its_bytes_for_any_styles() {
    let (mut styles, graphemes) = (Styles::default(), Graphemes::default());
    let mut scrollback = Scrollback::new(10_000, 64 << 20);
    for number in 0..3_000_u32 {
        let mut row = Row::default();
        for x in 0..20_u32 {
            let [_, r, g, b] = (number * 20 + x).to_be_bytes();
            let style = styles.number(Style {
                foreground: Color::Rgb(r, g, b),
                ..Style::default()
            });
            row.push(Cell::ascii(b'x', style));
        }
        scrollback.push(&row, &styles, &graphemes);
    }
    let blocks = scrollback.full.iter().map(|(_, block)| block.used());
    assert!(blocks.max().unwrap() <= super::block::MAX_BLOCK_BYTES);
    assert_eq!(text(&scrollback, 2_999), "x".repeat(20));
}
