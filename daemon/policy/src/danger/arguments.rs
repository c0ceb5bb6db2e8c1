//! Questions about the arguments of a command.

use crate::shell::word::Word;
use crate::word_list::is_listed;

/// The first argument that is no option, and the arguments behind it. `valued` are options whose next
/// word is their value.
pub(super) fn verb<'a>(args: &'a [Word], valued: &str) -> Option<(&'a str, &'a [Word])> {
    let mut at = 0;
    while let Some(word) = args.get(at) {
        if !word.text.starts_with('-') {
            return Some((&word.text, args.get(at + 1..).unwrap_or_default()));
        }
        at += if is_listed(&word.text, valued) { 2 } else { 1 };
    }
    None
}

/// Whether one of the arguments is exactly one of these.
pub(super) fn any(args: &[Word], wanted: &str) -> bool {
    args.iter().any(|word| is_listed(&word.text, wanted))
}
