//! The signals that the proxy and the agent's supervisor handle.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::AcpError;

/// The signals that ask this process to end.
#[derive(Debug)]
pub(super) struct EndSignals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl EndSignals {
    pub(super) fn listen() -> Result<Self, AcpError> {
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            hang_up: listen(SignalKind::hangup())?,
        })
    }

    /// Waits for the next one.
    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}

/// SIGCHLD.
#[derive(Debug)]
pub(super) struct ChildSignals(Signal);

impl ChildSignals {
    /// Handles a few unused signals as well. execve(2) keeps an ignored signal ignored and resets a
    /// handled one, so the agent does not inherit what this process was started to ignore.
    pub(super) fn listen() -> Result<Self, AcpError> {
        for kind in [
            SignalKind::quit(),
            SignalKind::user_defined1(),
            SignalKind::user_defined2(),
            SignalKind::alarm(),
        ] {
            // The handler stays installed without the stream.
            drop(listen(kind)?);
        }
        Ok(Self(listen(SignalKind::child())?))
    }

    /// Waits until children have ended, stopped or continued.
    pub(super) async fn changed(&mut self) {
        self.0.recv().await;
    }
}

fn listen(kind: SignalKind) -> Result<Signal, AcpError> {
    signal(kind).map_err(AcpError::Signals)
}
