//! SVG, and an HTML page around it.
//!
//! Letters are text in the viewer's font, kept in their columns: a run of ASCII by its start and its
//! length, any other cell by its middle. Viewers without `textLength` use `letter-spacing`, which is
//! exact for fonts as wide as `DejaVu` Sans Mono; runs end at gaps. The file does not contain the
//! embedded font, which is larger than most pictures.

use std::fmt::Write as _;

use termd_proto::screen::{LineSize, Screen};

use super::canvas::{Canvas, Ink, Lettering, Path, Rect, Step};
use super::{Layout, Look, PictureError, grid};

/// Fonts that a viewer may have, and one that it always has.
const FONTS: &str =
    "'DejaVu Sans Mono',Menlo,Consolas,'Noto Sans Mono','Noto Sans Mono CJK JP',monospace";

/// The picture as one `<svg>` element.
pub(super) fn draw(screen: &Screen, look: &Look, layout: &Layout) -> Result<String, PictureError> {
    let Layout { width, height, .. } = layout;
    let mut canvas = SvgCanvas {
        out: String::new(),
        layout,
        row: 0,
        ending: "",
    };
    canvas.put(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"{FONTS}\" font-size=\"{}\" \
         letter-spacing=\"{}\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"{}\"/>\n",
        layout.font_size,
        Short(layout.cell.width - layout.advance),
        layout.paper.css()
    ));
    grid::draw(screen, look, layout, &mut canvas)?;
    canvas.out.push_str("</svg>\n");
    Ok(canvas.out)
}

/// A page of HTML that shows the picture.
pub(super) fn page(screen: &Screen, look: &Look, layout: &Layout) -> Result<String, PictureError> {
    let mut title = String::new();
    escape(&screen.title, &mut title);
    let picture = draw(screen, look, layout)?;
    Ok(format!(
        "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
         </head>\n<body style=\"margin:0;background:{}\">\n{picture}</body>\n</html>\n",
        layout.paper.css()
    ))
}

struct SvgCanvas<'a> {
    out: String,
    layout: &'a Layout,
    /// The number of finished rows.
    row: u32,
    /// The end tag of the row's element.
    ending: &'static str,
}

impl SvgCanvas<'_> {
    fn put(&mut self, formatted: std::fmt::Arguments<'_>) {
        // Writing to a String does not fail.
        let _ = self.out.write_fmt(formatted);
    }

    fn outline(&mut self, path: &Path) {
        for step in &path.steps {
            match *step {
                Step::Move(x, y) => self.put(format_args!("M{} {}", Short(x), Short(y))),
                Step::Line(x, y) => self.put(format_args!("L{} {}", Short(x), Short(y))),
                Step::Cubic(a, b, c) => {
                    self.out.push('C');
                    for (x, y) in [a, b, c] {
                        self.put(format_args!("{} {} ", Short(x), Short(y)));
                    }
                }
                Step::Close => self.out.push('Z'),
            }
        }
    }

    /// Text at a place.
    fn text(&mut self, letters: &Lettering, place: std::fmt::Arguments<'_>, text: &str) {
        self.put(format_args!("<text {place} y=\"{}\"", self.layout.baseline));
        self.fill_attribute("fill", Ink::opaque(letters.color));
        if letters.face.bold {
            self.out.push_str(" font-weight=\"bold\"");
        }
        if letters.face.italic {
            self.out.push_str(" font-style=\"italic\"");
        }
        self.out.push('>');
        escape(text, &mut self.out);
        self.out.push_str("</text>");
    }

    fn fill_attribute(&mut self, name: &str, ink: Ink) {
        self.put(format_args!(" {name}=\"{}\"", ink.color.css()));
        if ink.alpha < 255 {
            let opacity = f32::from(ink.alpha) / 255.0;
            self.put(format_args!(" {name}-opacity=\"{}\"", Short(opacity)));
        }
    }
}

/// A number with at most two digits after the point.
struct Short(f32);

impl std::fmt::Display for Short {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", (self.0 * 100.0).round() / 100.0)
    }
}

