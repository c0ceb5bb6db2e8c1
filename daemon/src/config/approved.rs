//! approved.toml, beside config.toml: what a person has agreed to for always, in a file that they
//! can read, edit and delete.
//!
//! It promises: a file and a directory that are not ours, that anybody may write, or that are links
//! are neither read nor written; what is written is whole or not there (a new file, synced, put in
//! place of the old one). A bad file leaves the last good one in force, as with config.toml; where
//! there was none, nothing is agreed to.
//! It must not know the database: what is to be recorded of a change is returned.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, openat, renameat, unlinkat};
use rustix::io::Errno;
use thiserror::Error;

use super::in_force::{Change, hash, keep_text, kept};
use super::{ConfigError, MAX_CONFIG_BYTES, parse_error, place};
use termd_policy::secrets::redact::Redactor;
use termd_policy::{Approved, ApprovedSpec};

/// The file's name, beside config.toml.
const NAME: &str = "approved.toml";
/// The same while it is written.
const NEXT_NAME: &str = ".approved.toml.next";
/// The last good text, in the state directory.
const KEPT_NAME: &str = "approved.in-force.toml";

/// What a new file begins with.
const HEAD: &str = "\
# What termd does not ask about again: somebody answered \"always\". Each rule is for one command,
# client and directory, to the letter. Delete a rule to be asked again, and then let termd read
# this: systemctl --user reload termd
";

