//! Asks the person at the client by `session/request_permission` where the gate says confirm.
//!
//! Another person may answer the same question by `termctl approve`. The first answer counts, and a
//! rejection here denies the question there. A question that is not waited for any more is
//! withdrawn, and its tool call is closed in every case.

use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};
use termd_client::approval::{Resolution, deny, look_at, wait_for_resolution};
use termd_client::escape::escaped;
use termd_client::question::{consequences, question_about};
use termd_proto::approval::{AnswerWay, ApprovalId, ApprovalInfo};
use tokio::sync::oneshot;

use crate::client_requests::Answer;
use crate::shared::Shared;

/// Most characters of a command in a tool call's title. The content and raw input have all of it.
const MAX_TITLE_CHARS: usize = 1_000;

/// The `optionId`s, which are the kinds of the options too.
const ALLOW_ONCE: &str = "allow_once";
const ALLOW_ALWAYS: &str = "allow_always";
const REJECT_ONCE: &str = "reject_once";

/// A question about a command.
#[derive(Debug, Clone)]
pub(super) struct Question {
    pub(super) session: String,
    /// The command as a person would type it, without control characters.
    pub(super) line: String,
    /// `command`, `args` and `cwd` as the agent sent them.
    pub(super) raw_input: Value,
    /// The gate's reason.
    pub(super) reason: String,
    /// The daemon's id of the question, if it has one.
    pub(super) approval: Option<ApprovalId>,
}

/// The outcome of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Allowed this time.
    AllowedOnce,
    /// Allowed for the rest of the session.
    AllowedAlways,
    /// Approved through termd: the daemon admits the same create once.
    Approved,
    Rejected,
    /// The turn was cancelled, or the question withdrawn, before an answer.
    Cancelled,
    /// The client does not support the request.
    CannotAsk,
}

impl Verdict {
    fn of(answer: &Answer) -> Self {
        let outcome = match answer {
            Answer::Result(result) => result.get("outcome"),
            Answer::Error => return Self::CannotAsk,
            Answer::Withdrawn => return Self::Cancelled,
        };
        let word = |name: &str| outcome.and_then(|outcome| outcome.get(name)?.as_str());
        match (word("outcome"), word("optionId")) {
            (Some("selected"), Some(ALLOW_ONCE)) => Self::AllowedOnce,
            (Some("selected"), Some(ALLOW_ALWAYS)) => Self::AllowedAlways,
            (Some("cancelled"), _) => Self::Cancelled,
            // Any other answer rejects.
            _ => Self::Rejected,
        }
    }

    fn status(self) -> &'static str {
        match self {
            Self::AllowedOnce | Self::AllowedAlways | Self::Approved => "completed",
            Self::Rejected | Self::Cancelled | Self::CannotAsk => "failed",
        }
    }
}

/// Asks the question. Dropping the future withdraws it.
pub(super) async fn ask(shared: &Arc<Shared>, question: Question) -> Verdict {
    let (asking, dropped) = oneshot::channel::<()>();
    let (sender, receiver) = oneshot::channel();
    let shared = Arc::clone(shared);
    let task = shared.terminals.background.begin();
    // A task of its own, since writing lines is not cancel safe.
    tokio::spawn(async move {
        let tool_call = shared.client_requests.unique_id();
        let by_termd = OnceLock::new();
        let given_up = async {
            tokio::select! {
                _ = dropped => {}
                resolution = wait_for_resolution(&shared.pool, question.approval.as_ref()) => {
                    // Set only here.
                    let _ = by_termd.set(match resolution {
                        Resolution::Approved => Verdict::Approved,
                        Resolution::Denied => Verdict::Rejected,
                    });
                }
            }
        };
        let info = match &question.approval {
            Some(id) => look_at(&shared.pool, id).await,
            None => None,
        };
        let params = request(&question, info.as_ref(), &tool_call);
        let requests = &shared.client_requests;
        let method = "session/request_permission";
        let answer = requests
            .send(&shared.client, method, params, given_up)
            .await;
        let verdict = by_termd
            .get()
            .copied()
            .filter(|_| answer == Answer::Withdrawn)
            .unwrap_or_else(|| Verdict::of(&answer));
        if verdict == Verdict::Rejected {
            let way = AnswerWay::Permission;
            deny(&shared.pool, question.approval.as_ref(), way).await;
        }
        let closed = closing(&question.session, &tool_call, verdict);
        // The client may be gone.
        let _ = shared.client.message(&closed).await;
        let _ = sender.send(verdict);
        drop(task);
    });
    let verdict = receiver.await.unwrap_or(Verdict::CannotAsk);
    drop(asking);
    verdict
}