impl Canvas for SvgCanvas<'_> {
    fn begin_row(&mut self, size: LineSize) {
        let cell = self.layout.cell;
        let x = f32::from(self.layout.padding);
        let top = u64::from(self.row) * u64::from(super::whole(cell.height))
            + u64::from(self.layout.padding);
        let width = self.layout.x(self.layout.cols);
        let (half_width, half_height) = (width / 2.0, cell.height / 2.0);
        let height = cell.height;
        self.ending = "</g>\n";
        match size {
            LineSize::Single => {
                self.put(format_args!("<g transform=\"translate({x},{top})\">"));
            }
            LineSize::DoubleWidth => self.put(format_args!(
                "<g transform=\"translate({x},{top}) scale(2,1)\">"
            )),
            LineSize::DoubleHeightTop | LineSize::DoubleHeightBottom => {
                let from = if size == LineSize::DoubleHeightTop {
                    0.0
                } else {
                    half_height
                };
                // An inner element clips the row to its view box.
                self.put(format_args!(
                    "<svg x=\"{x}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" \
                     viewBox=\"0 {from} {half_width} {half_height}\">"
                ));
                self.ending = "</svg>\n";
            }
        }
    }

    fn fill(&mut self, rect: Rect, ink: Ink) {
        self.put(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
            Short(rect.x),
            Short(rect.y),
            Short(rect.width),
            Short(rect.height)
        ));
        self.fill_attribute("fill", ink);
        self.out.push_str("/>");
    }

    fn shape(&mut self, path: &Path, ink: Ink) {
        self.out.push_str("<path d=\"");
        self.outline(path);
        self.out.push('"');
        self.fill_attribute("fill", ink);
        self.out.push_str("/>");
    }

    fn line(&mut self, path: &Path, width: f32, ink: Ink) {
        self.out.push_str("<path d=\"");
        self.outline(path);
        self.put(format_args!(
            "\" fill=\"none\" stroke-width=\"{}\"",
            Short(width)
        ));
        self.fill_attribute("stroke", ink);
        self.out.push_str("/>");
    }

    fn letters(&mut self, letters: &Lettering) {
        let column = self.layout.cell.width;
        if letters.text.is_ascii() {
            for (at, piece) in pieces(&letters.text) {
                let x = letters.x + columns(at) * column;
                let width = columns(piece.len()) * column;
                let place = format_args!("x=\"{}\" textLength=\"{}\"", Short(x), Short(width));
                self.text(letters, place, piece);
            }
        } else {
            // In the middle of its columns, without the space after it.
            let width = f32::from(letters.columns) * column;
            let x = letters.x + width / 2.0 + (column - self.layout.advance) / 2.0;
            let place = format_args!("x=\"{}\" text-anchor=\"middle\"", Short(x));
            self.text(letters, place, &letters.text);
        }
    }

    fn end_row(&mut self) -> Result<(), PictureError> {
        self.out.push_str(self.ending);
        self.row += 1;
        Ok(())
    }
}

/// A number of columns, which fits a `u16`.
fn columns(count: usize) -> f32 {
    f32::from(u16::try_from(count).unwrap_or(u16::MAX))
}

/// The parts of a text between gaps of two blanks or more, without blanks at their ends, and the number
/// of characters before each. Viewers differ in the blanks that they keep.
fn pieces(text: &str) -> Vec<(usize, &str)> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for part in text.split("  ") {
        let piece = part.trim_matches(' ');
        if !piece.is_empty() {
            let before = part.len() - part.trim_start_matches(' ').len();
            pieces.push((at + before, piece));
        }
        at += part.len() + 2;
    }
    pieces
}

/// Escapes text for XML. Characters that XML cannot hold become U+FFFD.
fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => out.push(char::REPLACEMENT_CHARACTER),
            c if c.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_at_gaps() {
        type Want = &'static [(usize, &'static str)];
        let table: [(&str, Want); 6] = [
            ("one two", &[(0, "one two")]),
            ("a  b", &[(0, "a"), (3, "b")]),
            (" a   b ", &[(1, "a"), (5, "b")]),
            ("     x", &[(5, "x")]),
            ("   ", &[]),
            ("", &[]),
        ];
        for (text, want) in table {
            assert_eq!(pieces(text), want, "{text:?}");
        }
    }
}
