//! The walk over a screen: backgrounds, then the cursor, then letters and geometry, then underlines,
//! overlines and strike-through. Pure.

use termd_proto::cells::Cell;
use termd_proto::palette::{Paint, Rgb, Video};
use termd_proto::screen::{CursorShape, Screen, ScreenRow, Style, StyleRun, Underline};

use super::boxes::{self, Part};
use super::canvas::{Canvas, Face, Ink, Lettering, Path, Rect};
use super::{CursorDrawing, Layout, Look, PictureError};

/// Draws all rows.
pub(super) fn draw(
    screen: &Screen,
    look: &Look,
    layout: &Layout,
    canvas: &mut impl Canvas,
) -> Result<(), PictureError> {
    for row in &screen.lines {
        canvas.begin_row(row.size);
        let mut walk = Walk {
            look,
            layout,
            video: Video::of_mode(screen.modes.reverse_video),
            cursor: CursorCell::on(screen, row, look),
            canvas,
        };
        walk.row(row);
        canvas.end_row()?;
    }
    Ok(())
}

/// The cursor on the current row.
#[derive(Debug, Clone)]
struct CursorCell {
    column: u16,
    width: u16,
    shape: CursorShape,
    /// The style of the cell under the cursor.
    style: Style,
}

impl CursorCell {
    fn on(screen: &Screen, row: &ScreenRow, look: &Look) -> Option<Self> {
        let cursor = screen.cursor;
        let is_here = cursor.visible && row.row == i64::from(cursor.row);
        if !is_here || look.cursor == CursorDrawing::Never {
            return None;
        }
        let cells = |run: &StyleRun| {
            let mut cells = run.cells();
            let found = cells.find(|cell| covers(cell, cursor.column));
            found.map(|cell| (cell.column, cell.width))
        };
        let under = row
            .runs
            .iter()
            .find_map(|run| cells(run).map(|place| (place, run.style.clone())));
        let ((column, width), style) = under.unwrap_or(((cursor.column, 1), Style::default()));
        Some(Self {
            column,
            width,
            shape: cursor.shape,
            style,
        })
    }
}

fn covers(cell: &Cell<'_>, column: u16) -> bool {
    (cell.column..cell.column.saturating_add(cell.width)).contains(&column)
}

/// One row's drawing.
struct Walk<'a, C> {
    look: &'a Look,
    layout: &'a Layout,
    video: Video,
    cursor: Option<CursorCell>,
    canvas: &'a mut C,
}

