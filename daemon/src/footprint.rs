//! Giving back the memory that only the start needed.
//!
//! Reading arguments and configuration, compiling patterns and opening the database touch a good part
//! of the program's text, which neither the keeper nor the server runs again. The kernel would keep
//! those pages mapped for as long as it has memory.
#![allow(unsafe_code)] // madvise(2) takes addresses.

use std::fs;
use std::ops::Range;

use rustix::mm::{Advice, madvise};

/// Unmaps the program text that was touched so far; what is still needed comes back from the page
/// cache at its next use. Failing costs memory and nothing else, so nobody is told.
pub(crate) fn drop_startup_text() {
    let Ok(maps) = fs::read_to_string("/proc/self/maps") else {
        return;
    };
    for range in maps.lines().filter_map(text_of_a_file) {
        let start = std::ptr::with_exposed_provenance_mut(range.start);
        // SAFETY: the range is a private file mapping that may be executed and not be written, so
        // no page of it differs from the file, and dropping one changes no byte that is read here.
        let _ = unsafe { madvise(start, range.len(), Advice::LinuxDontNeed) };
    }
}

/// The addresses of a line of `proc_pid_maps(5)`, if it maps a file's text and nothing can have
/// written to it.
fn text_of_a_file(line: &str) -> Option<Range<usize>> {
    let mut fields = line.split_ascii_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let permissions = fields.next()?;
    let path = fields.nth(3)?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    (permissions == "r-xp" && path.starts_with('/')).then_some(address(start)?..address(end)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_of_files_that_nobody_writes_is_dropped() {
        let table = [
            (
                "00400000-00452000 r-xp 00000000 08:02 173521  /usr/bin/dbus",
                Some(0x40_0000..0x45_2000),
            ),
            (
                "00651000-00652000 r--p 00051000 08:02 173521  /usr/bin/dbus",
                None,
            ),
            (
                "00652000-00655000 rwxp 00052000 08:02 173521  /usr/bin/dbus",
                None,
            ),
            (
                "7fff9a5b4000-7fff9a5b6000 r-xp 00000000 00:00 0  [vdso]",
                None,
            ),
            ("7f0000000000-7f0000021000 r-xp 00000000 00:00 0", None),
            ("", None),
        ];
        for (line, expected) in table {
            assert_eq!(text_of_a_file(line), expected, "{line}");
        }
    }
}
