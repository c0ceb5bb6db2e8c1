//! What other emulators show for the same bytes. Where they differ from the model, xterm decides,
//! and the case stands below with its reason.

use std::num::NonZero;

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::term::{Config, Term};
use alacritty_terminal::vte::ansi::Processor;
use termd_vt::{Model, Scrollback, Size};

use crate::generate::{Random, common};
use crate::properties::for_each_case;

/// Rows without the blanks at their ends, and the cursor's column and row.
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

/// The function, who differs, the bytes, xterm's rows and cursor.
type Difference = (
    &'static str,
    fn(&[u8], Size) -> Shown,
    &'static str,
    &'static [&'static str],
    (usize, usize),
);

/// What xterm and the model do, where another emulator does something else.
#[test]
fn differences_are_as_xterm_decides() {
    let size = Size { cols: 6, rows: 4 };
    let cases: [Difference; 8] = [
        // ctlseqs, ED 1: "Erase Above"; alacritty leaves the first row when the cursor is in the
        // second.
        ("ED 1", alacritty, "a\n\x1b[1J", &[], (1, 1)),
        // DEC STD 070: the cursor goes to the left margin.
        ("IL", alacritty, "ab\x1b[L", &["", "ab"], (0, 0)),
        ("IL", vt100, "ab\x1b[L", &["", "ab"], (0, 0)),
        // CUU and CUD stop at a margin that they begin within.
        ("CUU", alacritty, "\x1b[2;4r\x1b[3H\x1b[4A", &[], (0, 1)),
        ("CUD", alacritty, "\x1b[1;2r\x1b[4B", &[], (0, 1)),
        // DECSTBM moves the cursor to the first row, and not to the first of the region.
        ("DECSTBM", vt100, "\x1b[2;3r", &[], (0, 0)),
        // IND is not known to vt100.
        ("IND", vt100, "a\x1bDb", &["a", " b"], (2, 1)),
        // RI scrolls at the top margin alone, and not at the top of the screen above it.
        (
            "RI",
            vt100,
            "\x1b[2;4r\x1b[2;1Hx\x1b[H\x1bM",
            &["", "x"],
            (0, 0),
        ),
    ];
    for (name, other, bytes, rows, cursor) in cases {
        let ours = termd(bytes.as_bytes(), size);
        let mut expected: Vec<String> = rows.iter().map(ToString::to_string).collect();
        expected.resize(size.rows, String::new());
        assert_eq!(ours.rows, expected, "{name}");
        assert_eq!(ours.cursor, cursor, "{name}");
        assert_ne!(
            other(bytes.as_bytes(), size),
            ours,
            "{name}: no difference any more"
        );
    }
}
