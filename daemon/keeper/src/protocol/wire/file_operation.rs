//! The encoding of a [`FileOperation`] and of its [`FileAnswer`]: pure, and total over any bytes.

use super::fields::{Malformed, Reader, Writer};
use crate::protocol::file_operation::{
    FileAction, FileAnswer, FileFailure, FileOperation, PROBLEMS, Target, WriteMode,
};

impl Writer {
    pub(super) fn file(&mut self, file: Option<&FileOperation>) {
        let Some(file) = file else {
            return self.u8(0);
        };
        self.u8(match file.action {
            FileAction::Resolve(Target::File) => 1,
            FileAction::Resolve(Target::NoLink) => 2,
            FileAction::Resolve(Target::Existing) => 3,
            FileAction::Write(WriteMode::Replace) => 4,
            FileAction::Write(WriteMode::Append) => 5,
            FileAction::Write(WriteMode::Create) => 6,
            FileAction::Read => 7,
        });
        self.bytes(&file.path);
        self.list(&file.excluded);
    }
}

impl Reader<'_> {
    /// Added later: an older server sends nothing here.
    pub(super) fn file(&mut self) -> Result<Option<FileOperation>, Malformed> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let action = match self.u8()? {
            0 => return Ok(None),
            1 => FileAction::Resolve(Target::File),
            2 => FileAction::Resolve(Target::NoLink),
            3 => FileAction::Resolve(Target::Existing),
            4 => FileAction::Write(WriteMode::Replace),
            5 => FileAction::Write(WriteMode::Append),
            6 => FileAction::Write(WriteMode::Create),
            7 => FileAction::Read,
            _ => return Err(Malformed),
        };
        Ok(Some(FileOperation {
            action,
            path: self.bytes()?,
            excluded: self.list()?,
        }))
    }
}

impl FileAnswer {
    /// The answer's bytes, which what was read follows.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        match self {
            Self::Done { path, bytes } => {
                out.u8(0);
                out.bytes(path);
                out.u64(*bytes);
            }
            Self::Failed(FileFailure { problem, errno }) => {
                let number = PROBLEMS.iter().position(|known| known == problem);
                out.u8(1);
                out.u8(number.and_then(|at| u8::try_from(at).ok()).unwrap_or(0));
                out.i32(*errno);
            }
        }
        out.0
    }

    /// The answer that begins these bytes, and what follows it.
    pub fn from_bytes(bytes: &[u8]) -> Result<(Self, &[u8]), Malformed> {
        let mut input = Reader(bytes);
        let answer = match input.u8()? {
            0 => Self::Done {
                path: input.bytes()?,
                bytes: input.u64()?,
            },
            1 => Self::Failed(FileFailure {
                problem: *PROBLEMS.get(usize::from(input.u8()?)).ok_or(Malformed)?,
                errno: input.i32()?,
            }),
            _ => return Err(Malformed),
        };
        Ok((answer, input.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::file_operation::FileProblem;

    #[test]
    fn answers_come_through_whole_or_not_at_all() {
        let done = FileAnswer::Done {
            path: vec![b'/', 0xff],
            bytes: u64::MAX,
        };
        let failed = PROBLEMS.map(|problem| FileAnswer::Failed(FileFailure { problem, errno: -2 }));
        for answer in failed.into_iter().chain([done]) {
            let mut bytes = answer.to_bytes();
            for length in 0..bytes.len() {
                assert!(
                    FileAnswer::from_bytes(&bytes[..length]).is_err(),
                    "{answer:?}"
                );
            }
            bytes.extend_from_slice(b"content");
            let expected = (answer, &b"content"[..]);
            assert_eq!(FileAnswer::from_bytes(&bytes), Ok(expected));
        }
        let unknown = FileFailure {
            problem: FileProblem::System,
            errno: 0,
        };
        let mut bytes = FileAnswer::Failed(unknown).to_bytes();
        bytes[1] = u8::MAX;
        assert!(FileAnswer::from_bytes(&bytes).is_err());
    }
}
