//! Reserved words that stand before a command, or open and close a block (POSIX 2.4; fish's
//! `begin` and `and`).

/// Words that a command may follow.
pub(super) const LEADING: [&str; 13] = [
    "if", "then", "else", "elif", "while", "until", "do", "!", "{", "(", "time", "begin", "and",
];
/// Words that open a block.
pub(super) const OPENERS: [&str; 7] = ["if", "for", "while", "until", "case", "select", "{"];
/// Words that close a block.
pub(super) const CLOSERS: [&str; 4] = ["fi", "done", "esac", "}"];

/// The other reserved words of bash.
const OTHERS: [&str; 4] = ["function", "[[", "]]", "coproc"];

/// Whether a word, as it is written, is a reserved word where a command may stand.
pub(crate) fn is_reserved(raw: &str) -> bool {
    // Of fish.
    let is_foreign = matches!(raw, "begin" | "and");
    let mut lists = [LEADING.as_slice(), &OPENERS, &CLOSERS, &OTHERS].into_iter();
    !is_foreign && lists.any(|words| words.contains(&raw))
}
