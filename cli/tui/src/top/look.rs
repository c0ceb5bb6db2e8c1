//! How states look: a colour of the tty's own palette, which suits light and dark, and a sign that needs
//! none.

use ratatui_core::style::{Color, Modifier, Style};
use termd_proto::attention::AttentionState;

pub(super) const PLAIN: Style = Style::new();
pub(super) const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
pub(super) const FAINT: Style = Style::new().add_modifier(Modifier::DIM);
/// The terminal at hand, and the bars.
pub(super) const SELECTED: Style = Style::new().add_modifier(Modifier::REVERSED);
pub(super) const WARNING: Style = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);

/// The sign of a state.
pub(super) fn sign(state: AttentionState) -> &'static str {
    match state {
        AttentionState::Approval => "!",
        AttentionState::Secret => "*",
        AttentionState::Input => "?",
        AttentionState::Failed => "✗",
        AttentionState::Done => "✓",
        AttentionState::Running => "▸",
        AttentionState::Idle => "-",
    }
}

/// The look of a state.
pub(super) fn style(state: AttentionState) -> Style {
    match state {
        AttentionState::Approval => BOLD.fg(Color::Red),
        AttentionState::Secret => BOLD.fg(Color::Magenta),
        AttentionState::Input => BOLD.fg(Color::Yellow),
        AttentionState::Failed => PLAIN.fg(Color::Red),
        AttentionState::Done => PLAIN.fg(Color::Green),
        AttentionState::Running => PLAIN.fg(Color::Cyan),
        AttentionState::Idle => FAINT,
    }
}
