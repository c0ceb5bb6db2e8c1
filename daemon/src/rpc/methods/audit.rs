//! `audit.*`: the chain of records.

use std::sync::Arc;
use std::time::Duration;

use termd_proto::audit::{
    AuditFilter, AuditHashes, AuditOrder, AuditPage, AuditVerdict, ListAudit, MAX_FILTER_BYTES,
    MAX_HASHES, ReadAuditHashes, VerifyAudit,
};
use tokio::time::{Instant, timeout_at};

use crate::rpc::api::Api;
use crate::rpc::context::ConnectionContext;
use crate::rpc::error::{RpcError, RpcResult};
use crate::store::{Store, StoreError};

const DEFAULT_PAGE: u32 = 100;
const MAX_PAGE: u32 = 1_000;
/// The longest that a page waits for a record: a follower asks again.
const MAX_WAIT: Duration = Duration::from_mins(1);

/// Serves `audit.*`.
#[derive(Debug)]
pub struct AuditHandler {
    store: Store,
}

impl AuditHandler {
    /// Over this database.
    pub fn new(store: Store) -> Self {
        Self { store }
    }

    /// Serves its methods.
    pub fn register(self, api: &mut Api) {
        let handler = Arc::new(self);
        api.method(&handler, Self::list);
        api.method(&handler, Self::hashes);
        api.method(&handler, Self::verify);
    }

    /// The first page of what comes after the cursor that has a record in it, or the last one that
    /// had none by the deadline.
    async fn follow(
        &self,
        filter: &AuditFilter,
        mut cursor: Option<String>,
        limit: u32,
        deadline: Instant,
    ) -> Result<AuditPage, StoreError> {
        let mut head = self.store.watch_audit();
        loop {
            // Before the look: what is written after it is seen by the next one.
            head.newest();
            let page = self
                .store
                .list_audit(filter, cursor.as_deref(), limit, AuditOrder::Oldest)
                .await?;
            if !page.records.is_empty() {
                return Ok(page);
            }
            cursor = Some(page.through.to_string());
            if !matches!(timeout_at(deadline, head.moved()).await, Ok(true)) {
                return Ok(page);
            }
        }
    }
}

impl AuditHandler {
    async fn list(
        self: Arc<Self>,
        params: ListAudit,
        _: Arc<ConnectionContext>,
    ) -> RpcResult<AuditPage> {
        let ListAudit {
            filter,
            cursor,
            limit,
            order,
            wait_ms,
        } = params;
        let limit = limit.unwrap_or(DEFAULT_PAGE);
        if !(1..=MAX_PAGE).contains(&limit) {
            return Err(RpcError::invalid_params("limit", "must be 1 to 1,000"));
        }
        let filter = checked(filter.unwrap_or_default())?;
        let order = order.unwrap_or_default();
        let wait = Duration::from_millis(wait_ms.unwrap_or(0));
        if wait > MAX_WAIT {
            return Err(RpcError::invalid_params(
                "wait_ms",
                "may be 60,000 at the most",
            ));
        }
        let page = if wait.is_zero() {
            self.store
                .list_audit(&filter, cursor.as_deref(), limit, order)
                .await
        } else if order == AuditOrder::Oldest {
            let deadline = Instant::now() + wait;
            self.follow(&filter, cursor, limit, deadline).await
        } else {
            return Err(RpcError::invalid_params(
                "wait_ms",
                "goes with `order` `oldest` alone",
            ));
        };
        Ok(page?)
    }

    async fn hashes(
        self: Arc<Self>,
        params: ReadAuditHashes,
        _: Arc<ConnectionContext>,
    ) -> RpcResult<AuditHashes> {
        let ReadAuditHashes { records } = params;
        if records.len() > MAX_HASHES {
            return Err(RpcError::invalid_params(
                "records",
                "may be 1,000 at the most",
            ));
        }
        Ok(self.store.audit_hashes(&records).await?)
    }

    async fn verify(
        self: Arc<Self>,
        _: VerifyAudit,
        _: Arc<ConnectionContext>,
    ) -> RpcResult<AuditVerdict> {
        Ok(self.store.verify_audit().await?)
    }
}

/// A filter that can let something through.
fn checked(filter: AuditFilter) -> Result<AuditFilter, RpcError> {
    let texts = [
        &filter.terminal,
        &filter.action,
        &filter.client,
        &filter.program,
        &filter.outcome,
    ];
    for text in texts.into_iter().flatten() {
        if text.is_empty() {
            return Err(RpcError::invalid_params(
                "filter",
                "has an empty text, which nothing fits",
            ));
        }
        if text.len() > MAX_FILTER_BYTES {
            return Err(RpcError::invalid_params(
                "filter",
                "has a text of more than 4,096 bytes",
            ));
        }
    }
    if matches!((filter.since_ms, filter.until_ms), (Some(since), Some(until)) if since >= until) {
        return Err(RpcError::invalid_params(
            "filter",
            "ends before it begins: `since_ms`, `until_ms`",
        ));
    }
    Ok(filter)
}
