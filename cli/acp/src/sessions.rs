//! The ACP sessions: where each works, and which have ended.
//!
//! It promises: a session's directory is known before a terminal of it can be asked for, as far as
//! the client has told it; what an ended session has left is released. All that is remembered is
//! bounded.
//!
//! It must not know what a terminal is.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;

use super::Shared;
use super::session_mcp::SessionMcp;
use super::wire::message::{Members, RequestId};

/// Sessions whose directory is remembered; the oldest is forgotten first. Clients hold a few.
const MAX_SESSIONS: usize = 1_024;
/// Requests about sessions that wait for the agent's answer; an agent that never answers one
/// must not fill the memory.
const MAX_PENDING: usize = 256;

/// The sessions.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    state: Mutex<State>,
    mcp: SessionMcp,
}

#[derive(Debug, Default)]
struct State {
    /// Oldest first.
    known: VecDeque<Session>,
    /// Oldest first.
    pending: VecDeque<(RequestId, Asked)>,
}

#[derive(Debug)]
struct Session {
    id: String,
    cwd: String,
}

/// What the client has asked for.
#[derive(Debug, PartialEq, Eq)]
enum Asked {
    /// `session/new`, `session/fork`: the answer tells the session's id.
    Opening { cwd: Option<String> },
    /// `session/load`, `session/resume`: the session is known from here on, and forgotten when
    /// the agent refuses. `before` is where it worked until then.
    Returning {
        session: String,
        before: Option<String>,
    },
    /// `session/close`, `session/delete`.
    Ending { session: String },
}

impl Sessions {
    /// A request of the client's; the line in its place, where it is changed.
    pub(super) fn asked(
        &self,
        shared: &Shared,
        id: &RequestId,
        method: &str,
        line: &str,
        params: Option<&RawValue>,
    ) -> Option<String> {
        let is_set_up = self.lock().asked(id, method, params);
        if is_set_up && shared.options.session_mcp {
            return self.mcp.added(&shared.agreed, line);
        }
        None
    }

    /// An answer of the agent's, which may be the one to such a request.
    pub(super) fn answered(&self, shared: &Arc<Shared>, id: &RequestId, result: Option<&RawValue>) {
        let Some(ended) = self.lock().answered(id, result) else {
            return;
        };
        let shared = Arc::clone(shared);
        tokio::spawn(async move {
            shared.terminals.sweep_session(&shared, &ended).await;
            shared.display.forget(&ended);
        });
    }

