//! `shell.*`: what the shells of agents say.

use std::sync::Arc;

use termd_proto::shell::ReportInPlace;
use termd_proto::terminal::Front;

use crate::rpc::api::Api;
use crate::rpc::context::ConnectionContext;
use crate::rpc::error::{RpcError, RpcResult};
use crate::service::InPlace;

/// Serves `shell.*`.
#[derive(Debug)]
pub struct ShellHandler {
    pub(crate) in_place: InPlace,
}

impl ShellHandler {
    /// Serves its methods.
    pub fn register(self, api: &mut Api) {
        api.method(&Arc::new(self), Self::report_in_place);
    }

    async fn report_in_place(
        self: Arc<Self>,
        params: ReportInPlace,
        context: Arc<ConnectionContext>,
    ) -> RpcResult<()> {
        let shell = context.native_owner();
        if shell.front != Front::Shell {
            return Err(RpcError::invalid_params("front", "is not shell"));
        }
        Ok(self.in_place.record(&shell, params).await?)
    }
}
