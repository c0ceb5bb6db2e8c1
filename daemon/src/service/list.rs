//! Listing terminals, a page at a time.

use std::sync::Arc;

use termd_proto::terminal::{ListScope, TerminalInfo, TerminalPage, TerminalState};

use super::Terminals;
use crate::store::StoreError;
use crate::terminal::error::TerminalError;
use crate::terminal::handle::Terminal;

impl Terminals {
    /// One page of terminals, oldest first.
    pub async fn list(
        &self,
        scope: ListScope,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<TerminalPage, TerminalError> {
        match scope {
            ListScope::Open | ListScope::Running => self.list_open(scope, cursor, limit),
            ListScope::All => self.list_all(cursor, limit).await,
        }
    }

    fn list_open(
        &self,
        scope: ListScope,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<TerminalPage, TerminalError> {
        let after = cursor.map(parse_cursor).transpose()?;
        let mut listed: Vec<Arc<Terminal>> = self
            .index()
            .by_id
            .values()
            .filter(|terminal| match terminal.state() {
                TerminalState::Running => true,
                TerminalState::Exited => scope == ListScope::Open,
                TerminalState::Closed => false,
            })
            .filter(|terminal| {
                after
                    .as_ref()
                    .is_none_or(|after| sort_key(terminal) > *after)
            })
            .cloned()
            .collect();
        listed.sort_by_cached_key(|terminal| sort_key(terminal));
        let limit = limit as usize;
        let next_cursor = (listed.len() > limit)
            .then(|| listed.get(limit - 1))
            .flatten()
            .map(|last| format!("{}:{}", last.record.created_at_ms, last.id()));
        let terminals = listed
            .iter()
            .take(limit)
            .map(|terminal| terminal.info())
            .collect();
        Ok(TerminalPage {
            terminals,
            next_cursor,
        })
    }

    async fn list_all(
        &self,
        cursor: Option<&str>,
        limit: u32,
    ) -> Result<TerminalPage, TerminalError> {
        self.inner.store.flush().await?;
        let (rows, next_cursor) = self.inner.store.list_terminals(cursor, limit).await?;
        let terminals = rows.iter().map(|row| {
            let live = self.index().by_id.get(&row.id).cloned();
            TerminalInfo {
                start: row.start,
                ..live.unwrap_or_else(|| self.stored(row)).info()
            }
        });
        Ok(TerminalPage {
            terminals: terminals.collect(),
            next_cursor,
        })
    }

    /// How many terminals run, and how many have ended and are not closed.
    pub fn counts(&self) -> (u64, u64) {
        self.index()
            .by_id
            .values()
            .fold((0, 0), |(running, exited), terminal| {
                match terminal.state() {
                    TerminalState::Running => (running + 1, exited),
                    TerminalState::Exited => (running, exited + 1),
                    TerminalState::Closed => (running, exited),
                }
            })
    }

    /// Bytes of output held in spools.
    pub fn spool_bytes(&self) -> u64 {
        let index = self.index();
        let spools = index
            .by_id
            .values()
            .filter_map(|terminal| terminal.transcript.spool());
        spools
            .map(crate::terminal::output::spool::Spool::held)
            .sum()
    }
}

impl Terminals {
    /// Bytes of output that are not in the database yet.
    pub fn unstored_bytes(&self) -> u64 {
        self.index()
            .by_id
            .values()
            .map(|terminal| terminal.unstored())
            .sum()
    }

    /// All that is known of a terminal, retention included.
    pub async fn info(&self, terminal: &Terminal) -> Result<TerminalInfo, TerminalError> {
        let info = terminal.info();
        if info.state == TerminalState::Running {
            return Ok(info);
        }
        let row = self.inner.store.terminal(terminal.id()).await?;
        let gaps = self.inner.store.gaps(terminal.id()).await?;
        Ok(TerminalInfo {
            start: row.map_or(info.start, |row| row.start),
            gaps,
            ..info
        })
    }
}

fn sort_key(terminal: &Terminal) -> (i64, String) {
    (
        terminal.record.created_at_ms,
        terminal.id().as_str().to_owned(),
    )
}

fn parse_cursor(cursor: &str) -> Result<(i64, String), TerminalError> {
    cursor
        .split_once(':')
        .and_then(|(at, id)| Some((at.parse().ok()?, id.to_owned())))
        .ok_or(TerminalError::Store(StoreError::BadCursor))
}
