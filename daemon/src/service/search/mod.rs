//! Searching what terminals have printed, and the commands that were run.
//!
//! The index says in which parts of the output a match may be; each is verified on its text, which is made
//! again of the output. What is not indexed is searched directly. So an answer is the same with the index
//! and without (docs/decisions/0150).

mod candidates;
mod document;
mod filter;
mod indexer;
mod line_match;
mod nearby;
mod numbers;
mod page_search;
mod pattern;
mod place;
mod raw_lines;
#[cfg(test)]
mod tests;
mod trigrams;

use std::sync::Arc;
use std::time::Duration;

use termd_proto::TerminalId;
use termd_proto::search::{SearchFilter, SearchIn, SearchPage};
use termd_proto::terminal::Front;
use tokio::sync::Semaphore;
use tokio::time::Instant;

pub(crate) use self::indexer::Indexer;
pub(crate) use self::pattern::Pattern;

use self::page_search::PageSearch;
use self::place::Place;
use super::output_secrets::OutputSecrets;
use super::registry::Registry;
use crate::store::{SearchIndex, Store, StoreError};
use crate::terminal::error::TerminalError;

/// Searches at a time; others wait. Each keeps a processor busy.
const MAX_SEARCHES: usize = 2;

/// What is searched for, and where.
#[derive(Debug)]
pub(crate) struct Search {
    pub(crate) pattern: Pattern,
    pub(crate) within: SearchIn,
    pub(crate) is_raw: bool,
    pub(crate) context: usize,
    /// The terminal that `filter` names.
    pub(crate) terminal: Option<TerminalId>,
    pub(crate) filter: SearchFilter,
    pub(crate) cursor: Option<String>,
    pub(crate) limit: usize,
    pub(crate) timeout: Duration,
}

/// Searches. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Searcher {
    store: Store,
    registry: Arc<Registry>,
    index: Option<Arc<SearchIndex>>,
    output_secrets: OutputSecrets,
    turns: Arc<Semaphore>,
}

impl Searcher {
    pub(crate) fn new(
        store: Store,
        registry: Arc<Registry>,
        index: Option<Arc<SearchIndex>>,
        output_secrets: OutputSecrets,
    ) -> Self {
        Self {
            store,
            registry,
            index,
            output_secrets,
            turns: Arc::new(Semaphore::new(MAX_SEARCHES)),
        }
    }

    /// One page of hits. Cancel safe.
    pub(crate) async fn search(
        &self,
        search: &Search,
        front: Front,
    ) -> Result<SearchPage, TerminalError> {
        let place = match &search.cursor {
            Some(cursor) => Place::parse(cursor).ok_or(StoreError::BadCursor)?,
            None if search.within == SearchIn::Output => Place::NEWEST_OUTPUT,
            None => Place::Commands(None),
        };
        let deadline = Instant::now() + search.timeout;
        let _turn = self.turns.acquire().await;
        self.store.settle().await?;
        let mut page = PageSearch::new(self, search, front, deadline);
        let next = page.go_on(place).await?;
        let hits = page.into_hits();
        Ok(SearchPage {
            timed_out: next.is_some() && hits.len() < search.limit,
            next_cursor: next.map(|next| next.cursor()),
            hits,
        })
    }
}
