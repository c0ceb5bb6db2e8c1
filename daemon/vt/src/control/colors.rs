//! Answers about colours: OSC 4, 5, 10 to 19, XTPUSHCOLORS, mode 2031.

use crate::parser::{Params, Terminator};
use crate::terminal::Terminal;

impl Terminal {
    /// Replies to each question of an OSC about colours.
    pub(crate) fn reply_colors(&mut self, answers: &[String], end: Terminator) {
        for answer in answers {
            self.reply_osc(format_args!("{answer}"), end);
        }
    }

    /// XTPUSHCOLORS.
    pub(crate) fn push_palette(&mut self, params: &Params) {
        for place in places(params) {
            self.colors.push(place);
        }
    }

    /// XTPOPCOLORS.
    pub(crate) fn pop_palette(&mut self, params: &Params) {
        for place in places(params) {
            self.colors.pop(place);
        }
    }

    /// XTREPORTCOLORS.
    pub(crate) fn report_palettes(&mut self) {
        let (used, last) = self.colors.saved.report();
        self.reply_csi(format_args!("?{used};{last}#Q"));
    }

    /// DSR ?996: whether the colours are dark (1) or light (2), by the background.
    pub(crate) fn report_color_scheme(&mut self) {
        let scheme = if self.colors.palette.is_dark() { 1 } else { 2 };
        self.reply_csi(format_args!("?997;{scheme}n"));
    }
}

fn places(params: &Params) -> impl Iterator<Item = usize> + '_ {
    (0..params.len().max(1)).map(|at| usize::from(params.get(at)))
}

#[cfg(test)]
mod tests;
