//! What is written to a file: in memory that a child can read, with its hash.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;

use rustix::fs::MemfdFlags;
use sha2::{Digest, Sha256};
use termd_proto::Offset;
use termd_proto::file::MAX_CONTENT_BYTES;
use termd_proto::terminal::{Encoding, ReadFrom};

use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::read::options::ReadOptions;
use crate::terminal::read::read;

/// Output that is turned into text at once, in bytes.
const PAGE_BYTES: u64 = 1 << 20;

/// What a file is to hold.
#[derive(Debug)]
pub(crate) enum ContentSource {
    Bytes(Vec<u8>),
    /// The terminal's output so far, as plain text.
    Transcript,
}

/// The content of a file that is to be written.
#[derive(Debug)]
pub(super) struct FileContent {
    memory: File,
    pub(super) bytes: u64,
    hash: Sha256,
}

impl FileContent {
    fn empty() -> Result<Self, TerminalError> {
        let memory = rustix::fs::memfd_create("termd-content", MemfdFlags::CLOEXEC);
        Ok(Self {
            memory: memory.map_err(std::io::Error::from)?.into(),
            bytes: 0,
            hash: Sha256::new(),
        })
    }

    pub(super) async fn new(
        source: ContentSource,
        terminal: &Terminal,
    ) -> Result<Self, TerminalError> {
        match source {
            ContentSource::Bytes(bytes) => Self::of(&bytes),
            ContentSource::Transcript => Self::transcript(terminal).await,
        }
    }

    fn of(bytes: &[u8]) -> Result<Self, TerminalError> {
        let mut content = Self::empty()?;
        content.push(bytes, "data")?;
        Ok(content)
    }

    async fn transcript(terminal: &Terminal) -> Result<Self, TerminalError> {
        let mut content = Self::empty()?;
        let (mut from, end) = (Offset::ZERO, terminal.end());
        while from < end {
            let options = ReadOptions {
                from: ReadFrom::Offset(from),
                until: Some(end),
                stream: None,
                max_bytes: Some(PAGE_BYTES),
                max_lines: None,
                encoding: Encoding::Text,
                wait_ms: None,
            };
            // It goes into a file, as what `>` writes does.
            let page = read(terminal, &options).await?.into_printed().answer;
            content.push(page.text.unwrap_or_default().as_bytes(), "transcript")?;
            if page.end <= from {
                break;
            }
            from = page.end;
        }
        Ok(content)
    }

    fn push(&mut self, bytes: &[u8], field: &'static str) -> Result<(), TerminalError> {
        self.bytes += bytes.len() as u64;
        if self.bytes > MAX_CONTENT_BYTES {
            let problem = format!("may be {MAX_CONTENT_BYTES} bytes long at the most");
            return Err(TerminalError::Invalid { field, problem });
        }
        self.memory.write_all(bytes)?;
        self.hash.update(bytes);
        Ok(())
    }

    /// Its SHA-256, in hexadecimal digits.
    pub(super) fn sha256(&self) -> String {
        format!("{:x}", self.hash.clone().finalize())
    }

    pub(super) fn into_fd(self) -> OwnedFd {
        self.memory.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_has_its_length_and_hash() {
        let content = FileContent::of(b"abc").unwrap();
        assert_eq!(content.bytes, 3);
        // FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(content.sha256(), expected);
    }
}
