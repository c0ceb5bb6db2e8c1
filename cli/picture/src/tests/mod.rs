//! Pictures, decoded and looked at cell by cell.

mod animation;
mod gallery;
mod vector;

use termd_proto::Offset;
use termd_proto::screen::{
    Color, CommandState, Cursor, CursorShape, LineSize, ScreenModes, ScreenRow, Style, StyleRun,
};

use super::fallback::Fallback;
use super::*;

/// The look of the tests.
const LOOK: Look = Look {
    theme: Theme::DARK,
    font_size: 16,
    cursor: CursorDrawing::AsShown,
};

/// Rows of runs, each a column, a width, its text and its style.
type Rows = Vec<Vec<(u16, u16, String, Style)>>;

fn screen(cols: u16, rows: Rows) -> Screen {
    let count = u16::try_from(rows.len()).unwrap();
    let lines = (0..).zip(rows).map(|(row, runs)| ScreenRow {
        row,
        seq: 0,
        wrapped: false,
        size: LineSize::Single,
        runs: runs
            .into_iter()
            .map(|(column, width, text, style)| StyleRun {
                column,
                width,
                text,
                style,
            })
            .collect(),
    });
    Screen {
        seq: 1,
        end: Offset(0),
        cols,
        rows: count,
        alternate: false,
        full_screen: false,
        cursor: Cursor {
            row: 0,
            column: 0,
            visible: false,
            shape: CursorShape::Block,
            blinking: false,
            wrap_pending: false,
        },
        title: String::new(),
        cwd: None,
        command_state: CommandState::Unknown,
        progress: None,
        bells: 0,
        echo: None,
        canonical: None,
        modes: ScreenModes::default(),
        scrollback_rows: 0,
        lines: lines.collect(),
    }
}

/// A row of one run after another.
fn row(runs: &[(&str, u16, Style)]) -> Vec<(u16, u16, String, Style)> {
    let mut column = 0;
    runs.iter()
        .map(|(text, width, style)| {
            let at = column;
            column += width;
            (at, *width, (*text).to_owned(), style.clone())
        })
        .collect()
}

fn plain() -> Style {
    Style::default()
}

fn on(background: Color) -> Style {
    Style {
        background,
        ..plain()
    }
}

fn ink(foreground: Color) -> Style {
    Style {
        foreground,
        ..plain()
    }
}

fn styled(change: impl FnOnce(&mut Style)) -> Style {
    let mut style = plain();
    change(&mut style);
    style
}

/// A decoded picture.
struct Pixels {
    layout: Layout,
    width: usize,
    rgb: Vec<u8>,
}

impl Pixels {
    fn of(screen: &Screen) -> Self {
        let layout = Layout::of(screen, &LOOK).unwrap();
        let file = png::draw_with(screen, &LOOK, &layout, Fallback::none()).unwrap();
        let mut reader = ::png::Decoder::new(std::io::Cursor::new(file))
            .read_info()
            .unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut rgb).unwrap();
        assert_eq!((info.width, info.height), (layout.width, layout.height));
        Self {
            layout,
            width: usize::try_from(info.width).unwrap(),
            rgb,
        }
    }

    /// The colour at a pixel, counted from the top left of a cell.
    fn at(&self, column: u32, row: u32, x: u32, y: u32) -> Rgb {
        let cell = self.layout.cell;
        let x = u32::from(self.layout.padding) + column * whole(cell.width) + x;
        let y = u32::from(self.layout.padding) + row * whole(cell.height) + y;
        let at = (usize::try_from(y).unwrap() * self.width + usize::try_from(x).unwrap()) * 3;
        Rgb(self.rgb[at], self.rgb[at + 1], self.rgb[at + 2])
    }

    /// Every pixel of a cell.
    fn cell(&self, column: u32, row: u32) -> Vec<Rgb> {
        let cell = self.layout.cell;
        let (width, height) = (whole(cell.width), whole(cell.height));
        (0..height)
            .flat_map(|y| (0..width).map(move |x| (x, y)))
            .map(|(x, y)| self.at(column, row, x, y))
            .collect()
    }

    fn edges(&self, column: u32, row: u32) -> [Vec<Rgb>; 4] {
        let cell = self.layout.cell;
        let (width, height) = (whole(cell.width), whole(cell.height));
        [
            (0..height).map(|y| self.at(column, row, 0, y)).collect(),
            (0..height)
                .map(|y| self.at(column, row, width - 1, y))
                .collect(),
            (0..width).map(|x| self.at(column, row, x, 0)).collect(),
            (0..width)
                .map(|x| self.at(column, row, x, height - 1))
                .collect(),
        ]
    }
}

