//! A screen as one `<pre>` element, without style sheet or script.
//!
//! What a program printed is only text: `&`, `<`, `>` and quotes are escaped, and a hyperlink must
//! have a scheme that is known to open a document.

use termd_proto::cells::Cell;
use termd_proto::hyperlink::may_link;
use termd_proto::palette::{Paint, Theme, Video};
use termd_proto::screen::{CursorShape, LineSize, Screen, ScreenRow, Style, Underline};

use super::{columns_of, put};

/// xterm's colours on black.
const THEME: Theme = Theme::DARK;
/// A row's height relative to a character's; double height is computed from it.
const LINE_HEIGHT_EM: f32 = 1.2;
/// Renders the rows, a line each, with the cursor where it is visible.
pub fn html(screen: &Screen) -> String {
    let video = Video::of_mode(screen.modes.reverse_video);
    let (ink, paper) = THEME.defaults(video);
    let mut out = String::new();
    put(
        &mut out,
        format_args!(
            "<pre dir=\"ltr\" style=\"margin:0;padding:0.5em;font-family:'DejaVu Sans Mono',Menlo,\
             Consolas,monospace;line-height:{LINE_HEIGHT_EM};white-space:pre;\
             unicode-bidi:isolate-override;color:{};background:{}\">",
            ink.css(),
            paper.css()
        ),
    );
    for row in &screen.lines {
        line(screen, row, video, &mut out);
        out.push('\n');
    }
    out.push_str("</pre>\n");
    out
}

fn line(screen: &Screen, row: &ScreenRow, video: Video, out: &mut String) {
    let width = u32::from(columns_of(row, screen.cols)) * 2;
    // Both halves of a double-height line are scaled from the side of the half that is seen.
    let (vertical, origin) = match row.size {
        LineSize::Single => return cells(screen, row, video, out),
        LineSize::DoubleWidth => (1, "0 0"),
        LineSize::DoubleHeightTop => (2, "0 0"),
        LineSize::DoubleHeightBottom => (2, "0 100%"),
    };
    put(
        out,
        format_args!(
            "<span style=\"display:inline-block;vertical-align:top;overflow:hidden;width:{width}ch;\
             height:{LINE_HEIGHT_EM}em\"><span style=\"display:inline-block;\
             transform:scale(2,{vertical});transform-origin:{origin}\">"
        ),
    );
    cells(screen, row, video, out);
    out.push_str("</span></span>");
}

fn cells(screen: &Screen, row: &ScreenRow, video: Video, out: &mut String) {
    let cursor = screen.cursor;
    let cursor_column =
        (cursor.visible && row.row == i64::from(cursor.row)).then_some(cursor.column);
    let mut column = 0;
    for run in &row.runs {
        blanks(column, run.column, cursor_column, screen, video, out);
        let css = Css::of(&run.style, video);
        let link = run
            .style
            .hyperlink
            .as_deref()
            .filter(|target| may_link(target));
        if let Some(target) = link {
            out.push_str(
                "<a rel=\"noreferrer\" style=\"color:inherit;text-decoration:none\" href=\"",
            );
            target.chars().for_each(|c| escape(c, out));
            out.push_str("\">");
        }
        let mut open = false;
        for cell in run.cells() {
            let under_cursor = cursor_column
                .is_some_and(|at| (cell.column..cell.column + cell.width).contains(&at));
            let own = if under_cursor {
                Css::under_cursor(&run.style, screen, video)
            } else if is_placed(&cell) {
                css.clone()
            } else {
                if !open {
                    open = css.open(out);
                }
                cell.chars().for_each(|c| escape(c, out));
                continue;
            };
            if open {
                out.push_str("</span>");
                open = false;
            }
            let boxed = own.placed(&cell).open(out);
            cell.chars().for_each(|c| escape(c, out));
            if boxed {
                out.push_str("</span>");
            }
        }
        if open {
            out.push_str("</span>");
        }
        if link.is_some() {
            out.push_str("</a>");
        }
        column = run.column.saturating_add(run.width);
    }
    let end = cursor_column.map_or(column, |at| at.saturating_add(1).min(screen.cols));
    blanks(column, end, cursor_column, screen, video, out);
}

