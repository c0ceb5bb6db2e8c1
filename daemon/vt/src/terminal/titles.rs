//! The window's title and the icon's name, and XTWINOPS' stack of them.
//!
//! No control character gets in, and no reply to a program holds a title.

use serde::{Deserialize, Serialize};

use crate::event::Event;
use crate::hex;

/// Longest title kept, in bytes, as in xterm.
pub(crate) const MAX_TITLE_BYTES: usize = 1_000;
/// How many titles can be pushed, as in xterm. The oldest gives way.
const MAX_SAVED: usize = 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// Both: 0 in OSC and XTWINOPS.
    Both,
    /// The icon's name: 1.
    Icon,
    /// The window's title: 2.
    Window,
}

impl Which {
    pub(crate) fn numbered(number: u16) -> Option<Self> {
        match number {
            0 => Some(Self::Both),
            1 => Some(Self::Icon),
            2 => Some(Self::Window),
            _ => None,
        }
    }

    pub(crate) fn has_icon(self) -> bool {
        self != Self::Window
    }

    pub(crate) fn has_window(self) -> bool {
        self != Self::Icon
    }
}

/// What XTWINOPS 22 keeps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Saved {
    icon: Option<String>,
    window: Option<String>,
}

/// XTWINOPS 22 and 23 as in xterm: a ring of 10 places.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SavedTitles {
    places: Vec<Saved>,
    used: usize,
}

impl SavedTitles {
    /// Pushes titles on top, or puts them into the numbered place above 0.
    pub(crate) fn push(&mut self, place: usize, icon: Option<String>, window: Option<String>) {
        let at = place.checked_sub(1).unwrap_or(self.used) % MAX_SAVED;
        if place == 0 {
            self.used += 1;
        }
        if at >= self.places.len() {
            self.places.resize(at + 1, Saved::default());
        }
        self.places[at] = Saved { icon, window };
    }

    /// Pops the titles on top, or those of the numbered place. A title that was not pushed there is
    /// the one that was pushed before.
    pub(crate) fn pop(&mut self, place: usize) -> Option<(Option<String>, Option<String>)> {
        if place == 0 {
            self.used = self.used.checked_sub(1)?;
        }
        let at = place.checked_sub(1).unwrap_or(self.used) % MAX_SAVED;
        let before = || (0..MAX_SAVED).map(|back| (at + MAX_SAVED - back) % MAX_SAVED);
        let icon = before().find_map(|at| self.places.get(at)?.icon.clone());
        let window = before().find_map(|at| self.places.get(at)?.window.clone());
        if place == 0
            && let Some(place) = self.places.get_mut(at)
        {
            *place = Saved::default();
        }
        Some((icon, window))
    }

    /// XTTITLEPOS: how many titles are pushed, and how many can be.
    pub(crate) fn report(&self) -> (usize, usize) {
        (self.used, MAX_SAVED)
    }
}

/// The titles that a program has set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Titles {
    /// OSC 0 and 2, cleaned.
    pub(crate) window: String,
    /// OSC 0 and 1, cleaned.
    pub(crate) icon: String,
    pub(crate) saved: SavedTitles,
    /// XTSMTITLE 0: titles come as hexadecimal digits.
    pub(crate) in_hex: bool,
}

impl Titles {
    /// OSC 0, 1, 2.
    pub(crate) fn set(&mut self, which: Which, sent: &[u8]) -> Option<Event> {
        let title = if self.in_hex {
            cleaned(&hex::decode(sent)?)
        } else {
            cleaned(sent)
        };
        if which.has_icon() {
            self.icon.clone_from(&title);
        }
        which.has_window().then(|| self.set_window(title)).flatten()
    }

    fn set_window(&mut self, title: String) -> Option<Event> {
        if title == self.window {
            return None;
        }
        self.window.clone_from(&title);
        Some(Event::Title(title))
    }

    /// XTWINOPS 22.
    pub(crate) fn push(&mut self, which: Which, place: usize) {
        let icon = which.has_icon().then(|| self.icon.clone());
        let window = which.has_window().then(|| self.window.clone());
        self.saved.push(place, icon, window);
    }

    /// XTWINOPS 23.
    pub(crate) fn pop(&mut self, which: Which, place: usize) -> Option<Event> {
        let (icon, window) = self.saved.pop(place)?;
        if which.has_icon()
            && let Some(icon) = icon
        {
            self.icon = icon;
        }
        window
            .filter(|_| which.has_window())
            .and_then(|window| self.set_window(window))
    }

    /// RIS: the titles stay, what was pushed goes.
    pub(crate) fn reset(&mut self) {
        self.saved = SavedTitles::default();
        self.in_hex = false;
    }
}

/// Cleans a title of control characters, and cuts one that is too long.
fn cleaned(sent: &[u8]) -> String {
    // A character takes at most as many bytes in the title as were sent for it, except U+FFFD.
    let sent = &sent[..sent.len().min(4 * MAX_TITLE_BYTES)];
    let mut title = String::new();
    for c in String::from_utf8_lossy(sent).chars() {
        if c.is_control() {
            continue;
        }
        if title.len() + c.len_utf8() > MAX_TITLE_BYTES {
            break;
        }
        title.push(c);
    }
    title
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_cleaned() {
        let table: &[(&[u8], &str)] = &[
            (b"plain", "plain"),
            (b"a\x01b\x7fc\td", "abcd"),
            ("a\u{9b}31mé".as_bytes(), "a31mé"),
            (b"bad \xff utf-8", "bad \u{fffd} utf-8"),
        ];
        for (sent, want) in table {
            assert_eq!(cleaned(sent), *want);
        }
        let long = cleaned("é".repeat(1 << 19).as_bytes());
        assert_eq!(long, "é".repeat(MAX_TITLE_BYTES / 2));
    }

    #[test]
    fn the_title_stack_is_bounded_and_finds_earlier_titles() {
        let text = |t: &str| Some(t.to_owned());
        let mut saved = SavedTitles::default();
        assert_eq!(saved.pop(0), None);
        saved.push(0, text("icon"), None);
        saved.push(0, None, text("window"));
        assert_eq!(saved.pop(0), Some((text("icon"), text("window"))));
        assert_eq!(saved.report(), (1, MAX_SAVED));
        for n in 0..100_000 {
            saved.push(n % 20, text("a"), text("b"));
        }
        assert_eq!(saved.places.len(), MAX_SAVED);
        assert_eq!(saved.pop(7), Some((text("a"), text("b"))));
    }
}
