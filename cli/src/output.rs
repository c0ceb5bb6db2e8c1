//! The one room that writes to standard output and standard error.
//!
//! Short answers are written as they stand. A command's output goes through [`Pump`]: a thread of
//! its own, so that a reader who is slow (a pager) stops neither the signals nor the timeout.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;

use serde::Serialize;
use termd_client::BadAnswer;
use termd_client::escape::escaped;
use tokio::sync::{mpsc, oneshot};

use crate::error::CliError;

/// Chunks on their way to standard output; a chunk is a read's at most, 1 MiB.
const PUMP_CHUNKS: usize = 4;

/// Writes to standard output, now.
pub(crate) fn print(bytes: &[u8]) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(bytes)
        .and_then(|()| stdout.flush())
        .map_err(stdout_error)
}

/// Prints one value as one line of JSON.
pub(crate) fn print_json<T: Serialize>(value: &T) -> Result<(), CliError> {
    let mut line = serde_json::to_vec(value).map_err(BadAnswer::from)?;
    line.push(b'\n');
    print(&line)
}

/// Tells a person something beside the output, in one line on standard error.
pub(crate) fn note(text: &str) {
    // Where standard error is closed there is nobody to tell.
    let _ = writeln!(io::stderr().lock(), "termctl: {text}");
}

/// The same below a question that is still open.
pub(crate) fn note_below(text: &str) {
    let _ = writeln!(io::stderr().lock(), "\ntermctl: {text}");
}

/// Asks a person; the answer is typed behind it.
pub(crate) fn ask(question: &str) {
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "termctl: {question}").and_then(|()| stderr.flush());
}

/// Says what attach does, in brackets as script(1) and screen(1) do.
pub(crate) fn status_line(text: &str) {
    let _ = writeln!(io::stderr().lock(), "[{}]", escaped(text));
}

/// Says what went wrong: one line, or one JSON object.
pub(crate) fn report(error: &CliError, as_json: bool) {
    if as_json {
        let _ = writeln!(io::stderr().lock(), "{}", error.to_json());
    } else if !matches!(error, CliError::StdoutClosed) {
        note(&error.to_string());
    }
}

fn stdout_error(error: io::Error) -> CliError {
    if error.kind() == io::ErrorKind::BrokenPipe {
        CliError::StdoutClosed
    } else {
        CliError::Io("cannot write to standard output", error)
    }
}

/// Standard output or error, written by a thread of its own.
#[derive(Debug)]
pub(crate) struct Pump {
    chunks: mpsc::Sender<Vec<u8>>,
    result: oneshot::Receiver<io::Result<()>>,
}

impl Pump {
    /// Starts the thread. It ends when the pump is dropped or standard output fails.
    pub(crate) fn start() -> Result<Self, CliError> {
        // Not `Stdout`: its buffer looks for newlines in what goes out as it is.
        let stdout = io::stdout().as_fd().try_clone_to_owned();
        Self::into(stdout.map_err(stdout_error)?.into())
    }

    /// The same to standard error, of which its failures are told as if it were the other.
    pub(crate) fn to_stderr() -> Result<Self, CliError> {
        let stderr = io::stderr().as_fd().try_clone_to_owned();
        Self::into(stderr.map_err(stdout_error)?.into())
    }

    fn into(mut file: File) -> Result<Self, CliError> {
        let (chunks, mut waiting) = mpsc::channel::<Vec<u8>>(PUMP_CHUNKS);
        let (tell, result) = oneshot::channel();
        std::thread::Builder::new()
            .name("output".to_owned())
            .spawn(move || {
                let mut outcome = Ok(());
                while let Some(chunk) = waiting.blocking_recv() {
                    outcome = file.write_all(&chunk);
                    if outcome.is_err() {
                        break;
                    }
                }
                let _ = tell.send(outcome);
            })
            .map_err(|error| CliError::Io("cannot start a thread", error))?;
        Ok(Self { chunks, result })
    }

    /// Queues a chunk, waiting where standard output is slow. Cancel safe: all of it is queued or
    /// nothing.
    pub(crate) async fn write(&mut self, chunk: Vec<u8>) -> Result<(), CliError> {
        if chunk.is_empty() || self.chunks.send(chunk).await.is_ok() {
            return Ok(());
        }
        match (&mut self.result).await {
            Ok(Err(error)) => Err(stdout_error(error)),
            Ok(Ok(())) | Err(_) => Err(CliError::StdoutClosed),
        }
    }

    /// Waits until everything queued is written.
    pub(crate) async fn finish(self) -> Result<(), CliError> {
        drop(self.chunks);
        match self.result.await {
            Ok(outcome) => outcome.map_err(stdout_error),
            Err(_) => Err(CliError::StdoutClosed),
        }
    }
}
