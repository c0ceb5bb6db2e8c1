//! Settings that are asked for and set again: DECRQSS, DECRQPSR with DECRSPS, XTREPORTSGR.

use std::fmt::Write;

use termd_proto::screen::{Color, CursorShape, Underline};

use crate::charset::{Charset, SetSize};
use crate::grid::cell::Protection;
use crate::grid::style::{Attributes, Style};
use crate::modes::ChangeExtent;
use crate::parser::Params;
use crate::terminal::Terminal;

impl Terminal {
    /// DECRQSS: replies with the control sequence that restores the current setting of a function,
    /// which is named by its intermediate and final bytes.
    pub(crate) fn report_setting(&mut self, function: &str) {
        // A VT100 has no DECSCL; vttest checks that it is silent about it.
        if function == "\"p" && self.level() < 2 {
            return;
        }
        match self.setting(function) {
            Some(setting) => self.reply_dcs(format_args!("1$r{setting}{}", known(function))),
            None => self.reply_dcs(format_args!("0$r")),
        }
    }

    fn setting(&self, function: &str) -> Option<String> {
        let m = self.screen.margins;
        Some(match function {
            "m" => rendition(&self.screen.cursor.style),
            "r" => format!("{};{}", m.top + 1, m.bottom + 1),
            "s" if self.level() >= 4 => format!("{};{}", m.left + 1, m.right + 1),
            "\"q" => u8::from(self.screen.cursor.protection == Protection::Selective).to_string(),
            "\"p" => format!(
                "{};{}",
                60 + self.level(),
                u8::from(!self.modes.eight_bit_replies)
            ),
            " q" => self.cursor_style().to_string(),
            // DECSLPP has no fewer than 24 lines.
            "t" => self.screen.size.rows.max(24).to_string(),
            "*|" => self.screen.size.rows.to_string(),
            "$|" if self.modes.column_132 => "132".to_owned(),
            "$|" => "80".to_owned(),
            "*x" => self.change_extent().to_string(),
            // There is no status line.
            "$}" | "$~" => "0".to_owned(),
            ">m" => return None,
            _ => return self.key_setting(function),
        })
    }

    /// `> kind m`: XTQMODKEYS in the form of DECRQSS. The kind is a part of the question.
    fn key_setting(&self, function: &str) -> Option<String> {
        let kind: u16 = function
            .strip_prefix('>')?
            .strip_suffix('m')?
            .parse()
            .ok()?;
        let value = self.keyboard.modified(kind)?;
        Some(format!(">{kind};{value}m"))
    }

    /// DECSCUSR's parameter.
    fn cursor_style(&self) -> u8 {
        let steady = match self.modes.cursor_shape {
            CursorShape::Block => 2,
            CursorShape::Underline => 4,
            CursorShape::Bar => 6,
        };
        steady - u8::from(self.modes.cursor_blinks)
    }

    /// DECSACE's parameter.
    fn change_extent(&self) -> u8 {
        match self.modes.change_extent {
            ChangeExtent::Stream => 0,
            ChangeExtent::Rectangle => 2,
        }
    }

    /// DECRQPSR.
    pub(crate) fn report_presentation(&mut self, which: u16) {
        match which {
            1 if self.level() >= 3 => self.report_cursor_information(),
            2 if self.level() >= 3 => self.report_tab_stops(),
            _ => {}
        }
    }

    /// DECCIR.
    fn report_cursor_information(&mut self) {
        let cursor = &self.screen.cursor;
        let has = |attributes| cursor.style.attributes.contains(attributes);
        let rendition = flags(&[
            has(Attributes::BOLD),
            cursor.style.underline != Underline::None,
            has(Attributes::BLINK),
            has(Attributes::INVERSE),
        ]);
        let attributes = flags(&[cursor.protection == Protection::Selective]);
        let shift = cursor.charsets.single_shift;
        let state = flags(&[
            cursor.origin,
            shift == Some(2),
            shift == Some(3),
            cursor.wrap_pending,
        ]);
        let (row, col) = (cursor.row + 1, cursor.col + 1);
        let (gl, gr) = (cursor.charsets.gl, cursor.charsets.gr);
        let designated = cursor.charsets.designated;
        let sizes = flags(&designated.map(|set| set.size() == SetSize::NinetySix));
        let sets: String = designated.map(Charset::designator).concat();
        self.reply_dcs(format_args!(
            "1$u{row};{col};1;{rendition};{attributes};{state};{gl};{gr};{sizes};{sets}"
        ));
    }

