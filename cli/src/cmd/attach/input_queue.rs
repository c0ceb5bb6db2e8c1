//! A person's input on its way to the terminal.

use termd_client::refusal::kind_of;
use termd_client::{ClientError, Link};
use termd_proto::{ErrorKind, TerminalRef};

use super::Ending;
use crate::confirm::Consent;
use crate::error::CliError;
use crate::input::{has_ended, send_bytes};

/// Most input that waits for a program that does not read. More is dropped, as a tty drops it.
const PENDING_BYTES: usize = 1 << 20;

/// Input that was typed and has not arrived yet.
#[derive(Debug, Default)]
pub(in crate::cmd) struct InputQueue {
    /// Input that waits for the input before it.
    pub(in crate::cmd) pending: Vec<u8>,
    /// Whether input is under way.
    pub(in crate::cmd) is_sending: bool,
    /// The connection broke while input was under way, or input was dropped.
    pub(in crate::cmd) is_in_doubt: bool,
}

impl InputQueue {
    /// Queues input, up to a bound.
    pub(in crate::cmd) fn add(&mut self, typed: Vec<u8>) {
        if self.pending.len() < PENDING_BYTES {
            self.pending.extend(typed);
        } else {
            self.is_in_doubt |= !typed.is_empty();
        }
    }

    /// Whether the person has to be told that input may not have arrived, where attach ends so.
    pub(super) fn is_lost_at(&self, ending: &Result<Ending, CliError>) -> bool {
        let is_unsent = self.is_sending || !self.pending.is_empty();
        self.is_in_doubt
            || match ending {
                Ok(Ending::Detached | Ending::Signalled(_)) => is_unsent,
                Err(CliError::Client(error)) => is_unsent && error.is_unreachable(),
                Ok(Ending::Exited(_)) | Err(_) => false,
            }
    }
}

/// What became of input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cmd) enum Sent {
    Arrived,
    /// The daemon has typed none of it, and says why.
    Refused(String),
    /// The connection broke before the answer. If termctl sent a line twice, it might run twice.
    InDoubt,
}

/// Sends input. A command that has ended gets none, which is no error.
pub(in crate::cmd) async fn send_pending(
    link: &Link,
    id: &TerminalRef,
    bytes: Vec<u8>,
    consent: Consent,
) -> Result<Sent, CliError> {
    match send_bytes(link, id, &bytes, consent).await {
        Ok(_) => Ok(Sent::Arrived),
        Err(CliError::Client(ClientError::InDoubt)) => Ok(Sent::InDoubt),
        Err(error) if has_ended(error.refusal()) => Ok(Sent::Arrived),
        Err(error) if is_said(&error) => Ok(Sent::Refused(error.to_string())),
        Err(error) => Err(error),
    }
}

/// Whether a refusal is said, and attach goes on: nobody can do anything about it by leaving. A question
/// of the gate ends attach, for it is an agent that is asked.
fn is_said(error: &CliError) -> bool {
    let kind = error.refusal().and_then(kind_of);
    matches!(kind, Some(ErrorKind::AuditUnavailable | ErrorKind::Denied))
}
