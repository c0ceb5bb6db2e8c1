//! A one-shot as a task of MCP's extension `io.modelcontextprotocol/tasks`: the call is answered by a
//! handle, and the client asks for the result until it is there.
//!
//! The terminal is the task, and its id the task's. What forms the result stands in the terminal's
//! `_meta`, so whichever `termctl mcp` is asked can answer ([0120](../../../../docs/decisions/0120-a-task-is-a-terminal.md)).

use std::time::Duration;

use rmcp::model::{Task, TaskStatus};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use termd_client::timestamp::utc;
use termd_proto::acp::Meta;
use termd_proto::terminal::{TerminalInfo, TerminalState};

use super::facts::to_milliseconds;

/// The member of a terminal's `_meta` that makes it a task.
const MEMBER: &str = "termd.task";
/// How long a call waits for its result before a task answers it: most commands are done by then.
pub(crate) const ANSWERED_AFTER: Duration = Duration::from_secs(3);
/// The time between two looks at a task. A look costs two calls of the daemon.
const POLL_INTERVAL_MS: u64 = 2_000;

/// What a client that follows tasks has asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TaskOffer {
    /// Whether the call says how long it waits. Without that a task lasts as long as its command.
    pub(crate) has_timeout: bool,
}

/// What is kept of a call whose task a terminal is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TaskNote {
    /// The tool that was called.
    pub(crate) tool: String,
    /// The parameters that form the result. The command is none of them: it may have secrets in it,
    /// which are stored nowhere.
    pub(crate) form: Value,
    /// The time after which the result says that the command goes on by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timeout_ms: Option<u64>,
}

impl TaskOffer {
    /// The note of a call's task. `None`: the call waits no longer than it takes to get one.
    pub(crate) fn note(
        self,
        tool: &str,
        form: impl Serialize,
        timeout: Duration,
    ) -> Option<TaskNote> {
        if self.has_timeout && timeout <= ANSWERED_AFTER {
            return None;
        }
        Some(TaskNote {
            tool: tool.to_owned(),
            form: serde_json::to_value(form).ok()?,
            timeout_ms: self.has_timeout.then(|| to_milliseconds(timeout)),
        })
    }
}

impl TaskNote {
    /// The note of a terminal, if it is a task.
    pub(crate) fn of(info: &TerminalInfo) -> Option<Self> {
        let note = info.meta.as_ref()?.get(MEMBER)?;
        Self::deserialize(note).ok()
    }

    pub(crate) fn to_meta(&self) -> Option<Meta> {
        let note = serde_json::to_value(self).ok()?;
        Some(Meta::from_iter([(MEMBER.to_owned(), note)]))
    }

    /// Whether the time of the call was over at this moment.
    pub(crate) fn is_timed_out(&self, info: &TerminalInfo, at_ms: i64) -> bool {
        let timeout = self
            .timeout_ms
            .map(|ms| i64::try_from(ms).unwrap_or(i64::MAX));
        timeout.is_some_and(|timeout| at_ms.saturating_sub(info.created_at_ms) >= timeout)
    }

    /// Whether the terminal was closed before the task had a result.
    fn is_cancelled(&self, info: &TerminalInfo) -> bool {
        let (Some(closed), Some(exited)) = (info.closed_at_ms, info.exited_at_ms) else {
            return false;
        };
        let is_killed = || (info.exit_status.as_ref()).is_some_and(|it| it.signal.is_some());
        let has_run = exited > closed || (exited == closed && is_killed());
        has_run && !self.is_timed_out(info, closed)
    }

    /// Where a task stands.
    pub(crate) fn status(&self, info: &TerminalInfo, now_ms: i64) -> TaskStatus {
        match info.state {
            TerminalState::Running if self.is_timed_out(info, now_ms) => TaskStatus::Completed,
            TerminalState::Running => TaskStatus::Working,
            TerminalState::Closed if self.is_cancelled(info) => TaskStatus::Cancelled,
            TerminalState::Exited | TerminalState::Closed => TaskStatus::Completed,
        }
    }
}

/// A terminal as MCP has a task. It has no end of its own: its result can be read for as long as the
/// daemon keeps the transcript.
pub(crate) fn task_of(info: &TerminalInfo, status: TaskStatus) -> Task {
    let updated = info.exited_at_ms.unwrap_or(info.last_activity_ms);
    let updated = updated.max(info.created_at_ms);
    Task::new(
        info.id.as_str(),
        status,
        utc(info.created_at_ms),
        utc(updated),
    )
    .with_poll_interval_ms(POLL_INTERVAL_MS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn terminal(facts: &Value) -> TerminalInfo {
        let mut info = json!({
            "id": "term_aaaaaaaaaaaa", "argv": ["sh"], "cwd": "/", "pid": 1, "cols": 80, "rows": 24,
            "owner": { "front": "mcp", "uid": 0, "pid": 1 }, "created_at_ms": 1_000,
            "start": 0, "end": 0, "output_byte_limit": 1,
        });
        let members = facts.as_object().unwrap().clone();
        info.as_object_mut().unwrap().extend(members);
        serde_json::from_value(info).unwrap()
    }

    #[test]
    fn a_task_stands_where_its_terminal_does() {
        let forever = TaskOffer { has_timeout: false };
        let limited = TaskOffer { has_timeout: true };
        let ten = Duration::from_secs(10);
        let killed = json!({ "exit_code": null, "signal": "SIGHUP" });
        let done = json!({ "exit_code": 0, "signal": null });
        let closed = |closed: i64, exited: i64, status: &Value| {
            json!({ "state": "closed", "closed_at_ms": closed, "exited_at_ms": exited,
                "exit_status": status })
        };
        for (offer, facts, want) in [
            (forever, json!({ "state": "running" }), TaskStatus::Working),
            (
                limited,
                json!({ "state": "running" }),
                TaskStatus::Completed,
            ),
            (forever, json!({ "state": "exited" }), TaskStatus::Completed),
            (
                forever,
                closed(5_000, 4_000, &killed),
                TaskStatus::Completed,
            ),
            (forever, closed(5_000, 5_000, &done), TaskStatus::Completed),
            (
                forever,
                closed(5_000, 5_000, &killed),
                TaskStatus::Cancelled,
            ),
            (forever, closed(5_000, 6_000, &done), TaskStatus::Cancelled),
            // What is closed when its time is over has had its result.
            (
                limited,
                closed(11_000, 12_000, &killed),
                TaskStatus::Completed,
            ),
            (
                limited,
                closed(10_999, 12_000, &killed),
                TaskStatus::Cancelled,
            ),
        ] {
            let note = offer.note("x", (), ten).unwrap();
            let status = note.status(&terminal(&facts), 20_000);
            assert_eq!(status, want, "{facts}");
        }
        assert!(limited.note("x", (), ANSWERED_AFTER).is_none());
    }

    #[test]
    fn a_note_comes_back_from_the_terminal() {
        let offer = TaskOffer { has_timeout: true };
        let note = offer.note("x", json!({ "a": 1 }), Duration::from_secs(9));
        let note = note.unwrap();
        let info = terminal(&json!({ "state": "running", "_meta": note.to_meta() }));
        assert_eq!(TaskNote::of(&info), Some(note));
        assert_eq!(
            TaskNote::of(&terminal(&json!({ "state": "running" }))),
            None
        );
    }
}
