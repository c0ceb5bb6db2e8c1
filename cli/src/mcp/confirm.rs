//! Asking the person before something dangerous runs, where the client can: by a request to the
//! client (2025-06-18, 2025-11-25), or by an answer that asks for input (2026-07-28).

use std::collections::BTreeMap;

use rmcp::model::{
    CallToolRequestParams, ClientResult, ElicitRequest, ElicitRequestParams, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequiredResult, ProtocolVersion, ServerRequest,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;

use super::answer::GateQuestion;

/// The key of our one question among the input requests.
const QUESTION: &str = "confirm";
/// Longest command that is shown in a question.
const MAX_SHOWN_CHARS: usize = 1_000;

/// What became of the question.
#[derive(Debug)]
pub(crate) enum Asked {
    /// The person agreed.
    Agreed,
    /// The person did not.
    Declined,
    /// The client has no way to ask.
    Cannot,
    /// The client asks, and calls again with what the person said.
    Later(Box<InputRequiredResult>),
}

/// What the person said, where this is the second call after [`Asked::Later`].
pub(crate) fn answered(request: &CallToolRequestParams) -> Option<bool> {
    let response = request.input_responses.as_ref()?.get(QUESTION)?;
    Some(response.get("action").and_then(Value::as_str) == Some("accept"))
}

/// Asks.
pub(crate) async fn ask(question: &GateQuestion, context: &RequestContext<RoleServer>) -> Asked {
    let can = context
        .client_capabilities()
        .and_then(|capabilities| capabilities.elicitation)
        // An empty object means forms.
        .is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none());
    if !can {
        return Asked::Cannot;
    }
    let request = request(question);
    let stateless = context
        .protocol_version()
        .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    if stateless {
        let mut requests = BTreeMap::new();
        requests.insert(QUESTION.to_owned(), InputRequest::Elicitation(request));
        return Asked::Later(Box::new(InputRequiredResult::from_input_requests(requests)));
    }
    match context
        .peer
        .send_request(ServerRequest::ElicitRequest(request))
        .await
    {
        Ok(ClientResult::ElicitResult(result)) if result.action == ElicitationAction::Accept => {
            Asked::Agreed
        }
        Ok(ClientResult::ElicitResult(_)) => Asked::Declined,
        // It said that it can, and cannot.
        Ok(_) | Err(_) => Asked::Cannot,
    }
}

fn request(question: &GateQuestion) -> ElicitRequest {
    let mut shown: String = question.command.chars().take(MAX_SHOWN_CHARS).collect();
    if shown.len() < question.command.len() {
        shown.push('…');
    }
    ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: format!("Run this? {}\n\n{shown}", question.reason),
        requested_schema: ElicitationSchema::new(BTreeMap::new()),
    })
}
