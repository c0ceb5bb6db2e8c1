//! The tty of a command that has one: its keys go to the command's own, as they come.

use std::io;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use rustix::io::Errno;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use termd_proto::TerminalRef;
use termd_proto::terminal::SendInput;

use crate::standard_fds::stdin;

/// What is read at once: what a person pastes comes in few calls.
const READ_BYTES: usize = 4096;

/// The keyboard. The tty is raw until this is dropped: the command's own tty echoes, and makes signals of
/// keys.
#[derive(Debug)]
pub(crate) struct Keyboard {
    before: Termios,
    /// The request that types what was read last. Until its answer no more is read, so that keys stay in
    /// order.
    request: Option<u64>,
    has_ended: bool,
}

impl Keyboard {
    pub(crate) fn take() -> io::Result<Self> {
        let before = tcgetattr(stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(stdin(), OptionalActions::Now, &raw)?;
        Ok(Self {
            before,
            request: None,
            has_ended: false,
        })
    }

    /// Whether keys are to be waited for.
    pub(crate) fn is_read(&self) -> bool {
        self.request.is_none() && !self.has_ended
    }

    /// Reads keys that have come: what types them.
    pub(crate) fn read(&mut self, terminal: &TerminalRef) -> Option<SendInput> {
        let mut keys = [0; READ_BYTES];
        match rustix::io::read(stdin(), &mut keys) {
            Ok(count) if count > 0 => Some(SendInput {
                id: terminal.clone(),
                text: None,
                data: Some(BASE64.encode(&keys[..count])),
                eof: None,
                input_offset: None,
                confirmed: None,
                timeout_ms: None,
            }),
            Err(Errno::AGAIN | Errno::INTR) => None,
            // The tty is hung up.
            Ok(_) | Err(_) => {
                self.has_ended = true;
                None
            }
        }
    }

    pub(crate) fn set_request(&mut self, request: Option<u64>) {
        self.request = request;
    }

    /// Whether this request was the last one's. It is answered.
    pub(crate) fn take_answer(&mut self, id: u64) -> bool {
        let is_answer = self.request == Some(id);
        if is_answer {
            self.request = None;
        }
        is_answer
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        // A tty that is hung up has no modes.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before);
    }
}
