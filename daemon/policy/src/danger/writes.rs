//! Files that are harmed by a write: devices, and files of the system.

use crate::path::normalized;
use crate::shell::word::UNKNOWN;

/// Why it is dangerous to write to a file.
pub(crate) fn danger(path: &str, appends: bool) -> Option<String> {
    let path = normal(path);
    if is_device(&path) {
        return Some(format!("it writes over the device {path}"));
    }
    if path == "/proc/sysrq-trigger" {
        return Some("it stops the machine by the kernel's own key".to_owned());
    }
    if is_system_path(&path) {
        return Some("it writes over a file of the system".to_owned());
    }
    if path.ends_with("/.ssh/authorized_keys") {
        return Some("it changes who may log in".to_owned());
    }
    let starts_shells = [
        ".bashrc",
        ".bash_profile",
        ".profile",
        ".zshrc",
        ".zshenv",
        ".zprofile",
    ];
    let name = path.rsplit('/').next().unwrap_or_default();
    let at_home = path.starts_with(['~', '$', '/', UNKNOWN]);
    (!appends && at_home && starts_shells.contains(&name))
        .then(|| "it empties a file that shells start with".to_owned())
}

/// A path without `.`, `..` and doubled slashes. A relative path stays as it is.
pub(super) fn normal(path: &str) -> String {
    if path.starts_with('/') {
        normalized(path)
    } else {
        path.to_owned()
    }
}

/// Whether a file belongs to the system.
pub(super) fn is_system_path(path: &str) -> bool {
    let trees = [
        "/etc/",
        "/boot/",
        "/bin/",
        "/sbin/",
        "/lib/",
        "/lib64/",
        "/usr/bin/",
        "/usr/sbin/",
        "/usr/lib/",
    ];
    trees.iter().any(|tree| path.starts_with(tree))
}

/// Whether a path is a disk or a part of one, or the machine's memory.
pub(super) fn is_device(path: &str) -> bool {
    let Some(name) = path.strip_prefix("/dev/") else {
        return false;
    };
    let numbered = [
        "sd", "hd", "vd", "xvd", "nvme", "mmcblk", "dm-", "md", "loop", "sr", "nbd",
    ];
    let kernel = ["mem", "kmem", "port"];
    let below = ["mapper/", "disk/", "block/"];
    kernel.contains(&name)
        || below.iter().any(|part| name.starts_with(part))
        || numbered.iter().any(|kind| {
            name.strip_prefix(kind).is_some_and(|rest| {
                rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == UNKNOWN)
            })
        })
}
