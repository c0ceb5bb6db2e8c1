//! Finding, listing and counting terminals: those that the registry has, and those that only the
//! database remembers.

use std::sync::Arc;

use termd_proto::terminal::{ListScope, Owner, TerminalInfo, TerminalPage, TerminalState};
use termd_proto::{Label, Tags, TerminalId, TerminalRef};

use super::registry::{Registry, stored_terminal};
use crate::store::{Store, StoreError};
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;
use crate::terminal::output::spool::Spool;

/// Most matches that an ambiguous reference is answered with.
const MAX_MATCHES_SHOWN: u32 = 8;

/// Finds and lists terminals. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Catalog {
    registry: Arc<Registry>,
    store: Store,
}

/// What all terminals take.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Usage {
    /// Terminals whose command runs.
    pub(crate) running: u64,
    /// Terminals that have ended and are not closed.
    pub(crate) exited: u64,
    /// Bytes of output in spools.
    pub(crate) spool_bytes: u64,
    /// Bytes of output that are not in the database yet.
    pub(crate) unstored_bytes: u64,
}

impl Catalog {
    pub(crate) fn new(registry: Arc<Registry>, store: Store) -> Self {
        Self { registry, store }
    }

    /// Finds the terminal that a person or a script means by an id, the beginning of an id, or a
    /// label. Open terminals come before those that only the database knows.
    pub(crate) async fn find(
        &self,
        reference: &TerminalRef,
    ) -> Result<Arc<Terminal>, TerminalError> {
        let not_found = || TerminalError::NotFound(reference.0.clone());
        if let Ok(id) = reference.0.parse() {
            self.registry.listed(&id).await;
        }
        if let Some(found) = self.find_named(reference) {
            return Ok(found);
        }
        // A terminal that was closed a moment ago may have its last row in the writer's queue.
        if let Err(error) = self.store.settle().await {
            tracing::debug!(terminal = %reference, %error, "cannot flush before a look-up");
        }
        let id = match reference.0.parse::<TerminalId>() {
            Ok(id) => id,
            Err(_) => match self.find_closed(reference).await? {
                Some(id) => id,
                None => match self.find_by_prefix(reference)? {
                    Some(found) => return Ok(found),
                    None => (self.find_stored_by_prefix(reference).await?).ok_or_else(not_found)?,
                },
            },
        };
        let row = self.store.terminal(&id).await?.ok_or_else(not_found)?;
        Ok(stored_terminal(&row, &self.store))
    }

    /// The same, for a caller. To an agent the beginning of an id names only a terminal of its own:
    /// one letter is no choice of somebody else's terminal.
    pub(crate) async fn find_for(
        &self,
        reference: &TerminalRef,
        caller: &Owner,
    ) -> Result<Arc<Terminal>, TerminalError> {
        let terminal = self.find(reference).await?;
        let name = reference.0.as_str();
        let is_label = terminal.label().is_some_and(|label| label.as_str() == name);
        let is_whole = is_label || terminal.id().as_str() == name;
        if is_whole || caller.agent().is_none() || terminal.is_opened_by(caller) {
            Ok(terminal)
        } else {
            Err(TerminalError::NotFound(reference.0.clone()))
        }
    }

    /// The listed terminal of this id or label.
    fn find_named(&self, reference: &TerminalRef) -> Option<Arc<Terminal>> {
        if let Ok(id) = reference.0.parse::<TerminalId>() {
            return self.registry.get(&id);
        }
        let label = reference.0.parse::<Label>().ok()?;
        self.registry.by_label(&label)
    }

    /// The one closed terminal of this label. It goes before an open one whose id begins so: who names it
    /// means no other.
    async fn find_closed(
        &self,
        reference: &TerminalRef,
    ) -> Result<Option<TerminalId>, TerminalError> {
        let Ok(label) = reference.0.parse::<Label>() else {
            return Ok(None);
        };
        let closed = self.store.closed_with_label(&label, MAX_MATCHES_SHOWN);
        the_one(reference, closed.await?)
    }

    /// The one open terminal whose id begins so.
    fn find_by_prefix(
        &self,
        reference: &TerminalRef,
    ) -> Result<Option<Arc<Terminal>>, TerminalError> {
        let Some(prefix) = id_prefix(&reference.0) else {
            return Ok(None);
        };
        let mut fitting = self.registry.all();
        fitting.retain(|terminal| {
            terminal.id().as_str().starts_with(&*prefix)
                && terminal.state() != TerminalState::Closed
        });
        let ids = fitting.iter().map(|terminal| terminal.id().clone());
        let ids = ids.take(MAX_MATCHES_SHOWN as usize).collect();
        Ok(the_one(reference, ids)?.and_then(|id| self.registry.get(&id)))
    }

    async fn find_stored_by_prefix(
        &self,
        reference: &TerminalRef,
    ) -> Result<Option<TerminalId>, TerminalError> {
        let Some(prefix) = id_prefix(&reference.0) else {
            return Ok(None);
        };
        let fitting = self.store.ids_with_prefix(&prefix, MAX_MATCHES_SHOWN);
        the_one(reference, fitting.await?)
    }

