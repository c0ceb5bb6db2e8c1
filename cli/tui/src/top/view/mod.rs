//! What the tty shows of the overview. Pure.

mod details;
mod foot;
mod head;
mod help;
mod hits;
mod list;
mod question;

#[cfg(test)]
mod tests;

use ratatui_core::layout::{Position, Rect};

use super::look::FAINT;
use super::mode::Mode;
use super::model::{Daemon, Model};
use crate::canvas::Picture;
use crate::screen_view;
use crate::text::put;

/// The picture of a model.
pub fn view(model: &Model) -> Picture {
    let mut picture = Picture::blank(model.size.0, model.size.1);
    let buffer = &mut picture.buffer;
    let layout = model.layout();
    match &model.mode {
        Mode::Help(from) => help::draw(*from, buffer),
        Mode::Hits(hits) => hits::draw(model, hits, buffer),
        Mode::Question(from) => question::draw_alone(model, *from, buffer),
        Mode::Browse | Mode::Prompt(_) | Mode::Confirm(_) => {
            head::draw(model, layout.head, buffer);
            list::draw(model, layout, buffer);
            for y in layout.line.top()..layout.line.bottom() {
                put(buffer, (layout.line.x, y), layout.line.right(), " │", FAINT);
            }
            details::draw(model, layout.details, buffer);
            picture.cursor = draw_screen(model, layout.screen, buffer);
            question::draw(model, layout.question, buffer);
            let typed = foot::draw(model, layout.foot, buffer);
            if typed.is_some() {
                picture.cursor = typed;
            }
        }
    }
    picture
}

/// The screen of the terminal at hand.
fn draw_screen(
    model: &Model,
    area: Rect,
    buffer: &mut ratatui_core::buffer::Buffer,
) -> Option<Position> {
    let Some(shown) = &model.screen else {
        let said = match (&model.daemon, model.list.at_hand()) {
            (Daemon::Here, None) if model.list.filter.is_empty() => "no terminals: n starts one",
            _ => "",
        };
        put(buffer, (area.x, area.y), area.right(), said, FAINT);
        return None;
    };
    let cursor = screen_view::draw(&shown.screen, shown.from_row, area, buffer);
    // What is not within the terminal's own size is marked where there is room for it.
    let cols = shown.screen.cols.min(area.width);
    if cols < area.width {
        for y in area.top()..area.bottom() {
            put(buffer, (area.x + cols, y), area.right(), "┊", FAINT);
        }
    }
    cursor.filter(|_| model.scrolled == 0)
}