    /// Where a session works, if it is known. One that is not is taken to be the newest that the
    /// agent has not named yet: its first command may come before its id.
    pub(super) fn cwd(&self, session: &str) -> Option<String> {
        self.lock().cwd(session)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whether this sets a session up, and therefore tells its MCP servers.
    fn asked(&mut self, id: &RequestId, method: &str, params: Option<&RawValue>) -> bool {
        let is_opening = matches!(method, "session/new" | "session/fork");
        let is_returning = matches!(method, "session/load" | "session/resume");
        let is_ending = matches!(method, "session/close" | "session/delete");
        if !(is_opening || is_returning || is_ending) {
            return false;
        }
        let Some(params) = params.and_then(|params| Members::of(params.get())) else {
            return false;
        };
        let cwd = params.string("cwd");
        let asked = if is_opening {
            Asked::Opening { cwd }
        } else {
            let Some(session) = params.string("sessionId") else {
                return false;
            };
            if is_ending {
                Asked::Ending { session }
            } else {
                let before = self.of(&session).map(|known| known.cwd.clone());
                if let Some(cwd) = cwd {
                    self.know(&session, cwd);
                }
                Asked::Returning { session, before }
            }
        };
        self.pending.push_back((id.clone(), asked));
        if self.pending.len() > MAX_PENDING {
            self.pending.pop_front();
        }
        !is_ending
    }

    /// The session that has ended by this answer.
    fn answered(&mut self, id: &RequestId, result: Option<&RawValue>) -> Option<String> {
        let position = self.pending.iter().position(|(asked, _)| asked == id)?;
        let (_, asked) = self.pending.remove(position)?;
        match (asked, result) {
            (Asked::Opening { cwd: Some(cwd) }, Some(result)) => {
                let session = Members::of(result.get())?.string("sessionId")?;
                self.know(&session, cwd);
            }
            (Asked::Returning { session, before }, None) => match before {
                Some(before) => self.know(&session, before),
                None => self.forget(&session),
            },
            (Asked::Ending { session }, Some(_)) => {
                self.forget(&session);
                return Some(session);
            }
            (Asked::Opening { .. }, _)
            | (Asked::Returning { .. }, Some(_))
            | (Asked::Ending { .. }, None) => {}
        }
        None
    }

    fn cwd(&self, session: &str) -> Option<String> {
        if let Some(known) = self.of(session) {
            return Some(known.cwd.clone());
        }
        self.pending
            .iter()
            .rev()
            .find_map(|(_, asked)| match asked {
                Asked::Opening { cwd } => cwd.clone(),
                Asked::Returning { .. } | Asked::Ending { .. } => None,
            })
    }

    fn of(&self, session: &str) -> Option<&Session> {
        self.known.iter().find(|known| known.id == session)
    }

    fn know(&mut self, session: &str, cwd: String) {
        self.forget(session);
        self.known.push_back(Session {
            id: session.to_owned(),
            cwd,
        });
        if self.known.len() > MAX_SESSIONS {
            self.known.pop_front();
        }
    }

    fn forget(&mut self, session: &str) {
        self.known.retain(|known| known.id != session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> &RawValue {
        serde_json::from_str(text).unwrap()
    }

    fn id(id: usize) -> RequestId {
        RequestId::of(raw(&id.to_string()))
    }

    #[test]
    fn a_new_session_works_where_it_was_told_to() {
        for method in ["session/new", "session/fork"] {
            let mut state = State::default();
            assert!(state.asked(
                &id(1),
                method,
                Some(raw(r#"{"cwd":"/a","sessionId":"old"}"#))
            ));
            assert!(state.asked(&id(2), method, Some(raw(r#"{"cwd":"/b"}"#))));
            // Not named yet: the newest.
            assert_eq!(state.cwd("early").as_deref(), Some("/b"));
            assert_eq!(
                state.answered(&id(2), Some(raw(r#"{"sessionId":"two"}"#))),
                None
            );
            assert_eq!(state.cwd("early").as_deref(), Some("/a"));
            assert_eq!(
                state.answered(&id(1), Some(raw(r#"{"sessionId":"one"}"#))),
                None
            );
            assert_eq!(state.cwd("one").as_deref(), Some("/a"));
            assert_eq!(state.cwd("two").as_deref(), Some("/b"));
            assert_eq!(state.cwd("other"), None);
        }
    }

    #[test]
    fn a_session_that_is_loaded_is_known_at_once_and_forgotten_if_it_is_refused() {
        for method in ["session/load", "session/resume"] {
            let mut state = State::default();
            let here = Some(raw(r#"{"sessionId":"s","cwd":"/a"}"#));
            assert!(state.asked(&id(1), method, here));
            assert_eq!(state.cwd("s").as_deref(), Some("/a"));
            state.answered(&id(1), None);
            assert_eq!(state.cwd("s"), None);
            state.asked(&id(2), method, here);
            state.answered(&id(2), Some(raw("{}")));
            assert_eq!(state.cwd("s").as_deref(), Some("/a"));
            // Refused, where it was known before.
            state.asked(&id(3), method, Some(raw(r#"{"sessionId":"s","cwd":"/b"}"#)));
            assert_eq!(state.cwd("s").as_deref(), Some("/b"));
            state.answered(&id(3), None);
            assert_eq!(state.cwd("s").as_deref(), Some("/a"));
        }
    }

    #[test]
    fn a_session_ends_when_the_agent_says_so() {
        for method in ["session/close", "session/delete"] {
            let mut state = State::default();
            state.know("s", "/a".to_owned());
            let params = Some(raw(r#"{"sessionId":"s"}"#));
            assert!(!state.asked(&id(1), method, params));
            assert_eq!(state.answered(&id(1), None), None);
            assert_eq!(state.cwd("s").as_deref(), Some("/a"));
            state.asked(&id(2), method, params);
            assert_eq!(
                state.answered(&id(2), Some(raw("{}"))).as_deref(),
                Some("s")
            );
            assert_eq!(state.cwd("s"), None);
            assert_eq!(state.answered(&id(2), Some(raw("{}"))), None);
        }
    }

    #[test]
    fn nonsense_changes_nothing() {
        let mut state = State::default();
        for params in [None, Some(raw("7")), Some(raw(r#"{"sessionId":7}"#))] {
            for method in ["session/load", "session/close", "session/prompt"] {
                assert!(!state.asked(&id(1), method, params), "{method} {params:?}");
            }
        }
        assert!(state.pending.is_empty());
        state.asked(&id(2), "session/new", Some(raw(r#"{"cwd":7}"#)));
        state.answered(&id(2), Some(raw("7")));
        assert_eq!(state.cwd("s"), None);
        assert!(state.known.is_empty());
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut state = State::default();
        for number in 0..=MAX_SESSIONS {
            state.know(&number.to_string(), "/".to_owned());
            state.asked(&id(number), "session/new", Some(raw(r#"{"cwd":"/"}"#)));
        }
        assert_eq!(state.known.len(), MAX_SESSIONS);
        assert_eq!(state.pending.len(), MAX_PENDING);
        assert!(state.of("0").is_none());
        assert!(state.of("1").is_some());
    }
}
