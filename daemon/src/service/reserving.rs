//! A place among the running terminals, and a label: taken before a start, given back where it does
//! not come about.

use termd_proto::event::TerminalEvent;
use termd_proto::{Label, TerminalId};

use super::asked::CreateRequest;
use super::{Accepts, ClientKey, Starting, Terminals};
use crate::terminal::error::{RunningLimit, TerminalError};

impl Terminals {
    fn tell_of_too_many(&self, limit: RunningLimit, pid: i32) {
        let (name, value) = (limit.name(), limit.value());
        tracing::warn!(pid, limit = name, value, "no more terminals are started");
        let _ = self.inner.events.send(TerminalEvent::PeerLimitReached {
            pid: Some(pid),
            limit: name.to_owned(),
            value: u64::try_from(value).unwrap_or(u64::MAX),
        });
    }

    pub(super) fn reserve<'a>(
        &'a self,
        id: &TerminalId,
        request: &CreateRequest,
    ) -> Result<Reservation<'a>, TerminalError> {
        let (label, client) = (request.label.as_ref(), ClientKey::from(&request.owner));
        let mut index = self.index();
        if index.accepts == Accepts::No {
            return Err(TerminalError::Stopping);
        }
        if let Some(limit) = index.limit_reached_by(&client, self.inner.options.max_running) {
            if !std::mem::replace(&mut index.is_full_told, true) {
                self.tell_of_too_many(limit, client.pid);
            }
            return Err(TerminalError::TooMany(limit));
        }
        index.is_full_told = false;
        if let Some(max_running) = request.max_running
            && index.running_of(|of| *of == client) >= max_running as usize
        {
            return Err(TerminalError::TooManyOfClient { max_running });
        }
        if let Some(label) = label {
            if index.labels.contains_key(label) {
                return Err(TerminalError::LabelTaken(label.clone()));
            }
            index.labels.insert(label.clone(), id.clone());
        }
        index.running += 1;
        let starting = Starting {
            client,
            pid: None,
            reaped: None,
        };
        index.starting.insert(id.clone(), starting);
        Ok(Reservation {
            terminals: self,
            id: id.clone(),
            label: label.cloned(),
            kept: false,
        })
    }
}

/// A place among the running terminals, and a label; both are given back unless kept.
pub(super) struct Reservation<'a> {
    terminals: &'a Terminals,
    id: TerminalId,
    label: Option<Label>,
    kept: bool,
}

impl Reservation<'_> {
    pub(super) fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        let mut index = self.terminals.index();
        index.starting.remove(&self.id);
        index.running = index.running.saturating_sub(1);
        if let Some(label) = &self.label {
            index.labels.remove(label);
        }
    }
}
