//! Words quoted for a shell.

/// The shell line that an argv is judged as: its words joined by one space, each quoted where a
/// shell needs it. The spans of a judgement of an argv are byte ranges of this text.
pub fn command_text(argv: &[String]) -> String {
    let words: Vec<String> = argv.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

/// A word, in single quotes where a shell needs them.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
