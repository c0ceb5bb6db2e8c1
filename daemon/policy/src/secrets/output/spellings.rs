//! How programs write a value that has to be quoted or encoded: shells, JSON, Python, JavaScript, URLs. Pure.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Characters that bash's `printf %q` puts a backslash before (bash, `lib/sh/shquote.c`).
const BACKSLASHED: &str = " \t'\"\\|&;()<>!{}*[]?^$`,";
/// What a URL has in percents: all but letters, digits and the unreserved characters (RFC 3986, 2.3).
const IN_URL: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
/// The same where the value is a path.
const IN_PATH: &AsciiSet = &IN_URL.remove(b'/');

/// The spellings of a value but for the value itself. There are none of a value of letters and digits.
pub(super) fn spellings(value: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let all = [
        // `declare -p`, `export -p`
        escaped(value, "\"\\$`"),
        // `set -x`, `set`
        value.replace('\'', r"'\''"),
        // `printf %q`
        escaped(value, BACKSLASHED),
        // JSON, and Python, JavaScript and Ruby between double quotes
        escaped(value, "\"\\"),
        escaped(value, "\"\\/"),
        // The same between single quotes, and where the value has one kind of quote and the other is used
        escaped(value, "'\\"),
        escaped(value, "\\"),
        utf8_percent_encode(value, IN_URL).to_string(),
        utf8_percent_encode(value, IN_PATH).to_string(),
    ];
    for spelling in all {
        if spelling != value && !found.contains(&spelling) {
            found.push(spelling);
        }
    }
    found
}

/// A text with a backslash before each of these characters.
fn escaped(text: &str, characters: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if characters.contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_spelled_as_programs_write_it() {
        let value = r#"p'a$"\/é"#;
        let spelled = spellings(value);
        for want in [
            r#"p'a\$\"\\/é"#,
            r#"p'\''a$"\/é"#,
            r#"p\'a\$\"\\/é"#,
            r#"p'a$\"\\/é"#,
            r#"p'a$\"\\\/é"#,
            r#"p\'a$"\\/é"#,
            r#"p'a$"\\/é"#,
            "p%27a%24%22%5C%2F%C3%A9",
            "p%27a%24%22%5C/%C3%A9",
        ] {
            assert!(spelled.iter().any(|it| it == want), "{want}: {spelled:?}");
        }
        assert_eq!(spellings("abc-DEF_123.x"), Vec::<String>::new());
    }
}
