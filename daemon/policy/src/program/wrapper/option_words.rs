//! The options in a variable such as `TAR_OPTIONS`, which its program splits by blanks and quotes as a shell does.

/// The words of a value. Nothing is expanded in them. `None`: it has no quote, or one that does not end.
pub(super) fn quoted_words(value: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut has_quote = false;
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                has_quote = true;
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                has_quote = true;
                word.get_or_insert_default().extend(chars.next());
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    (has_quote && quote.is_none()).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::quoted_words;

    #[test]
    fn a_value_is_split_by_blanks_outside_of_quotes() {
        for (value, words) in [
            (
                r#"-v --x=exec="git push""#,
                &["-v", "--x=exec=git push"][..],
            ),
            ("'a b'c d", &["a bc", "d"]),
            (r"a\ b ''", &["a b", ""]),
            (r#""a\"b" "c'd""#, &["a\"b", "c'd"]),
        ] {
            assert_eq!(
                quoted_words(value).as_deref(),
                Some(&*words.iter().map(ToString::to_string).collect::<Vec<_>>()),
                "{value}"
            );
        }
        assert_eq!(quoted_words("a b"), None);
        assert_eq!(quoted_words("a 'b"), None);
    }
}
