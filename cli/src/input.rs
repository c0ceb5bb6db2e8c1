//! Standard input, read by its own thread; and input sent to a terminal in order.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jsonrpsee::types::ErrorObjectOwned;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use termd_client::refusal::kind_of;
use termd_client::{ClientError, Link};
use termd_proto::interact::{TypeInput, TypedInput};
use termd_proto::terminal::{MAX_SEND_BYTES, SendInput, SendResult};
use termd_proto::{ErrorKind, TerminalRef};
use tokio::sync::mpsc;
use tokio::time::sleep;

use crate::confirm::Consent;
use crate::error::CliError;
use crate::usage_error::UsageError;

/// Bytes of one read of standard input: the capacity of a pipe.
const READ_BYTES: usize = 64 * 1024;
/// Most reads in the queue. More input waits in the pipe.
const CHUNKS: usize = 4;
/// The pause between two attempts while the terminal's input queue is full.
pub(crate) const FULL_PAUSE: Duration = Duration::from_millis(50);

/// Standard input, read for as long as the value lives. A later reader gets all that comes after that.
#[derive(Debug)]
pub(crate) struct Stdin {
    chunks: mpsc::Receiver<Vec<u8>>,
    /// Its end ends the thread.
    _stop: OwnedFd,
}

impl Stdin {
    /// The next chunk; `None` at the end of input or at an error. Cancel safe.
    pub(crate) async fn recv(&mut self) -> Option<Vec<u8>> {
        self.chunks.recv().await
    }

    /// The chunks, for a reader that knows nothing of their origin.
    pub(crate) fn chunks(&mut self) -> &mut mpsc::Receiver<Vec<u8>> {
        &mut self.chunks
    }

    /// The next chunk, if it is there.
    pub(crate) fn try_recv(&mut self) -> Option<Vec<u8>> {
        self.chunks.try_recv().ok()
    }
}

/// Starts reading standard input.
pub(crate) fn read_stdin() -> Result<Stdin, CliError> {
    let cannot = |error| CliError::Io("cannot read standard input", error);
    // Not `Stdin`, whose buffer would keep bytes from later readers.
    let mut stdin = File::from(io::stdin().as_fd().try_clone_to_owned().map_err(cannot)?);
    let (chunks, receiver) = mpsc::channel(CHUNKS);
    let (stopped, stop) = pipe_with(PipeFlags::CLOEXEC).map_err(|error| cannot(error.into()))?;
    std::thread::Builder::new()
        .name("stdin".to_owned())
        .spawn(move || {
            let mut buffer = vec![0; READ_BYTES];
            while is_readable(&stdin, &stopped) {
                match stdin.read(&mut buffer) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Ok(0) | Err(_) => break,
                    Ok(length) => {
                        let chunk = buffer.get(..length).unwrap_or_default().to_vec();
                        if chunks.blocking_send(chunk).is_err() {
                            break;
                        }
                    }
                }
            }
        })
        .map_err(cannot)?;
    Ok(Stdin {
        chunks: receiver,
        _stop: stop,
    })
}

/// Waits until there is something to read, or the end of it. False: its reader is gone.
fn is_readable(stdin: &File, stopped: &OwnedFd) -> bool {
    loop {
        let mut either = [
            PollFd::new(stdin, PollFlags::IN),
            PollFd::new(stopped, PollFlags::IN),
        ];
        match poll(&mut either, None) {
            Err(Errno::INTR) => {}
            // What cannot be polled is read.
            Err(_) => return true,
            Ok(_) => return either[1].revents().is_empty(),
        }
    }
}

/// Types bytes into a terminal, and waits while its queue is full. Returns how many bytes were sent,
/// and how many are queued at the end.
pub(crate) async fn send_bytes(
    link: &Link,
    id: &TerminalRef,
    bytes: &[u8],
    consent: Consent,
) -> Result<SendResult, CliError> {
    let mut total: Option<SendResult> = None;
    for chunk in bytes.chunks(MAX_SEND_BYTES) {
        let data = STANDARD.encode(chunk);
        let result = loop {
            let sent = link
                .once(&SendInput {
                    id: id.clone(),
                    text: None,
                    data: Some(data.clone()),
                    eof: None,
                    input_offset: None,
                    confirmed: Some(consent.is_given()),
                    timeout_ms: None,
                })
                .await;
            match sent {
                Err(ClientError::Refused(refusal))
                    if kind_of(&refusal) == Some(ErrorKind::InputQueueFull) =>
                {
                    sleep(FULL_PAUSE).await;
                }
                other => break other?,
            }
        };
        total = Some(match total {
            None => result,
            Some(before) => sent_before(&before, &result),
        });
    }
    total.ok_or(UsageError::EmptyInput.into())
}

/// Types text and keys, and waits while the terminal's queue is full.
pub(crate) async fn type_input(
    link: &Link,
    id: &TerminalRef,
    input: &TypedInput,
    consent: Consent,
) -> Result<SendResult, ClientError> {
    loop {
        let typed = link
            .once(&TypeInput {
                id: id.clone(),
                input: input.clone(),
                confirmed: Some(consent.is_given()),
                timeout_ms: None,
            })
            .await;
        match typed {
            Err(ClientError::Refused(refusal))
                if kind_of(&refusal) == Some(ErrorKind::InputQueueFull) =>
            {
                sleep(FULL_PAUSE).await;
            }
            other => return other,
        }
    }
}

/// Two calls as one: the input that the first left in the queue was sent before the second's.
pub(crate) fn sent_before(before: &SendResult, after: &SendResult) -> SendResult {
    SendResult {
        sent: before.sent + before.queued + after.sent,
        queued: after.queued,
        offset: before.offset,
    }
}

/// Whether a refusal means that the terminal's command has ended, or reads no more.
pub(crate) fn has_ended(refusal: Option<&ErrorObjectOwned>) -> bool {
    matches!(
        refusal.and_then(kind_of),
        Some(ErrorKind::TerminalExited | ErrorKind::TerminalNotFound | ErrorKind::InputEnded)
    )
}
