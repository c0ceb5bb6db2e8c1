//! Events on their way to one subscriber, at its pace: one that reads too slowly is told what it
//! missed.

use std::sync::Arc;

use jsonrpsee::SubscriptionSink;
use termd_proto::TerminalId;
use termd_proto::event::TerminalEvent;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::terminal::Terminal;

/// Forwards events until the subscriber or the daemon goes.
pub(super) async fn forward(
    mut events: broadcast::Receiver<TerminalEvent>,
    only: Option<Arc<Terminal>>,
    sink: SubscriptionSink,
) {
    // Whoever is told of everything is at no terminal; whoever asked for this one is.
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
        let Ok(message) = serde_json::value::to_raw_value(&event) else {
            return;
        };
        // The sink's own queue is short: while it is full, events wait here and in the end lag.
        if sink.send(message).await.is_err() {
            return;
        }
    }
}

fn concerns(event: &TerminalEvent) -> Option<&TerminalId> {
    match event {
        TerminalEvent::Created { id }
        | TerminalEvent::Output { id, .. }
        | TerminalEvent::Resized { id, .. }
        | TerminalEvent::LimitReached { id, .. }
        | TerminalEvent::Exited { id, .. }
        | TerminalEvent::Closed { id } => Some(id),
        TerminalEvent::PeerLimitReached { .. } | TerminalEvent::Lagged { .. } => None,
    }
}
