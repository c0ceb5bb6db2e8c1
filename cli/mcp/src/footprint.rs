//! Giving back the program text that only a start needed: the arguments of every verb, the
//! connection, a handshake. A shim of an MCP client lives as long as that client, one beside another.
#![allow(unsafe_code)] // madvise(2) takes addresses.

use std::fs;
use std::ops::Range;
use std::path::Path;

use rustix::mm::{Advice, madvise};

/// Unmaps what was touched so far of this program's text; what is still needed comes back from the
/// page cache at its next use. Failing costs memory and nothing else, so nobody is told.
pub(crate) fn drop_startup_text() {
    let (Ok(maps), Ok(program)) = (
        fs::read_to_string("/proc/self/maps"),
        fs::read_link("/proc/self/exe"),
    ) else {
        return;
    };
    for text in maps.lines().filter_map(|line| text_of(&program, line)) {
        let start = std::ptr::with_exposed_provenance_mut(text.start);
        // SAFETY: the range is a private mapping of the program's file that may be executed and not
        // be written, so no page of it differs from the file, and dropping one changes no byte.
        let _ = unsafe { madvise(start, text.len(), Advice::LinuxDontNeed) };
    }
}

/// The addresses of a line of `proc_pid_maps(5)` that maps this program's text.
fn text_of(program: &Path, line: &str) -> Option<Range<usize>> {
    let (mapping, path) = line.split_once('/')?;
    let mut fields = mapping.split_ascii_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let is_text = fields.next()? == "r-xp" && Path::new("/").join(path) == program;
    let address = |text| usize::from_str_radix(text, 16).ok();
    is_text.then_some(address(start)?..address(end)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_programs_own_text_is_dropped() {
        let program = Path::new("/opt/my tools/termctl");
        let table = [
            (
                "004ec000-00fbd000 r-xp 002eb000 fe:00 326279   /opt/my tools/termctl",
                Some(0x4e_c000..0xfb_d000),
            ),
            (
                "00200000-004ec000 r--p 00000000 fe:00 326279   /opt/my tools/termctl",
                None,
            ),
            (
                "004ec000-00fbd000 rwxp 002eb000 fe:00 326279   /opt/my tools/termctl",
                None,
            ),
            (
                "7f0000000000-7f0000155000 r-xp 00026000 fe:00 325843   /lib/libc.so.6",
                None,
            ),
            (
                "7fff9a5b4000-7fff9a5b6000 r-xp 00000000 00:00 0  [vdso]",
                None,
            ),
            ("", None),
        ];
        for (line, expected) in table {
            assert_eq!(text_of(program, line), expected, "{line}");
        }
    }
}
