//! The directories that are a sandbox's own: `/dev` always, `/tmp` and `/var/tmp` on request. Pure.

use std::ffi::{CStr, CString};

use crate::protocol::confinement::Temporary;

/// The directories for temporary files (file-hierarchy(7)).
pub(crate) const TEMPORARY: [&CStr; 2] = [c"/tmp", c"/var/tmp"];

const DEVICES: &CStr = c"/dev";

/// The sandbox's own directory that a path is beneath, and the names that lead on from there.
pub(crate) fn split(path: &[u8], temporary: Temporary) -> Option<(&'static CStr, &[u8])> {
    let own = match temporary {
        Temporary::Shared => &[][..],
        Temporary::Private => &TEMPORARY,
    };
    [DEVICES].iter().chain(own).find_map(|directory| {
        let below = path.strip_prefix(directory.to_bytes())?;
        Some((*directory, below.strip_prefix(b"/")?))
    })
}

/// The names that lead to a path from the sandbox's own directory that it is beneath; none for a
/// path elsewhere.
pub(crate) fn names_to(path: &[u8], temporary: Temporary) -> Vec<CString> {
    let names = split(path, temporary).into_iter();
    let names = names.flat_map(|(_, names)| names.split(|&byte| byte == b'/'));
    names.filter_map(|name| CString::new(name).ok()).collect()
}

/// Whether a path is one of the sandbox's own directories, or beneath one.
pub(crate) fn is_own(path: &[u8], temporary: Temporary) -> bool {
    let is_itself = |own: &CStr| own.to_bytes() == path;
    split(path, temporary).is_some()
        || is_itself(DEVICES)
        || (temporary == Temporary::Private && TEMPORARY.into_iter().any(is_itself))
}
