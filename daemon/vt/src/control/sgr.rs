//! SGR: attributes, underline styles, and the colours of ANSI, aixterm, the 256 and RGB, with
//! semicolons or colons (ISO 8613-6). Also XTPUSHSGR, XTPOPSGR and DECSCUSR.
//!
//! An unknown parameter or colour is ignored with the parameters that belong to it.

use termd_proto::screen::{Color, CursorShape, Underline};

use crate::grid::style::{Attributes, Style};
use crate::parser::Params;
use crate::terminal::Terminal;

impl Terminal {
    /// SGR.
    #[inline]
    pub(crate) fn select_graphic_rendition(&mut self, params: &Params) {
        apply(&mut self.screen.cursor.style, params);
        self.screen.style_changed();
    }

    /// XTPUSHSGR.
    pub(crate) fn push_sgr(&mut self, params: &Params) {
        self.saved
            .push_sgr(self.screen.cursor.style, params.values());
    }

    /// XTPOPSGR.
    pub(crate) fn pop_sgr(&mut self) {
        self.saved.pop_sgr(&mut self.screen.cursor.style);
        self.screen.style_changed();
    }

    /// DECSCUSR.
    pub(crate) fn set_cursor_style(&mut self, style: u16) {
        let (shape, blinks) = match style {
            0 | 1 => (CursorShape::Block, true),
            2 => (CursorShape::Block, false),
            3 => (CursorShape::Underline, true),
            4 => (CursorShape::Underline, false),
            5 => (CursorShape::Bar, true),
            6 => (CursorShape::Bar, false),
            _ => return,
        };
        self.modes.cursor_shape = shape;
        self.modes.cursor_blinks = blinks;
    }
}

/// Changes a style by SGR's parameters.
#[inline]
pub(crate) fn apply(style: &mut Style, params: &Params) {
    if params.is_empty() {
        reset(style);
        return;
    }
    let mut at = 0;
    while at < params.len() {
        let value = params.get(at);
        if params.is_after_colon(at + 1) {
            at = apply_with_parts(style, params, at);
            continue;
        }
        match value {
            0 => reset(style),
            1 => style.attributes.insert(Attributes::BOLD),
            30..=37 => style.foreground = indexed(value - 30),
            40..=47 => style.background = indexed(value - 40),
            38 => at = extended(params, at, &mut style.foreground),
            48 => at = extended(params, at, &mut style.background),
            39 => style.foreground = Color::Default,
            49 => style.background = Color::Default,
            90..=97 => style.foreground = indexed(value - 90 + 8),
            100..=107 => style.background = indexed(value - 100 + 8),
            58 => at = extended(params, at, &mut style.underline_color),
            59 => style.underline_color = Color::Default,
            4 => style.underline = Underline::Single,
            21 => style.underline = Underline::Double,
            24 => style.underline = Underline::None,
            _ => apply_attribute(&mut style.attributes, value),
        }
        at += 1;
    }
}

fn apply_attribute(attributes: &mut Attributes, value: u16) {
    match value {
        2 => attributes.insert(Attributes::FAINT),
        3 => attributes.insert(Attributes::ITALIC),
        5 => attributes.insert(Attributes::BLINK),
        6 => attributes.insert(Attributes::RAPID_BLINK),
        7 => attributes.insert(Attributes::INVERSE),
        8 => attributes.insert(Attributes::INVISIBLE),
        9 => attributes.insert(Attributes::CROSSED_OUT),
        22 => {
            attributes.remove(Attributes::BOLD);
            attributes.remove(Attributes::FAINT);
        }
        23 => attributes.remove(Attributes::ITALIC),
        25 => {
            attributes.remove(Attributes::BLINK);
            attributes.remove(Attributes::RAPID_BLINK);
        }
        27 => attributes.remove(Attributes::INVERSE),
        28 => attributes.remove(Attributes::INVISIBLE),
        29 => attributes.remove(Attributes::CROSSED_OUT),
        53 => attributes.insert(Attributes::OVERLINE),
        55 => attributes.remove(Attributes::OVERLINE),
        _ => {}
    }
}

/// SGR 0. A link stays open.
#[inline]
fn reset(style: &mut Style) {
    *style = Style {
        link: style.link,
        ..Style::default()
    };
}

fn indexed(index: u16) -> Color {
    Color::Indexed(u8::try_from(index).unwrap_or(u8::MAX))
}

/// `38;5;n`, `38;2;r;g;b` and `38;5:n`. Returns the last parameter that belongs to the colour.
#[inline]
fn extended(params: &Params, at: usize, color: &mut Color) -> usize {
    let kind = at + 1;
    if params.is_after_colon(kind + 1) {
        let end = end_of_parts(params, kind);
        set_color(params, kind, end, color);
        return end - 1;
    }
    let last = match params.get(kind) {
        5 => kind + 1,
        2 => kind + 3,
        _ => return kind,
    };
    if last < params.len() {
        set_color(params, kind, last + 1, color);
    }
    last
}

/// A parameter with parts after colons. Returns where the next parameter begins.
fn apply_with_parts(style: &mut Style, params: &Params, at: usize) -> usize {
    let end = end_of_parts(params, at);
    match params.get(at) {
        38 => set_color(params, at + 1, end, &mut style.foreground),
        48 => set_color(params, at + 1, end, &mut style.background),
        58 => set_color(params, at + 1, end, &mut style.underline_color),
        4 => {
            style.underline = match params.get(at + 1) {
                0 => Underline::None,
                1 => Underline::Single,
                2 => Underline::Double,
                3 => Underline::Curly,
                4 => Underline::Dotted,
                5 => Underline::Dashed,
                _ => style.underline,
            }
        }
        _ => {}
    }
    end
}

/// Where the parts of the parameter `at` end.
fn end_of_parts(params: &Params, at: usize) -> usize {
    let mut end = at + 1;
    while end < params.len() && params.is_after_colon(end) {
        end += 1;
    }
    end
}

/// The colour in the parameters `kind..end`: 5 and an index, or 2 and red, green, blue. A colour
/// space stands before red where there are four values.
#[inline]
fn set_color(params: &Params, kind: usize, end: usize, color: &mut Color) {
    let byte = |at: usize| {
        (at < end)
            .then(|| u8::try_from(params.get(at)).ok())
            .flatten()
    };
    match params.get(kind) {
        5 => {
            if let Some(index) = byte(kind + 1) {
                *color = Color::Indexed(index);
            }
        }
        2 => {
            let first = kind + 1 + usize::from(end - kind > 4);
            if let (Some(red), Some(green), Some(blue)) =
                (byte(first), byte(first + 1), byte(first + 2))
            {
                *color = Color::Rgb(red, green, blue);
            }
        }
        _ => {}
    }
}
