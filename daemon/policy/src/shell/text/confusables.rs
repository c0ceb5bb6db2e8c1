//! Characters that make a text look like another one.

/// The first character of a text that a shell, or a person who reads the text, takes for something
/// else than it looks like: a control character other than TAB and LF, DEL, or a character that
/// changes the direction of text.
pub(crate) fn confusable(text: &str) -> Option<(usize, char)> {
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