/// Why approved.toml cannot be read or written.
#[derive(Debug, Error)]
pub enum ApprovedError {
    /// It, or its directory, is not what it should be.
    #[error("{}: {problem}", path.display())]
    Unfit {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The system refuses.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// With which.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// What stands in it is wrong.
    #[error(transparent)]
    Parse(#[from] ConfigError),
}

/// Where approved.toml and what goes with it are.
#[derive(Debug, Clone)]
pub struct ApprovedPlace {
    /// The file; it need not be there.
    pub file: PathBuf,
    /// Where the text in force is kept for the next server.
    pub state_dir: PathBuf,
    /// SHA-256 of the config.toml in force, for records.
    pub config_hash: String,
    /// What finds secrets, which are not written.
    pub redactor: Redactor,
}

/// The file beside this config.toml.
pub fn approved_file(config_file: &Path) -> PathBuf {
    config_file.with_file_name(NAME)
}

/// What a server runs on.
#[derive(Debug, Default)]
pub struct ApprovedInForce {
    /// The rules.
    pub approved: Approved,
    /// Their text.
    pub text: String,
    /// Why the file on disk is not it, in one line.
    pub fault: Option<String>,
    /// What is to be recorded before it is in force.
    pub change: Option<Change>,
    previous: Option<(Approved, String)>,
}

impl ApprovedInForce {
    /// Reads the file, and what was in force before.
    pub fn find(file: &Path, state_dir: &Path) -> Self {
        let previous = kept(&state_dir.join(KEPT_NAME));
        let previous = previous.and_then(|text| Some((parse(&text, file).ok()?, text)));
        let old = previous.as_ref().map(|(_, text)| hash(text));
        match load(file) {
            Ok((approved, text)) => {
                let new = hash(&text);
                let is_new = old.as_ref() != Some(&new) && !(old.is_none() && text.is_empty());
                Self {
                    approved,
                    text,
                    fault: None,
                    change: is_new.then_some(Change::Made { old, new }),
                    previous,
                }
            }
            Err(error) => {
                let (approved, text) = previous.unwrap_or_default();
                let refused = std::fs::read_to_string(file).ok().map(|text| hash(&text));
                Self {
                    change: Some(Change::Refused {
                        stays: hash(&text),
                        refused,
                    }),
                    approved,
                    text,
                    fault: Some(error.to_string()),
                    previous: None,
                }
            }
        }
    }

    /// The change could not be recorded: what was in force before stays, or nothing is.
    #[must_use]
    pub fn unrecorded(self, why: &str) -> Self {
        let (approved, text) = match self.fault {
            Some(_) => (self.approved, self.text),
            None => self.previous.unwrap_or_default(),
        };
        Self {
            approved,
            text,
            fault: Some(format!("a change of {NAME} cannot be recorded: {why}")),
            ..Self::default()
        }
    }
}

/// Keeps what is in force for the next server.
pub fn keep_approved(text: &str, state_dir: &Path) -> io::Result<()> {
    if text.is_empty() && kept(&state_dir.join(KEPT_NAME)).is_none() {
        return Ok(());
    }
    keep_text(text, state_dir, KEPT_NAME)
}

/// Another approved.toml, written beside it and not yet in its place.
#[derive(Debug)]
pub struct Draft {
    directory: OwnedFd,
    file: PathBuf,
    /// What stands in it.
    pub text: String,
    /// The same, ready.
    pub approved: Approved,
    /// SHA-256 of what stands there now.
    pub old: String,
    /// And of this.
    pub new: String,
    is_in_place: bool,
}

impl Draft {
    /// Writes what stands there now and another rule: `rule` as TOML, with `remarks` above it, a
    /// line each.
    pub fn prepare(file: &Path, rule: &str, remarks: &[String]) -> Result<Self, ApprovedError> {
        let parent = file.parent().unwrap_or(file);
        let made = DirBuilder::new().recursive(true).mode(0o700).create(parent);
        made.map_err(|source| io_error("make", parent, source))?;
        let directory = open_directory(parent)?;
        let before = read(&directory, file)?;
        let count = parse(&before, file)?.len();
        let mut text = before.clone();
        if text.is_empty() {
            text.push_str(HEAD);
        } else if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push('\n');
        for remark in remarks {
            // A remark has one line, whatever stands in it.
            let remark: String = remark.chars().filter(|c| !c.is_control()).collect();
            text.push_str("# ");
            text.push_str(&remark);
            text.push('\n');
        }
        text.push_str(rule);
        let approved = parse(&text, file)?;
        if approved.len() != count + 1 {
            return Err(unfit(file, "it does not hold what was written into it"));
        }
        let draft = Self {
            old: hash(&before),
            new: hash(&text),
            directory,
            file: file.to_owned(),
            text,
            approved,
            is_in_place: false,
        };
        draft.write()?;
        Ok(draft)
    }

    fn write(&self) -> Result<(), ApprovedError> {
        let failed = |source: io::Error| io_error("write", &self.file, source);
        match unlinkat(&self.directory, NEXT_NAME, AtFlags::empty()) {
            Err(error) if error != Errno::NOENT => return Err(failed(error.into())),
            // What a server that died left there.
            _ => {}
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let mode = Mode::RUSR | Mode::WUSR;
        let next = openat(&self.directory, NEXT_NAME, flags | OFlags::CLOEXEC, mode);
        let mut next = File::from(next.map_err(|error| failed(error.into()))?);
        next.write_all(self.text.as_bytes()).map_err(failed)?;
        next.sync_all().map_err(failed)
    }

    /// Puts it in its place, for good.
    pub fn put_in_place(&mut self) -> Result<(), ApprovedError> {
        let failed = |error: Errno| io_error("write", &self.file, error.into());
        renameat(&self.directory, NEXT_NAME, &self.directory, NAME).map_err(failed)?;
        self.is_in_place = true;
        rustix::fs::fsync(&self.directory).map_err(failed)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_in_place {
            // The next draft removes what cannot be removed now.
            let _ = unlinkat(&self.directory, NEXT_NAME, AtFlags::empty());
        }
    }
}

/// Reads the file; where there is none, nothing was agreed to.
fn load(file: &Path) -> Result<(Approved, String), ApprovedError> {
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

fn parse(text: &str, file: &Path) -> Result<Approved, ConfigError> {
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

fn open_directory(path: &Path) -> Result<OwnedFd, ApprovedError> {
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

fn read(directory: &OwnedFd, file: &Path) -> Result<String, ApprovedError> {
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

/// That it is ours, and nobody else's to write.
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

fn unfit(path: &Path, problem: &'static str) -> ApprovedError {
    ApprovedError::Unfit {
        path: path.to_owned(),
        problem,
    }
}

fn io_error(what: &'static str, path: &Path, source: io::Error) -> ApprovedError {
    ApprovedError::Io {
        what,
        path: path.to_owned(),
        source,
    }
}
