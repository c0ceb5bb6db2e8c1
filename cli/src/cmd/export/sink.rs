//! Where an export goes: a file, or standard output.

use std::fs::File;
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
    },
}

impl Sink {
    /// A file, which is emptied; standard output without a path, and for `-`.
    pub(super) fn open(path: Option<PathBuf>) -> Result<Self, CliError> {
        let Some(path) = path.filter(|path| path != Path::new("-")) else {
            return Ok(Self::Stdout);
        };
        match File::create(&path) {
            Ok(file) => Ok(Self::File {
                file: BufWriter::new(file),
                path,
            }),
            Err(source) => Err(CliError::Unwritable { path, source }),
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        match self {
            Self::Stdout => output::print(bytes),
            Self::File { path, file } => unwritable(path, file.write_all(bytes)),
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
            Self::File { path, mut file } => unwritable(&path, file.flush()),
        }
    }
}

fn unwritable(path: &Path, written: io::Result<()>) -> Result<(), CliError> {
    written.map_err(|source| CliError::Unwritable {
        path: path.to_owned(),
        source,
    })
}
