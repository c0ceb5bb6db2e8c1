//! Characters that make a text look like another one. Pure.

/// The first character that a shell, or whoever reads the text, takes otherwise than it looks: a
/// control character other than TAB and LF, DEL, or one that turns the direction of text.
pub(crate) fn hidden_character(text: &str) -> Option<(usize, char)> {
    text.char_indices().find(|(_, c)| {
        matches!(
            c,
            '\0'..='\u{8}'
                | '\u{b}'..='\u{1f}'
                | '\u{7f}'..='\u{9f}'
                | '\u{61c}'
                | '\u{200e}' | '\u{200f}'
                | '\u{2028}' | '\u{2029}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
        )
    })
}
