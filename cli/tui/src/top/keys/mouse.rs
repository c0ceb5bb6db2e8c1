//! What the mouse does.

use ratatui_core::layout::Position;

use crate::input::{Mouse, MouseAction};
use crate::top::arrangement::Item;
use crate::top::mode::Mode;
use crate::top::model::Model;

/// Rows that the wheel scrolls.
const WHEEL_ROWS: u16 = 3;

impl Model {
    pub(super) fn use_mouse(&mut self, mouse: Mouse) {
        let wheel = match mouse.action {
            MouseAction::WheelUp => Some(i32::from(WHEEL_ROWS)),
            MouseAction::WheelDown => Some(-i32::from(WHEEL_ROWS)),
            MouseAction::Press => None,
        };
        let place = Position::new(mouse.column, mouse.row);
        match (&mut self.mode, wheel) {
            (Mode::Browse, None) => self.click(place),
            (Mode::Browse | Mode::Prompt(_) | Mode::Confirm(_), Some(rows)) => {
                if self.layout().list.contains(place) {
                    self.scroll_list(rows);
                } else {
                    self.scroll_screen(rows.into());
                }
            }
            (Mode::Help(from) | Mode::Question(from), Some(rows)) => {
                *from = from.saturating_add_signed(i16::try_from(-rows).unwrap_or(0));
                let from = *from;
                if let Mode::Question(_) = self.mode {
                    // Not further than its end.
                    self.mode = Mode::Question(from.min(self.last_question_line()));
                }
            }
            (Mode::Hits(hits), Some(rows)) => {
                let count = hits.found.as_ref().map_or(0, Vec::len);
                let at = hits
                    .at
                    .saturating_add_signed(isize::try_from(-rows).unwrap_or(0));
                hits.at = at.min(count.saturating_sub(1));
            }
            (_, None) => {}
        }
    }

    fn click(&mut self, place: Position) {
        let layout = self.layout();
        if !layout.list.contains(place) {
            return;
        }
        let y = place.y - layout.list.y;
        let area = self.list_area();
        let clicked = self
            .list
            .shown_items(area)
            .into_iter()
            .find_map(|(top, item)| match item {
                Item::Terminal(id) => {
                    let rows = top..top + area.height_of(item);
                    rows.contains(&y).then(|| id.clone())
                }
                Item::Group(_) => None,
            });
        if let Some(id) = clicked {
            self.list.take_in_hand(&id);
        }
    }

    fn scroll_list(&mut self, rows: i32) {
        let by = isize::try_from(-rows).unwrap_or(0);
        let shown = self.list.shown_items(self.list_area()).len();
        let last = self.list.items.len().saturating_sub(shown);
        let to = self.list.top.saturating_add_signed(by);
        // At the end the last item is the last row.
        if by < 0 || self.list.top < last {
            self.list.top = to.min(self.list.items.len().saturating_sub(1));
        }
    }
}
