//! Asking the client's person: `session/request_permission`, where the gate says confirm.
//!
//! Somebody may answer the same question through termd (`termctl approve`): whoever is first has
//! answered it, and what is said here is said there.
//!
//! It promises: no question stays open that nobody waits for any more, and the tool call that a
//! client shows for a question is closed whatever becomes of it.
//! It must not know how a terminal is created.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::{Value, json};
use termd_client::approval::{Resolution, deny, wait_for_resolution};
use termd_client::escape::escaped;
use termd_proto::approval::ApprovalId;
use tokio::sync::oneshot;

use super::Shared;
use super::requests::Answer;

/// Most characters of a command in a tool call's title; its content and raw input have all of it.
const MAX_TITLE_CHARS: usize = 1_000;
/// Most commands that are remembered as allowed; then the oldest is asked about again.
const MAX_ALLOWED: usize = 1_024;

/// `optionId`s; each is its option's kind too.
const ALLOW_ONCE: &str = "allow_once";
const ALLOW_ALWAYS: &str = "allow_always";
const REJECT_ONCE: &str = "reject_once";

/// What is asked about.
#[derive(Debug, Clone)]
pub(super) struct Question {
    /// The ACP session.
    pub(super) session: String,
    /// The command as a person would type it, without control characters.
    pub(super) line: String,
    /// `command`, `args` and `cwd` as the agent has sent them.
    pub(super) raw_input: Value,
    /// Why it is asked.
    pub(super) reason: String,
    /// The question as the daemon knows it, if it does.
    pub(super) approval: Option<ApprovalId>,
}

/// What the person says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// This time.
    AllowedOnce,
    /// As often as it is asked in this session.
    AllowedAlways,
    /// Through termd: the daemon lets the same create through, once.
    Approved,
    /// No.
    Rejected,
    /// The turn was cancelled before there was an answer, or the question was withdrawn.
    Cancelled,
    /// The client has no way to ask.
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
            // An answer that is none allows nothing.
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

/// Asks. A future that is dropped withdraws the question.
pub(super) async fn ask(shared: &Arc<Shared>, question: Question) -> Verdict {
    let (asking, dropped) = oneshot::channel::<()>();
    let (tell, told) = oneshot::channel();
    let shared = Arc::clone(shared);
    let underway = shared.terminals.underway();
    // Lines are written: that must not be dropped half-way, so it is not where this is.
    tokio::spawn(async move {
        let tool_call = shared.requests.unique_id();
        let elsewhere = OnceLock::new();
        let given_up = async {
            tokio::select! {
                _ = dropped => {}
                said = wait_for_resolution(&shared.pool, question.approval.as_ref()) => {
                    // Nobody else sets it.
                    let _ = elsewhere.set(match said {
                        Resolution::Approved => Verdict::Approved,
                        Resolution::Denied => Verdict::Rejected,
                    });
                }
            }
        };
        let params = request(&question, &tool_call);
        let requests = &shared.requests;
        let method = "session/request_permission";
        let answer = requests.ask(&shared.client, method, params, given_up).await;
        let verdict = elsewhere
            .get()
            .copied()
            .filter(|_| answer == Answer::Withdrawn)
            .unwrap_or_else(|| Verdict::of(&answer));
        if verdict == Verdict::Rejected {
            deny(&shared.pool, question.approval.as_ref()).await;
        }
        let closed = closing(&question.session, &tool_call, verdict);
        // A client that is gone shows no tool call.
        let _ = shared.client.message(&closed).await;
        let _ = tell.send(verdict);
        drop(underway);
    });
    let verdict = told.await.unwrap_or(Verdict::CannotAsk);
    drop(asking);
    verdict
}

fn request(question: &Question, tool_call: &str) -> Value {
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
    let text = format!("{}\n\n{line}", escaped(reason));
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

/// No card is to spin for ever.
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

/// One command, exactly: nothing that differs is allowed with it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Allowed {
    /// The ACP session.
    pub(super) session: String,
    /// All that decides what runs: `command`, `args`, `env`, `cwd`.
    pub(super) what: Value,
}

/// The commands that were allowed for their session, oldest first.
#[derive(Debug, Default)]
pub(super) struct Remembered(Mutex<VecDeque<Allowed>>);

impl Remembered {
    /// Whether it was allowed.
    pub(super) fn allows(&self, command: &Allowed) -> bool {
        self.lock().contains(command)
    }

    /// It is, from now on.
    pub(super) fn remember(&self, command: Allowed) {
        let mut all = self.lock();
        if all.contains(&command) {
            return;
        }
        if all.len() >= MAX_ALLOWED {
            all.pop_front();
        }
        all.push_back(command);
    }

    /// The session has ended.
    pub(super) fn forget(&self, session: &str) {
        self.lock().retain(|allowed| allowed.session != session);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Allowed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
        let request = request(&question, "t");
        let title = request["toolCall"]["title"].as_str().unwrap();
        assert_eq!(title.chars().count(), MAX_TITLE_CHARS + 1);
        let text = &request["toolCall"]["content"][0]["content"]["text"];
        assert_eq!(text, &json!(format!("why\\x1b[2J\n\n{line}")));
    }

    #[test]
    fn what_is_remembered_is_exact_bounded_and_the_sessions_own() {
        let remembered = Remembered::default();
        let command = |session: &str, number: usize| Allowed {
            session: session.to_owned(),
            what: json!({ "command": "rm", "args": [number] }),
        };
        remembered.remember(command("a", 0));
        assert!(remembered.allows(&command("a", 0)));
        assert!(!remembered.allows(&command("a", 1)));
        assert!(!remembered.allows(&command("b", 0)));
        for number in 0..=MAX_ALLOWED {
            remembered.remember(command("b", number));
        }
        assert!(!remembered.allows(&command("a", 0)));
        assert!(!remembered.allows(&command("b", 0)));
        assert!(remembered.allows(&command("b", MAX_ALLOWED)));
        remembered.forget("b");
        assert!(remembered.lock().is_empty());
    }
}
