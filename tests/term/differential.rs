//! What other terminals show for the same bytes. Where they differ from ours, xterm decides, and the
//! case stands below with its reason.

use std::num::NonZero;

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::term::{Config, Term};
use alacritty_terminal::vte::ansi::Processor;
use termd::term::{Model, Scrollback, Size};

use crate::generate::{Random, common};
use crate::properties::for_each_case;

/// What is shown: rows without the blanks at their ends, and the cursor's column and row.
#[derive(Debug, PartialEq, Eq)]
struct Shown {
    rows: Vec<String>,
    cursor: (usize, usize),
}

fn trimmed(row: &str) -> String {
    row.trim_end_matches(' ').to_owned()
}

fn termd(bytes: &[u8], size: Size) -> Shown {
    let mut model = Model::new(size, Scrollback::new(100, 1 << 20));
    model.feed(bytes);
    Shown {
        rows: (0..size.rows).map(|y| model.row_text(y)).collect(),
        cursor: model.cursor(),
    }
}

struct AlacrittySize(Size);

impl Dimensions for AlacrittySize {
    fn total_lines(&self) -> usize {
        self.0.rows
    }

    fn screen_lines(&self) -> usize {
        self.0.rows
    }

    fn columns(&self) -> usize {
        self.0.cols
    }
}

fn alacritty(bytes: &[u8], size: Size) -> Shown {
    let mut term = Term::new(Config::default(), &AlacrittySize(size), VoidListener);
    Processor::<alacritty_terminal::vte::ansi::StdSyncHandler>::new().advance(&mut term, bytes);
    let grid = term.grid();
    let rows = (0..size.rows).map(|y| {
        let row = &grid[Line(i32::try_from(y).unwrap())];
        let mut text = String::new();
        for x in 0..size.cols {
            let cell = &row[Column(x)];
            if !cell.flags.contains(Flags::WIDE_CHAR_SPACER) {
                text.push(if cell.c == '\t' { ' ' } else { cell.c });
                text.extend(cell.zerowidth().into_iter().flatten());
            }
        }
        trimmed(&text)
    });
    let point = grid.cursor.point;
    Shown {
        rows: rows.collect(),
        cursor: (point.column.0, usize::try_from(point.line.0).unwrap()),
    }
}

fn vt100(bytes: &[u8], size: Size) -> Shown {
    let number = |value: usize| NonZero::new(u16::try_from(value).unwrap()).unwrap();
    let mut parser = vt100::Parser::new(number(size.rows), number(size.cols), 100);
    parser.process(bytes);
    let screen = parser.screen();
    let (row, col) = screen.cursor_position();
    Shown {
        rows: screen
            .rows(0, u16::try_from(size.cols).unwrap())
            .map(|row| trimmed(&row))
            .collect(),
        // It puts a cursor that is to wrap behind the last column.
        cursor: (usize::from(col).min(size.cols - 1), usize::from(row)),
    }
}

const SIZE: Size = Size { cols: 20, rows: 8 };

fn compare(other: fn(&[u8], Size) -> Shown, generate: fn(&mut Random) -> Vec<u8>) {
    for_each_case(2_000, |random| {
        let bytes = generate(random);
        let (ours, theirs) = (termd(&bytes, SIZE), other(&bytes, SIZE));
        assert_eq!(ours, theirs, "after {}", bytes.escape_ascii());
    });
}

fn any_common(random: &mut Random) -> Vec<u8> {
    let length = 10 + random.below(150);
    common(random, length, SIZE.cols, SIZE.rows)
}

#[test]
fn alacritty_shows_the_same() {
    compare(alacritty, any_common);
}

#[test]
fn vt100_shows_the_same() {
    compare(vt100, any_common);
}
