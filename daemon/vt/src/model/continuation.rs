//! The state that a picture of the screen does not show, as control sequences. A terminal of the
//! same size that gets the picture and these goes on as the model does.

use std::fmt::Write as _;

use crate::control::setting_report::rendition;
use crate::grid::cell::{Content, Protection};
use crate::grid::style::Styles;
use crate::screen::cursor::Cursor;
use crate::screen::margins::Margins;
use crate::terminal::Terminal;

impl Terminal {
    /// To be written after the picture: saved cursor, margins, tab stops, character sets, and at
    /// the end the cursor with its style.
    pub(crate) fn continuation(&self) -> String {
        let mut out = String::new();
        if let Some(saved) = &self.screen.saved[self.screen.active as usize] {
            self.put_cursor(&mut out, saved, Origin::Absolute);
            out.push_str("\x1b7");
        }
        self.put_tab_stops(&mut out);
        let whole = Margins::whole(self.screen.size);
        let margins = self.screen.margins;
        if (margins.top, margins.bottom) != (whole.top, whole.bottom) {
            put(
                &mut out,
                format_args!("\x1b[{};{}r", margins.top + 1, margins.bottom + 1),
            );
        }
        if self.modes.left_right_margins {
            put(
                &mut out,
                format_args!("\x1b[?69h\x1b[{};{}s", margins.left + 1, margins.right + 1),
            );
        }
        if self.modes.insert {
            out.push_str("\x1b[4h");
        }
        if self.modes.line_feed_new_line {
            out.push_str("\x1b[20h");
        }
        if self.modes.reverse_wrap {
            out.push_str("\x1b[?45h");
        }
        if !self.modes.utf8 {
            out.push_str("\x1b%@");
        }
        let origin = if self.screen.cursor.origin {
            out.push_str("\x1b[?6h");
            Origin::Margins
        } else {
            Origin::Absolute
        };
        self.put_cursor(&mut out, &self.screen.cursor, origin);
        out
    }

    fn put_tab_stops(&self, out: &mut String) {
        let cols = self.screen.size.cols;
        if (0..cols).all(|col| self.screen.tabs.is_stop(col) == col.is_multiple_of(8)) {
            return;
        }
        out.push_str("\x1b[3g");
        for col in (0..cols).filter(|col| self.screen.tabs.is_stop(*col)) {
            put(out, format_args!("\x1b[1;{}H\x1bH", col + 1));
        }
    }

    /// The cursor's position, style, protection and character sets.
    fn put_cursor(&self, out: &mut String, cursor: &Cursor, origin: Origin) {
        let (row, col) = match origin {
            Origin::Absolute => (cursor.row, cursor.col),
            Origin::Margins => (
                cursor.row.saturating_sub(self.screen.margins.top),
                cursor.col.saturating_sub(self.screen.margins.left),
            ),
        };
        put(out, format_args!("\x1b[{};{}H", row + 1, col + 1));
        if cursor.wrap_pending {
            self.write_last_column_again(out, cursor);
        }
        put(out, format_args!("\x1b[{}m", rendition(&cursor.style)));
        put_link(out, &self.screen.styles, cursor);
        if cursor.protection == Protection::Selective {
            out.push_str("\x1b[1\"q");
        }
        for (slot, set) in ['(', ')', '*', '+'].iter().zip(cursor.charsets.designated) {
            put(out, format_args!("\x1b{slot}{}", set.designator()));
        }
        out.push_str(match cursor.charsets.gl & 3 {
            0 => "\x0f",
            1 => "\x0e",
            2 => "\x1bn",
            _ => "\x1bo",
        });
    }

    /// Only a write to the last column makes a wrap pending.
    fn write_last_column_again(&self, out: &mut String, cursor: &Cursor) {
        let row = self.screen.grid.row(cursor.row);
        let (mut col, mut cell) = (cursor.col, row.cell(cursor.col));
        if cell.is_tail() && col > 0 {
            col -= 1;
            cell = row.cell(col);
            out.push('\x08');
        }
        put(
            out,
            format_args!("\x1b[{}m", rendition(&self.screen.styles.get(cell.style()))),
        );
        match cell.content() {
            Content::Char(c) => out.push(c),
            Content::Grapheme(number) => out.push_str(self.screen.graphemes.get(number)),
            Content::Blank | Content::Tail => out.push(' '),
        }
    }
}

/// What rows and columns count from.
#[derive(Clone, Copy)]
enum Origin {
    Absolute,
    Margins,
}

fn put_link(out: &mut String, styles: &Styles, cursor: &Cursor) {
    let clean = |text: &str| !text.chars().any(char::is_control);
    if let Some(link) = styles.link(cursor.style.link)
        && clean(&link.uri)
        && link.id.as_deref().is_none_or(clean)
    {
        let id = link
            .id
            .as_deref()
            .map(|id| format!("id={id}"))
            .unwrap_or_default();
        put(out, format_args!("\x1b]8;{id};{}\x1b\\", link.uri));
    }
}

/// A write to a `String` does not fail.
fn put(out: &mut String, formatted: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(formatted);
}
