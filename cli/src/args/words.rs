//! The words of a command line, before clap reads them.

use std::ffi::OsString;

/// Where the verb stands: no option before it takes a value.
pub(super) fn verb_at(words: &[OsString]) -> Option<usize> {
    let is_verb = |word: &OsString| !word.as_encoded_bytes().starts_with(b"-");
    Some(1 + words.get(1..)?.iter().position(is_verb)?)
}

/// The verb, whether or not there is one of this name.
pub(crate) fn verb(words: &[OsString]) -> Option<&str> {
    words.get(verb_at(words)?)?.to_str()
}
