//! Standard output and standard error. No other module writes to them.
//!
//! Short answers are written directly. A command's output goes through a [`Pump`], which has its own
//! thread, so that a slow reader (a pager) holds up neither signals nor the timeout.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::time::Duration;

use serde::Serialize;
use termd_client::BadAnswer;
use termd_client::escape::{escaped, printable};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use crate::error::CliError;
use crate::json;

/// Most chunks in a pump's queue; a chunk is at most one read, 1 MiB.
const PUMP_CHUNKS: usize = 4;
/// How long a tty may take to draw the rest at the end.
const LAST_WRITE: Duration = Duration::from_secs(1);

/// Writes to standard output.
pub(crate) fn print(bytes: &[u8]) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(bytes)
        .and_then(|()| stdout.flush())
        .map_err(stdout_error)
}

/// Prints one value as one line of JSON.
pub(crate) fn print_json<T: Serialize>(value: &T) -> Result<(), CliError> {
    let mut line = json::to_vec(value).map_err(BadAnswer::from)?;
    line.push(b'\n');
    print(&line)
}

/// Prints a line for a person on standard error.
pub(crate) fn note(text: &str) {
    // A closed standard error has no reader.
    let _ = writeln!(io::stderr().lock(), "termctl: {}", printable(text));
}

/// Prints a line below a question that is still open.
pub(crate) fn note_below(text: &str) {
    let _ = writeln!(io::stderr().lock(), "\ntermctl: {}", printable(text));
}

/// Prints a question. The person types the answer behind it.
pub(crate) fn ask(question: &str) {
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "termctl: {}", printable(question)).and_then(|()| stderr.flush());
}

/// Prints the argument parser's refusal, which quotes the arguments, on standard error.
pub(crate) fn usage(text: &str) {
    let _ = write!(io::stderr().lock(), "{}", printable(text));
}

/// Prints a line about attach in brackets, as script(1) and screen(1) do.
pub(crate) fn status_line(text: &str) {
    let _ = writeln!(io::stderr().lock(), "[{}]", escaped(text));
}

/// Prints an error as one line or one JSON object.
pub(crate) fn report(error: &CliError, as_json: bool) {
    if as_json {
        let mut line = json::to_vec(&error.to_json()).unwrap_or_default();
        line.push(b'\n');
        let _ = io::stderr().lock().write_all(&line);
    } else if !error.is_of_closed_stdout() {
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

/// A thread that writes to standard output or standard error.
#[derive(Debug)]
pub(crate) struct Pump {
    chunks: mpsc::Sender<Vec<u8>>,
    result: oneshot::Receiver<io::Result<()>>,
}

impl Pump {
    /// Starts the thread. It ends when the pump is dropped or standard output fails.
    pub(crate) fn start() -> Result<Self, CliError> {
        // Not `Stdout`, whose buffer searches all bytes for newlines.
        let stdout = io::stdout().as_fd().try_clone_to_owned();
        Self::into(stdout.map_err(stdout_error)?.into())
    }

    /// Starts a thread for standard error. Its failures are reported as those of standard output.
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

    /// Whether a chunk can be queued without a wait.
    pub(crate) fn has_room(&self) -> bool {
        self.chunks.is_closed() || self.chunks.capacity() > 0
    }

    /// What takes chunks, for a writer that knows nothing of where they go. The thread ends when it is
    /// dropped, too.
    pub(crate) fn sender(&self) -> mpsc::Sender<Vec<u8>> {
        self.chunks.clone()
    }

    /// Queues a chunk, and waits while the queue is full. Cancel safe: either all of the chunk is queued
    /// or nothing.
    pub(crate) async fn write(&mut self, chunk: Vec<u8>) -> Result<(), CliError> {
        self.write_made(|| chunk).await
    }

    /// Waits for room, and queues what is made then. A filter that has passed a chunk counts on its being
    /// written, so it is asked only when that is certain.
    pub(crate) async fn write_made(
        &mut self,
        make: impl FnOnce() -> Vec<u8>,
    ) -> Result<(), CliError> {
        if let Ok(room) = self.chunks.reserve().await {
            room.send(make());
            return Ok(());
        }
        match (&mut self.result).await {
            Ok(Err(error)) => Err(stdout_error(error)),
            Ok(Ok(())) | Err(_) => Err(CliError::StdoutClosed),
        }
    }

    /// Waits until the queue is written, as long as a person would, and returns whether it is. A tty that takes no
    /// output any more only gets its modes back.
    pub(crate) async fn finish_on_tty(self) -> bool {
        matches!(timeout(LAST_WRITE, self.finish()).await, Ok(Ok(())))
    }

    /// Waits until the queue is written.
    pub(crate) async fn finish(self) -> Result<(), CliError> {
        drop(self.chunks);
        match self.result.await {
            Ok(outcome) => outcome.map_err(stdout_error),
            Err(_) => Err(CliError::StdoutClosed),
        }
    }
}
