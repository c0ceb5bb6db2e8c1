//! Files that are harmed by a write: devices, files of the system, and those that are obeyed later.

use crate::glob::{self, Case};
use crate::path::normalized;
use crate::program::table::FilePatterns;
use crate::shell::state::place::Place;
use crate::shell::word::UNKNOWN;

/// The files that matter, seen from where a command works.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Files<'a> {
    patterns: &'a FilePatterns,
    place: &'a Place,
}

impl<'a> Files<'a> {
    pub(crate) fn new(patterns: &'a FilePatterns, place: &'a Place) -> Self {
        Self { patterns, place }
    }

    /// The first reason that one of the files gives which a path may be.
    fn first<T>(&self, path: &str, reason: impl Fn(&str, bool) -> Option<T>) -> Option<T> {
        let files = self.place.files(path);
        files
            .iter()
            .find_map(|(path, is_named)| reason(path, *is_named))
    }
}

/// Why it is dangerous to write to a file.
pub(crate) fn danger(files: Files<'_>, path: &str, appends: bool) -> Option<String> {
    files.first(path, |path, is_named| {
        write_to(files.patterns, path, appends, is_named)
    })
}

fn write_to(files: &FilePatterns, path: &str, appends: bool, is_named: bool) -> Option<String> {
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
    let own = from_home(&path);
    if own.ends_with("/.ssh/authorized_keys") {
        return Some("it changes who may log in".to_owned());
    }
    // What is put into a directory lies below it.
    let below = path.ends_with('/').then(|| format!("{own}/x"));
    if is_one_of(&files.settings, &own)
        || below.is_some_and(|path| is_one_of(&files.settings, &path))
    {
        return Some("it changes a file that is obeyed later".to_owned());
    }
    let is_log = [".log", ".pid", ".lock"]
        .iter()
        .any(|end| path.ends_with(end));
    // Whoever starts below `/srv` works there.
    if is_named && !is_log && is_one_of(&files.served, &path) {
        return Some("it writes over what a service holds".to_owned());
    }
    (!appends && is_one_of(&files.appended, &own))
        .then(|| "it writes over a file that holds what cannot be had again".to_owned())
}

/// Whether programs obey a file later.
pub(crate) fn is_setting(files: Files<'_>, path: &str) -> bool {
    is_one_of(&files.patterns.settings, path)
}

/// Why it is dangerous to remove a file.
pub(super) fn removal(files: Files<'_>, path: &str) -> Option<String> {
    let is_elsewhere = path.starts_with('/') && !path.starts_with("/tmp/");
    files.first(path, |path, _| {
        let path = normal(path);
        if is_root(&path) || is_system_path(&path) {
            return Some("it removes a file of the system".to_owned());
        }
        let own = from_home(&path);
        let files = files.patterns;
        if is_one_of(&files.settings, &own) || is_one_of(&files.credentials, &own) {
            return Some("it removes settings or a key".to_owned());
        }
        (is_elsewhere && is_data(&path)).then(|| "it removes data of elsewhere".to_owned())
    })
}

/// Why it is dangerous to send a file somewhere.
pub(crate) fn upload(files: Files<'_>, path: &str) -> Option<String> {
    let path = path.trim_start_matches('@');
    // Options of the file may stand behind it: `-F 'f=@.env;type=text/plain'`, socat's `FILE:.env,rdonly`.
    let name = path.split([',', ';']).next().unwrap_or(path);
    if path.contains("{}") {
        return Some("it sends all files that another command finds".to_owned());
    }
    if is_credential(files, path) || is_credential(files, name) {
        return Some(format!("it sends {path}, which holds secrets"));
    }
    if is_data(path) {
        return Some(format!("it sends {path}, which holds data"));
    }
    is_outside(files, path).then(|| format!("it sends {path}, which is none of its directory's"))
}

