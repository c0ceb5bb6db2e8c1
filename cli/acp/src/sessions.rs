//! The ACP sessions: the working directory of each, and which of them have ended.
//!
//! A session's directory is known before one of its terminals can be created, as far as the client
//! has named it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;

use crate::wire::message::{Members, RequestId};

/// Most sessions whose directory is remembered; the oldest is forgotten first. Clients have a few.
const MAX_SESSIONS: usize = 1_024;
/// Most requests about sessions without an answer. An agent that never answers must not fill the
/// memory.
const MAX_PENDING: usize = 256;

/// The sessions.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Oldest first.
    known: VecDeque<Session>,
    /// Oldest first.
    pending: VecDeque<(RequestId, Pending)>,
}

#[derive(Debug)]
struct Session {
    id: String,
    cwd: String,
}

/// A request of the client about a session.
#[derive(Debug, PartialEq, Eq)]
enum Pending {
    /// `session/new`, `session/fork`: the answer has the session's id.
    Open { cwd: Option<String> },
    /// `session/load`, `session/resume`: the session is known at once, and put back if the agent
    /// refuses.
    Resume {
        session: String,
        previous_cwd: Option<String>,
    },
    /// `session/close`, `session/delete`.
    End { session: String },
}

impl Sessions {
    /// Takes a request of the client. Returns whether the request sets up a session, and so lists its
    /// MCP servers.
    pub(crate) fn requested(
        &self,
        id: &RequestId,
        method: &str,
        params: Option<&RawValue>,
    ) -> bool {
        self.lock().requested(id, method, params)
    }

    /// Takes an answer of the agent. Returns the session that ends with it.
    pub(crate) fn answered(&self, id: &RequestId, result: Option<&RawValue>) -> Option<String> {
        self.lock().answered(id, result)
    }

    /// The working directory of a session, if known. An unknown session is taken for the newest one
    /// that the agent has not named yet, since its first command may come before its id.
    pub(crate) fn cwd(&self, session: &str) -> Option<String> {
        self.lock().cwd(session)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn requested(&mut self, id: &RequestId, method: &str, params: Option<&RawValue>) -> bool {
        let is_open = matches!(method, "session/new" | "session/fork");
        let is_resume = matches!(method, "session/load" | "session/resume");
        let is_end = matches!(method, "session/close" | "session/delete");
        if !(is_open || is_resume || is_end) {
            return false;
        }
        let Some(params) = params.and_then(|params| Members::of(params.get())) else {
            return false;
        };
        let cwd = params.string("cwd");
        let pending = if is_open {
            Pending::Open { cwd }
        } else {
            let Some(session) = params.string("sessionId") else {
                return false;
            };
            if is_end {
                Pending::End { session }
            } else {
                let previous_cwd = self.of(&session).map(|known| known.cwd.clone());
                if let Some(cwd) = cwd {
                    self.know(&session, cwd);
                }
                Pending::Resume {
                    session,
                    previous_cwd,
                }
            }
        };
        self.pending.push_back((id.clone(), pending));
        if self.pending.len() > MAX_PENDING {
            self.pending.pop_front();
        }
        !is_end
    }

    fn answered(&mut self, id: &RequestId, result: Option<&RawValue>) -> Option<String> {
        let position = self.pending.iter().position(|(pending, _)| pending == id)?;
        let (_, pending) = self.pending.remove(position)?;
        match (pending, result) {
            (Pending::Open { cwd: Some(cwd) }, Some(result)) => {
                let session = Members::of(result.get())?.string("sessionId")?;
                self.know(&session, cwd);
            }
            (
                Pending::Resume {
                    session,
                    previous_cwd,
                },
                None,
            ) => match previous_cwd {
                Some(cwd) => self.know(&session, cwd),
                None => self.forget(&session),
            },
            (Pending::End { session }, Some(_)) => {
                self.forget(&session);
                return Some(session);
            }
            (Pending::Open { .. }, _)
            | (Pending::Resume { .. }, Some(_))
            | (Pending::End { .. }, None) => {}
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
            .find_map(|(_, pending)| match pending {
                Pending::Open { cwd } => cwd.clone(),
                Pending::Resume { .. } | Pending::End { .. } => None,
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
            assert!(state.requested(
                &id(1),
                method,
                Some(raw(r#"{"cwd":"/a","sessionId":"old"}"#))
            ));
            assert!(state.requested(&id(2), method, Some(raw(r#"{"cwd":"/b"}"#))));
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
            assert!(state.requested(&id(1), method, here));
            assert_eq!(state.cwd("s").as_deref(), Some("/a"));
            state.answered(&id(1), None);
            assert_eq!(state.cwd("s"), None);
            state.requested(&id(2), method, here);
            state.answered(&id(2), Some(raw("{}")));
            assert_eq!(state.cwd("s").as_deref(), Some("/a"));
            // Refused, where it was known before.
            state.requested(&id(3), method, Some(raw(r#"{"sessionId":"s","cwd":"/b"}"#)));
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
            assert!(!state.requested(&id(1), method, params));
            assert_eq!(state.answered(&id(1), None), None);
            assert_eq!(state.cwd("s").as_deref(), Some("/a"));
            state.requested(&id(2), method, params);
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
                assert!(
                    !state.requested(&id(1), method, params),
                    "{method} {params:?}"
                );
            }
        }
        assert!(state.pending.is_empty());
        state.requested(&id(2), "session/new", Some(raw(r#"{"cwd":7}"#)));
        state.answered(&id(2), Some(raw("7")));
        assert_eq!(state.cwd("s"), None);
        assert!(state.known.is_empty());
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut state = State::default();
        for number in 0..=MAX_SESSIONS {
            state.know(&number.to_string(), "/".to_owned());
            state.requested(&id(number), "session/new", Some(raw(r#"{"cwd":"/"}"#)));
        }
        assert_eq!(state.known.len(), MAX_SESSIONS);
        assert_eq!(state.pending.len(), MAX_PENDING);
        assert!(state.of("0").is_none());
        assert!(state.of("1").is_some());
    }
}
