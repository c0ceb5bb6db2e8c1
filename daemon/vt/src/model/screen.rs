//! The model as a [`Screen`](crate::output::Screen): rows as runs of one style, the cursor, titles,
//! modes.

use termd_proto::id::Offset;
use termd_proto::screen::{
    Cursor, MAX_SCREEN_ROWS, MouseMode, Progress, Screen, ScreenModes, ScreenRow, ScreenRows,
    Style, StyleRun,
};

use crate::Model;
use crate::grid::cell::{Cell, Content};
use crate::grid::grapheme::Graphemes;
use crate::grid::row::Row;
use crate::grid::style::{Attributes, StyleId, Styles};
use crate::grid::{self, Grid};
use crate::modes::DECBKM;
use crate::render::{self, View};
use crate::screen::ActiveScreen;
use crate::terminal::Terminal;

impl Model {
    /// Returns what a person would see now, and the scrollback above it, for the rows and changes
    /// that `options` asks for. `end` is the offset fed so far; `echo` and `canonical` are of the
    /// tty and left empty.
    pub fn screen(&self, options: ScreenRows) -> Screen {
        let terminal = &self.terminal;
        let scrollback_rows = terminal.screen.scrollback.len();
        Screen {
            seq: terminal.screen.seq,
            end: Offset(terminal.offset),
            cols: narrow(terminal.screen.size.cols),
            rows: narrow(terminal.screen.size.rows),
            alternate: self.is_alternate(),
            full_screen: self.is_full_screen(),
            cursor: Cursor {
                row: narrow(terminal.screen.cursor.row),
                column: narrow(terminal.screen.cursor.col),
                visible: terminal.modes.cursor_visible,
                shape: terminal.modes.cursor_shape,
                blinking: terminal.modes.cursor_blinks,
                wrap_pending: terminal.screen.cursor.wrap_pending,
            },
            title: terminal.titles.window.clone(),
            cwd: terminal.shell.cwd.clone(),
            command_state: terminal.shell.command_state,
            progress: terminal.shell.progress,
            bells: terminal.bells,
            echo: None,
            canonical: None,
            modes: modes(terminal),
            scrollback_rows: scrollback_rows as u64,
            lines: lines(terminal, options),
        }
    }
}

impl Model {
    /// Returns whether the alternate screen is shown.
    pub fn is_alternate(&self) -> bool {
        self.terminal.screen.active == ActiveScreen::Alternate
    }

    /// Returns whether the alternate screen or the mouse is on, as full-screen programs have it.
    pub fn is_full_screen(&self) -> bool {
        self.is_alternate() || self.terminal.modes.mouse != MouseMode::Off
    }

    /// Returns the last row of the screen that has text, from 0.
    pub fn last_row_with_text(&self) -> Option<usize> {
        let mut rows = (0..self.size().rows).rev();
        rows.find(|y| !self.row_text(*y).is_empty())
    }

    /// Returns the shell's directory, as it says itself (OSC 7, 9;9, 1337).
    pub fn cwd(&self) -> Option<&str> {
        self.terminal.shell.cwd.as_deref()
    }

    /// Returns what a program reports of its progress (OSC 9;4).
    pub fn progress(&self) -> Option<Progress> {
        self.terminal.shell.progress
    }

    /// Returns whether a program hides the cursor (DECTCEM).
    pub fn hides_cursor(&self) -> bool {
        !self.terminal.modes.cursor_visible
    }

    /// Returns the modes that a program has set.
    pub fn modes(&self) -> ScreenModes {
        modes(&self.terminal)
    }

    /// Returns whether VT52 mode is on (DECANM reset).
    pub fn is_vt52(&self) -> bool {
        self.terminal.modes.vt52
    }

    /// Returns whether the backarrow key sends BS and not DEL (DECBKM).
    pub fn backspace_sends_bs(&self) -> bool {
        self.terminal.modes.kept.get(DECBKM).unwrap_or(false)
    }
}

impl Model {
    /// Returns the bytes that make a terminal with this view show the screen and go on as this one.
    /// Where the alternate screen is shown, the primary screen comes first.
    pub fn redraw(&self, view: View) -> String {
        let options = ScreenRows::default();
        // A part of the screen cannot go on by itself: the caller draws it anew after each change.
        let whole = view.cols == narrow(self.terminal.screen.size.cols)
            && view.rows == narrow(self.terminal.screen.size.rows);
        let mut out = String::new();
        if let Some(behind) = self.behind() {
            out.push_str(&render::attach(&behind.screen(options), view));
            if whole {
                // The program returns to this cursor.
                out.push_str(&behind.terminal.continuation());
            }
        }
        out.push_str(&render::attach(&self.screen(options), view));
        if whole {
            out.push_str(&self.terminal.continuation());
        }
        out
    }

    /// The primary screen as it will be when the alternate one is left.
    fn behind(&self) -> Option<Self> {
        let hidden = self.terminal.screen.hidden.as_ref()?;
        if self.terminal.screen.active != ActiveScreen::Alternate {
            return None;
        }
        let mut terminal = Terminal::new(
            self.terminal.screen.size,
            self.terminal.screen.scrollback.emptied(),
        );
        terminal.screen.grid = hidden.clone();
        terminal.screen.styles = self.terminal.screen.styles.clone();
        terminal.screen.graphemes = self.terminal.screen.graphemes.clone();
        terminal.screen.cursor = self.terminal.screen.saved[ActiveScreen::Primary as usize]
            .clone()
            .unwrap_or_default();
        Some(Self {
            parser: super::Parser::default(),
            terminal,
        })
    }
}

