//! The place of a file: its directory, opened, and its name in it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use super::{PathLimits, failure, refusal, system};
use crate::protocol::file_operation::{FileFailure, FileProblem};

/// The most directories that a path has.
const MAX_DEPTH: usize = 4_096;

/// The rights of a new directory, of which the umask takes some away, as with any program.
const NEW_DIRECTORY_MODE: Mode = Mode::from_bits_truncate(0o777);

/// The rights of a new file, of which the umask takes some away, as with any program.
pub(super) const NEW_FILE_MODE: Mode = Mode::from_bits_truncate(0o666);

/// A directory, and a name in it.
#[derive(Debug)]
pub(super) struct Place {
    directory: OwnedFd,
    pub(super) name: OsString,
}

/// A file system object, whatever path leads to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Inode {
    device: u64,
    number: u64,
}

impl Inode {
    fn of(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev,
            number: stat.st_ino,
        }
    }
}

/// A path's directory and its last name.
fn split(path: &Path) -> Result<(&Path, &OsStr), FileFailure> {
    let parts = path.parent().zip(path.file_name());
    parts.ok_or_else(|| refusal(FileProblem::NoName))
}

impl Place {
    /// Opens the directory of a path that has no link in it (ELOOP).
    pub(super) fn open(path: &Path, limits: &PathLimits) -> Result<Self, FileFailure> {
        let (parent, name) = split(path)?;
        let place = Self::open_directory(parent, name)?;
        place.check(parent, limits)?;
        Ok(place)
    }

    /// The same, and makes what is missing of the directory.
    pub(super) fn make(path: &Path, limits: &PathLimits) -> Result<Self, FileFailure> {
        let (parent, name) = split(path)?;
        let place = match Self::open_directory(parent, name) {
            Err(missing) if missing.errno == Errno::NOENT.raw_os_error() => {
                let above = Self::make(parent, limits)?;
                above.make_directory()?;
                let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let made = rustix::fs::openat(&above.directory, &above.name, flags, Mode::empty());
                Self {
                    directory: made.map_err(|errno| failure(FileProblem::Directory, errno))?,
                    name: name.to_owned(),
                }
            }
            opened => opened?,
        };
        place.check(parent, limits)?;
        Ok(place)
    }

    /// Makes a directory here, if nobody has meanwhile.
    fn make_directory(&self) -> Result<(), FileFailure> {
        match rustix::fs::mkdirat(&self.directory, &self.name, NEW_DIRECTORY_MODE) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(errno) => Err(failure(FileProblem::Directory, errno)),
        }
    }

    fn open_directory(parent: &Path, name: &OsStr) -> Result<Self, FileFailure> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let directory = rustix::fs::openat2(CWD, parent, flags, Mode::empty(), links);
        Ok(Self {
            directory: directory.map_err(|errno| failure(FileProblem::Directory, errno))?,
            name: name.to_owned(),
        })
    }

    pub(super) fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    fn check(&self, parent: &Path, limits: &PathLimits) -> Result<(), FileFailure> {
        let statfs = rustix::fs::fstatfs(&self.directory).map_err(system)?;
        // The files of /proc are views of processes, this one among them.
        if statfs.f_type == rustix::fs::PROC_SUPER_MAGIC {
            return Err(refusal(FileProblem::NoRegularFile));
        }
        let here = rustix::fs::fstat(&self.directory).map_err(system)?;
        for own in limits.own_of_sandbox {
            let has_device = rustix::fs::stat(*own).is_ok_and(|own| own.st_dev == here.st_dev);
            if parent.starts_with(own) && has_device {
                return Err(refusal(FileProblem::OwnOfSandbox));
            }
        }
        self.check_excluded(&limits.excluded)
    }

    /// Checks that no directory from here to the root is an excluded one.
    fn check_excluded(&self, excluded: &[PathBuf]) -> Result<(), FileFailure> {
        let excluded = excluded
            .iter()
            .filter_map(|path| rustix::fs::stat(path).ok());
        let excluded: Vec<Inode> = excluded.map(|stat| Inode::of(&stat)).collect();
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut directory = rustix::fs::openat(&self.directory, ".", flags, Mode::empty());
        let mut below = None;
        for _ in 0..MAX_DEPTH {
            let above = directory.map_err(system)?;
            let inode = Inode::of(&rustix::fs::fstat(&above).map_err(system)?);
            if excluded.contains(&inode) {
                return Err(refusal(FileProblem::Excluded));
            }
            if below == Some(inode) {
                return Ok(());
            }
            below = Some(inode);
            directory = rustix::fs::openat(&above, "..", flags, Mode::empty());
        }
        Err(system(Errno::NAMETOOLONG))
    }

    /// The file that is there; `None` where nothing is.
    pub(super) fn existing(&self) -> Result<Option<Stat>, FileFailure> {
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        match rustix::fs::statat(&self.directory, &self.name, flags) {
            Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => Ok(Some(stat)),
                FileType::Symlink => Err(refusal(FileProblem::Link)),
                _ => Err(refusal(FileProblem::NoRegularFile)),
            },
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(system(errno)),
        }
    }

    /// Opens the file. Another kind of file that has come meanwhile neither blocks nor passes.
    pub(super) fn open_file(&self, flags: OFlags) -> Result<(File, Stat), FileFailure> {
        let careful = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let flags = flags | careful;
        let file = rustix::fs::openat(&self.directory, &self.name, flags, NEW_FILE_MODE)
            .map_err(system)?;
        let stat = rustix::fs::fstat(&file).map_err(system)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(refusal(FileProblem::NoRegularFile));
        }
        Ok((file.into(), stat))
    }

    /// Opens the file for reading: the file and its size.
    pub(super) fn open_to_read(&self) -> Result<(File, u64), FileFailure> {
        if self.existing()?.is_none() {
            return Err(system(Errno::NOENT));
        }
        let (file, stat) = self.open_file(OFlags::RDONLY)?;
        Ok((file, u64::try_from(stat.st_size).unwrap_or(0)))
    }
}
