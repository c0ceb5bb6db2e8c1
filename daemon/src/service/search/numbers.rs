//! Numbers in the index, decimal and hexadecimal.
//!
//! By chance a text of some KiB has each trigram of digits, and so all trigrams of many numbers that it does not
//! have. So a number is indexed, and asked for, by its parts of five digits as well, of which there are a million.

/// Digits of a part.
const PART: usize = 5;
/// The longest run of digits that is indexed by its parts: that of a SHA-256. A dump would make the index longer
/// than the text.
const MAX_RUN: usize = 64;
/// The word of a text with a longer run, which may have any number.
const LONG: &str = "long";
/// The most parts of a question: more hardly find less.
const MAX_PARTS: usize = 16;

/// The parts of a folded text's numbers, as words.
pub(super) fn parts(text: &str) -> String {
    let mut words = String::new();
    let mut has_long = false;
    for run in text
        .split(|c: char| !is_digit(c))
        .filter(|run| run.len() >= PART)
    {
        if run.len() > MAX_RUN {
            has_long = true;
            continue;
        }
        for at in 0..=run.len() - PART {
            words.extend(run.get(at..at + PART));
            words.push(' ');
        }
    }
    if has_long {
        words.push_str(LONG);
    }
    words
}

/// Which of the characters stand in a run that has parts.
pub(super) fn in_numbers(text: &[char]) -> Vec<bool> {
    let mut found = vec![false; text.len()];
    let mut start = 0;
    for run in text.split(|c| !is_digit(*c)) {
        let end = start + run.len();
        if run.len() >= PART {
            found[start..end].fill(true);
        }
        start = end + 1;
    }
    found
}

/// The FTS5 query that finds every text in which the numbers of this one stand; `None`: it has none.
pub(super) fn query(text: &[char]) -> Option<String> {
    let is_digits = |part: &&[char]| part.iter().all(|c| is_digit(*c));
    let parts = text.windows(PART).filter(is_digits).take(MAX_PARTS);
    let parts: Vec<String> = parts.map(|part| part.iter().collect()).collect();
    (!parts.is_empty()).then(|| {
        let parts: Vec<String> = parts.iter().map(|part| format!("\"{part}\"")).collect();
        format!("(({}) OR \"{LONG}\")", parts.join(" AND "))
    })
}

/// Whether a folded character is a digit, decimal or hexadecimal.
fn is_digit(character: char) -> bool {
    matches!(character, '0'..='9' | 'a'..='f')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_found_in_each_text_that_has_it() {
        assert_eq!(parts("id 8fa3bc, 1234 (56789)"), "8fa3b fa3bc 56789 ");
        assert_eq!(parts("facade, bead"), "facad acade ");
        assert_eq!(parts(&"0".repeat(MAX_RUN + 1)), LONG);
        let query = |text: &str| query(&text.chars().collect::<Vec<_>>());
        let wanted = r#"(("12345" AND "23456") OR "long")"#;
        assert_eq!(query("x123456").as_deref(), Some(wanted));
        assert_eq!(query("1234"), None);
        let in_numbers = |text: &str| in_numbers(&text.chars().collect::<Vec<_>>());
        assert_eq!(
            in_numbers("x12345-1"),
            [false, true, true, true, true, true, false, false]
        );
        assert_eq!(in_numbers("é1234"), [false; 5]);
    }

    #[test]
    fn a_text_has_what_each_of_its_pieces_is_asked_by() {
        let dump = "5e".repeat(MAX_RUN);
        for text in [
            "x1234567890 beef, c0ffee\t99 deadbeef;7",
            "ü0x7f3a9c-é12345",
            &dump,
        ] {
            let has = parts(text);
            let has: Vec<&str> = has.split_whitespace().collect();
            let characters: Vec<char> = text.chars().collect();
            for start in 0..characters.len() {
                for end in start..=characters.len() {
                    let asked = query(&characters[start..end]).unwrap_or_default();
                    let mut asked = asked.split('"').skip(1).step_by(2);
                    let is_found = has.contains(&LONG)
                        || asked.all(|part| part == LONG || has.contains(&part));
                    assert!(is_found, "{:?}", &characters[start..end]);
                }
            }
        }
    }
}
