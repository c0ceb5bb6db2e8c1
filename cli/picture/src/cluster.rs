//! The drawing of a cell that holds more than one character.
//!
//! Pure. There is no text shaper here: marks are drawn over their letter, a joined sequence of emoji
//! as its first emoji, and a flag as its two letters.

use super::canvas::Lettering;
use super::glyph::Presentation;

/// Zero-width joiner: the next character belongs to the same emoji.
const ZWJ: char = '\u{200d}';
/// Variation selector 16: the character before it as an emoji.
const EMOJI_SELECTOR: char = '\u{fe0f}';
/// Variation selector 15: the character before it as text.
const TEXT_SELECTOR: char = '\u{fe0e}';

/// The characters to draw for a cell.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Cluster {
    /// Letters, one in each column.
    Flag(String),
    /// Characters, one over another.
    Characters(Vec<char>, Presentation),
}

impl Cluster {
    pub(super) fn of(letters: &Lettering) -> Self {
        let flag: Option<String> = letters.text.chars().map(flag_letter).collect();
        if let Some(flag) = flag {
            return Self::Flag(flag.chars().take(usize::from(letters.columns)).collect());
        }
        let joined = letters.text.chars().take_while(|&c| c != ZWJ);
        let drawn = joined
            .enumerate()
            .filter(|&(at, c)| at == 0 || !is_modifier(c))
            .map(|(_, c)| c);
        Self::Characters(drawn.collect(), presentation(letters))
    }
}

/// The letter of a regional indicator.
fn flag_letter(c: char) -> Option<char> {
    let letter = u32::from(c).checked_sub(0x1f1e6).filter(|at| *at < 26)?;
    char::from_u32(u32::from('A') + letter)
}

/// A wide character in the emoji blocks is an emoji, unless a selector makes it text.
fn presentation(letters: &Lettering) -> Presentation {
    let says = |selector| letters.text.contains(selector);
    let first = letters.text.chars().next().unwrap_or_default();
    let is_emoji = letters.columns == 2
        && matches!(first, '\u{231a}'..='\u{2b55}' | '\u{1f000}'..='\u{1faff}');
    if says(EMOJI_SELECTOR) || (is_emoji && !says(TEXT_SELECTOR)) {
        Presentation::Emoji
    } else {
        Presentation::Text
    }
}

/// Whether a character only selects a variant of the one before it, and is not drawn itself.
fn is_modifier(c: char) -> bool {
    matches!(
        c,
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' | '\u{200b}'..='\u{200d}'
            | '\u{1f3fb}'..='\u{1f3ff}'
    )
}

#[cfg(test)]
mod tests {
    use termd_proto::palette::Rgb;

    use super::*;
    use crate::canvas::Face;

    #[test]
    fn what_is_drawn() {
        use Presentation::{Emoji, Text};
        let characters = |text: &str, kind| Cluster::Characters(text.chars().collect(), kind);
        let table = [
            ("e\u{301}", 1, characters("e\u{301}", Text)),
            ("漢", 2, characters("漢", Text)),
            ("😀", 2, characters("😀", Emoji)),
            ("👍🏽", 2, characters("👍", Emoji)),
            ("🏽", 2, characters("🏽", Emoji)),
            ("👨\u{200d}👩", 2, characters("👨", Emoji)),
            ("❤\u{fe0f}", 2, characters("❤", Emoji)),
            ("❤", 1, characters("❤", Text)),
            ("⌚\u{fe0e}", 2, characters("⌚", Text)),
            ("🇩🇪", 2, Cluster::Flag("DE".to_owned())),
            ("🇩", 1, Cluster::Flag("D".to_owned())),
        ];
        for (text, columns, want) in table {
            let letters = Lettering {
                x: 0.0,
                columns,
                text: text.to_owned(),
                face: Face::default(),
                color: Rgb(0, 0, 0),
            };
            assert_eq!(Cluster::of(&letters), want, "{text}");
        }
    }
}
