//! Assignments as a table, as the expression that says what they are, and what looking for them costs.

use regex::Regex;

use super::*;

/// What an assignment is.
const EXPRESSION: &str = r#"([A-Za-z0-9_.-]+)=((?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s&;,|<>()'"`])+)"#;

fn parts(text: &str) -> Vec<(&str, &str)> {
    let parts = assignments(text).map(|found| (&text[found.name], &text[found.value]));
    parts.collect()
}

#[test]
fn names_and_values_are_told_apart() {
    let table: &[(&str, &[(&str, &str)])] = &[
        ("a=b", &[("a", "b")]),
        ("a=b c=d;e.f-g=h", &[("a", "b"), ("c", "d"), ("e.f-g", "h")]),
        ("a='b c'd\"e f\"g h", &[("a", "'b c'd\"e f\"g")]),
        ("a=\"b\\\"c\" d", &[("a", "\"b\\\"c\"")]),
        ("a=b\"c", &[("a", "b")]),
        ("a=\"b", &[]),
        ("a==b", &[("a", "=b")]),
        ("=b é=c a= d", &[]),
        ("a=é\u{a0}", &[("a", "é")]),
        ("a=x\\\"b=y", &[("a", "x\\"), ("b", "y")]),
    ];
    for (text, expected) in table {
        assert_eq!(parts(text), *expected, "{text:?}");
    }
}

#[test]
fn they_are_what_the_expression_says() {
    const PIECES: &[&str] = &[
        "a", "=", "\"", "'", "\\", "\n", " ", ";", "é", "B_1.-", "\u{a0}", "x=", "\\\"",
    ];
    let expression = Regex::new(EXPRESSION).unwrap();
    let mut state = 11_u64;
    let mut below = |bound: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % bound
    };
    for _ in 0..20_000 {
        let text: String = (0..=below(30))
            .map(|_| PIECES[below(PIECES.len())])
            .collect();
        let expected: Vec<_> = expression
            .captures_iter(&text)
            .map(|found| {
                (
                    found.get(1).unwrap().as_str(),
                    found.get(2).unwrap().as_str(),
                )
            })
            .collect();
        assert_eq!(parts(&text), expected, "{text:?}");
    }
}

#[test]
fn each_byte_is_looked_at_a_few_times() {
    for piece in [
        "a",
        "=",
        "a=",
        "a=b ",
        "a=\"",
        "a=\"b\" ",
        "a='",
        "a=x\\\"",
        "a=x\\\"\\",
        "a=\\\"\\\n",
        "a=\"\\",
        "a=\"'",
    ] {
        let text = piece.repeat((64 << 10) / piece.len());
        for text in [format!("\"{text}"), format!("{text}\\\n"), text] {
            let mut looking = assignments(&text);
            while looking.next().is_some() {}
            assert!(
                looking.read <= 8 * text.len(),
                "{piece:?}: {} in {}",
                looking.read,
                text.len()
            );
        }
    }
}
