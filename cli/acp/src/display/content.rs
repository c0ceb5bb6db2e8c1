//! The content of a tool call with its terminals as text.

use std::sync::Arc;

use termd_client::Pool;
use termd_proto::Offset;

use super::text_block::block;
use super::tool_call_update::text_entry;
use crate::terminals::reader::TerminalReader;
use crate::terminals::view::{Life, View};

/// A tool call's content, as the agent last gave it.
#[derive(Debug)]
pub(super) struct Content {
    parts: Vec<Part>,
    /// The JSON array that the client received last.
    sent: String,
}

#[derive(Debug)]
pub(super) enum Part {
    /// An element as the agent sent it.
    Raw(String),
    Terminal(Box<Window>),
}

/// A terminal in a tool call.
#[derive(Debug, Clone)]
pub(super) struct Window {
    pub(super) reader: Arc<TerminalReader>,
    /// The entry's `_meta` as raw JSON.
    pub(super) meta: Option<String>,
    pub(super) view: View,
    /// The offset at which the view's output ends.
    pub(super) seen: Offset,
}

impl Window {
    /// Formats an element of the content.
    pub(super) fn entry(&self) -> String {
        text_entry(
            &block(&self.reader.command, &self.view),
            self.meta.as_deref(),
        )
    }

    /// Reads the view of a running terminal again. Returns whether the daemon answered.
    pub(super) async fn refresh(&mut self, pool: &Pool) -> bool {
        if self.view.life != Life::Running {
            return true;
        }
        let Some((view, seen)) = self.reader.view(pool).await else {
            return false;
        };
        (self.view, self.seen) = (view, seen);
        true
    }
}

impl Content {
    /// Content that the client received with the agent's line.
    pub(super) fn sent(parts: Vec<Part>) -> Self {
        let mut content = Self {
            parts,
            sent: String::new(),
        };
        content.take_unsent();
        content
    }

    /// The terminals.
    pub(super) fn windows(&self) -> impl Iterator<Item = &Window> {
        self.parts.iter().filter_map(|part| match part {
            Part::Raw(_) => None,
            Part::Terminal(window) => Some(&**window),
        })
    }

    /// The terminals, to be refreshed.
    pub(super) fn windows_mut(&mut self) -> impl Iterator<Item = &mut Window> {
        self.parts.iter_mut().filter_map(|part| match part {
            Part::Raw(_) => None,
            Part::Terminal(window) => Some(&mut **window),
        })
    }

    /// Formats the content as a JSON array, unless the client has received it.
    pub(super) fn take_unsent(&mut self) -> Option<&str> {
        let parts = self.parts.iter().map(|part| match part {
            Part::Raw(raw) => raw.clone(),
            Part::Terminal(window) => window.entry(),
        });
        let content = format!("[{}]", parts.collect::<Vec<_>>().join(","));
        if content == self.sent {
            return None;
        }
        self.sent = content;
        Some(&self.sent)
    }
}
