//! Which hyperlinks (OSC 8) of a program a person is given.
//!
//! Pure. Source: "Hyperlinks in terminal emulators", by which an address has no bytes outside of 32 to 126.

/// The schemes of links. None of them runs anything.
const SCHEMES: [&str; 4] = ["http", "https", "file", "mailto"];

/// Whether a link may lead to this address: it shows all that it has, and opens a document.
pub fn may_link(target: &str) -> bool {
    let scheme = target.split_once(':').map(|(scheme, _)| scheme);
    is_plain(target)
        && scheme.is_some_and(|scheme| {
            SCHEMES
                .iter()
                .any(|known| scheme.eq_ignore_ascii_case(known))
        })
}

/// Whether a text is of printable ASCII: nothing in it hides, or turns the reading direction.
pub fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_mislead_or_run_are_no_links() {
        for target in [
            "http://a/?b=c#d",
            "HTTPS://a",
            "file://host/a%20b",
            "mailto:me@a",
        ] {
            assert!(may_link(target), "{target}");
        }
        for target in [
            "",
            "a",
            ":",
            "javascript:alert(1)",
            "data:text/html,x",
            "http://a/\u{202e}b",
            "http://a/\u{200b}",
            "http://a/\u{e0041}",
            "http://a/\u{2028}",
            "http://a/\u{1b}]",
            "http://a/\u{9c}",
            "http://\u{430}",
        ] {
            assert!(!may_link(target), "{target}");
        }
    }
}