const BLACK: Rgb = Rgb(0, 0, 0);
const GREY: Rgb = Theme::DARK.foreground;

#[test]
fn backgrounds_fill_their_cells_and_no_others() {
    let blue = Rgb(1, 2, 200);
    let screen = screen(
        4,
        vec![
            row(&[(" ", 1, plain()), ("  ", 2, on(Color::Rgb(1, 2, 200)))]),
            vec![],
        ],
    );
    let pixels = Pixels::of(&screen);
    for (column, row, want) in [
        (0, 0, BLACK),
        (1, 0, blue),
        (2, 0, blue),
        (3, 0, BLACK),
        (1, 1, BLACK),
    ] {
        let cell = pixels.cell(column, row);
        assert!(cell.iter().all(|&pixel| pixel == want), "{column};{row}");
    }
}

#[test]
fn letters_are_in_their_columns() {
    let screen = screen(6, vec![row(&[(" M M  ", 6, plain())])]);
    let pixels = Pixels::of(&screen);
    for (column, has_ink) in [(0, false), (1, true), (2, false), (3, true), (4, false)] {
        let cell = pixels.cell(column, 0);
        assert_eq!(
            cell.iter().any(|&pixel| pixel != BLACK),
            has_ink,
            "{column}"
        );
    }
    assert_eq!(pixels.cell(1, 0), pixels.cell(3, 0));
}

/// Whether a line touches the left, right, upper and lower edge, as the Unicode name says.
#[test]
fn box_drawing_touches_its_neighbours() {
    let table = [
        ('─', [true, true, false, false]),
        ('│', [false, false, true, true]),
        ('┌', [false, true, false, true]),
        ('╭', [false, true, false, true]),
        ('╮', [true, false, false, true]),
        ('╯', [true, false, true, false]),
        ('╰', [false, true, true, false]),
        ('┼', [true; 4]),
        ('╋', [true; 4]),
        ('╬', [true; 4]),
        ('╔', [false, true, false, true]),
        ('╢', [true, false, true, true]),
        ('╴', [true, false, false, false]),
        ('╱', [true, true, true, true]),
        ('█', [true; 4]),
    ];
    let text: String = table.iter().flat_map(|(c, _)| [*c, ' ']).collect();
    let columns = u16::try_from(table.len() * 2).unwrap();
    let pixels = Pixels::of(&screen(columns, vec![row(&[(&text, columns, plain())])]));
    for ((c, want), column) in table.iter().zip((0..).step_by(2)) {
        let edges = pixels.edges(column, 0);
        let got = edges.map(|edge| edge.iter().any(|&pixel| pixel != BLACK));
        assert_eq!(got, *want, "{c}");
    }
    // A light line is where a light line of the next cell begins: no step, no gap.
    let line = |column: u32, edge: usize| pixels.edges(column, 0)[edge].clone();
    assert_eq!(line(0, 1), line(4, 1));
    assert_eq!(line(0, 1), line(6, 1));
    assert_eq!(line(2, 3), line(4, 3));
    assert_eq!(line(2, 3), line(6, 3));
}

#[test]
fn every_box_character_is_geometry_within_its_cell() {
    let cell = Layout::of(&screen(2, vec![]), &LOOK).unwrap().cell;
    for c in ('\u{2500}'..='\u{259f}')
        .chain('\u{2800}'..='\u{28ff}')
        .chain('\u{1fb00}'..='\u{1fb3b}')
    {
        let parts = boxes::parts_of(c, cell).unwrap();
        assert!(!parts.is_empty() || c == '\u{2800}', "{c}");
        for part in parts {
            if let boxes::Part::Fill(rect) | boxes::Part::Shade(rect, _) = part {
                assert!(rect.width > 0.0 && rect.height > 0.0, "{c} {rect:?}");
                assert!(
                    rect.x >= 0.0 && rect.x + rect.width <= cell.width,
                    "{c} {rect:?}"
                );
                assert!(
                    rect.y >= 0.0 && rect.y + rect.height <= cell.height,
                    "{c} {rect:?}"
                );
            }
        }
    }
    assert_eq!(boxes::parts_of('x', cell), None);
}

