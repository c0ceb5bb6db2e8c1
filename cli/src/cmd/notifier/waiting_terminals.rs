//! The terminals that want something of a person, as they change.

use std::collections::BTreeMap;

use termd_client::refusal::kind_of;
use termd_client::{ClientError, Link, Subscription};
use termd_proto::event::TerminalEvent;
use termd_proto::terminal::{ListScope, ShowTerminal, SubscribeEvents, TerminalInfo};
use termd_proto::{ErrorKind, Tags, TerminalId, TerminalRef};

use crate::cmd::list::list;
use crate::error::CliError;

/// The open terminals that wait for a person.
pub(super) struct WaitingTerminals<'a> {
    link: &'a Link,
    events: Subscription<TerminalEvent>,
    waiting: BTreeMap<TerminalId, TerminalInfo>,
}

/// A change of them.
#[derive(Debug)]
pub(super) enum Change {
    /// This terminal waits for something else than before.
    Waits(TerminalId),
    /// This terminal waits no more, or was closed.
    WaitsNoMore(TerminalId),
    /// Which is not known: events were missed, or the server was replaced.
    Unknown,
}

impl<'a> WaitingTerminals<'a> {
    pub(super) async fn look(link: &'a Link) -> Result<Self, CliError> {
        // Before the list: what changes after it is an event.
        let events = link.subscribe(&SubscribeEvents { id: None }).await?;
        let open = list(link, ListScope::Open, &Tags::default()).await?;
        let waiting = open.into_iter().filter(is_waiting);
        Ok(Self {
            link,
            events,
            waiting: waiting.map(|info| (info.id.clone(), info)).collect(),
        })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &TerminalInfo> {
        self.waiting.values()
    }

    /// Waits for a change. Cancel safe.
    pub(super) async fn next(&mut self) -> Change {
        loop {
            match self.events.next().await {
                Some(Ok(TerminalEvent::Attention { id, attention })) => {
                    return if attention.state.is_waiting() {
                        Change::Waits(id)
                    } else {
                        Change::WaitsNoMore(id)
                    };
                }
                Some(Ok(TerminalEvent::Closed { id })) => return Change::WaitsNoMore(id),
                Some(Ok(TerminalEvent::Lagged { .. }) | Err(_)) | None => return Change::Unknown,
                Some(Ok(_)) => {}
            }
        }
    }

    /// Takes a change: looks again at what has changed.
    pub(super) async fn take(&mut self, change: Change) -> Result<(), CliError> {
        match change {
            Change::Waits(id) => {
                let show = ShowTerminal {
                    id: TerminalRef::from(&id),
                };
                match self.link.repeat(&show).await {
                    Ok(info) if is_waiting(&info) => _ = self.waiting.insert(id, info),
                    Ok(_) => _ = self.waiting.remove(&id),
                    Err(error) if is_gone(&error) => _ = self.waiting.remove(&id),
                    Err(error) => return Err(error.into()),
                }
            }
            Change::WaitsNoMore(id) => _ = self.waiting.remove(&id),
            Change::Unknown => *self = Self::look(self.link).await?,
        }
        Ok(())
    }
}

fn is_waiting(info: &TerminalInfo) -> bool {
    let attention = info.attention.as_ref();
    attention.is_some_and(|attention| attention.state.is_waiting())
}

fn is_gone(error: &ClientError) -> bool {
    let refusal = error.refusal();
    refusal.is_some_and(|refusal| kind_of(refusal) == Some(ErrorKind::TerminalNotFound))
}
