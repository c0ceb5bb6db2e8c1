//! Where an option such as `--output FILE` writes: a file, a device or a pipe, or standard output.
//!
//! termctl writes as its user, also where an agent may write, and an agent may have put a symbolic link at the
//! name. No link there is followed: a new file takes the place of the name itself (docs/decisions/0170).

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::error::CliError;
use crate::output;

#[derive(Debug)]
pub(crate) enum OutputFile {
    Stdout,
    File {
        path: PathBuf,
        file: BufWriter<File>,
        part: Option<Part>,
    },
}

/// What is written stands beside the file until it is whole: a failure leaves the file as it was.
#[derive(Debug)]
pub(crate) struct Part {
    path: PathBuf,
    /// The file that it becomes.
    file: PathBuf,
}

impl Part {
    /// Beside a file, or where there is none yet.
    fn create(file: &Path) -> io::Result<(File, Self)> {
        let mut name = file.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let part = Self {
            path: file.with_file_name(name),
            file: file.to_owned(),
        };
        let created = File::create_new(&part.path)?;
        if let Ok(before) = fs::symlink_metadata(file)
            && before.is_file()
        {
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

impl OutputFile {
    /// Whether what is written stands beside the file at this path until it is whole. A device or a pipe is
    /// written to; a directory refuses.
    pub(crate) fn has_part(path: &Path) -> bool {
        path != Path::new("-")
            && !is_descriptor(path)
            && fs::symlink_metadata(path)
                .map_or(true, |known| known.is_file() || known.is_symlink())
    }

    /// A file; standard output without a path, and for `-`.
    pub(crate) fn open(path: Option<PathBuf>) -> Result<Self, CliError> {
        let Some(path) = path.filter(|path| path != Path::new("-")) else {
            return Ok(Self::Stdout);
        };
        let opened = if Self::has_part(&path) {
            Part::create(&path).map(|(file, part)| (file, Some(part)))
        } else {
            open_existing(&path).map(|file| (file, None))
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

    /// Writes all of a file.
    pub(crate) fn write_all(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
        let mut file = Self::open(Some(path.to_owned()))?;
        file.write(bytes)?;
        file.finish()
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        match self {
            Self::Stdout => output::print(bytes),
            Self::File { path, file, .. } => unwritable(path, file.write_all(bytes)),
        }
    }

    pub(crate) fn is_terminal(&self) -> bool {
        match self {
            Self::Stdout => io::stdout().is_terminal(),
            Self::File { file, .. } => file.get_ref().is_terminal(),
        }
    }

    /// Writes a line, if there is one.
    pub(crate) fn write_some(&mut self, line: Option<String>) -> Result<(), CliError> {
        line.map_or(Ok(()), |line| self.write(line.as_bytes()))
    }

    /// Writes what is left.
    pub(crate) fn finish(self) -> Result<(), CliError> {
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

/// Opens a device, a pipe or a descriptor of termctl's.
fn open_existing(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // A descriptor may be of a file that the shell has opened with `>>`.
    options.append(true);
    if !is_descriptor(path) {
        // A link may have taken the place of the device meanwhile.
        options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    }
    options.open(path)
}

/// Whether the path is one of the kernel's links to a descriptor, such as a shell's `>(command)`.
fn is_descriptor(path: &Path) -> bool {
    ["/dev/stdout", "/dev/stderr"]
        .map(Path::new)
        .contains(&path)
        || path.parent().is_some_and(|directory| {
            directory == Path::new("/dev/fd") || directory == Path::new("/proc/self/fd")
        })
}

fn unwritable(path: &Path, written: io::Result<()>) -> Result<(), CliError> {
    written.map_err(|source| CliError::Unwritable {
        path: path.to_owned(),
        source,
    })
}