#[test]
fn what_no_font_has_is_a_frame_over_both_columns() {
    let screen = screen(4, vec![row(&[("漢", 2, plain()), ("  ", 2, plain())])]);
    let pixels = Pixels::of(&screen);
    let width = whole(pixels.layout.cell.width);
    let stroke = whole(pixels.layout.cell.stroke);
    assert_eq!(pixels.at(0, 0, stroke, 8), GREY);
    assert_eq!(pixels.at(1, 0, width - 1 - stroke, 8), GREY);
    assert_eq!(pixels.at(0, 0, width - 1, 2 * stroke), GREY);
    assert!(pixels.edges(2, 0)[0].iter().all(|&pixel| pixel == BLACK));
}

#[test]
fn the_cursor_is_drawn_unless_told_not_to() {
    let mut screen = screen(3, vec![row(&[("漢x", 3, plain())])]);
    screen.cursor.visible = true;
    screen.cursor.column = 1;
    // On a wide character it takes both columns.
    let pixels = Pixels::of(&screen);
    assert_eq!((pixels.at(0, 0, 0, 0), pixels.at(1, 0, 9, 0)), (GREY, GREY));
    assert_eq!(pixels.at(2, 0, 0, 0), BLACK);
    screen.cursor.column = 2;
    screen.cursor.shape = CursorShape::Bar;
    let pixels = Pixels::of(&screen);
    assert_eq!(
        (pixels.at(2, 0, 0, 0), pixels.at(2, 0, 9, 0)),
        (GREY, BLACK)
    );
    screen.cursor.shape = CursorShape::Underline;
    let pixels = Pixels::of(&screen);
    let bottom = whole(pixels.layout.cell.height) - 1;
    assert_eq!(
        (pixels.at(2, 0, 5, 0), pixels.at(2, 0, 5, bottom)),
        (BLACK, GREY)
    );
    let look = Look {
        cursor: CursorDrawing::Never,
        ..LOOK
    };
    let never = draw(&screen, &look, Format::Svg).unwrap().bytes;
    screen.cursor.visible = false;
    assert_eq!(never, draw(&screen, &LOOK, Format::Svg).unwrap().bytes);
}

#[test]
fn double_height_is_two_halves_of_one_picture() {
    let style = on(Color::Indexed(1));
    let mut screen = screen(
        4,
        vec![row(&[("▀", 1, style.clone())]), row(&[("▀", 1, style)])],
    );
    screen.lines[0].size = LineSize::DoubleHeightTop;
    screen.lines[1].size = LineSize::DoubleHeightBottom;
    let pixels = Pixels::of(&screen);
    let red = Rgb(0xcd, 0, 0);
    for column in [0, 1] {
        // Enlarged, the upper half of the block is the whole of the upper row but a pixel.
        let upper = pixels.cell(column, 0);
        assert!(upper.iter().all(|&pixel| pixel == GREY), "{column}");
        assert_eq!(pixels.at(column, 1, 5, 10), red);
    }
    assert_eq!(
        (pixels.at(2, 0, 0, 0), pixels.at(2, 1, 0, 0)),
        (BLACK, BLACK)
    );
}

#[test]
fn too_large_a_picture_is_refused() {
    let mut screen = screen(4096, vec![]);
    let line = ScreenRow {
        row: 0,
        seq: 0,
        wrapped: false,
        size: LineSize::Single,
        runs: vec![],
    };
    screen.lines = vec![line; 4096];
    for format in [Format::Png, Format::Svg, Format::Html] {
        let error = draw(&screen, &LOOK, format).unwrap_err();
        assert!(
            matches!(error, PictureError::TooLarge { width: 40_976, .. }),
            "{error}"
        );
    }
}
