//! Standard input on its way to a command that is not used from this tty.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use termd_client::refusal::kind_of;
use termd_client::{ClientError, Link};
use termd_proto::terminal::{MAX_SEND_BYTES, SendInput};
use termd_proto::{ErrorKind, TerminalRef};
use tokio::time::sleep;

use crate::confirm::{Consent, is_asked_for};
use crate::error::CliError;
use crate::input::{FULL_PAUSE, read_stdin, send_bytes};

/// End of file on a tty (VEOF).
const EOF: u8 = 0x04;

/// Types standard input, and then end of file. If the gate stops a line, end of file follows at once,
/// so that the command does not wait for more.
pub(super) async fn type_stdin(
    link: &Link,
    id: &TerminalRef,
    consent: Consent,
) -> Result<(), CliError> {
    let mut stdin = read_stdin()?;
    let mut last = b'\n';
    let mut stopped = None;
    while let Some(chunk) = stdin.recv().await {
        match send_bytes(link, id, &chunk, consent).await {
            Err(error) if is_asked_for(error.refusal()) => {
                stopped = Some(error);
                break;
            }
            sent => sent?,
        };
        last = chunk.last().copied().unwrap_or(last);
    }
    // Within a line, VEOF only ends the line. At a line's start it is the end of the file.
    let eof: &[u8] = if last == b'\n' { &[EOF] } else { &[EOF, EOF] };
    send_bytes(link, id, eof, Consent::Given).await?;
    stopped.map_or(Ok(()), Err)
}

/// Sends standard input into the command's pipe, byte for byte, and its end. If the gate stops a line,
/// the end follows at once.
pub(super) async fn pipe_stdin(
    link: &Link,
    id: &TerminalRef,
    consent: Consent,
) -> Result<(), CliError> {
    let mut stdin = read_stdin()?;
    let mut sent = 0;
    let mut stopped = None;
    while let Some(mut chunk) = stdin.recv().await {
        // Fewer and larger calls, where more is there.
        while chunk.len() < MAX_SEND_BYTES / 2
            && let Ok(more) = stdin.try_recv()
        {
            chunk.extend(more);
        }
        match send_at(link, id, sent, &chunk, consent).await {
            Err(error) if is_asked_for(error.refusal()) => {
                stopped = Some(error);
                break;
            }
            result => result?,
        }
        sent += chunk.len() as u64;
    }
    let request = SendInput {
        eof: Some(true),
        ..request(id, sent, consent)
    };
    send(link, &request).await?;
    stopped.map_or(Ok(()), Err)
}

async fn send_at(
    link: &Link,
    id: &TerminalRef,
    offset: u64,
    bytes: &[u8],
    consent: Consent,
) -> Result<(), CliError> {
    let request = SendInput {
        data: Some(STANDARD.encode(bytes)),
        ..request(id, offset, consent)
    };
    Ok(send(link, &request).await?)
}

fn request(id: &TerminalRef, offset: u64, consent: Consent) -> SendInput {
    SendInput {
        id: id.clone(),
        text: None,
        data: None,
        eof: None,
        input_offset: Some(offset),
        confirmed: Some(consent.is_given()),
        timeout_ms: None,
    }
}

/// Sends, also again over a new connection: the offset says what is there already. Waits while the
/// queue is full.
async fn send(link: &Link, request: &SendInput) -> Result<(), ClientError> {
    loop {
        match link.repeat(request).await {
            Err(ClientError::Refused(refusal))
                if kind_of(&refusal) == Some(ErrorKind::InputQueueFull) =>
            {
                sleep(FULL_PAUSE).await;
            }
            sent => return sent.map(drop),
        }
    }
}
