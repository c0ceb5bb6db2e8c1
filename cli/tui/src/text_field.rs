//! A line of text that a person types. Pure.

use std::fmt;

use crate::input::Key;

/// The longest text, in bytes: what a line of a tty holds.
const MAX_TEXT_BYTES: usize = 4_095;

/// The text, and the cursor in it. Its `Debug` shows nothing of the text, which may be a secret.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct TextField {
    text: String,
    /// In bytes, between two characters.
    cursor: usize,
}

impl fmt::Debug for TextField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TextField(…)")
    }
}

impl TextField {
    /// A field with a text in it, and the cursor behind it.
    pub fn with_text(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            cursor: text.len(),
        }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text, cut at the cursor.
    pub fn around_cursor(&self) -> (&str, &str) {
        self.text
            .split_at_checked(self.cursor)
            .unwrap_or((&self.text, ""))
    }

    /// Takes a key. False: it does not edit.
    pub fn press(&mut self, key: Key) -> bool {
        match key {
            Key::Char(c) => self.insert(c.encode_utf8(&mut [0; 4])),
            Key::Backspace => {
                let from = self.before_cursor();
                self.text.replace_range(from..self.cursor, "");
                self.cursor = from;
            }
            Key::Delete => {
                let to = self.behind_cursor();
                self.text.replace_range(self.cursor..to, "");
            }
            Key::Left => self.cursor = self.before_cursor(),
            Key::Right => self.cursor = self.behind_cursor(),
            Key::Home | Key::Ctrl('a') => self.cursor = 0,
            Key::End | Key::Ctrl('e') => self.cursor = self.text.len(),
            Key::Ctrl('u') => {
                self.text.replace_range(..self.cursor, "");
                self.cursor = 0;
            }
            Key::Ctrl('k') => self.text.truncate(self.cursor),
            Key::Ctrl('w') => {
                let (before, _) = self.around_cursor();
                let from = before.trim_end().rfind(' ').map_or(0, |at| at + 1);
                self.text.replace_range(from..self.cursor, "");
                self.cursor = from;
            }
            _ => return false,
        }
        true
    }

    /// Writes a text at the cursor. Of several lines the first is taken, and controls are left out: a
    /// paste presses no Enter.
    pub fn paste(&mut self, text: &str) {
        let line = text
            .trim_start_matches(['\r', '\n'])
            .split(['\r', '\n'])
            .next();
        let line: String = line
            .unwrap_or_default()
            .chars()
            .filter(|c| !c.is_control())
            .collect();
        self.insert(&line);
    }

    fn insert(&mut self, text: &str) {
        let room = MAX_TEXT_BYTES.saturating_sub(self.text.len());
        let fits = &text[..text.floor_char_boundary(room)];
        self.text.insert_str(self.cursor, fits);
        self.cursor += fits.len();
    }

    fn before_cursor(&self) -> usize {
        let (before, _) = self.around_cursor();
        self.cursor - before.chars().next_back().map_or(0, char::len_utf8)
    }

    fn behind_cursor(&self) -> usize {
        let (_, behind) = self.around_cursor();
        self.cursor + behind.chars().next().map_or(0, char::len_utf8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_edit_the_text() {
        let table: [(&[Key], &str, &str); 8] = [
            (&[Key::Char('ä'), Key::Char('b')], "äb", ""),
            (&[Key::Char('ä'), Key::Left, Key::Char('b')], "b", "ä"),
            (&[Key::Char('a'), Key::Backspace, Key::Backspace], "", ""),
            (
                &[Key::Char('a'), Key::Home, Key::Delete, Key::Delete],
                "",
                "",
            ),
            (
                &[Key::Char('a'), Key::Left, Key::Left, Key::Ctrl('k')],
                "",
                "",
            ),
            (
                &[Key::Char('a'), Key::Ctrl('a'), Key::End, Key::Right],
                "a",
                "",
            ),
            (
                &[Key::Char('a'), Key::Char('b'), Key::Left, Key::Ctrl('u')],
                "",
                "b",
            ),
            (
                &[
                    Key::Char('a'),
                    Key::Char(' '),
                    Key::Char('b'),
                    Key::Ctrl('w'),
                ],
                "a ",
                "",
            ),
        ];
        for (keys, before, behind) in table {
            let mut field = TextField::default();
            assert!(keys.iter().all(|key| field.press(*key)));
            assert_eq!(field.around_cursor(), (before, behind), "{keys:?}");
        }
        assert!(!TextField::default().press(Key::Enter));
    }

    #[test]
    fn a_paste_is_one_bounded_line() {
        let mut field = TextField::with_text("a");
        field.paste("\nb\x1b[31m\tc\nrm -rf x");
        assert_eq!(field.text(), "ab[31mc");
        field.paste(&"ä".repeat(5_000));
        assert!(field.text().len() <= MAX_TEXT_BYTES);
    }
}
