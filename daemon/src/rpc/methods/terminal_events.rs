//! The events of terminals on their way to one subscriber, at its pace.
//!
//! A subscriber that reads too slowly is sent [`TerminalEvent::Lagged`] in place of what it missed.

use std::sync::Arc;

use termd_proto::TerminalId;
use termd_proto::event::TerminalEvent;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::rpc::subscription::EventSink;
use crate::terminal::Terminal;

/// Forwards events until the subscriber or the daemon goes.
pub(super) async fn forward(
    mut events: broadcast::Receiver<TerminalEvent>,
    only: Option<Arc<Terminal>>,
    sink: EventSink<TerminalEvent>,
) {
    // A subscriber to one terminal counts as present at it.
    let _present = only.as_deref().map(Terminal::attend);
    loop {
        let received = tokio::select! {
            received = events.recv() => received,
            () = sink.closed() => return,
        };
        let event = match received {
            Ok(event) => {
                let wanted = only
                    .as_ref()
                    .is_none_or(|only| concerns(&event) == Some(only.id()));
                if !wanted {
                    continue;
                }
                event
            }
            Err(RecvError::Lagged(dropped)) => TerminalEvent::Lagged {
                dropped,
                end: only.as_ref().map(|only| only.end()),
            },
            Err(RecvError::Closed) => return,
        };
        // The sink's own queue is short: while it is full, events wait here and in the end lag.
        if sink.send(&event).await.is_err() {
            return;
        }
    }
}

fn concerns(event: &TerminalEvent) -> Option<&TerminalId> {
    match event {
        TerminalEvent::Created { id }
        | TerminalEvent::Output { id, .. }
        | TerminalEvent::Resized { id, .. }
        | TerminalEvent::Named { id, .. }
        | TerminalEvent::LimitReached { id, .. }
        | TerminalEvent::Attention { id, .. }
        | TerminalEvent::Exited { id, .. }
        | TerminalEvent::Closed { id } => Some(id),
        TerminalEvent::PeerLimitReached { .. } | TerminalEvent::Lagged { .. } => None,
    }
}
