//! Tables of words, each written as one string.

/// Whether a word is in a list of words, which white space separates.
pub(crate) fn is_listed(word: &str, list: &str) -> bool {
    // Most words are in no list, and a search of the whole string tells that fastest.
    list.contains(word) && list.split_ascii_whitespace().any(|listed| listed == word)
}
