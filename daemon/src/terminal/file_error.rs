//! Why a file was not read or written for a client.

use std::io;

use termd_keeper::protocol::file_operation::{FileFailure, FileProblem};
use thiserror::Error;

/// Why a file was not read or written.
#[derive(Debug, Error)]
pub enum FileError {
    #[error("cannot use the file {path}: {}", detail(*failure))]
    Failed { path: String, failure: FileFailure },
    #[error("cannot write the file {path}: {}", protected_by(.profiles))]
    Protected { path: String, profiles: String },
    /// It is not known what came of it.
    #[error("the operation on the file {path} did not end well: {problem}")]
    Unfinished { path: String, problem: String },
    #[error("{max} files are being read or written, which is the limit: try again")]
    Busy { max: usize },
}

impl FileError {
    /// The file is in a directory of termd's own.
    pub fn excluded(path: String) -> Self {
        let failure = FileFailure {
            problem: FileProblem::Excluded,
            errno: 0,
        };
        Self::Failed { path, failure }
    }
}

/// What a sandbox says of a file that it protects.
pub fn protected_by(profiles: &str) -> String {
    format!("the profile {profiles} protects it")
}

/// What is wrong with a path, for a sentence.
pub fn detail(FileFailure { problem, errno }: FileFailure) -> String {
    let system = io::Error::from_raw_os_error(errno);
    match problem {
        FileProblem::Directory if system.kind() == io::ErrorKind::NotFound => {
            "Parent directory does not exist (ENOENT)".to_owned()
        }
        FileProblem::System | FileProblem::Directory => system.to_string(),
        FileProblem::NoName => "it names no file".to_owned(),
        FileProblem::NoRegularFile => "it is not a file".to_owned(),
        FileProblem::Link => "it is a symbolic link; give a path of a file".to_owned(),
        FileProblem::Excluded => {
            "that directory is termd's own, or hidden by the sandbox".to_owned()
        }
        FileProblem::OwnOfSandbox => {
            "its directory is not the terminal's: each sandbox has one of its own".to_owned()
        }
    }
}
