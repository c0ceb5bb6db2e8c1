//! The scripts on the disk: written at the server's start, for shells to read.
//!
//! Directories are 0700 and files 0600, of this user, or there is an error. A file is replaced whole:
//! a shell that starts at that moment reads the old one or the new one.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

/// Below the runtime directory.
const DIRECTORY: &str = "shell";
/// The permissions of other users, of which the directories have none.
const OTHERS: u32 = 0o077;
const BASH: &str = "termd.bash";
const DASH: &str = "termd.dash";
/// zsh reads `.zshenv` in this directory.
const ZSH_DIRECTORY: &str = "zsh";
/// The directories that fish reads below one of `XDG_DATA_DIRS`.
const FISH_DIRECTORIES: [&str; 2] = ["fish", "fish/vendor_conf.d"];

/// Characters that separate directories in `XDG_DATA_DIRS`, or are expanded in `ENV` (bash(1),
/// INVOCATION).
const UNNAMEABLE: [char; 4] = [':', '$', '`', '\\'];

/// The path of each script below the directory, and its text.
const SCRIPTS: [(&str, &str); 4] = [
    (BASH, include_str!("scripts/termd.bash")),
    (DASH, include_str!("scripts/termd.dash")),
    ("zsh/.zshenv", include_str!("scripts/termd.zshenv")),
    (
        "fish/vendor_conf.d/termd.fish",
        include_str!("scripts/termd.fish"),
    ),
];

/// Why the scripts could not be installed.
#[derive(Debug, Error)]
pub enum FilesError {
    /// A file or directory could not be created.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The path is no directory that only this user may enter.
    #[error("{} is no directory that only this user may enter", path.display())]
    Unsafe {
        /// The path.
        path: PathBuf,
    },
    /// The path holds a colon or something that a shell would expand, or is not Unicode.
    #[error("{} cannot be named to a shell", path.display())]
    Unnameable {
        /// The path.
        path: PathBuf,
    },
}

/// The scripts' directory. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellFiles {
    directory: Arc<str>,
}

impl ShellFiles {
    /// Writes the scripts below the runtime directory, which only this user may enter.
    pub fn install(runtime_directory: &Path) -> Result<Self, FilesError> {
        let directory = runtime_directory.join(DIRECTORY);
        let name = directory.to_str().filter(|name| !name.contains(UNNAMEABLE));
        let Some(name) = name else {
            return Err(FilesError::Unnameable { path: directory });
        };
        private_directory(runtime_directory)?;
        private_directory(&directory)?;
        for below in [ZSH_DIRECTORY].iter().chain(&FISH_DIRECTORIES) {
            private_directory(&directory.join(below))?;
        }
        for (name, script) in SCRIPTS {
            let path = directory.join(name);
            replace(&path, script).map_err(|source| FilesError::Write { path, source })?;
        }
        Ok(Self::at(name))
    }

    /// The scripts in a directory that has them already.
    pub(super) fn at(directory: &str) -> Self {
        Self {
            directory: directory.into(),
        }
    }

    /// Every file that [`install`](Self::install) writes.
    pub fn written(&self) -> Vec<String> {
        let name = |(name, _): &(&str, &str)| format!("{}/{name}", self.directory);
        SCRIPTS.iter().map(name).collect()
    }

    /// The script for bash.
    pub fn bash(&self) -> String {
        format!("{}/{BASH}", self.directory)
    }

    /// The script for dash.
    pub fn dash(&self) -> String {
        format!("{}/{DASH}", self.directory)
    }

    /// The value of `ZDOTDIR`.
    pub fn zsh_directory(&self) -> String {
        format!("{}/{ZSH_DIRECTORY}", self.directory)
    }

    /// The first directory of `XDG_DATA_DIRS`.
    pub fn data_directory(&self) -> &str {
        &self.directory
    }
}

fn private_directory(path: &Path) -> Result<(), FilesError> {
    let failed = |source| FilesError::Write {
        path: path.to_owned(),
        source,
    };
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
        _ => {}
    }
    let found = fs::symlink_metadata(path).map_err(failed)?;
    let ours = found.uid() == rustix::process::geteuid().as_raw();
    if found.is_dir() && ours && found.mode() & OTHERS == 0 {
        Ok(())
    } else {
        Err(FilesError::Unsafe {
            path: path.to_owned(),
        })
    }
}

/// Replaces a file whole. Only one server runs at a time, so one name for the unfinished file is enough.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let unfinished = PathBuf::from(name);
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&unfinished)?;
    file.write_all(text.as_bytes())?;
    fs::rename(&unfinished, path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn private() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o700)).unwrap();
        directory
    }

    #[test]
    fn scripts_are_ours_alone_and_written_again() {
        let runtime = private();
        let files = ShellFiles::install(runtime.path()).unwrap();
        fs::write(files.bash(), "old").unwrap();
        assert_eq!(ShellFiles::install(runtime.path()).unwrap(), files);
        for (name, script) in SCRIPTS {
            let path = runtime.path().join(DIRECTORY).join(name);
            assert_eq!(fs::read_to_string(&path).unwrap(), script);
            assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600, "{name}");
            let parent = path.parent().unwrap();
            assert_eq!(parent.metadata().unwrap().mode() & 0o777, 0o700, "{name}");
            assert_eq!(
                fs::read_dir(parent).unwrap().count(),
                match name {
                    BASH | DASH => 4,
                    _ => 1,
                }
            );
        }
    }

    #[test]
    fn what_others_may_enter_is_refused() {
        let runtime = private();
        let directory = runtime.path().join(DIRECTORY);
        symlink("/", &directory).unwrap();
        let refused = || ShellFiles::install(runtime.path()).unwrap_err();
        assert!(matches!(refused(), FilesError::Unsafe { .. }));
        fs::remove_file(&directory).unwrap();
        fs::create_dir(&directory).unwrap();
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o750)).unwrap();
        assert!(matches!(refused(), FilesError::Unsafe { .. }));
        for name in ["a:b", "a$b", "a`b", "a\\b"] {
            let named = ShellFiles::install(&runtime.path().join(name)).unwrap_err();
            assert!(matches!(named, FilesError::Unnameable { .. }), "{name}");
        }
        fs::remove_dir(&directory).unwrap();
        fs::set_permissions(runtime.path(), fs::Permissions::from_mode(0o770)).unwrap();
        assert!(matches!(refused(), FilesError::Unsafe { .. }));
    }
}