fn modes(terminal: &Terminal) -> ScreenModes {
    let modes = &terminal.modes;
    ScreenModes {
        application_cursor_keys: modes.application_cursor_keys,
        application_keypad: modes.application_keypad,
        bracketed_paste: modes.bracketed_paste,
        focus_events: modes.focus_events,
        mouse: modes.mouse,
        mouse_encoding: modes.mouse_encoding,
        synchronized_output: modes.synchronized_output,
        reverse_video: modes.reverse_video,
        autowrap: modes.autowrap,
        insert: modes.insert,
        origin: terminal.screen.cursor.origin,
        line_feed_new_line: modes.line_feed_new_line,
        kitty_keyboard: terminal.keyboard.flags(terminal.screen.active),
        modify_other_keys: modes.modify_other_keys,
    }
}

/// The rows that are asked for, from the top. Of too many the first ones are left out.
fn lines(terminal: &Terminal, options: ScreenRows) -> Vec<ScreenRow> {
    let kept = signed(terminal.screen.scrollback.len());
    let last_row = signed(terminal.screen.size.rows) - 1;
    let to = options.to_row.unwrap_or(last_row).min(last_row);
    let most = i64::try_from(MAX_SCREEN_ROWS).unwrap_or(i64::MAX);
    let from = options.from_row.unwrap_or(0).max(-kept);
    let from = from.max(to.saturating_add(1).saturating_sub(most));
    let since = options.since.unwrap_or(0);
    let changed = |seq: u64| options.since.is_none() || seq > since;
    let scrolled = scrollback_seq(terminal);
    let mut lines = Vec::new();
    // Packed rows have styles of their own, which are not the screen's.
    let (mut styles, mut graphemes) = (Styles::default(), Graphemes::default());
    for number in from..=to {
        if let Ok(y) = usize::try_from(number) {
            let seq = terminal.screen.grid.seq(y);
            if changed(seq) {
                lines.push(screen_row(
                    number,
                    seq,
                    terminal.screen.grid.row(y),
                    (&terminal.screen.styles, &terminal.screen.graphemes),
                ));
            }
        } else if changed(scrolled)
            && let Some(index) = usize::try_from(kept + number).ok()
            && let Some(row) = terminal.screen.scrollback.row(index)
        {
            let row = row.to_row(&mut styles, &mut graphemes);
            lines.push(screen_row(number, scrolled, &row, (&styles, &graphemes)));
        }
    }
    lines
}

/// The last change that may have renumbered the scrollback's rows. The primary screen's top row
/// changes whenever a row scrolls off.
fn scrollback_seq(terminal: &Terminal) -> u64 {
    let primary: &Grid = match (terminal.screen.active, &terminal.screen.hidden) {
        (ActiveScreen::Alternate, Some(hidden)) => hidden,
        _ => &terminal.screen.grid,
    };
    primary.seq(0)
}

fn screen_row(number: i64, seq: u64, row: &Row, tables: (&Styles, &Graphemes)) -> ScreenRow {
    ScreenRow {
        row: number,
        seq,
        wrapped: row.wrapped,
        size: row.size,
        runs: runs(row, tables),
    }
}

/// Groups neighbouring cells of one style.
fn runs(row: &Row, (styles, graphemes): (&Styles, &Graphemes)) -> Vec<StyleRun> {
    let cells = &row.cells()[..row.occupied()];
    let mut runs = Vec::new();
    let mut column = 0;
    for group in cells.chunk_by(|one, next| one.style() == next.style() || next.is_tail()) {
        runs.push(StyleRun {
            column: narrow(column),
            width: narrow(group.len()),
            text: text(group, graphemes),
            style: group
                .first()
                .map(|cell| style(cell.style(), styles))
                .unwrap_or_default(),
        });
        column += group.len();
    }
    runs
}

fn text(cells: &[Cell], graphemes: &Graphemes) -> String {
    let mut text = String::with_capacity(cells.len());
    for (at, cell) in cells.iter().enumerate() {
        match cell.content() {
            Content::Blank => text.push(' '),
            Content::Char(c) => text.push(c),
            Content::Grapheme(number) => text.push_str(graphemes.get(number)),
            // Its left half was cut off.
            Content::Tail if at == 0 || !cells[at - 1].is_wide() => text.push(' '),
            Content::Tail => {}
        }
    }
    text
}

fn style(id: StyleId, styles: &Styles) -> Style {
    let style = styles.get(id);
    Style {
        hyperlink: styles.link(style.link).map(|link| link.uri.to_string()),
        ..without_link(style)
    }
}

/// A cell's style, but for its link.
pub(crate) fn without_link(style: grid::style::Style) -> Style {
    let has = |attributes| style.attributes.contains(attributes);
    Style {
        foreground: style.foreground,
        background: style.background,
        underline_color: style.underline_color,
        underline: style.underline,
        bold: has(Attributes::BOLD),
        faint: has(Attributes::FAINT),
        italic: has(Attributes::ITALIC),
        blink: has(Attributes::BLINK) || has(Attributes::RAPID_BLINK),
        inverse: has(Attributes::INVERSE),
        invisible: has(Attributes::INVISIBLE),
        crossed_out: has(Attributes::CROSSED_OUT),
        overline: has(Attributes::OVERLINE),
        hyperlink: None,
    }
}

fn narrow(value: usize) -> u16 {
    u16::try_from(value).unwrap_or(u16::MAX)
}

fn signed(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
