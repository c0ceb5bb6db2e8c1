//! What a search has found.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use termd_client::escape::{escaped, one_line};
use termd_client::timestamp::local;
use termd_proto::search::SearchHit;

use crate::text::{cut, paint, put};
use crate::top::look::{BOLD, FAINT, PLAIN, SELECTED};
use crate::top::mode::Hits;
use crate::top::model::Model;

pub(super) fn draw(model: &Model, hits: &Hits, buffer: &mut Buffer) {
    let area = buffer.area;
    if area.height < 2 {
        return;
    }
    let (end, foot) = (area.right(), area.bottom() - 1);
    let found = hits.found.as_deref();
    let count = match found {
        None => "searching…".to_owned(),
        Some([]) => "nothing found".to_owned(),
        Some(found) if hits.is_cut => format!("the newest {}", found.len()),
        Some(found) => format!("{}", found.len()),
    };
    let title = format!(" {}: {count}", one_line(&hits.pattern));
    put(buffer, (0, area.y), end, &cut(&title, area.width), BOLD);
    paint(buffer, Rect { height: 1, ..area }, SELECTED);
    let page = usize::from(area.height - 2).max(1);
    let first = (hits.at + 1).saturating_sub(page);
    let shown = found
        .unwrap_or_default()
        .iter()
        .enumerate()
        .skip(first)
        .take(page);
    for (y, (at, hit)) in (area.y + 1..foot).zip(shown) {
        draw_hit(model, hit, y, buffer);
        if at == hits.at {
            let bar = Rect {
                y,
                height: 1,
                ..area
            };
            paint(buffer, bar, SELECTED);
        }
    }
    let keys = model
        .message()
        .unwrap_or("Enter replay from there  Esc back");
    put(buffer, (0, foot), end, &cut(keys, area.width), FAINT);
}

/// Where and when, and the line with its match.
fn draw_hit(model: &Model, hit: &SearchHit, y: u16, buffer: &mut Buffer) {
    let end = buffer.area.right();
    let (terminal, label, at_ms, line, range) = match hit {
        SearchHit::Output(hit) => {
            let range = hit.match_start..hit.match_end;
            (
                &hit.terminal,
                &hit.label,
                hit.at_ms,
                hit.line.as_str(),
                range,
            )
        }
        SearchHit::Command(hit) => {
            let command = &hit.command;
            let started = Some(command.started_at_ms);
            (
                &command.terminal,
                &hit.label,
                started,
                command.text.as_str(),
                0..0,
            )
        }
    };
    let name = match (label, model.list.rows.get(terminal)) {
        (Some(label), _) => escaped(label.as_str()),
        (None, Some(row)) => row.label_or_id(),
        (None, None) => terminal.to_string(),
    };
    let mut x = put(buffer, (0, y), end, &cut(&name, 17), PLAIN) + 1;
    if buffer.area.width >= 60
        && let Some(at_ms) = at_ms
    {
        x = put(buffer, (x, y), end, &local(at_ms), FAINT) + 1;
    }
    let (before, rest) = line.split_at_checked(range.start).unwrap_or((line, ""));
    let length = range.end.saturating_sub(range.start);
    let (found, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
    x = put(buffer, (x, y), end, &one_line(before.trim_start()), PLAIN);
    x = put(buffer, (x, y), end, &one_line(found), BOLD);
    put(buffer, (x, y), end, &one_line(after), PLAIN);
}
