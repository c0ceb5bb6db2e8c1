//! Names of files of which parts may not be known.

use crate::glob;
use crate::shell::word::UNKNOWN;

/// Whether two names may be of one file, of which parts may not be known. A name of which nothing is known
/// is not taken for any other.
pub(super) fn may_be(known: &str, name: &str) -> bool {
    let is_open = known.contains(UNKNOWN) || name.contains(UNKNOWN);
    let is_named = |name: &str| name.chars().any(|c| c != UNKNOWN);
    known == name
        || (is_open
            && is_named(known)
            && is_named(name)
            && glob::may_fit(&known.replace(UNKNOWN, "*"), name, UNKNOWN))
}
