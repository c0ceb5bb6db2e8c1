//! The errors that a peer gets for a file that could not be used.

use termd_keeper::protocol::file_operation::FileProblem;
use termd_proto::{ErrorKind, code};

use super::RpcError;
use crate::terminal::file_error::{FileError, detail, protected_by};

impl From<FileError> for RpcError {
    fn from(error: FileError) -> Self {
        let message = error.to_string();
        let failed = |path| {
            Self::new(code::FILE_FAILED, ErrorKind::FileFailed, message.clone()).with("path", path)
        };
        match error {
            FileError::Failed { path, failure } => failed(path)
                .with("detail", detail(failure))
                .with("problem", name_of(failure.problem))
                .with("errno", failure.errno),
            FileError::Protected { path, profiles } => failed(path)
                .with("detail", protected_by(&profiles))
                .with("problem", "protected"),
            FileError::Unfinished { path, problem } => failed(path)
                .with("detail", problem)
                .with("problem", "unfinished"),
            FileError::Busy { max } => Self::new(code::OVERLOADED, ErrorKind::Overloaded, message)
                .with("limit", "files at once")
                .with("max", max),
        }
    }
}

/// `data.problem` of the error.
fn name_of(problem: FileProblem) -> &'static str {
    match problem {
        FileProblem::System => "system",
        FileProblem::Directory => "directory",
        FileProblem::NoName => "no_name",
        FileProblem::NoRegularFile => "no_regular_file",
        FileProblem::Link => "link",
        FileProblem::Excluded => "excluded",
        FileProblem::OwnOfSandbox => "own_of_sandbox",
    }
}
