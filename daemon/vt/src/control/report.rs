//! Questions about the terminal: DSR, DA, DECRQM and the like. This file also has the table of the
//! control sequences that reply or that set what is not on the screen.
//!
//! Replies are xterm's as a VT420 (ctlseqs, charproc.c). Where xterm is silent, so is this.

use crate::parser::{ControlSequence, Params};
use crate::terminal::Terminal;

/// The version in DA2. Programs take it for xterm's patch level and choose features by it.
const XTERM_PATCH: u16 = 400;

impl Terminal {
    /// Executes the sequences that change nothing on the screen.
    pub(crate) fn report(&mut self, sequence: &ControlSequence) {
        let params = &sequence.params;
        match (sequence.prefix, sequence.intermediate, sequence.function) {
            (0, 0, b'c') if params.get(0) == 0 => self.report_primary_attributes(),
            (b'>', 0, b'c') if params.get(0) == 0 => self.report_secondary_attributes(),
            (b'=', 0, b'c') if params.get(0) == 0 => self.reply_dcs(format_args!("!|00000000")),
            (0, 0, b'n') => self.report_status(params),
            (b'?', 0, b'n') => self.report_dec_status(params),
            (0, 0, b't') => self.window_operation(params),
            (0, 0, b'x') => self.report_parameters(params.get(0)),
            (0, b'$', b'p') => self.report_ansi_mode(params.get(0)),
            (b'?', b'$', b'p') => self.report_dec_mode(params.get(0)),
            (b'>', 0, b'q') if params.get(0) == 0 => self.report_version(),
            (0, b'$', b'w') => self.report_presentation(params.get(0)),
            (0, b'"', b'v') => self.report_displayed_extent(),
            (0, b'*', b'|') => self.lines_per_screen(params.get(0)),
            (0, b'$', b'|') => self.columns_per_page(params.get(0)),
            (0, b'*', b'y') if self.level() >= 4 => self.report_checksum(params),
            (0, b'#', b'y') => self.checksum.0 = params.get(0),
            (0, b'&', b'u') => self.reply_dcs(format_args!("0!u%5")),
            (0, b'\'', b'|') if params.get(0) < 2 => self.reply_csi(format_args!("0&w")),
            (0, b'#', b'P') => self.push_palette(params),
            (0, b'#', b'Q') => self.pop_palette(params),
            (0, b'#', b'R') => self.report_palettes(),
            (0, b'#', b'S') => self.report_saved_titles(),
            (0, b'#', b'|') => self.report_common_rendition(params),
            (b'>', 0, b'm') => self.modify_keys(params),
            (b'?', 0, b'm') => self.report_modified_keys(params),
            (b'>', 0, b'n') => self.modify_keys_not(params),
            (b'>', 0, b't') => self.set_title_modes(params),
            (b'>', 0, b'T') => self.reset_title_modes(params),
            (b'?', 0, b'u') => self.report_keyboard_flags(),
            (b'>', 0, b'u') => self.push_keyboard_flags(params),
            (b'<', 0, b'u') => self.pop_keyboard_flags(params),
            (b'=', 0, b'u') => self.set_keyboard_flags(params),
            _ => {}
        }
    }

    /// DA1, DECID: what xterm says as a VT420 without graphics: 132 columns, printer, selective
    /// erase, national sets, technical characters, locator, state reports, windows, horizontal
    /// scrolling, colours, rectangles, text locator. At level 5 (DECSCL) it is a VT520.
    fn report_primary_attributes(&mut self) {
        let class = 60 + self.level().max(4);
        self.reply_csi(format_args!("?{class};1;2;6;9;15;16;17;18;21;22;28;29c"));
    }

    /// DA2: VT420 or VT520, version, no options.
    fn report_secondary_attributes(&mut self) {
        let model = if self.level() >= 5 { 64 } else { 41 };
        self.reply_csi(format_args!(">{model};{XTERM_PATCH};0c"));
    }

    /// The conformance level (DECSCL), 1 to 5.
    pub(crate) fn level(&self) -> u16 {
        u16::from(self.modes.level)
    }

    /// DSR: 5, and 6 (CPR).
    fn report_status(&mut self, params: &Params) {
        match params.get(0) {
            5 => self.reply_csi(format_args!("0n")),
            6 => {
                let (row, col) = self.reported_position();
                self.reply_csi(format_args!("{row};{col}R"));
            }
            _ => {}
        }
    }

    /// DSR with `?`: those of the VT420, and the colour scheme (996).
    fn report_dec_status(&mut self, params: &Params) {
        let level = self.level();
        match params.get(0) {
            5 => self.reply_csi(format_args!("?0n")),
            6 => {
                let (row, col) = self.reported_position();
                match level {
                    4.. => self.reply_csi(format_args!("?{row};{col};1R")),
                    _ => self.reply_csi(format_args!("?{row};{col}R")),
                }
            }
            // No printer.
            15 if level >= 2 => self.reply_csi(format_args!("?13n")),
            // User-defined keys are not locked.
            25 if level >= 2 => self.reply_csi(format_args!("?20n")),
            // North American, ready, LK201.
            26 if level >= 4 => self.reply_csi(format_args!("?27;1;0;0n")),
            26 if level == 3 => self.reply_csi(format_args!("?27;1;0n")),
            26 if level == 2 => self.reply_csi(format_args!("?27;1n")),
            // There is no locator, so it is of no known kind.
            55 if level >= 3 => self.reply_csi(format_args!("?53n")),
            56 if level >= 3 => self.reply_csi(format_args!("?57;0n")),
            // DECMSR: there is no room for macros. DECCKSR: their checksum.
            62 if level >= 4 => self.reply_csi(format_args!("0000*{{")),
            63 if level >= 4 => {
                let id = params.get(1);
                self.reply_dcs(format_args!("{id}!~0000"));
            }
            // No errors, and one session.
            75 if level >= 4 => self.reply_csi(format_args!("?70n")),
            85 if level >= 4 => self.reply_csi(format_args!("?83n")),
            996 => self.report_color_scheme(),
            _ => {}
        }
    }

    /// The cursor's row and column from 1, inside the margins where DECOM is set.
    fn reported_position(&self) -> (usize, usize) {
        let (mut row, mut col) = (self.screen.cursor.row, self.screen.cursor.col);
        if self.screen.cursor.origin {
            row = row.saturating_sub(self.screen.margins.top);
            col = col.saturating_sub(self.screen.margins.left);
        }
        (row + 1, col + 1)
    }

    /// DECREQTPARM: no parity, eight bits, 38,400 baud.
    fn report_parameters(&mut self, which: u16) {
        if which <= 1 {
            let answer = which + 2;
            self.reply_csi(format_args!("{answer};1;1;128;128;1;0x"));
        }
    }

    /// DECRQCRA.
    fn report_checksum(&mut self, params: &Params) {
        let id = params.get(0);
        let sum = self
            .screen
            .rectangle(params, 2)
            .map_or(0, |area| self.screen.checksum(area, self.checksum));
        self.reply_dcs(format_args!("{id}!~{sum:04X}"));
    }

    /// XTVERSION.
    fn report_version(&mut self) {
        self.reply_dcs(format_args!(">|termd({})", env!("CARGO_PKG_VERSION")));
    }

    /// DECRQDE: one page, seen from its top left corner.
    fn report_displayed_extent(&mut self) {
        let size = self.screen.size;
        self.reply_csi(format_args!("{};{};1;1;1\"w", size.rows, size.cols));
    }
}

#[cfg(test)]
mod tests;
