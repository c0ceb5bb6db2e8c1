//! `audit.*`: the chain of records.

use jsonrpsee::core::{RpcResult, async_trait};
use termd_proto::audit::{AuditFilter, AuditPage, AuditServer, AuditVerdict};

use super::error::{invalid_params, store_error};
use crate::store::Store;

const DEFAULT_PAGE: u32 = 100;
const MAX_PAGE: u32 = 1_000;

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
}

#[async_trait]
impl AuditServer for AuditHandler {
    async fn list(
        &self,
        filter: Option<AuditFilter>,
        cursor: Option<String>,
        limit: Option<u32>,
    ) -> RpcResult<AuditPage> {
        let limit = limit.unwrap_or(DEFAULT_PAGE);
        if !(1..=MAX_PAGE).contains(&limit) {
            return Err(invalid_params("limit", "must be 1 to 1,000"));
        }
        let filter = filter.unwrap_or_default();
        self.store
            .list_audit(&filter, cursor.as_deref(), limit)
            .await
            .map_err(store_error)
    }

    async fn verify(&self) -> RpcResult<AuditVerdict> {
        self.store.verify_audit().await.map_err(store_error)
    }
}
