//! Hides secrets in all that a connection is sent, where its client is an agent's.

use std::sync::Arc;

use serde_json::Value;

use super::context::ConnectionContext;
use crate::service::OutputSecrets;

/// Hides what has the shape of a secret in the messages to one client.
pub(super) struct SecretFilter {
    /// `None` in tests: nothing is hidden.
    pub(super) output_secrets: Option<OutputSecrets>,
    pub(super) context: Arc<ConnectionContext>,
}

impl SecretFilter {
    /// A message, or the fields of one without its first brace, with no secret in any text of it.
    pub(super) fn hide(&self, message: Vec<u8>) -> Vec<u8> {
        let Some(secrets) = &self.output_secrets else {
            return message;
        };
        // The first is cheap, and each message comes by here. The second says whose the client is now.
        let are_hidden = secrets.are_hidden_from_agents()
            && secrets.are_hidden_everywhere(self.context.reader());
        if !are_hidden {
            return message;
        }
        let brace: &[u8] = if message.starts_with(b"{") { b"" } else { b"{" };
        let Ok(mut value) = serde_json::from_slice([brace, &message].concat().as_slice()) else {
            return message;
        };
        let value: &mut Value = &mut value;
        if !secrets.hide_in_value(value) {
            return message;
        }
        let hidden = value.to_string().into_bytes();
        hidden.get(brace.len()..).unwrap_or_default().to_vec()
    }
}
