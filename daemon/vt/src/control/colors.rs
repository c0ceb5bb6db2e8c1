//! Colours set and asked for: OSC 4, 5, 10 to 19 and their resets, XTPUSHCOLORS, mode 2031.

use crate::color::{LAST_DYNAMIC, Palette, Rgb, Slot, parse_color};
use crate::parser::{Params, Terminator};
use crate::terminal::Terminal;

/// OSC 4 numbers the special colours after the others, OSC 5 from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    /// OSC 4, 104.
    Indexed,
    /// OSC 5, 105.
    Special,
}

impl Table {
    fn slot(self, number: u16) -> Option<Slot> {
        match self {
            Self::Indexed => Slot::indexed(number),
            Self::Special => Slot::special(number),
        }
    }

    fn function(self) -> u16 {
        match self {
            Self::Indexed => 4,
            Self::Special => 5,
        }
    }
}

impl Terminal {
    /// OSC 4, 5: `number;colour` or `number;?`, any number of times. The first that is wrong ends
    /// it, as in xterm.
    pub(crate) fn change_colors(&mut self, table: Table, text: &str, end: Terminator) {
        let mut parts = text.split(';');
        while let (Some(number), Some(color)) = (parts.next(), parts.next()) {
            let Ok(number) = number.parse::<u16>() else {
                return;
            };
            let Some(slot) = table.slot(number) else {
                return;
            };
            if color == "?" {
                let Rgb(r, g, b) = self.extras.palette.get(slot);
                let function = table.function();
                self.answer_osc(
                    format_args!(
                        "{function};{number};rgb:{r:02x}{r:02x}/{g:02x}{g:02x}/{b:02x}{b:02x}"
                    ),
                    end,
                );
            } else if let Some(color) = parse_color(color) {
                self.extras.palette.set(slot, color);
            } else {
                return;
            }
        }
    }

    /// OSC 104, 105: all, or those named.
    pub(crate) fn reset_colors(&mut self, table: Table, text: &str) {
        let palette: &mut Palette = &mut self.extras.palette;
        if text.is_empty() {
            match table {
                Table::Indexed => palette.reset_indexed(),
                Table::Special => palette.reset_special(),
            }
            return;
        }
        for number in text.split(';') {
            let Ok(number) = number.parse::<u16>() else {
                return;
            };
            if let Some(slot) = table.slot(number) {
                palette.reset(slot);
            }
        }
    }

    /// OSC 10 to 19: a colour or `?` for this one, and for those after it.
    pub(crate) fn change_dynamic_colors(&mut self, first: u16, text: &str, end: Terminator) {
        for (function, color) in (first..=LAST_DYNAMIC).zip(text.split(';')) {
            let Some(slot) = Slot::dynamic(function) else {
                return;
            };
            if color == "?" {
                let Rgb(r, g, b) = self.extras.palette.get(slot);
                self.answer_osc(
                    format_args!("{function};rgb:{r:02x}{r:02x}/{g:02x}{g:02x}/{b:02x}{b:02x}"),
                    end,
                );
            } else if let Some(color) = parse_color(color) {
                self.extras.palette.set(slot, color);
            }
        }
    }

    /// OSC 110 to 119.
    pub(crate) fn reset_dynamic_color(&mut self, function: u16) {
        if let Some(slot) = Slot::dynamic(function) {
            self.extras.palette.reset(slot);
        }
    }

    /// XTPUSHCOLORS.
    pub(crate) fn push_palette(&mut self, params: &Params) {
        let extras = &mut self.extras;
        for place in places(params) {
            extras.saved_palettes.push(place, &extras.palette);
        }
    }

    /// XTPOPCOLORS.
    pub(crate) fn pop_palette(&mut self, params: &Params) {
        for place in places(params) {
            if let Some(palette) = self.extras.saved_palettes.pop(place) {
                self.extras.palette = palette;
            }
        }
    }

    /// XTREPORTCOLORS.
    pub(crate) fn report_palettes(&mut self) {
        let (used, last) = self.extras.saved_palettes.report();
        self.answer_csi(format_args!("?{used};{last}#Q"));
    }

    /// DSR ?996: whether the colours are dark (1) or light (2), by the background.
    pub(crate) fn report_color_scheme(&mut self) {
        let scheme = if self.extras.palette.is_dark() { 1 } else { 2 };
        self.answer_csi(format_args!("?997;{scheme}n"));
    }
}

fn places(params: &Params) -> impl Iterator<Item = usize> + '_ {
    (0..params.len().max(1)).map(|at| usize::from(params.get(at)))
}

#[cfg(test)]
mod tests;
