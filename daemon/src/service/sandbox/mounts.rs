//! Mounts of other processes.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// Which of these paths something is mounted on in a mount namespace other than our own, as any
/// process of this user sees it (`proc_pid_mountinfo(5)`). Processes of other users cannot be read,
/// and are in none of our sandboxes: the creator of a user namespace may read the processes in it.
pub(super) fn mounted_elsewhere(paths: &[PathBuf]) -> HashSet<PathBuf> {
    let mut seen: HashSet<OsString> = HashSet::new();
    seen.extend(mount_namespace("self"));
    let mut found = HashSet::new();
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = process.file_name();
        let is_pid = |name: &&str| name.bytes().all(|c| c.is_ascii_digit());
        let Some(pid) = name.to_str().filter(is_pid) else {
            continue;
        };
        let is_new = mount_namespace(pid).is_some_and(|namespace| seen.insert(namespace));
        if !is_new {
            continue;
        }
        let mounts = fs::read(format!("/proc/{pid}/mountinfo")).unwrap_or_default();
        let points = mounts.split(|&byte| byte == b'\n').filter_map(mount_point);
        found.extend(points.filter(|point| paths.contains(point)));
    }
    found
}

fn mount_namespace(pid: &str) -> Option<OsString> {
    let link = fs::read_link(format!("/proc/{pid}/ns/mnt")).ok()?;
    Some(link.into_os_string())
}

/// The fifth field of a line, in which the kernel writes white space and backslashes in octal.
fn mount_point(line: &[u8]) -> Option<PathBuf> {
    let field = line.split(|&byte| byte == b' ').nth(4)?;
    let mut path = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|_| byte == b'\\');
        let octal = octal.and_then(|digits| std::str::from_utf8(digits).ok());
        let octal = octal.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        path.push(octal.unwrap_or(byte));
        rest = match octal {
            Some(_) => after.get(3..).unwrap_or_default(),
            None => after,
        };
    }
    Some(PathBuf::from(OsString::from_vec(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_are_read_as_the_kernel_writes_them() {
        for (line, point) in [
            (
                "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw",
                Some("/mnt2"),
            ),
            ("1 2 0:1 / /a\\040b\\134c ro - tmpfs t rw", Some("/a b\\c")),
            ("1 2 0:1 / /a\\9 ro - tmpfs t rw", Some("/a\\9")),
            ("1 2 0:1 /", None),
            ("", None),
        ] {
            assert_eq!(
                mount_point(line.as_bytes()),
                point.map(PathBuf::from),
                "{line}"
            );
        }
    }
}
