//! The list of terminals.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

use crate::text::{cut, cut_left, paint, put, width};
use crate::top::arrangement::Item;
use crate::top::layout::Layout;
use crate::top::look::{BOLD, FAINT, PLAIN, SELECTED, sign, style};
use crate::top::model::{Daemon, Model};
use crate::top::row::{Row, age};

/// From this number of columns on the state stands there in a word.
const MIN_COLS_WITH_STATE: u16 = 44;
/// Columns of the widest age.
const AGE_COLS: u16 = 5;

pub(super) fn draw(model: &Model, layout: Layout, buffer: &mut Buffer) {
    let area = layout.list;
    if model.list.items.is_empty() && !area.is_empty() {
        let said = match (&model.daemon, model.list.filter.is_empty()) {
            (Daemon::Connecting, _) => "connecting…",
            (_, false) => "nothing matches",
            (_, true) => "no terminals",
        };
        put(buffer, (area.x, area.y), area.right(), said, FAINT);
        return;
    }
    let shown = model.list.shown_items(model.list_area());
    let last = shown.len();
    for (y, item) in shown {
        let y = area.y + y;
        match item {
            Item::Group(name) => {
                let name = cut_left(name, area.width.saturating_sub(1));
                put(buffer, (area.x, y), area.right(), &name, FAINT);
            }
            Item::Terminal(id) => {
                let Some(row) = model.list.rows.get(id) else {
                    continue;
                };
                let place = Rect {
                    y,
                    height: layout.row_height,
                    ..area
                };
                let is_at_hand = model.list.at_hand() == Some(id);
                draw_row(row, model.now.ms, place, is_at_hand, buffer);
            }
        }
    }
    let below = model.list.items.len() - model.list.top - last;
    if below > 0 && !area.is_empty() {
        let text = format!(" {below} more ↓");
        let x = area.right() - width(&text).min(area.width);
        put(buffer, (x, area.bottom() - 1), area.right(), &text, FAINT);
    }
}

/// `▸ name  command    3m`, and below it who opened it, and what it shows.
fn draw_row(row: &Row, now_ms: i64, area: Rect, is_at_hand: bool, buffer: &mut Buffer) {
    let (y, end) = (area.y, area.right());
    let state = row.state();
    // A colour would be a block in the bar; the details above the screen have it.
    let state_style = if is_at_hand { BOLD } else { style(state) };
    let faint = if is_at_hand { PLAIN } else { FAINT };
    let age = age(now_ms.saturating_sub(row.since_ms()));
    let age_at = end.saturating_sub(AGE_COLS.max(width(&age)));
    let mut x = put(buffer, (area.x, y), end, sign(state), state_style) + 1;
    if area.width >= MIN_COLS_WITH_STATE {
        let word = format!("{:<8}", state.as_str());
        x = put(buffer, (x, y), age_at, &word, state_style) + 1;
    }
    let name_style = if state.is_waiting() { BOLD } else { PLAIN };
    let columns = age_at.saturating_sub(x + 1);
    x = put(
        buffer,
        (x, y),
        age_at,
        &cut(&row.name(), columns),
        name_style,
    ) + 1;
    let is_single = area.height < 2;
    let beside = if is_single {
        facts([row.progress_text(), Some(row.gist())])
    } else {
        second_name(row)
    };
    draw_rest((x, y), age_at, &beside, faint, buffer);
    put(buffer, (age_at, y), end, &format!("{age:>5}"), faint);
    if !is_single {
        let x = area.x + 2;
        let shown = facts([Some(row.who()), row.progress_text(), Some(row.gist())]);
        draw_rest((x, y + 1), end, &shown, faint, buffer);
    }
    if is_at_hand {
        paint(buffer, area, SELECTED);
    }
}

/// What is known of them, in one line.
fn facts<const N: usize>(facts: [Option<String>; N]) -> String {
    let known = facts.into_iter().flatten().filter(|fact| !fact.is_empty());
    known.collect::<Vec<_>>().join(" · ")
}

/// The command of a terminal that is called by its label.
fn second_name(row: &Row) -> String {
    match row.info.label {
        Some(_) => row.command(),
        None => String::new(),
    }
}

fn draw_rest((x, y): (u16, u16), end: u16, text: &str, style: Style, buffer: &mut Buffer) {
    let columns = end.saturating_sub(x + 1);
    put(buffer, (x, y), end, &cut(text, columns), style);
}
