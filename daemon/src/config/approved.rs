//! approved.toml, beside config.toml: what a person has agreed to for always, in a file that they
//! can read, edit and delete.
//!
//! **Promises:** a file or directory that is not ours, that everybody may write, or that is a link is
//! neither read nor written.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};
use rustix::io::Errno;
use thiserror::Error;

use super::config_file::MAX_CONFIG_BYTES;
use super::error::{ConfigError, parse_error, place};
use termd_policy::secrets::redact::Redactor;
use termd_policy::{Approved, ApprovedSpec};

/// The file's name, beside config.toml.
pub(super) const NAME: &str = "approved.toml";
/// Why approved.toml cannot be read or written.
#[derive(Debug, Error)]
pub enum ApprovedError {
    /// The file or its directory is not what it should be.
    #[error("{}: {problem}", path.display())]
    Unfit {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong.
        problem: &'static str,
    },
    /// A system call failed.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// The text is wrong.
    #[error(transparent)]
    Parse(#[from] ConfigError),
}

/// Where approved.toml is, and what goes with it.
#[derive(Debug, Clone)]
pub struct ApprovedPlace {
    /// The file; it need not be there.
    pub file: PathBuf,
    /// The state directory, where the text in force is kept for the next server.
    pub state_dir: PathBuf,
    /// SHA-256 of the config.toml in force, for records.
    pub config_hash: String,
    /// Finds secrets, which are not written.
    pub redactor: Redactor,
}

/// The file beside this config.toml.
pub fn approved_file(config_file: &Path) -> PathBuf {
    config_file.with_file_name(NAME)
}

/// Reads the file. Where there is none, nothing was agreed to.
pub(super) fn load(file: &Path) -> Result<(Approved, String), ApprovedError> {
    let parent = file.parent().unwrap_or(file);
    let text = match open_directory(parent) {
        Ok(directory) => read(&directory, file)?,
        Err(ApprovedError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            String::new()
        }
        // Nothing was agreed to, wherever the directory is.
        Err(_) if !file.exists() => String::new(),
        Err(error) => return Err(error),
    };
    Ok((parse(&text, file)?, text))
}

pub(super) fn parse(text: &str, file: &Path) -> Result<Approved, ConfigError> {
    let spec: ApprovedSpec =
        toml::from_str(text).map_err(|error| parse_error(text, file, &error))?;
    Approved::compile(&spec, &|at| place(text, at).0).map_err(|error| {
        let (line, column) = place(text, error.at);
        ConfigError::Parse {
            path: file.to_owned(),
            line,
            column,
            message: error.problem,
        }
    })
}

pub(super) fn open_directory(path: &Path) -> Result<OwnedFd, ApprovedError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = openat(CWD, path, flags, Mode::empty());
    let directory = opened.map_err(|error| match error {
        // What open(2) says of a link where a directory is asked for.
        Errno::LOOP | Errno::NOTDIR => unfit(path, "is a link, or no directory"),
        error => io_error("open", path, error.into()),
    })?;
    check(&directory, path)?;
    Ok(directory)
}

pub(super) fn read(directory: &OwnedFd, file: &Path) -> Result<String, ApprovedError> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = match openat(directory, NAME, flags, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(String::new()),
        Err(Errno::LOOP) => return Err(unfit(file, "is a link")),
        opened => opened.map_err(|error| io_error("read", file, error.into()))?,
    };
    let kind = check(&opened, file)?;
    if kind != FileType::RegularFile {
        return Err(unfit(file, "is no regular file"));
    }
    let mut text = String::new();
    let mut opened = File::from(opened).take(MAX_CONFIG_BYTES + 1);
    let read = opened.read_to_string(&mut text);
    read.map_err(|source| io_error("read", file, source))?;
    if text.len() as u64 > MAX_CONFIG_BYTES {
        return Err(unfit(file, "is longer than 4 MiB"));
    }
    Ok(text)
}

/// Checks that a file is the user's own, and that no other user may write to it.
fn check(opened: &OwnedFd, path: &Path) -> Result<FileType, ApprovedError> {
    let stat = fstat(opened).map_err(|error| io_error("look at", path, error.into()))?;
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(unfit(path, "belongs to another user"));
    }
    if Mode::from_raw_mode(stat.st_mode).contains(Mode::WOTH) {
        return Err(unfit(path, "may be written by everybody"));
    }
    Ok(FileType::from_raw_mode(stat.st_mode))
}

pub(super) fn unfit(path: &Path, problem: &'static str) -> ApprovedError {
    ApprovedError::Unfit {
        path: path.to_owned(),
        problem,
    }
}

pub(super) fn io_error(what: &'static str, path: &Path, source: io::Error) -> ApprovedError {
    ApprovedError::Io {
        what,
        path: path.to_owned(),
        source,
    }
}