    /// DECTABSR.
    fn report_tab_stops(&mut self) {
        let mut stops = String::new();
        for col in (0..self.screen.size.cols).filter(|col| self.screen.tabs.is_stop(*col)) {
            let slash = if stops.is_empty() { "" } else { "/" };
            let _ = write!(stops, "{slash}{}", col + 1);
        }
        self.reply_dcs(format_args!("2$u{stops}"));
    }

    /// DECRSPS: what DECRQPSR reported.
    pub(crate) fn restore_presentation(&mut self, which: u16, data: &str) {
        if self.level() < 3 {
            return;
        }
        match which {
            1 => {
                // As in xterm, what was set before an error stays set.
                let _ = self.restore_cursor_information(data);
                self.screen.style_changed();
                self.update_fast_text();
            }
            2 => self.restore_tab_stops(data),
            _ => {}
        }
    }

    fn restore_cursor_information(&mut self, data: &str) -> Option<()> {
        let mut parts = data.split(';');
        let mut place = |limit: usize| {
            let value: usize = parts.next()?.parse().ok()?;
            (1..=limit).contains(&value).then(|| value - 1)
        };
        self.screen.cursor.row = place(self.screen.size.rows)?;
        self.screen.cursor.col = place(self.screen.size.cols)?;
        place(1)?;
        let mut bits = |most: u8| {
            let byte = *parts.next()?.as_bytes().first()?;
            let value = byte.checked_sub(b'@')?;
            (value <= most).then_some(value)
        };
        let rendition = bits(15)?;
        let set = |value: u8, bit: u8| value & bit != 0;
        let attributes = &mut self.screen.cursor.style.attributes;
        for (bit, attribute) in [
            (1, Attributes::BOLD),
            (4, Attributes::BLINK),
            (8, Attributes::INVERSE),
        ] {
            attributes.remove(attribute);
            if set(rendition, bit) {
                attributes.insert(attribute);
            }
        }
        self.screen.cursor.style.underline = if set(rendition, 2) {
            Underline::Single
        } else {
            Underline::None
        };
        self.screen.cursor.protection = if set(bits(1)?, 1) {
            Protection::Selective
        } else {
            Protection::None
        };
        let state = bits(15)?;
        self.screen.cursor.origin = set(state, 1);
        self.screen.cursor.charsets.single_shift = match state & 6 {
            2 => Some(2),
            4 => Some(3),
            _ => None,
        };
        self.screen.cursor.wrap_pending =
            set(state, 8) && self.screen.cursor.col + 1 == self.screen.size.cols;
        let mut shift = || parts.next()?.parse::<u8>().ok().filter(|set| *set < 4);
        self.screen.cursor.charsets.gl = shift()?;
        self.screen.cursor.charsets.gr = shift()?;
        let sizes = parts.next()?.bytes().next()?.checked_sub(b'@')?;
        let mut sets = parts.next()?;
        let repertoire = self.repertoire();
        for (at, slot) in self
            .screen
            .cursor
            .charsets
            .designated
            .iter_mut()
            .enumerate()
        {
            let length = 1 + usize::from(sets.starts_with(['%', '&', '"']));
            let (name, rest) = sets.split_at_checked(length)?;
            sets = rest;
            let (last, intermediates) = name.as_bytes().split_last()?;
            let size = if set(sizes, 1 << at) {
                SetSize::NinetySix
            } else {
                SetSize::NinetyFour
            };
            *slot = Charset::named(size, intermediates, *last, repertoire);
        }
        Some(())
    }