fn request(question: &Question, info: Option<&ApprovalInfo>, tool_call: &str) -> Value {
    let Question {
        session,
        line,
        raw_input,
        reason,
        approval: _,
    } = question;
    let mut title: String = line.chars().take(MAX_TITLE_CHARS).collect();
    if title.len() < line.len() {
        title.push('…');
    }
    let text = match info {
        Some(info) => format!("{}\n\n{}", question_about(info, line), consequences(info)),
        None => format!("{}\n\n{line}", escaped(reason)),
    };
    json!({
        "sessionId": session,
        "toolCall": {
            "toolCallId": tool_call,
            "title": title,
            "kind": "execute",
            "status": "pending",
            "content": [{ "type": "content", "content": { "type": "text", "text": text } }],
            "rawInput": raw_input,
        },
        "options": [
            { "optionId": ALLOW_ONCE, "name": "Allow once", "kind": ALLOW_ONCE },
            { "optionId": ALLOW_ALWAYS, "name": "Allow this command for this session",
              "kind": ALLOW_ALWAYS },
            { "optionId": REJECT_ONCE, "name": "Reject", "kind": REJECT_ONCE },
        ],
    })
}

/// Closes the tool call of a question, so that the client does not show it as pending for ever.
fn closing(session: &str, tool_call: &str, verdict: Verdict) -> Value {
    json!({
        "jsonrpc": "2.0",
        "method": "session/update",
        "params": {
            "sessionId": session,
            "update": {
                "sessionUpdate": "tool_call_update",
                "toolCallId": tool_call,
                "status": verdict.status(),
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        let selected =
            |option: &str| json!({ "outcome": { "outcome": "selected", "optionId": option } });
        let table = [
            (selected(ALLOW_ONCE), Verdict::AllowedOnce),
            (selected(ALLOW_ALWAYS), Verdict::AllowedAlways),
            (selected(REJECT_ONCE), Verdict::Rejected),
            (selected("something else"), Verdict::Rejected),
            (
                json!({ "outcome": { "outcome": "cancelled" } }),
                Verdict::Cancelled,
            ),
            (
                json!({ "outcome": { "optionId": ALLOW_ONCE } }),
                Verdict::Rejected,
            ),
            (
                json!({ "outcome": "selected", "optionId": ALLOW_ONCE }),
                Verdict::Rejected,
            ),
            (json!(null), Verdict::Rejected),
        ];
        for (result, want) in table {
            assert_eq!(
                Verdict::of(&Answer::Result(result.clone())),
                want,
                "{result}"
            );
        }
        assert_eq!(Verdict::of(&Answer::Error), Verdict::CannotAsk);
        assert_eq!(Verdict::of(&Answer::Withdrawn), Verdict::Cancelled);
    }

    #[test]
    fn a_title_has_an_end_and_the_content_has_all() {
        let line = "x".repeat(5_000);
        let question = Question {
            session: "s".to_owned(),
            line: line.clone(),
            raw_input: json!({}),
            reason: "why\u{1b}[2J".to_owned(),
            approval: None,
        };
        let request = request(&question, None, "t");
        let title = request["toolCall"]["title"].as_str().unwrap();
        assert_eq!(title.chars().count(), MAX_TITLE_CHARS + 1);
        let text = &request["toolCall"]["content"][0]["content"]["text"];
        assert_eq!(text, &json!(format!("why\\x1b[2J\n\n{line}")));
    }
}
