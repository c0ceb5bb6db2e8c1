//! What the tty shows of the scrollback: rows, and a row that says where one is. Pure.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};
use ratatui_core::style::{Modifier, Style};
use regex::Regex;
use termd_client::escape::escaped;
use termd_tui::canvas::Picture;
use termd_tui::{screen_view, text};

use super::pager::Pager;

/// What the status row tells where nothing else is to be told.
const KEYS: &str = "q leaves  / ? search  v selects  g G ends";
const SELECTING: &str = "y copies  esc ends it";

/// The picture. `notice`: a line of attach's, which goes before all.
pub(super) fn draw(pager: &Pager, is_reading: bool, notice: Option<&str>) -> Picture {
    let size = pager.size();
    let mut picture = Picture::blank(size.cols, size.rows);
    let rows = u16::try_from(pager.height()).unwrap_or(size.rows);
    let area = Rect::new(0, 0, size.cols, rows.min(size.rows));
    let last = pager.top + pager.height() - 1;
    for block in pager.rows.blocks() {
        if block.first <= last && block.behind() > pager.top {
            let screen = block.screen(pager.top, last);
            let from = (block.model_row(pager.top), pager.from_col);
            screen_view::draw_rows(&screen, from, area, &mut picture.buffer);
        }
    }
    if let Some((pattern, _)) = &pager.last_search {
        for row in area.top()..area.bottom() {
            light(&mut picture.buffer, row, pattern);
        }
    }
    let row_of = |row: i64| {
        u16::try_from(row - pager.top)
            .ok()
            .filter(|row| *row < rows)
    };
    if let Some((from, to)) = pager.selection() {
        for row in (from.max(pager.top)..=to.min(last)).filter_map(row_of) {
            let line = Rect::new(0, row, size.cols, 1);
            let reversed = Style::new().add_modifier(Modifier::REVERSED);
            text::paint(&mut picture.buffer, line, reversed);
        }
    }
    picture.cursor = row_of(pager.cursor).map(|row| Position::new(0, row));
    if size.rows > 1 {
        let typed_to = draw_status(pager, is_reading, notice, &mut picture.buffer);
        if pager.prompt.is_some() && notice.is_none() {
            let column = typed_to.min(size.cols.saturating_sub(1));
            picture.cursor = Some(Position::new(column, size.rows - 1));
        }
    }
    picture
}

/// Draws the last row. Returns the column of the cursor in what is typed.
fn draw_status(pager: &Pager, is_reading: bool, notice: Option<&str>, buffer: &mut Buffer) -> u16 {
    let area = buffer.area;
    let row = area.bottom() - 1;
    let look = Style::new().add_modifier(Modifier::REVERSED);
    text::paint(buffer, Rect::new(0, row, area.width, 1), look);
    if let (Some(prompt), None) = (&pager.prompt, notice) {
        let (before, behind) = prompt.field.around_cursor();
        let before = text::cut_left(&escaped(before), area.width.saturating_sub(2));
        let before = format!("{}{before}", prompt.direction.sign());
        let cursor = text::put(buffer, (0, row), area.right(), &before, look);
        text::put(buffer, (cursor, row), area.right(), &escaped(behind), look);
        return cursor;
    }
    let selected = pager.selection().map(|(from, to)| match to - from + 1 {
        1 => "1 row selected".to_owned(),
        rows => format!("{rows} rows selected"),
    });
    let told = match (notice, &pager.said) {
        (Some(told), _) => escaped(told),
        (None, Some(told)) => escaped(told),
        (None, None) if pager.is_searching() => "searching; esc ends it".to_owned(),
        (None, None) if is_reading => "reading; q leaves".to_owned(),
        (None, None) => match &selected {
            Some(selected) => format!("{selected}  {SELECTING}"),
            None => KEYS.to_owned(),
        },
    };
    let place = format!(" {}% ", pager.percent());
    let place_at = area.width.saturating_sub(text::width(&place));
    let line = text::cut(&format!(" scrollback  {told}"), place_at);
    text::put(buffer, (0, row), place_at, &line, look);
    text::put(buffer, (place_at, row), area.right(), &place, look);
    0
}

/// Shows a row's matches inverse.
fn light(buffer: &mut Buffer, row: u16, pattern: &Regex) {
    let mut line = String::new();
    let mut starts = Vec::new();
    let mut column = 0;
    while let Some(cell) = buffer.cell((column, row)) {
        starts.push((line.len(), column));
        line.push_str(cell.symbol());
        column += text::width(cell.symbol()).max(1);
    }
    let ranges: Vec<_> = pattern
        .find_iter(line.trim_end())
        .map(|found| found.range())
        .collect();
    for (at, column) in starts {
        if ranges.iter().any(|range| range.contains(&at))
            && let Some(cell) = buffer.cell_mut((column, row))
        {
            cell.modifier.toggle(Modifier::REVERSED);
        }
    }
}
