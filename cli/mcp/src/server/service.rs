//! The server as rmcp runs it: its handler, with errors that say more than rmcp's own.

use std::borrow::Cow;

use rmcp::model::{
    ClientNotification, ClientRequest, ErrorCode, ErrorData, ProtocolVersion, ServerConfig,
    ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, Service};

use super::Server;

/// The server, and what it says to a method that it does not have.
#[derive(Debug)]
pub(crate) struct AnsweringService(pub(crate) Server);

impl Service<RoleServer> for AnsweringService {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let answer = self.0.handle_request(request, context).await;
        answer.map_err(|mut error| {
            if error.code == ErrorCode::METHOD_NOT_FOUND {
                // rmcp's message is the method's name alone.
                error.message = format!(
                    "there is no method {} here, or not in this version of MCP: there are tools/list, \
                     tools/call, resources/list, resources/templates/list, resources/read, \
                     subscriptions to resources, and in 2026-07-28 tasks",
                    error.message
                )
                .into();
            }
            error
        })
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        Service::get_info(&self.0)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Service::supported_protocol_versions(&self.0)
    }
}
