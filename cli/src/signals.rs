//! The signals that end termctl, caught so that it can tidy up first.

use std::num::NonZeroU8;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::CliError;
use crate::signal_number::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/// Catches these signals for as long as the process lives.
pub(crate) struct Signals {
    pub(crate) interrupt: Signal,
    pub(crate) terminate: Signal,
    pub(crate) hangup: Signal,
    quit: Signal,
}

impl Signals {
    pub(crate) fn catch() -> Result<Self, CliError> {
        Ok(Self {
            interrupt: catch(SignalKind::interrupt())?,
            terminate: catch(SignalKind::terminate())?,
            hangup: catch(SignalKind::hangup())?,
            quit: catch(SignalKind::quit())?,
        })
    }

    /// The number of the next signal. Cancel safe.
    pub(crate) async fn next(&mut self) -> NonZeroU8 {
        tokio::select! {
            _ = self.interrupt.recv() => SIGINT,
            _ = self.terminate.recv() => SIGTERM,
            _ = self.hangup.recv() => SIGHUP,
            _ = self.quit.recv() => SIGQUIT,
        }
    }
}

/// Catches one kind of signal.
pub(crate) fn catch(kind: SignalKind) -> Result<Signal, CliError> {
    signal(kind).map_err(|error| CliError::Io("cannot catch signals", error))
}
