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

use crate::tool::GateQuestion;

/// The key of the one question among the input requests.
const QUESTION: &str = "confirm";
/// Longest command that is shown in a question.
const MAX_SHOWN_CHARS: usize = 1_000;

/// The outcome of the question.
#[derive(Debug)]
pub(crate) enum Consent {
    /// The person agreed.
    Agreed,
    /// Somebody agreed through termd. The command runs when the call is tried again.
    Approved,
    /// The person did not agree.
    Declined,
    /// The client has no way to ask.
    Cannot,
    /// The client asks, and calls again with what the person said.
    Later(Box<InputRequiredResult>),
}

/// The person's answer, where this is the second call after [`Consent::Later`].
pub(crate) fn answered(request: &CallToolRequestParams) -> Option<bool> {
    let response = request.input_responses.as_ref()?.get(QUESTION)?;
    Some(response.get("action").and_then(Value::as_str) == Some("accept"))
}

/// Asks until somebody answers, here or through termd. An answer here holds there too.
pub(crate) async fn ask(
    question: &GateQuestion,
    pool: &Pool,
    context: &RequestContext<RoleServer>,
) -> Consent {
    let consent = tokio::select! {
        consent = ask_client(question, context) => consent,
        said = wait_for_resolution(pool, question.approval.as_ref()) => return match said {
            Resolution::Approved => Consent::Approved,
            Resolution::Denied => Consent::Declined,
        },
    };
    if matches!(consent, Consent::Declined) {
        deny(pool, question.approval.as_ref()).await;
    }
    consent
}

async fn ask_client(question: &GateQuestion, context: &RequestContext<RoleServer>) -> Consent {
    let can = context
        .client_capabilities()
        .and_then(|capabilities| capabilities.elicitation)
        // An empty object means forms.
        .is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none());
    if !can {
        return Consent::Cannot;
    }
    let request = request(question);
    let stateless = context
        .protocol_version()
        .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    if stateless {
        let mut requests = BTreeMap::new();
        requests.insert(QUESTION.to_owned(), InputRequest::Elicitation(request));
        return Consent::Later(Box::new(InputRequiredResult::from_input_requests(requests)));
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
            Consent::Agreed
        }
        Ok(ClientResult::ElicitResult(_)) => Consent::Declined,
        // The client announced elicitation, and cannot do it.
        Ok(_) | Err(_) => Consent::Cannot,
    }
}

/// Cancels the client's question when it is dropped: the answer has come through termd.
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
            // A client that is gone shows no question.
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
