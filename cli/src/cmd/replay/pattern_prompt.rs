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
            Key::Kill => self.typed.clear(),
            Key::WordErase => self.typed.truncate(word_start(&self.typed)),
            Key::Char(c) if self.typed.chars().count() < MAX_PATTERN_CHARS => self.typed.push(c),
            _ => {}
        }
        Typed::GoesOn(self)
    }
}

/// Where the last word begins: what WERASE deletes is it and the blanks behind it.
fn word_start(text: &str) -> usize {
    let words = text.trim_end();
    words.rfind(char::is_whitespace).map_or(0, |blank| {
        let width = words[blank..].chars().next().map_or(0, char::len_utf8);
        blank + width
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: impl IntoIterator<Item = Key>) -> String {
        let mut prompt = PatternPrompt::default();
        for key in keys {
            let Typed::GoesOn(next) = prompt.press(key) else {
                panic!("{key:?} ends it");
            };
            prompt = next;
        }
        prompt.typed
    }

    #[test]
    fn keys_of_a_tty_s_line_edit_it() {
        for (text, key, want) in [
            ("ab", Key::Backspace, "a"),
            ("ab cd", Key::Kill, ""),
            ("ab cd", Key::WordErase, "ab "),
            ("ab c\u{e4}  ", Key::WordErase, "ab "),
            ("ab\u{3000}c", Key::WordErase, "ab\u{3000}"),
            ("ab", Key::WordErase, ""),
            ("", Key::WordErase, ""),
        ] {
            let keys = text.chars().map(Key::Char).chain([key]);
            assert_eq!(typed(keys), want, "{text:?} {key:?}");
        }
    }
}
