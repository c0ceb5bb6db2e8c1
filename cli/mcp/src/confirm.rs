//! Asking the person before something dangerous runs, where the client can: by a request to the
//! client (2025-06-18, 2025-11-25), or by an answer that asks for input (2026-07-28).

use std::collections::BTreeMap;

use rmcp::model::{
    CallToolRequestParams, ClientResult, ElicitRequest, ElicitRequestParams, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequiredResult, ProtocolVersion, ServerRequest,
};
use rmcp::model::{CancelledNotificationParam, RequestId};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext, RoleServer};
use serde_json::Value;
use termd_client::Pool;
use termd_client::approval::{Resolution, deny, wait_for_resolution};

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
    /// Somebody agreed through termd: what was asked about runs when it is tried again.
    Approved,
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

/// Asks, until it is answered here or through termd; whoever is first. What is answered here holds
/// there too.
pub(crate) async fn ask(
    question: &GateQuestion,
    pool: &Pool,
    context: &RequestContext<RoleServer>,
) -> Asked {
    let asked = tokio::select! {
        asked = ask_client(question, context) => asked,
        said = wait_for_resolution(pool, question.approval.as_ref()) => return match said {
            Resolution::Approved => Asked::Approved,
            Resolution::Denied => Asked::Declined,
        },
    };
    if matches!(asked, Asked::Declined) {
        deny(pool, question.approval.as_ref()).await;
    }
    asked
}

async fn ask_client(question: &GateQuestion, context: &RequestContext<RoleServer>) -> Asked {
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
    let mut withdrawn = Withdrawn(None);
    let sent = context
        .peer
        .send_cancellable_request(
            ServerRequest::ElicitRequest(request),
            PeerRequestOptions::no_options(),
        )
        .await;
    let answered = match sent {
        Ok(sent) => {
            withdrawn.0 = Some((context.peer.clone(), sent.id.clone()));
            sent.await_response().await
        }
        Err(error) => Err(error),
    };
    withdrawn.0 = None;
    match answered {
        Ok(ClientResult::ElicitResult(result)) if result.action == ElicitationAction::Accept => {
            Asked::Agreed
        }
        Ok(ClientResult::ElicitResult(_)) => Asked::Declined,
        // It said that it can, and cannot.
        Ok(_) | Err(_) => Asked::Cannot,
    }
}

/// Tells the client, when it is dropped, that nobody waits for its answer any more.
struct Withdrawn(Option<(Peer<RoleServer>, RequestId)>);

impl Drop for Withdrawn {
    fn drop(&mut self) {
        let (Some((peer, id)), Ok(runtime)) =
            (self.0.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        runtime.spawn(async move {
            let reason = Some("it was answered through termd".to_owned());
            let param = CancelledNotificationParam::new(Some(id), reason);
            // A client that is gone asks nobody.
            let _ = peer.notify_cancelled(param).await;
        });
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
