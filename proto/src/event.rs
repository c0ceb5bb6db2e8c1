//! What `session.subscribe` says: facts small enough to queue, never output itself.
//!
//! A client that wants the bytes reads from the offset that it has.

use serde::{Deserialize, Serialize};

use crate::attention::Attention;
use crate::id::{Label, Offset, TerminalId};
use crate::tag::Tags;
use crate::terminal::{ExitStatus, ReachedLimit};

/// The method of the notifications that carry events: their params are `{"subscription", "result"}`.
pub const EVENT_METHOD: &str = "session.event";

/// One thing that happened to a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TerminalEvent {
    /// It was started.
    Created {
        /// Which.
        id: TerminalId,
    },
    /// It printed something; sent again only after a pause, so `end` may be old.
    Output {
        /// Which.
        id: TerminalId,
        /// The end of its output when this was queued.
        end: Offset,
    },
    /// Its size changed.
    Resized {
        /// Which.
        id: TerminalId,
        /// Columns now.
        cols: u16,
        /// Rows now.
        rows: u16,
    },
    /// It has another label, or other tags.
    Named {
        /// Which.
        id: TerminalId,
        /// Its label now.
        label: Option<Label>,
        /// Its tags now.
        #[serde(default, skip_serializing_if = "Tags::is_empty")]
        tags: Tags,
    },
    /// It reached a limit: one of its profile, for which it is being ended; one of the disk, for
    /// which some of its output is not kept; or a command line in its shell was ended at one of a
    /// process (`cpu_time`, `file_bytes`).
    LimitReached {
        /// Which.
        id: TerminalId,
        /// Which limit.
        limit: ReachedLimit,
        /// The limit itself, in milliseconds or bytes.
        value: u64,
    },
    /// It wants something else of a person than before.
    Attention {
        /// Which.
        id: TerminalId,
        /// What it wants now.
        attention: Attention,
    },
    /// Its command was reaped and its output drained.
    Exited {
        /// Which.
        id: TerminalId,
        /// How it ended.
        exit_status: ExitStatus,
        /// The end of its output, for good.
        end: Offset,
    },
    /// It was closed or released.
    Closed {
        /// Which.
        id: TerminalId,
    },
    /// A process has reached a limit of the socket, or a client or a front one on running terminals:
    /// what it asked for beyond was refused. Told once, and again when it has been below; only to
    /// subscriptions to everything.
    PeerLimitReached {
        /// Which process, where one is known.
        pid: Option<i32>,
        /// Which limit, as in the error's `data.limit`.
        limit: String,
        /// The limit itself.
        value: u64,
    },
    /// Events were dropped because the subscriber did not read them. List again, and read each
    /// followed terminal from the offset last seen: no output is lost by this.
    Lagged {
        /// How many.
        dropped: u64,
        /// For a subscription to one terminal: the end of its output now.
        end: Option<Offset>,
    },
}
