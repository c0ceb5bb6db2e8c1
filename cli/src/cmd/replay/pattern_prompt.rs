//! The pattern that a person types into the bar. Pure.

use super::keys::Key;

/// The longest pattern that can be typed, in characters.
const MAX_PATTERN_CHARS: usize = 200;

/// A pattern that is being typed.
#[derive(Debug, Default)]
pub(super) struct PatternPrompt {
    typed: String,
}

/// What a key makes of it.
#[derive(Debug)]
pub(super) enum Typed {
    GoesOn(PatternPrompt),
    GivenUp,
    Entered(String),
}

impl PatternPrompt {
    pub(super) fn text(&self) -> &str {
        &self.typed
    }

    pub(super) fn press(mut self, key: Key) -> Typed {
        match key {
            Key::Enter | Key::Backspace if self.typed.is_empty() => return Typed::GivenUp,
            Key::Escape => return Typed::GivenUp,
            Key::Enter => return Typed::Entered(self.typed),
            Key::Backspace => drop(self.typed.pop()),
            Key::Char(c) if self.typed.chars().count() < MAX_PATTERN_CHARS => self.typed.push(c),
            _ => {}
        }
        Typed::GoesOn(self)
    }
}