    fn restore_tab_stops(&mut self, data: &str) {
        let cols = self.screen.size.cols;
        self.screen.tabs.clear_all(cols);
        for stop in data.split('/') {
            match stop.parse::<usize>() {
                Ok(stop) if (1..=cols).contains(&stop) => self.screen.tabs.set(stop - 1, cols),
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }

    /// XTREPORTSGR: the style that all cells of a rectangle have in common.
    pub(crate) fn report_common_rendition(&mut self, params: &Params) {
        let Some(area) = self.screen.rectangle(params, 0) else {
            return;
        };
        let mut common: Option<Style> = None;
        for y in area.top..area.bottom {
            let row = self.screen.grid.row(y);
            for x in area.left..area.right {
                let style = self.screen.styles.get(row.cell(x).style());
                common = Some(common.map_or(style, |common| intersection(common, style)));
            }
        }
        let rendition = rendition(&common.unwrap_or_default());
        self.reply_csi(format_args!("{rendition}m"));
    }
}

/// The function's name for a reply. It comes from here and not from the question. A function that
/// is asked for with a parameter has its name in the setting.
fn known(function: &str) -> &'static str {
    const FUNCTIONS: [&str; 12] = [
        "m", "r", "s", "\"q", "\"p", " q", "t", "*|", "$|", "*x", "$}", "$~",
    ];
    FUNCTIONS
        .iter()
        .find(|known| **known == function)
        .copied()
        .unwrap_or_default()
}

/// Bits as a character, the lowest bit first.
fn flags(bits: &[bool]) -> char {
    let value = bits
        .iter()
        .rev()
        .fold(0, |value, bit| value << 1 | u8::from(*bit));
    char::from(b'@' + value)
}

fn intersection(one: Style, other: Style) -> Style {
    let same = |one: Color, other: Color| if one == other { one } else { Color::Default };
    Style {
        foreground: same(one.foreground, other.foreground),
        background: same(one.background, other.background),
        underline_color: same(one.underline_color, other.underline_color),
        underline: if one.underline == other.underline {
            one.underline
        } else {
            Underline::None
        },
        attributes: Attributes::from_bits(one.attributes.bits() & other.attributes.bits()),
        link: one.link,
    }
}

/// The parameters of the SGR that sets a style after a reset, in xterm's order.
pub(crate) fn rendition(style: &Style) -> String {
    let mut text = String::from("0");
    let has = |attributes| style.attributes.contains(attributes);
    let parts = [
        (has(Attributes::BOLD), ";1"),
        (style.underline == Underline::Single, ";4"),
        (has(Attributes::BLINK), ";5"),
        (has(Attributes::RAPID_BLINK), ";6"),
        (has(Attributes::INVERSE), ";7"),
        (has(Attributes::INVISIBLE), ";8"),
        (has(Attributes::FAINT), ";2"),
        (has(Attributes::ITALIC), ";3"),
        (has(Attributes::CROSSED_OUT), ";9"),
        (style.underline == Underline::Double, ";21"),
        (style.underline == Underline::Curly, ";4:3"),
        (style.underline == Underline::Dotted, ";4:4"),
        (style.underline == Underline::Dashed, ";4:5"),
        (has(Attributes::OVERLINE), ";53"),
    ];
    for (_, part) in parts.iter().filter(|(on, _)| *on) {
        text.push_str(part);
    }
    push_color(&mut text, style.foreground, 30);
    push_color(&mut text, style.background, 40);
    push_color(&mut text, style.underline_color, 50);
    text
}

/// `base` is 30, 40 or 50. The first 16 colours have short forms, except for underlines.
fn push_color(text: &mut String, color: Color, base: u16) {
    let _ = match color {
        Color::Default => Ok(()),
        Color::Indexed(n @ 0..=7) if base < 50 => write!(text, ";{}", base + u16::from(n)),
        Color::Indexed(n @ 8..=15) if base < 50 => {
            write!(text, ";{}", base + 60 + u16::from(n) - 8)
        }
        Color::Indexed(n) => write!(text, ";{}:5:{n}", base + 8),
        Color::Rgb(r, g, b) => write!(text, ";{}:2::{r}:{g}:{b}", base + 8),
    };
}