/// Whether a file is known to lie neither in the directory of the command nor where files come and go.
fn is_outside(files: Files<'_>, path: &str) -> bool {
    let path = path.replace("${HOME}", "~").replace("$HOME", "~");
    let is_public = path.contains(UNKNOWN)
        || path
            .rsplit_once('.')
            .is_some_and(|(_, suffix)| suffix == "pub");
    let passing = [
        "/tmp",
        "/var/tmp",
        "/dev",
        "/usr/share",
        "/build",
        "/workspace",
        "/app",
    ];
    let own = files.place.files(".").into_iter().map(|(path, _)| path);
    let mut inside = own
        .filter(|root| root.starts_with(['/', '~']))
        .chain(passing.map(str::to_owned));
    let is_below = |root: &str, path: &str| {
        let rest = path.strip_prefix(root.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let resolved = files.place.files(&path);
    let resolved = resolved.first().map_or(path.as_str(), |(path, _)| path);
    path.starts_with(['/', '~']) && !is_public && !inside.any(|root| is_below(&root, resolved))
}

/// Whether a file is one that a person keeps for themselves, or the home as a whole.
pub(crate) fn is_private(files: Files<'_>, path: &str) -> bool {
    let path = path.replace("${HOME}", "~").replace("$HOME", "~");
    let home = matches!(path.trim_end_matches('/'), "~" | "/home" | "/root" | "/");
    let own = from_home(&normal(&path));
    home || is_one_of(&files.patterns.private, &own)
}

/// Whether a file holds secrets, by its name.
pub(crate) fn is_credential(files: Files<'_>, path: &str) -> bool {
    let is_public = path.rsplit_once('.').is_some_and(|(_, kind)| kind == "pub");
    let found = files.first(path, |path, _| {
        is_one_of(&files.patterns.credentials, &from_home(&normal(path))).then_some(())
    });
    !is_public && found.is_some()
}

pub(super) fn is_one_of(patterns: &[String], path: &str) -> bool {
    let mut patterns = patterns.iter();
    patterns.any(|pattern| glob::fits(pattern, path, Case::Counts))
}

/// A path with a home directory as `~`, and a relative path behind `./`.
pub(super) fn from_home(path: &str) -> String {
    let path = path.trim_end_matches('/');
    for home in ["$HOME/", "${HOME}/", "/root/"] {
        if let Some(rest) = path.strip_prefix(home) {
            return format!("~/{rest}");
        }
    }
    for homes in ["/home/", "/Users/"] {
        if let Some((_, rest)) = path
            .strip_prefix(homes)
            .and_then(|rest| rest.split_once('/'))
        {
            return format!("~/{rest}");
        }
    }
    // `$dir/x` may be a file of the home. Of `$file` nothing is known.
    if let Some(rest) = path.strip_prefix(UNKNOWN)
        && rest.starts_with('/')
    {
        return format!("~{rest}");
    }
    // `~me/x`
    if let Some((_, rest)) = path.strip_prefix('~').and_then(|rest| rest.split_once('/')) {
        return format!("~/{rest}");
    }
    if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("./{}", path.trim_start_matches("./"))
    }
}

/// A path without `.`, `..` and doubled slashes. A relative path stays as it is.
pub(super) fn normal(path: &str) -> String {
    if path.starts_with('/') {
        normalized(path)
    } else {
        path.to_owned()
    }
}

pub(super) fn is_root(path: &str) -> bool {
    matches!(path, "/" | "/*")
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
fn is_device(path: &str) -> bool {
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

/// Whether a file is a database, by its name.
pub(crate) fn is_database(name: &str) -> bool {
    [".db", ".sqlite", ".sqlite3"]
        .iter()
        .any(|suffix| name.ends_with(suffix))
}

/// Whether a file holds data that nothing makes anew, by its name.
pub(crate) fn is_data(name: &str) -> bool {
    let suffixes = [
        ".db", ".sqlite", ".sqlite3", ".sql", ".dump", ".bak", ".key", ".pem", ".kdbx", ".rdb",
        ".tfstate", ".mdb", ".parquet", ".gpg", ".p12",
    ];
    let packed = [".gz", ".xz", ".zst", ".bz2"];
    let name = packed
        .iter()
        .find_map(|suffix| name.strip_suffix(suffix))
        .unwrap_or(name);
    suffixes.iter().any(|suffix| name.ends_with(suffix))
}
