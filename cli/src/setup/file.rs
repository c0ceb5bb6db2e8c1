//! A client's settings file: read, edited and replaced as a whole, with a backup beside it.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::clients::Scope;
use super::{Edited, Fault, Outcome, SetupError};

/// Most bytes of a settings file. Claude Code's also has its history, some MiB.
const LARGEST: u64 = 64 * 1024 * 1024;
/// Most attempts at an edit. The client may write its file in between.
const TRIES: usize = 5;
/// Most backups of one file.
const MOST_BACKUPS: usize = 999;
/// The mode of backups, which often hold tokens.
const PRIVATE: u32 = 0o600;
/// The mode of a project's file, which all users of the project read; less the umask.
const SHARED: u32 = 0o666;

/// Reads a file (a missing one is empty), edits it and replaces it. A symbolic link stays: its target
/// is edited. The mode stays. A new file is private, except in a project.
pub(super) fn rewrite(
    path: &Path,
    scope: Scope,
    edit: impl Fn(&str) -> Result<Edited, Fault>,
) -> Result<Outcome, SetupError> {
    let fail = |doing| {
        move |error| SetupError::Io {
            path: path.to_owned(),
            doing,
            error,
        }
    };
    for _ in 0..TRIES {
        let target = followed(path).map_err(fail("read it"))?;
        let before = read(&target, path)?;
        let text = match &before {
            None => "",
            Some(bytes) => std::str::from_utf8(bytes).map_err(|error| {
                let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
                let valid = String::from_utf8_lossy(valid);
                let fault = Fault::at(&valid, valid.len(), "not UTF-8");
                SetupError::Text {
                    path: path.to_owned(),
                    fault,
                }
            })?,
        };
        let edited = edit(text).map_err(|fault| SetupError::Text {
            path: path.to_owned(),
            fault,
        })?;
        if !edited.change.writes() {
            return Ok(Outcome {
                change: edited.change,
                backup: None,
            });
        }
        let mode = match fs::metadata(&target) {
            Ok(meta) => Some(meta.permissions().mode()),
            Err(_) => None,
        };
        let new = NewFile::write(&target, edited.text.as_bytes(), mode, scope)
            .map_err(fail("write beside it"))?;
        if read(&target, path)? != before {
            continue;
        }
        let backup = match &before {
            Some(bytes) => Some(keep(path, bytes).map_err(fail("keep a backup beside it"))?),
            None => None,
        };
        if let Err(error) = new.put_at(&target) {
            if let Some(backup) = &backup {
                let _ = fs::remove_file(backup);
            }
            return Err(fail("replace it")(error));
        }
        return Ok(Outcome {
            change: edited.change,
            backup,
        });
    }
    Err(SetupError::Busy(path.to_owned()))
}

/// The backups of a file that are text, the newest first.
pub(super) fn backups(path: &Path) -> Vec<String> {
    let texts = (1..=MOST_BACKUPS).map_while(|number| fs::read(backup(path, number)).ok());
    let texts = texts.filter_map(|bytes| String::from_utf8(bytes).ok());
    let mut texts: Vec<String> = texts.collect();
    texts.reverse();
    texts
}

/// A file's text; that of a missing one is empty.
pub(super) fn text(path: &Path) -> Result<String, SetupError> {
    let bytes = read(path, path)?.unwrap_or_default();
    String::from_utf8(bytes).map_err(|error| SetupError::Text {
        path: path.to_owned(),
        fault: Fault::at("", error.utf8_error().valid_up_to(), "not UTF-8"),
    })
}

/// Removes a file that holds nothing. A link to it stays.
pub(super) fn remove_empty(path: &Path) {
    let Ok(target) = followed(path) else {
        return;
    };
    let is_empty = fs::metadata(&target).is_ok_and(|meta| meta.is_file() && meta.len() == 0);
    if is_empty {
        let _ = fs::remove_file(target);
    }
}

/// Writes a file of termctl's own as a whole, with this mode.
pub(super) fn put(path: &Path, bytes: &[u8], mode: u32) -> Result<(), SetupError> {
    let put = NewFile::write(path, bytes, Some(mode), Scope::User).and_then(|new| new.put_at(path));
    put.map_err(|error| SetupError::Io {
        path: path.to_owned(),
        doing: "write it",
        error,
    })
}

/// The path with all links followed, also of a file that does not exist yet.
fn followed(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => match fs::read_link(path) {
            Ok(link) => Ok(path.parent().unwrap_or(Path::new("/")).join(link)),
            Err(_) => Ok(path.to_owned()),
        },
        other => other,
    }
}

fn read(target: &Path, path: &Path) -> Result<Option<Vec<u8>>, SetupError> {
    let fail = |error| SetupError::Io {
        path: path.to_owned(),
        doing: "read it",
        error,
    };
    // A FIFO must not block the open.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = match OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(target)
    {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fail(error)),
    };
    let meta = file.metadata().map_err(fail)?;
    if !meta.is_file() {
        return Err(fail(io::Error::other("not a regular file")));
    }
    let mut bytes = Vec::new();
    let limit = LARGEST.saturating_add(1);
    file.take(limit).read_to_end(&mut bytes).map_err(fail)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > LARGEST) {
        return Err(SetupError::TooLarge {
            path: path.to_owned(),
            limit: LARGEST,
        });
    }
    Ok(Some(bytes))
}

/// The new content under a temporary name, which is removed on drop unless it became the file.
struct NewFile {
    at: Option<PathBuf>,
}

impl NewFile {
    fn write(target: &Path, bytes: &[u8], mode: Option<u32>, scope: Scope) -> io::Result<Self> {
        let folder = target.parent().unwrap_or(Path::new("/"));
        let is_private = scope == Scope::User;
        let folders = if is_private { 0o700 } else { 0o777 };
        DirBuilder::new()
            .recursive(true)
            .mode(folders)
            .create(folder)?;
        let at = beside(target, &format!(".termctl-{}", std::process::id()));
        let first_mode = if is_private || mode.is_some() {
            PRIVATE
        } else {
            SHARED
        };
        let mut file = (OpenOptions::new().write(true).create_new(true))
            .mode(first_mode)
            .open(&at)?;
        let new = Self { at: Some(at) };
        file.write_all(bytes)?;
        if let Some(mode) = mode {
            file.set_permissions(Permissions::from_mode(mode))?;
        }
        file.sync_all()?;
        Ok(new)
    }

    fn put_at(mut self, target: &Path) -> io::Result<()> {
        if let Some(at) = &self.at {
            fs::rename(at, target)?;
        }
        self.at = None;
        // The rename is done. A folder that cannot be synced is no failure.
        if let Some(folder) = target.parent() {
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(at) = &self.at {
            let _ = fs::remove_file(at);
        }
    }
}

/// Writes a numbered backup beside the file.
fn keep(path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    for number in 1..=MOST_BACKUPS {
        let backup = backup(path, number);
        let opened = (OpenOptions::new().write(true).create_new(true))
            .mode(PRIVATE)
            .open(&backup);
        match opened {
            Ok(mut file) => {
                let written = file.write_all(bytes).and_then(|()| file.sync_all());
                return match written {
                    Ok(()) => Ok(backup),
                    Err(error) => {
                        let _ = fs::remove_file(&backup);
                        Err(error)
                    }
                };
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("there are 999 of them already"))
}

fn backup(path: &Path, number: usize) -> PathBuf {
    beside(path, &format!(".termctl-{number}.bak"))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(suffix);
    path.with_file_name(name)
}
