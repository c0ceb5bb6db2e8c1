//! One question of the gate: listing, answering and describing it.

use std::fmt::Write as _;

use termd_client::escape::escaped;
use termd_client::question::{asker, command, question, variables};
use termd_client::refusal::kind_of;
use termd_client::{ClientError, Link};
use termd_proto::ErrorKind;
use termd_proto::approval::{
    AnswerApproval, AnswerWay, ApprovalId, ApprovalInfo, ApprovalList, ApprovalState, Decision,
    ListApprovals, WaitForApproval,
};
use unicode_width::UnicodeWidthStr as _;

use crate::display::Display;
use crate::table::Cell;

/// How long one call waits for a change, in milliseconds: less than the call's own deadline.
const WATCH_MS: u64 = 60_000;

/// The columns that a command has in one line at least.
const MIN_COMMAND: usize = 40;

/// All questions; with `after`, once they have changed since that list.
pub(in crate::cmd) async fn list(
    link: &Link,
    after: Option<u64>,
) -> Result<ApprovalList, ClientError> {
    let wait_ms = after.map(|_| WATCH_MS);
    link.repeat(&ListApprovals { after, wait_ms }).await
}

/// All questions now. From then on the connection counts as one through which a person is asked.
pub(in crate::cmd) async fn begin_to_watch(link: &Link) -> Result<ApprovalList, ClientError> {
    let (after, wait_ms) = (Some(0), Some(0));
    link.repeat(&ListApprovals { after, wait_ms }).await
}

/// Answers a question; `None` if it was answered before.
pub(in crate::cmd) async fn answer(
    link: &Link,
    id: &ApprovalId,
    decision: Decision,
    way: AnswerWay,
) -> Result<Option<ApprovalInfo>, ClientError> {
    let answer = AnswerApproval {
        id: id.clone(),
        decision,
        way: Some(way),
    };
    match link.once(&answer).await {
        Err(ClientError::Refused(refusal))
            if kind_of(&refusal) == Some(ErrorKind::ApprovalAnswered) =>
        {
            Ok(None)
        }
        answered => answered.map(Some),
    }
}

/// Whether a person or a command still has to do something about the question.
pub(super) fn is_open(info: &ApprovalInfo) -> bool {
    matches!(info.state, ApprovalState::Pending | ApprovalState::Approved)
}

/// Where a command would run, or be typed.
pub(super) fn place(info: &ApprovalInfo) -> String {
    match &info.terminal {
        Some(terminal) => terminal.to_string(),
        None => info.cwd.clone(),
    }
}

/// A question as it is now.
pub(super) async fn look_at(link: &Link, id: &ApprovalId) -> Result<ApprovalInfo, ClientError> {
    let look = WaitForApproval {
        id: id.clone(),
        timeout_ms: Some(0),
    };
    link.repeat(&look).await
}

/// A question and its state, in several lines.
pub(super) fn whole(info: &ApprovalInfo) -> String {
    let mut text = format!("{} {}: {}\n", info.id, info.state.as_str(), question(info));
    if let Some(by) = &info.answered_by {
        // Writing to a string does not fail.
        let _ = writeln!(text, "answered by {}", escaped(&asker(by)));
    }
    if let Some(why) = &info.only_once {
        let _ = writeln!(text, "once     {}", escaped(why));
    }
    text
}

/// A question in one line. On a tty the command is cut, so that what stands behind it is in sight.
pub(in crate::cmd) fn line(info: &ApprovalInfo, display: Display) -> String {
    let begin = format!("{} {}: ", info.id, info.state.as_str());
    let end = behind_command(info);
    let shown = Cell::text(command(info));
    let shown = match display.width {
        Some(width) => {
            let left = width.saturating_sub(begin.width() + end.width());
            shown.cut(left.max(MIN_COMMAND))
        }
        None => shown.cut(usize::MAX),
    };
    format!("{begin}{shown}{end}")
}

/// Where it would run, for whom, with what and why it is asked.
fn behind_command(info: &ApprovalInfo) -> String {
    let place = format!("in {}", escaped(&place(info)));
    let mut line = format!(" ({place}, for {})", escaped(&asker(&info.asked_by)));
    if !info.env.is_empty() {
        // Writing to a string does not fail.
        let _ = write!(line, " with {}", variables(info));
    }
    if let Some(reason) = &info.reason {
        line.push_str(": ");
        line.push_str(&escaped(reason));
    }
    if let Some((file, number)) = &info.rule_at {
        // Writing to a string does not fail.
        let _ = write!(line, "; always, by {}:{number}", escaped(file));
    }
    line
}