impl<C: Canvas> Walk<'_, C> {
    fn row(&mut self, row: &ScreenRow) {
        for run in &row.runs {
            let paper = self.paint(&run.style).paper;
            if paper != self.layout.paper {
                let rect = self.columns(run.column, run.width);
                self.canvas.fill(rect, Ink::opaque(paper));
            }
        }
        self.block_cursor();
        for run in &row.runs {
            if !run.style.invisible {
                self.letters(run);
                self.rules(run);
            }
        }
        self.line_cursor();
    }

    fn paint(&self, style: &Style) -> Paint {
        self.look.theme.paint(style, self.video)
    }

    /// The rectangle of these columns, over the whole height.
    fn columns(&self, column: u16, width: u16) -> Rect {
        let left = self.layout.x(column.min(self.layout.cols));
        let right = self
            .layout
            .x(column.saturating_add(width).min(self.layout.cols));
        Rect::between(left, 0.0, right, self.layout.cell.height)
    }

    fn block_cursor(&mut self) {
        let Some(cursor) = &self.cursor else { return };
        if cursor.shape == CursorShape::Block {
            let rect = self.columns(cursor.column, cursor.width);
            let color = self.paint(&cursor.style).ink;
            self.canvas.fill(rect, Ink::opaque(color));
        }
    }

    fn line_cursor(&mut self) {
        let Some(cursor) = &self.cursor else { return };
        let whole = self.columns(cursor.column, cursor.width);
        let thickness = 2.0 * self.layout.cell.stroke;
        let rect = match cursor.shape {
            CursorShape::Block => return,
            CursorShape::Underline => Rect {
                y: whole.height - thickness,
                height: thickness,
                ..whole
            },
            CursorShape::Bar => Rect {
                width: thickness,
                ..whole
            },
        };
        let (color, _) = self.look.theme.defaults(self.video);
        self.canvas.fill(rect, Ink::opaque(color));
    }

    /// Draws ASCII in one piece up to the cursor or another character, and each of those by itself.
    fn letters(&mut self, run: &StyleRun) {
        let paint = self.paint(&run.style);
        let mut piece = self.piece(run, run.column, paint.ink);
        for cell in run.cells() {
            if cell.column >= self.layout.cols {
                break;
            }
            let is_under_cursor = self.cursor.as_ref().is_some_and(|cursor| {
                cursor.shape == CursorShape::Block && cursor.column == cell.column
            });
            let is_plain = cell.text.len() == 1 && !cell.text.starts_with(char::is_control);
            if is_plain && !is_under_cursor {
                piece.text.push_str(cell.text);
                piece.columns += 1;
                continue;
            }
            let next = self.piece(run, cell.column.saturating_add(cell.width), paint.ink);
            let before = std::mem::replace(&mut piece, next);
            self.put_letters(&before);
            let color = if is_under_cursor {
                paint.paper
            } else {
                paint.ink
            };
            self.cell(&cell, run, color);
        }
        self.put_letters(&piece);
    }

    fn piece(&self, run: &StyleRun, column: u16, color: Rgb) -> Lettering {
        Lettering {
            x: self.layout.x(column),
            columns: 0,
            text: String::new(),
            face: Face {
                bold: run.style.bold,
                italic: run.style.italic,
            },
            color,
        }
    }

    fn put_letters(&mut self, piece: &Lettering) {
        if piece.text.bytes().any(|byte| byte != b' ') {
            self.canvas.letters(piece);
        }
    }

    fn cell(&mut self, cell: &Cell<'_>, run: &StyleRun, color: Rgb) {
        let x = self.layout.x(cell.column);
        let parts = cell
            .text
            .chars()
            .next()
            .and_then(|c| boxes::parts_of(c, self.layout.cell));
        let ink = Ink::opaque(color);
        for part in parts.iter().flatten() {
            match part {
                Part::Fill(rect) => self.canvas.fill(rect.shifted(x), ink),
                Part::Shade(rect, alpha) => {
                    let ink = Ink {
                        alpha: *alpha,
                        ..ink
                    };
                    self.canvas.fill(rect.shifted(x), ink);
                }
                Part::Shape(path) => self.canvas.shape(&path.clone().shifted(x), ink),
                Part::Line(path, width) => {
                    self.canvas.line(&path.clone().shifted(x), *width, ink);
                }
            }
        }
        if parts.is_none() {
            let mut piece = self.piece(run, cell.column, color);
            piece.columns = cell.width;
            piece.text = cell.chars().collect();
            self.put_letters(&piece);
        }
    }

    /// Underline, strike-through and overline, over the whole run.
    fn rules(&mut self, run: &StyleRun) {
        let paint = self.paint(&run.style);
        let span = self.columns(run.column, run.width);
        let stroke = self.layout.cell.stroke;
        let rule = |y: f32| Rect {
            y,
            height: stroke,
            ..span
        };
        let baseline = self.layout.baseline;
        // Below the baseline, with space for a double line.
        let below = (baseline + stroke).min(self.layout.cell.height - 3.0 * stroke);
        let ink = Ink::opaque(paint.underline);
        match run.style.underline {
            Underline::None => {}
            Underline::Single => self.canvas.fill(rule(below), ink),
            Underline::Double => {
                self.canvas.fill(rule(below), ink);
                self.canvas.fill(rule(below + 2.0 * stroke), ink);
            }
            Underline::Curly => {
                let wave = self.wave(span, below + stroke);
                self.canvas.line(&wave, stroke, ink);
            }
            Underline::Dotted => self.dashes(rule(below), stroke, ink),
            Underline::Dashed => self.dashes(rule(below), self.layout.cell.width / 4.0, ink),
        }
        let ink = Ink::opaque(paint.ink);
        if run.style.crossed_out {
            let middle = (baseline - self.layout.font_size * 0.26).round();
            self.canvas.fill(rule(middle), ink);
        }
        if run.style.overline {
            self.canvas.fill(rule(0.0), ink);
        }
    }

    /// Dashes as long as the gaps between them.
    fn dashes(&mut self, rule: Rect, length: f32, ink: Ink) {
        let length = length.max(1.0);
        let mut x = rule.x;
        while x < rule.x + rule.width {
            let width = length.min(rule.x + rule.width - x);
            self.canvas.fill(Rect { x, width, ..rule }, ink);
            x += 2.0 * length;
        }
    }

    /// One wave for each column.
    fn wave(&self, span: Rect, middle: f32) -> Path {
        let length = self.layout.cell.width;
        let swing = 1.6 * self.layout.cell.stroke;
        let mut path = Path::default();
        path.move_to(span.x, middle);
        let mut x = span.x;
        while x + length / 2.0 < span.x + span.width {
            path.cubic_to(
                (x + length * 0.36, middle - swing * 1.8),
                (x + length * 0.64, middle + swing * 1.8),
                (x + length, middle),
            );
            x += length;
        }
        path
    }
}
