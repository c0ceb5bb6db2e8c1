//! Asking the person before something dangerous runs, where the client can: by a request to the
//! client (2025-06-18, 2025-11-25), or by an answer that asks for input (2026-07-28).

use std::collections::BTreeMap;

use rmcp::model::{
    BooleanSchema, CallToolRequestParams, ClientCapabilities, ClientResult, ElicitRequest,
    ElicitRequestParams, ElicitationAction, ElicitationSchema, InputRequest, InputRequiredResult,
    PrimitiveSchemaDefinition, ProtocolVersion, ServerRequest,
};
use rmcp::model::{CancelledNotificationParam, RequestId};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext, RoleServer};
use serde_json::Value;
use termd_client::Pool;
use termd_client::approval::{Resolution, approve, deny, look_at, wait_for_resolution};
use termd_client::escape::escaped;
use termd_client::question::{consequences, question as asked};
use termd_proto::approval::{AnswerWay, ApprovalId};

use crate::tool::GateQuestion;

/// The key of the one question among the input requests.
const QUESTION: &str = "confirm";

/// The outcome of the question.
#[derive(Debug)]
pub(crate) enum Consent {
    /// A person agreed, here or through termd. The command runs when the call is tried again.
    Approved,
    /// The person did not agree.
    Declined,
    /// The client has no way to ask, or is not believed.
    Cannot,
    /// The client asks, and calls again with what the person said.
    Later(Box<InputRequiredResult>),
}

/// What the client's person has said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reply {
    Yes,
    No,
    /// The client cannot ask after all.
    NotAsked,
}

/// The person's answer, where this is the second call after [`Consent::Later`].
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) agreed: bool,
    /// The question, by the state that the client sends back.
    question: Option<String>,
}

impl Said {
    /// Whether the answer is to this question, and not to one about another call.
    pub(crate) fn is_about(&self, question: &GateQuestion) -> bool {
        let asked = question.approval.as_ref().map(ApprovalId::as_str);
        asked.is_some() && self.question.as_deref() == asked
    }
}

/// Reads the person's answer.
pub(crate) fn answered(request: &CallToolRequestParams) -> Option<Said> {
    let response = request.input_responses.as_ref()?.get(QUESTION)?;
    let is_accepted = response.get("action").and_then(Value::as_str) == Some("accept");
    Some(Said {
        agreed: is_accepted && has_yes(response.get("content")),
        question: request.request_state.clone(),
    })
}

/// Whether a form's content says yes. Some clients accept a form by themselves that asks for nothing.
fn has_yes(content: Option<&Value>) -> bool {
    content.and_then(|content| content.get(QUESTION)) == Some(&Value::Bool(true))
}

/// Whether a client can show a form to its user.
pub(crate) fn can_ask(capabilities: Option<&ClientCapabilities>) -> bool {
    let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation.as_ref());
    // An empty object means forms.
    elicitation.is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

/// Asks until somebody answers, here or through termd. An answer here holds there too.
pub(crate) async fn ask(
    question: &GateQuestion,
    pool: &Pool,
    context: &RequestContext<RoleServer>,
) -> Consent {
    if question.approval.is_none() || !can_ask(context.client_capabilities().as_ref()) {
        return Consent::Cannot;
    }
    let stateless = context
        .protocol_version()
        .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    let text = text(question, pool).await;
    if stateless {
        return later(question, text);
    }
    let reply = tokio::select! {
        reply = ask_client(text, context) => reply,
        said = wait_for_resolution(pool, question.approval.as_ref()) => return match said {
            Resolution::Approved => Consent::Approved,
            Resolution::Denied => Consent::Declined,
        },
    };
    match reply {
        Reply::NotAsked => Consent::Cannot,
        reply => settle(question, reply == Reply::Yes, pool).await,
    }
}

/// Tells termd what the client's person has said.
pub(crate) async fn settle(question: &GateQuestion, agreed: bool, pool: &Pool) -> Consent {
    let way = AnswerWay::Elicitation;
    let Some(id) = question.approval.as_ref().filter(|_| agreed) else {
        deny(pool, question.approval.as_ref(), way).await;
        return Consent::Declined;
    };
    match approve(pool, id, way).await {
        Ok(Resolution::Approved) => Consent::Approved,
        Ok(Resolution::Denied) => Consent::Declined,
        Err(_) => Consent::Cannot,
    }
}

fn later(question: &GateQuestion, text: String) -> Consent {
    let mut requests = BTreeMap::new();
    requests.insert(
        QUESTION.to_owned(),
        InputRequest::Elicitation(request(text)),
    );
    let state = question.approval.as_ref().map(ToString::to_string);
    Consent::Later(Box::new(InputRequiredResult::new(Some(requests), state)))
}

async fn ask_client(text: String, context: &RequestContext<RoleServer>) -> Reply {
    let request = request(text);
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
        Ok(ClientResult::ElicitResult(result)) => {
            let is_accepted = result.action == ElicitationAction::Accept;
            if is_accepted && has_yes(result.content.as_ref()) {
                Reply::Yes
            } else {
                Reply::No
            }
        }
        // The client announced elicitation, and cannot do it.
        Ok(_) | Err(_) => Reply::NotAsked,
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

/// The question as the client's person reads it.
async fn text(question: &GateQuestion, pool: &Pool) -> String {
    let info = match &question.approval {
        Some(id) => look_at(pool, id).await,
        None => None,
    };
    match info {
        Some(info) => format!("{}\n\n{}", asked(&info), consequences(&info)),
        // The call that follows says what is wrong.
        None => format!(
            "Run this? {}\n\n{}",
            escaped(&question.reason),
            escaped(&question.command)
        ),
    }
}

fn request(text: String) -> ElicitRequest {
    ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: text,
        requested_schema: ElicitationSchema::new(BTreeMap::from([(
            QUESTION.to_owned(),
            PrimitiveSchemaDefinition::Boolean(
                BooleanSchema::new()
                    .title("Run it")
                    .description("Without this nothing is run."),
            ),
        )]))
        .with_required(vec![QUESTION.to_owned()]),
    })
}
