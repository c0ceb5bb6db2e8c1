//! Where an export goes: a file, or standard output.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use crate::error::CliError;
use crate::output;

/// Where it goes.
#[derive(Debug)]
pub(super) enum Sink {
    Stdout,
    File {
        path: PathBuf,
        file: BufWriter<File>,
        part: Option<Part>,
    },
}

/// What is written stands beside the file until it is whole: an export that fails leaves the file as it was.
#[derive(Debug)]
pub(super) struct Part {
    path: PathBuf,
    /// The file that it becomes.
    file: PathBuf,
}

impl Part {
    /// Beside a file, or where there is none yet.
    fn create(path: &Path) -> io::Result<(File, Self)> {
        // A link stays one.
        let file = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut name = file.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let part = Self {
            path: file.with_file_name(name),
            file,
        };
        let created = File::create_new(&part.path)?;
        if let Ok(before) = fs::metadata(&part.file) {
            created.set_permissions(before.permissions())?;
        }
        Ok((created, part))
    }

    fn finish(self) -> io::Result<()> {
        fs::rename(&self.path, &self.file)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // It is gone where it was finished.
        let _ = fs::remove_file(&self.path);
    }
}

impl Sink {
    /// Whether what is written stands beside the file at this path until it is whole. A device or a pipe is
    /// written to; a directory refuses.
    pub(super) fn has_part(path: &Path) -> bool {
        path != Path::new("-") && fs::metadata(path).map_or(true, |known| known.is_file())
    }

    /// A file; standard output without a path, and for `-`.
    pub(super) fn open(path: Option<PathBuf>) -> Result<Self, CliError> {
        let Some(path) = path.filter(|path| path != Path::new("-")) else {
            return Ok(Self::Stdout);
        };
        let opened = if Self::has_part(&path) {
            Part::create(&path).map(|(file, part)| (file, Some(part)))
        } else {
            let file = File::options().write(true).open(&path);
            file.map(|file| (file, None))
        };
        match opened {
            Ok((file, part)) => Ok(Self::File {
                file: BufWriter::new(file),
                path,
                part,
            }),
            Err(source) => Err(CliError::Unwritable { path, source }),
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        match self {
            Self::Stdout => output::print(bytes),
            Self::File { path, file, .. } => unwritable(path, file.write_all(bytes)),
        }
    }

    /// Writes a line, if there is one.
    pub(super) fn write_some(&mut self, line: Option<String>) -> Result<(), CliError> {
        line.map_or(Ok(()), |line| self.write(line.as_bytes()))
    }

    /// Writes what is left.
    pub(super) fn finish(self) -> Result<(), CliError> {
        match self {
            Self::Stdout => Ok(()),
            Self::File {
                path,
                mut file,
                part,
            } => {
                unwritable(&path, file.flush())?;
                unwritable(&path, part.map_or(Ok(()), Part::finish))
            }
        }
    }
}

fn unwritable(path: &Path, written: io::Result<()>) -> Result<(), CliError> {
    written.map_err(|source| CliError::Unwritable {
        path: path.to_owned(),
        source,
    })
}
