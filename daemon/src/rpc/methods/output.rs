//! `output.*`: searching what was printed and run.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use termd_proto::search::{
    MAX_CONTEXT_LINES, MAX_HITS, MAX_SEARCH_MS, SearchFilter, SearchOutput, SearchPage,
};

use crate::rpc::api::Api;
use crate::rpc::context::ConnectionContext;
use crate::rpc::error::{RpcError, RpcResult};
use crate::service::{AuditLog, Catalog, Pattern, Search, Searcher};
use crate::store::{AuditAction, AuditOutcome};
use crate::terminal::TerminalError;

const DEFAULT_HITS: u32 = 100;
const DEFAULT_MS: u64 = 10_000;
/// Longest directory of a filter, in bytes: `PATH_MAX`.
const MAX_CWD_BYTES: usize = 4_096;

/// Serves `output.*`.
#[derive(Debug)]
pub struct OutputHandler {
    pub(crate) catalog: Catalog,
    pub(crate) searcher: Searcher,
    pub(crate) audit: AuditLog,
}

impl OutputHandler {
    /// Serves its methods.
    pub fn register(self, api: &mut Api) {
        let handler = Arc::new(self);
        api.method(&handler, Self::search);
    }

    async fn search(
        self: Arc<Self>,
        params: SearchOutput,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<SearchPage> {
        let detail = detail(&params);
        let search = self.checked(params).await?;
        let actor = context.native_owner();
        let terminal = search.terminal.clone();
        self.audit
            .record(
                AuditAction::OutputSearch,
                AuditOutcome::Ok,
                &actor,
                terminal.as_ref(),
                detail,
            )
            .await?;
        Ok(self.searcher.search(&search, context.reader()).await?)
    }

    async fn checked(&self, params: SearchOutput) -> Result<Search, RpcError> {
        let limit = params.limit.unwrap_or(DEFAULT_HITS);
        if !(1..=MAX_HITS).contains(&limit) {
            return Err(RpcError::invalid_params("limit", "must be 1 to 1,000"));
        }
        let context = params.context.unwrap_or(0);
        if context > MAX_CONTEXT_LINES {
            return Err(RpcError::invalid_params("context", "may be 50 at the most"));
        }
        let timeout_ms = params.timeout_ms.unwrap_or(DEFAULT_MS);
        if timeout_ms > MAX_SEARCH_MS {
            return Err(RpcError::invalid_params(
                "timeout_ms",
                "may be 600,000 at the most",
            ));
        }
        let filter: SearchFilter = params.filter.unwrap_or_default();
        if (filter.cwd.as_ref()).is_some_and(|cwd| cwd.len() > MAX_CWD_BYTES) {
            return Err(RpcError::invalid_params(
                "filter.cwd",
                "may be 4,096 bytes long at the most",
            ));
        }
        let (kind, ignores_case) = (params.kind.unwrap_or_default(), params.ignore_case);
        let pattern = Pattern::compile(&params.pattern, kind, ignores_case == Some(true));
        let terminal = match &filter.terminal {
            Some(reference) => Some(self.catalog.find(reference).await?.id().clone()),
            None => None,
        };
        Ok(Search {
            pattern: pattern.map_err(TerminalError::from)?,
            within: params.within.unwrap_or_default(),
            is_raw: params.raw == Some(true),
            context: context as usize,
            terminal,
            filter,
            cursor: params.cursor,
            limit: limit as usize,
            timeout: Duration::from_millis(timeout_ms),
        })
    }
}

/// What the record says of a search. The store hides secrets in it.
fn detail(params: &SearchOutput) -> Map<String, Value> {
    let all = [
        ("pattern", json!(params.pattern)),
        ("kind", json!(params.kind.unwrap_or_default())),
        ("in", json!(params.within.unwrap_or_default())),
    ];
    let all = all
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    all.collect()
}
