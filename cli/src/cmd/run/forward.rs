//! Standard input on its way to a command that is not used from this tty.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use termd_client::refusal::kind_of;
use termd_client::{ClientError, Link};
use termd_proto::terminal::{KillTerminal, MAX_SEND_BYTES, SendInput};
use termd_proto::{ErrorKind, TerminalRef};
use tokio::time::sleep;

use crate::confirm::{Consent, is_by_gate};
use crate::error::CliError;
use crate::input::{FULL_PAUSE, read_stdin, send_bytes};

/// End of file on a tty (VEOF).
const EOF: u8 = 0x04;

/// Where standard input goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Destination {
    /// It is typed into the terminal.
    Tty,
    /// It is sent into the command's pipe, byte for byte.
    Pipe,
}

/// Sends standard input to a command.
#[derive(Debug)]
pub(super) struct StdinForwarder<'a> {
    pub(super) link: &'a Link,
    pub(super) id: &'a TerminalRef,
    pub(super) consent: Consent,
    pub(super) destination: Destination,
    /// How many bytes were sent.
    pub(super) sent: u64,
}

impl StdinForwarder<'_> {
    /// Sends all of standard input, and its end. If the gate refuses a line, `refused` hears of it and the
    /// end follows at once, so that the command does not wait for more. If it refuses what the end would
    /// make a line, which the command has already, the command is killed.
    pub(super) async fn run(mut self, refused: impl Fn(&CliError)) -> Result<(), CliError> {
        let mut stdin = read_stdin()?;
        let mut is_stopped = false;
        let mut last = b'\n';
        while let Some(mut chunk) = stdin.recv().await {
            // Fewer and larger calls, where more is there.
            while chunk.len() < MAX_SEND_BYTES / 2
                && let Some(more) = stdin.try_recv()
            {
                chunk.extend(more);
            }
            let before = self.sent;
            let stopped = self.send_by_lines(&chunk).await?;
            let sent = usize::try_from(self.sent - before).unwrap_or(usize::MAX);
            last = chunk
                .get(..sent)
                .and_then(<[u8]>::last)
                .copied()
                .unwrap_or(last);
            if let Some(error) = stopped {
                refused(&error);
                is_stopped = true;
                break;
            }
        }
        match self.send_end(last).await {
            Err(error) if is_by_gate(error.refusal()) => {
                if !is_stopped {
                    refused(&error);
                }
                let (id, signal) = (self.id.clone(), None);
                self.link.once(&KillTerminal { id, signal }).await?;
                Ok(())
            }
            ended => ended,
        }
    }

    /// Sends a chunk whole; where the gate refuses that, line by line up to the line that it refuses.
    /// Returns that refusal.
    async fn send_by_lines(&mut self, chunk: &[u8]) -> Result<Option<CliError>, CliError> {
        match self.send(chunk).await {
            Err(error) if is_by_gate(error.refusal()) => {}
            sent => return sent.map(|()| None),
        }
        for line in chunk.split_inclusive(|byte| *byte == b'\n') {
            match self.send(line).await {
                Err(error) if is_by_gate(error.refusal()) => return Ok(Some(error)),
                sent => sent?,
            }
        }
        Ok(None)
    }

    async fn send(&mut self, piece: &[u8]) -> Result<(), CliError> {
        let (link, id, consent) = (self.link, self.id, self.consent);
        match self.destination {
            Destination::Tty => {
                send_bytes(link, id, piece, consent).await?;
            }
            Destination::Pipe => send_at(link, id, self.sent, piece, consent).await?,
        }
        self.sent += piece.len() as u64;
        Ok(())
    }

    async fn send_end(&self, last: u8) -> Result<(), CliError> {
        let (link, id, consent) = (self.link, self.id, self.consent);
        if self.destination == Destination::Pipe {
            let request = SendInput {
                eof: Some(true),
                ..request(id, self.sent, consent)
            };
            return Ok(send(link, &request).await?);
        }
        // Within a line, VEOF only ends the line. At a line's start it is the end of the file.
        let eof: &[u8] = if last == b'\n' { &[EOF] } else { &[EOF, EOF] };
        send_bytes(link, id, eof, consent).await.map(drop)
    }
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
