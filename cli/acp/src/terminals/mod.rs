//! The agent's terminals, and the proxy's records of them.
//!
//! [`table`] holds the [`terminal`]s, and [`reader`] reads a [`view`] of one from the daemon. The rest
//! is what the `terminal/*` calls in progress share. A terminal belongs to the session that created
//! it.

pub(crate) mod allowed_commands;
pub(crate) mod background;
pub(crate) mod in_flight;
pub(crate) mod per_terminal;
pub(crate) mod reader;
pub(crate) mod table;
pub(crate) mod terminal;
pub(crate) mod view;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use termd_client::Pool;

use allowed_commands::AllowedCommands;
use background::Background;
use in_flight::InFlight;
use per_terminal::PerTerminal;
use reader::TerminalReader;
use table::Table;
use terminal::Terminal;
use view::View;

/// Most released terminals whose last view is kept, in case the daemon has dropped the output. A view
/// is 64 KiB at most.
const MAX_LAST_VIEWS: usize = 64;

/// The agent's terminals.
#[derive(Debug, Default)]
pub(crate) struct Terminals {
    pub(crate) table: Arc<Table>,
    pub(crate) in_flight: Arc<InFlight>,
    pub(crate) background: Background,
    pub(crate) allowed: AllowedCommands,
    last_views: Mutex<PerTerminal<View, MAX_LAST_VIEWS>>,
    /// A task keeps the connection that the terminals are bound to.
    pub(crate) keeps_connection: AtomicBool,
    /// The proxy ends: nothing is created any more.
    pub(crate) is_ending: AtomicBool,
}

impl Terminals {
    /// Keeps the last view of a terminal, before its release.
    pub(crate) async fn keep_view(&self, pool: &Pool, terminal: &Arc<Terminal>) {
        let reader = TerminalReader::new(Arc::clone(terminal));
        if let Some((view, _)) = reader.view(pool).await {
            let (session, id) = (&terminal.session, terminal.id.as_str());
            self.last_views().put(session, id, view);
        }
    }

    /// The last view of a released terminal.
    pub(crate) fn last_view(&self, session: &str, id: &str) -> Option<View> {
        self.last_views().get(session, id).cloned()
    }

    /// Forgets the last views of a session's terminals.
    pub(crate) fn forget_views(&self, session: &str) {
        self.last_views().forget(session);
    }

    fn last_views(&self) -> MutexGuard<'_, PerTerminal<View, MAX_LAST_VIEWS>> {
        self.last_views
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