    /// One page of terminals that have one of these tags, or of all where none is given, oldest first.
    pub(crate) async fn list(
        &self,
        scope: ListScope,
        tags: &Tags,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<TerminalPage, TerminalError> {
        match scope {
            ListScope::Open | ListScope::Running => self.list_open(scope, tags, cursor, limit),
            ListScope::All => self.list_all(tags, cursor, limit).await,
        }
    }

    fn list_open(
        &self,
        scope: ListScope,
        tags: &Tags,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<TerminalPage, TerminalError> {
        let after = cursor.map(parse_cursor).transpose()?;
        let mut listed = self.registry.all();
        listed.retain(|terminal| {
            let is_in_scope = match terminal.state() {
                TerminalState::Running => true,
                TerminalState::Exited => scope == ListScope::Open,
                TerminalState::Closed => false,
            };
            is_in_scope
                && has_one_of(terminal, tags)
                && after
                    .as_ref()
                    .is_none_or(|after| sort_key(terminal) > *after)
        });
        listed.sort_unstable_by(|a, b| sort_key(a).cmp(&sort_key(b)));
        let limit = limit as usize;
        let next_cursor = (listed.len() > limit)
            .then(|| listed.get(limit - 1))
            .flatten()
            .map(|last| format!("{}:{}", last.record.created_at_ms, last.id()));
        let page = listed.iter().take(limit).map(|terminal| terminal.info());
        Ok(TerminalPage {
            terminals: page.collect(),
            next_cursor,
        })
    }

    async fn list_all(
        &self,
        tags: &Tags,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<TerminalPage, TerminalError> {
        self.store.settle().await?;
        let (rows, next_cursor) = self.store.list_terminals(tags, cursor, limit).await?;
        let is_last = next_cursor.is_none() && (cursor.is_none() || !rows.is_empty());
        let terminals = rows.iter().map(|row| {
            let listed = self.registry.get(&row.id);
            let terminal = listed.unwrap_or_else(|| stored_terminal(row, &self.store));
            TerminalInfo {
                start: row.start,
                ..terminal.info()
            }
        });
        let mut terminals: Vec<TerminalInfo> = terminals.collect();
        if is_last && self.store.stall().is_some() {
            let room = (limit as usize).saturating_sub(terminals.len());
            let newest_ms = terminals.last().map_or(0, |newest| newest.created_at_ms);
            let unstored = self.unstored(tags, newest_ms, &terminals);
            terminals.extend(unstored.into_iter().take(room));
        }
        Ok(TerminalPage {
            terminals,
            next_cursor,
        })
    }

    /// Listed terminals whose rows wait for the disk: they are newer than all that are stored.
    fn unstored(&self, tags: &Tags, newest_ms: i64, stored: &[TerminalInfo]) -> Vec<TerminalInfo> {
        let mut listed = self.registry.all();
        listed.retain(|terminal| {
            terminal.record.created_at_ms >= newest_ms
                && has_one_of(terminal, tags)
                && !stored.iter().any(|info| info.id == *terminal.id())
        });
        listed.sort_unstable_by(|a, b| sort_key(a).cmp(&sort_key(b)));
        listed.iter().map(|terminal| terminal.info()).collect()
    }

    /// All that is known of a terminal, including what retention has dropped of its output.
    pub(crate) async fn info(&self, terminal: &Terminal) -> Result<TerminalInfo, TerminalError> {
        let info = terminal.info();
        if info.state == TerminalState::Running {
            return Ok(info);
        }
        let row = self.store.terminal(terminal.id()).await?;
        let gaps = self.store.gaps(terminal.id()).await?;
        Ok(TerminalInfo {
            start: row.map_or(info.start, |row| row.start),
            gaps,
            ..info
        })
    }

    pub(crate) fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        for terminal in self.registry.all() {
            match terminal.state() {
                TerminalState::Running => usage.running += 1,
                TerminalState::Exited => usage.exited += 1,
                TerminalState::Closed => {}
            }
            usage.spool_bytes += terminal.transcript.spool().map_or(0, Spool::held);
            usage.unstored_bytes += terminal.unstored();
        }
        usage
    }
}

/// The only one of these, where there is no more than one.
fn the_one(
    reference: &TerminalRef,
    mut matches: Vec<TerminalId>,
) -> Result<Option<TerminalId>, TerminalError> {
    if matches.len() < 2 {
        return Ok(matches.pop());
    }
    Err(TerminalError::Ambiguous {
        reference: reference.0.clone(),
        matches,
    })
}

/// The text as the beginning of an id; `None` where no id can begin with it.
fn id_prefix(text: &str) -> Option<String> {
    let random = text.strip_prefix("term_").unwrap_or(text);
    let fits = !random.is_empty()
        && random
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'2'..=b'7'));
    fits.then(|| format!("term_{random}"))
}

fn has_one_of(terminal: &Terminal, tags: &Tags) -> bool {
    tags.is_empty() || tags.meet(&terminal.tags())
}

fn sort_key(terminal: &Terminal) -> (i64, &str) {
    (terminal.record.created_at_ms, terminal.id().as_str())
}

fn parse_cursor(cursor: &str) -> Result<(i64, &str), TerminalError> {
    cursor
        .split_once(':')
        .and_then(|(at, id)| Some((at.parse().ok()?, id)))
        .ok_or(TerminalError::Store(StoreError::BadCursor))
}
