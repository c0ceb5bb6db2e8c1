//! XTWINOPS and titles. There is no window. Reports give the size of the screen in cells of a fixed
//! size; a request to resize the window is an event.

use crate::event::Event;
use crate::modes::SIZE_REPORTS;
use crate::parser::{Params, Terminator};
use crate::terminal::Terminal;
use crate::terminal::titles::Which;

/// The width of a cell in reports in pixels. Any size will do, as nothing is drawn, but all reports
/// must agree.
const CELL_WIDTH: usize = 8;
/// Twice the width, as in most fonts.
const CELL_HEIGHT: usize = 16;
/// The most lines of DECSNLS.
const MAX_LINES: u16 = 255;

impl Terminal {
    /// XTWINOPS.
    pub(crate) fn window_operation(&mut self, params: &Params) {
        let (rows, cols) = (self.screen.size.rows, self.screen.size.cols);
        let (height, width) = (rows * CELL_HEIGHT, cols * CELL_WIDTH);
        match params.get(0) {
            4 => self.ask_for_size(
                pixels(params.get(1), CELL_HEIGHT),
                pixels(params.get(2), CELL_WIDTH),
            ),
            8 => self.ask_for_size(params.get(1), params.get(2)),
            // The window is not an icon, and is in the corner.
            11 => self.reply_csi(format_args!("1t")),
            13 => self.reply_csi(format_args!("3;0;0t")),
            14 => self.reply_csi(format_args!("4;{height};{width}t")),
            15 => self.reply_csi(format_args!("5;{height};{width}t")),
            16 => self.reply_csi(format_args!("6;{CELL_HEIGHT};{CELL_WIDTH}t")),
            18 => self.reply_csi(format_args!("8;{rows};{cols}t")),
            19 => self.reply_csi(format_args!("9;{rows};{cols}t")),
            // A title is what a program sent, and a reply may be typed into a shell.
            20 => self.reply_osc(format_args!("L"), Terminator::St),
            21 => self.reply_osc(format_args!("l"), Terminator::St),
            22 => self.push_title(params),
            23 => self.pop_title(params),
            // DECSLPP.
            lines @ 24.. => self.ask_for_size(lines, 0),
            _ => {}
        }
    }

    /// DECSNLS.
    pub(crate) fn lines_per_screen(&mut self, lines: u16) {
        if self.level() >= 4 && lines <= MAX_LINES {
            self.ask_for_size(lines, 0);
        }
    }

    /// DECSCPP: DECCOLM without erasing.
    pub(crate) fn columns_per_page(&mut self, columns: u16) {
        if self.level() < 3 || !matches!(columns, 0 | 80 | 132) {
            return;
        }
        self.modes.column_132 = columns == 132;
        self.set_columns(usize::from(columns.max(80)));
    }

    fn ask_for_size(&mut self, rows: u16, cols: u16) {
        if rows != 0 || cols != 0 {
            self.event(Event::ResizeRequest { rows, cols });
        }
    }

    /// Mode 2048: reports the size in band. Also called after a resize.
    pub(crate) fn report_size_in_band(&mut self) {
        if self.modes.kept.get(SIZE_REPORTS) == Some(true) {
            let (rows, cols) = (self.screen.size.rows, self.screen.size.cols);
            let (height, width) = (rows * CELL_HEIGHT, cols * CELL_WIDTH);
            self.reply_csi(format_args!("48;{rows};{cols};{height};{width}t"));
        }
    }

    fn push_title(&mut self, params: &Params) {
        if let Some(which) = Which::numbered(params.get(1)) {
            self.titles.push(which, usize::from(params.get(2)));
        }
    }

    fn pop_title(&mut self, params: &Params) {
        if let Some(which) = Which::numbered(params.get(1)) {
            let event = self.titles.pop(which, usize::from(params.get(2)));
            self.emit(event);
        }
    }

    /// XTTITLEPOS.
    pub(crate) fn report_saved_titles(&mut self) {
        let (used, most) = self.titles.saved.report();
        self.reply_csi(format_args!("{used};{most}#S"));
    }

    /// OSC 0, 1, 2.
    pub(crate) fn set_title(&mut self, which: Which, sent: &[u8]) {
        let event = self.titles.set(which, sent);
        self.emit(event);
    }

    /// XTSMTITLE. Titles are always UTF-8 and never reported, so only mode 0 has an effect.
    pub(crate) fn set_title_modes(&mut self, params: &Params) {
        if params.is_empty() {
            self.titles.in_hex = false;
        } else if params.values().contains(&0) {
            self.titles.in_hex = true;
        }
    }

    /// XTRMTITLE.
    pub(crate) fn reset_title_modes(&mut self, params: &Params) {
        if params.is_empty() || params.values().contains(&0) {
            self.titles.in_hex = false;
        }
    }
}

fn pixels(value: u16, cell: usize) -> u16 {
    u16::try_from(usize::from(value) / cell).unwrap_or(0)
}