/// Spaces for columns without a run, and the cursor among them.
fn blanks(
    from: u16,
    to: u16,
    cursor_column: Option<u16>,
    screen: &Screen,
    video: Video,
    out: &mut String,
) {
    for column in from..to {
        if cursor_column == Some(column) {
            // A default cell looks different with the cursor on it, so there is always an element.
            Css::under_cursor(&Style::default(), screen, video).open(out);
            out.push_str(" </span>");
        } else {
            out.push(' ');
        }
    }
}

/// Whether a cell gets a box of its own: the browser's font may have another width.
fn is_placed(cell: &Cell<'_>) -> bool {
    cell.width > 1 || !cell.text.is_ascii()
}

/// The declarations of an element, each ended by `;`.
#[derive(Debug, Clone)]
struct Css(String);

impl Css {
    fn of(style: &Style, video: Video) -> Self {
        Self::painted(style, THEME.paint(style, video), video)
    }

    fn painted(style: &Style, paint: Paint, video: Video) -> Self {
        let (default_ink, default_paper) = THEME.defaults(video);
        let mut css = Self(String::new());
        if style.invisible {
            css.add("color", "transparent");
        } else if paint.ink != default_ink {
            css.add("color", &paint.ink.css());
        }
        if paint.paper != default_paper {
            css.add("background", &paint.paper.css());
        }
        if style.bold {
            css.add("font-weight", "bold");
        }
        if style.italic {
            css.add("font-style", "italic");
        }
        css.lines(style, paint);
        css
    }

    /// Underline, overline, strike-through and blinking are lines of one property.
    fn lines(&mut self, style: &Style, paint: Paint) {
        let mut lines = Vec::new();
        if style.underline != Underline::None {
            lines.push("underline");
        }
        if style.overline {
            lines.push("overline");
        }
        if style.crossed_out {
            lines.push("line-through");
        }
        if style.blink {
            lines.push("blink");
        }
        if lines.is_empty() || style.invisible {
            return;
        }
        self.add("text-decoration", &lines.join(" "));
        let kind = match style.underline {
            Underline::None | Underline::Single => "",
            Underline::Double => "double",
            Underline::Curly => "wavy",
            Underline::Dotted => "dotted",
            Underline::Dashed => "dashed",
        };
        if !kind.is_empty() {
            self.add("text-decoration-style", kind);
        }
        if style.underline != Underline::None && paint.underline != paint.ink {
            self.add("text-decoration-color", &paint.underline.css());
        }
    }

    /// What a cell looks like with the cursor on it.
    fn under_cursor(style: &Style, screen: &Screen, video: Video) -> Self {
        let paint = THEME.paint(style, video);
        let (ink, _) = THEME.defaults(video);
        match screen.cursor.shape {
            CursorShape::Block => {
                let swapped = Paint {
                    ink: paint.paper,
                    paper: paint.ink,
                    underline: paint.paper,
                };
                Self::painted(style, swapped, video)
            }
            CursorShape::Underline => {
                let mut css = Self::painted(style, paint, video);
                css.add("box-shadow", &format!("inset 0 -0.15em {}", ink.css()));
                css
            }
            CursorShape::Bar => {
                let mut css = Self::painted(style, paint, video);
                css.add("box-shadow", &format!("inset 0.15em 0 {}", ink.css()));
                css
            }
        }
    }

    /// Limits a cell to its columns.
    fn placed(mut self, cell: &Cell<'_>) -> Self {
        if is_placed(cell) {
            self.add("display", "inline-block");
            self.add("width", &format!("{}ch", cell.width));
        }
        self
    }

    fn add(&mut self, property: &str, value: &str) {
        put(&mut self.0, format_args!("{property}:{value};"));
    }

    /// Opens an element if there is a declaration. Returns whether it did.
    fn open(&self, out: &mut String) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let declarations = self.0.trim_end_matches(';');
        put(out, format_args!("<span style=\"{declarations}\">"));
        true
    }
}

/// Whether a browser may follow the link. Anything before the scheme, even a space, makes it
/// unknown.
fn escape(c: char, out: &mut String) {
    match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&#39;"),
        c if c.is_control() => {}
        c => out.push(c),
    }
}
