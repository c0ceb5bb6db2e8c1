//! Cgroups of terminals (Documentation/admin-guide/cgroup-v2.rst), where systemd has delegated the
//! cgroup of the daemon's unit ([`Delegation`]). All that a command starts is in its terminal's cgroup,
//! whatever it drops, and is killed by one write ([`kill`]).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

mod delegation;
mod directory;

pub(crate) use self::delegation::Delegation;
pub(crate) use self::directory::{is_populated, kill, remove};

/// The mount point of the unified hierarchy (`file-hierarchy(7)`).
pub(crate) const MOUNT_POINT: &str = "/sys/fs/cgroup";

/// The path of a cgroup's directory, as `/proc/PID/cgroup` says it.
pub(crate) fn path_of(directory: &Path) -> Option<&Path> {
    let length = MOUNT_POINT.len();
    let is_below = directory.starts_with(MOUNT_POINT);
    let bytes = directory.as_os_str().as_bytes();
    is_below.then(|| Path::new(OsStr::from_bytes(&bytes[length..])))
}

/// The path in the unified hierarchy of a `/proc/PID/cgroup`.
pub(crate) fn path_in(listed: &str) -> Option<&str> {
    listed.lines().find_map(|line| line.strip_prefix("0::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_and_its_path_are_told_apart() {
        let directory = Path::new("/sys/fs/cgroup/a/b.scope");
        assert_eq!(path_of(directory), Some(Path::new("/a/b.scope")));
        assert_eq!(path_of(Path::new("/sys/fs/cgroups/a")), None);
        assert_eq!(path_in("4:memory:/x\n0::/y\n"), Some("/y"));
        assert_eq!(path_in("4:memory:/x\n"), None);
    }
}
