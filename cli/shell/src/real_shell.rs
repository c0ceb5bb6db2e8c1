//! The shell that this program stands in for.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use thiserror::Error;

/// The name where the program was called by one that is no shell's.
const DEFAULT_NAME: &str = "bash";
/// The shells that it stands in for.
const NAMES: [&str; 3] = ["bash", "zsh", "sh"];
/// Where shells are that PATH does not lead to.
const DIRECTORIES: [&str; 2] = ["/bin", "/usr/bin"];

/// There is no such shell but this program itself.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("not run: there is no {0}")]
pub(crate) struct NoShell(&'static str);

/// The real shell.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RealShell {
    pub(crate) program: PathBuf,
}

impl RealShell {
    /// The first program of the name in `args` that is not this one, on PATH and then where systems have
    /// their shells.
    pub(crate) fn find(args: &[OsString]) -> Result<Self, NoShell> {
        let name = name_of(args.first().map_or(OsStr::new(""), |first| first));
        let own = identity(Path::new("/proc/self/exe"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        find_in(&path, name, own).ok_or(NoShell(name))
    }
}

fn find_in(path: &OsStr, name: &str, own: Option<(u64, u64)>) -> Option<RealShell> {
    let directories = std::env::split_paths(path).chain(DIRECTORIES.map(PathBuf::from));
    // A relative part of PATH would mean another shell in each directory.
    let directories = directories.filter(|directory| directory.is_absolute());
    let mut programs = directories.map(|directory| directory.join(name));
    let program = programs.find(|program| {
        let found = identity(program);
        let is_real = found.is_some() && found != own && !is_another_copy(program);
        is_real && access(program.as_path(), Access::EXEC_OK).is_ok()
    });
    program.map(|program| RealShell { program })
}

/// The name by which the program was called. A login shell's begins with `-`.
fn name_of(first: &OsStr) -> &'static str {
    let called = Path::new(first).file_name().and_then(OsStr::to_str);
    let called = called.map(|name| name.trim_start_matches('-'));
    let known = NAMES.into_iter().find(|name| Some(*name) == called);
    known.unwrap_or(DEFAULT_NAME)
}

/// Whether the file behind all links is this program, installed in another place: the two would execute
/// each other for ever.
fn is_another_copy(path: &Path) -> bool {
    let file = fs::canonicalize(path);
    file.is_ok_and(|file| file.file_name() == Some(OsStr::new(env!("CARGO_PKG_NAME"))))
}

/// The file behind all links, by device and inode; `None`: there is no such file.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_name_is_that_of_the_call() {
        for (called, name) in [
            ("bash", "bash"),
            ("/x/shells/zsh", "zsh"),
            ("-sh", "sh"),
            ("termd-shell", "bash"),
            ("", "bash"),
        ] {
            assert_eq!(name_of(OsStr::new(called)), name, "{called}");
        }
    }

    #[test]
    fn the_program_itself_is_passed_over_behind_all_links() {
        let dir = tempfile::tempdir().unwrap();
        let (ours, links) = (dir.path().join("ours"), dir.path().join("links"));
        fs::create_dir(&links).unwrap();
        fs::copy("/bin/sh", &ours).unwrap();
        symlink(&ours, links.join("sh")).unwrap();
        let path = OsString::from(format!("relative:{}:/bin", links.display()));
        let own = identity(&ours);
        let real = find_in(&path, "sh", own).unwrap();
        assert_eq!(real.program, Path::new("/bin/sh"));
        let real = find_in(&path, "sh", None).unwrap();
        assert_eq!(real.program, links.join("sh"));
        assert_eq!(find_in(&path, "no-such-shell", own), None);
        let copy = dir.path().join("termd-shell");
        fs::rename(&ours, &copy).unwrap();
        fs::remove_file(links.join("sh")).unwrap();
        symlink(&copy, links.join("sh")).unwrap();
        let real = find_in(&path, "sh", None).unwrap();
        assert_eq!(real.program, Path::new("/bin/sh"));
    }
}
