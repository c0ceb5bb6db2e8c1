//! The line at the top: how many terminals are in which state.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use termd_proto::attention::AttentionState;

use crate::text::{cut, put, width};
use crate::top::look::{BOLD, FAINT, WARNING, sign, style};
use crate::top::model::{Daemon, Model};
use crate::top::row::Row;
use crate::top::surroundings::Typist;

pub(super) fn draw(model: &Model, area: Rect, buffer: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let (y, end) = (area.y, area.right());
    let mut x = put(buffer, (area.x, y), end, "termd", BOLD) + 2;
    let (over, open): (Vec<&Row>, Vec<&Row>) =
        model.list.rows.values().partition(|row| row.is_over());
    let counts = AttentionState::ALL.map(|state| {
        let count = open.iter().filter(|row| row.state() == state).count();
        (state, count)
    });
    let counts = || counts.iter().filter(|(_, count)| *count > 0);
    let mut texts: Vec<String> = counts()
        .map(|(state, count)| format!("{} {} {count}", sign(*state), state.as_str()))
        .collect();
    let ended = Some(over.len()).filter(|count| *count > 0);
    let ended = ended.map(|count| format!("ended {count}"));
    let needed: u16 = texts.iter().chain(&ended).map(|text| width(text) + 2).sum();
    if x + needed > end {
        // The signs stand alone.
        let short = counts().map(|(state, count)| format!("{} {count}", sign(*state)));
        texts = short.collect();
    }
    for ((state, _), text) in counts().zip(texts) {
        x = put(buffer, (x, y), end, &text, style(*state)) + 2;
    }
    if let Some(ended) = ended {
        x = put(buffer, (x, y), end, &ended, FAINT) + 2;
    }
    let right = match &model.daemon {
        Daemon::Connecting => ("connecting".to_owned(), FAINT),
        Daemon::Silent => ("no answer".to_owned(), WARNING),
        Daemon::Away(_) => ("reconnecting".to_owned(), WARNING),
        Daemon::Here if model.typist == Typist::Agent => {
            ("an agent's: it answers nothing".to_owned(), WARNING)
        }
        Daemon::Here if !model.list.filter.is_empty() => (format!("/{}", model.list.filter), BOLD),
        Daemon::Here => return,
    };
    let text = cut(&right.0, end.saturating_sub(x));
    put(buffer, (end - width(&text), y), end, &text, right.1);
}
