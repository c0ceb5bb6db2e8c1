//! A text of a program's, as a person may be shown it. Pure.

/// The text in one line without control characters, at most `max` bytes of it.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    let line: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let line = line.trim();
    line[..line.floor_char_boundary(max)].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_one_line_and_bounded() {
        for (text, line) in [
            ("[sudo] password for me: ", "[sudo] password for me:"),
            ("a\nb\u{1b}[2Jc\t", "a b [2Jc"),
            ("", ""),
        ] {
            assert_eq!(one_line(text, 100), line);
        }
        assert_eq!(one_line(&"ä".repeat(100), 51).len(), 50);
    }
}
