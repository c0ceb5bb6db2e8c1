//! The question that waits for the person: below the list, or alone.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use termd_client::waiting_question::WaitingQuestion;

use crate::text::{cut, paint, put, width};
use crate::top::look::{BOLD, FAINT, PLAIN, SELECTED};
use crate::top::model::Model;
use crate::top::questions::Asked as _;

pub(super) fn draw(model: &Model, area: Rect, buffer: &mut Buffer) {
    draw_from(model, 0, area, buffer);
}

pub(super) fn draw_alone(model: &Model, from: u16, buffer: &mut Buffer) {
    let area = buffer.area;
    draw_from(model, from.min(model.last_question_line()), area, buffer);
}

/// A title, the lines of the question as far as there is room, and the keys that answer it.
fn draw_from(model: &Model, from: u16, area: Rect, buffer: &mut Buffer) {
    let (Some(question), Some(lines)) = (model.questions.shown(), model.question_lines()) else {
        return;
    };
    if area.height < 2 {
        return;
    }
    let page = usize::from(area.height - 2);
    let rest = lines.len().saturating_sub(usize::from(from) + page);
    draw_title(model, question, area, buffer);
    let shown = lines.iter().skip(from.into()).take(page);
    for (y, line) in (area.y + 1..).zip(shown) {
        let is_command = line.starts_with("    ");
        let style = if is_command { BOLD } else { PLAIN };
        put(buffer, (area.x + 1, y), area.right(), line, style);
    }
    let y = area.bottom() - 1;
    let mut x = area.x + 1;
    if rest > 0 {
        let keys = if area.height == model.size.1 {
            "arrows"
        } else {
            "v"
        };
        let said = format!("{keys}: {rest} more");
        x = put(buffer, (x, y), area.right(), &said, BOLD) + 2;
    }
    for (key, what) in question.keys() {
        x = put(buffer, (x, y), area.right(), key, BOLD);
        x = put(buffer, (x, y), area.right(), &format!(" {what}"), PLAIN) + 2;
    }
    if let Some(said) = model.message().filter(|_| area.height == model.size.1) {
        let said = cut(said, area.right().saturating_sub(x));
        put(
            buffer,
            (area.right() - width(&said), y),
            area.right(),
            &said,
            FAINT,
        );
    }
}

fn draw_title(model: &Model, question: &WaitingQuestion, area: Rect, buffer: &mut Buffer) {
    let bar = Rect { height: 1, ..area };
    let what = match question {
        WaitingQuestion::Gate(_) => "asks you",
        WaitingQuestion::Secret(_) => "asks you for a secret",
    };
    let more = match model.questions.len() {
        0 | 1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    let title = format!(" ! {}: {what}{more}", question.id());
    let title = cut(&title, area.width);
    put(buffer, (area.x, area.y), area.right(), &title, BOLD);
    paint(buffer, bar, SELECTED);
}
