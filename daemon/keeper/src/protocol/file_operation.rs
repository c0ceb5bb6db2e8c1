//! An operation on one file, which a child does in the place of a command and under a command's
//! confinement. Plain values; their encoding is in [`wire`](super::wire).
//!
//! The child writes a [`FileAnswer`] to its standard output, behind it what it has read, and exits.

/// The most bytes of a file that are read. The rest is left out.
pub const MAX_READ_BYTES: u64 = 16 * 1024 * 1024;

/// An operation on one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileOperation {
    /// What is done.
    pub action: FileAction,
    /// The file's path; absolute. Only [`FileAction::Resolve`] follows links.
    pub path: Vec<u8>,
    /// Directories beneath which no file is read or written, by whatever path it is reached.
    pub excluded: Vec<Vec<u8>>,
}

/// What is done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileAction {
    /// Finds where the path leads. The answer's path has no link, `.` or `..` in it.
    Resolve(Target),
    /// Writes the content, whose descriptor is sent beside the message.
    Write(WriteMode),
    /// Reads the file, up to [`MAX_READ_BYTES`].
    Read,
}

/// What a path has to lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A regular file, or a name for one in a directory that exists. A link is followed.
    File,
    /// The same, and the last name may be no link.
    NoLink,
    /// Anything that exists.
    Existing,
}

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMode {
    /// The file has the content, whole or not at all.
    Replace,
    /// The content is added at the file's end.
    Append,
    /// As `Replace`, and there may be no file yet.
    Create,
}

/// What came of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileAnswer {
    /// It was done.
    Done {
        /// The file's path.
        path: Vec<u8>,
        /// The file's size, in bytes.
        bytes: u64,
    },
    /// It was not done.
    Failed(FileFailure),
}

/// Why an operation was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileFailure {
    /// What is wrong with the path.
    pub problem: FileProblem,
    /// The error of the system call; 0 where there is none.
    pub errno: i32,
}

/// What is wrong with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileProblem {
    /// The system refuses, for the reason in `errno`.
    System,
    /// The directory of the file cannot be found, for the reason in `errno`.
    Directory,
    /// It names no file.
    NoName,
    /// There is something that is no regular file.
    NoRegularFile,
    /// The last name is a symbolic link.
    Link,
    /// It lies beneath an excluded directory.
    Excluded,
    /// It lies in a directory that each sandbox has for itself.
    OwnOfSandbox,
}

/// All problems, by their number on the wire.
pub(super) const PROBLEMS: [FileProblem; 7] = [
    FileProblem::System,
    FileProblem::Directory,
    FileProblem::NoName,
    FileProblem::NoRegularFile,
    FileProblem::Link,
    FileProblem::Excluded,
    FileProblem::OwnOfSandbox,
];
