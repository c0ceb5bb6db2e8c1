//! Asks the person at the tty when the gate wants a confirmation. Without a tty the daemon's refusal
//! stands.

use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::time::Instant;

use jsonrpsee::types::ErrorObjectOwned;
use rustix::termios::{QueueSelector, tcflush};
use serde_json::json;
use termd_client::escape::escaped;
use termd_client::question::{command_block, consequences, reason};
use termd_client::refusal::{approval_of, kind_of};
use termd_client::waiting_question::READING_TIME;
use termd_client::{ClientError, Link};
use termd_proto::approval::{
    AnswerApproval, AnswerWay, ApprovalId, ApprovalInfo, ApprovalState, Decision, WaitForApproval,
};
use termd_proto::daemon::GetDaemonInfo;
use termd_proto::secret::Secret;
use termd_proto::{ErrorKind, code};
use tokio::sync::mpsc;

use crate::attach::tty::ChangedTty;
use crate::error::CliError;
use crate::output;

/// How long one call waits for an answer elsewhere, in milliseconds: less than the call's deadline.
const WAIT_MS: u64 = 60_000;

/// Whether a person has agreed to the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    /// By `--confirmed`, or because a person types the keys.
    Given,
    /// The gate may ask.
    Asked,
}

impl Consent {
    /// The consent of `--confirmed`.
    pub(crate) fn of_flag(confirmed: bool) -> Self {
        if confirmed { Self::Given } else { Self::Asked }
    }

    pub(crate) fn is_given(self) -> bool {
        self == Self::Given
    }
}

/// Whether the gate asks for a confirmation.
pub(crate) fn is_asked_for(refusal: Option<&ErrorObjectOwned>) -> bool {
    refusal.and_then(kind_of) == Some(ErrorKind::ConfirmationRequired)
}

/// Whether the gate does not let it through, whatever it would take.
pub(crate) fn is_by_gate(refusal: Option<&ErrorObjectOwned>) -> bool {
    matches!(
        refusal.and_then(kind_of),
        Some(ErrorKind::ConfirmationRequired | ErrorKind::Denied | ErrorKind::Rejected)
    )
}

/// What the person says to a question of the gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// Nobody is asked, or nobody agrees.
    No,
    /// The person does not agree, and the daemon knows that.
    /// Without an id it keeps no question of it.
    Denied(Option<ApprovalId>),
    /// The daemon knows that a person agrees: the same call may be made again.
    Approved,
    /// The daemon keeps no question of it, such as of a secret: `confirmed` says that a person agrees.
    ByWord,
}

/// Asks the person at the tty where a refusal is the gate's question, and tells the daemon the answer.
/// Another person may answer first, which withdraws the question here. An agent's process asks nobody.
pub(crate) async fn agreement(link: &Link, refusal: Option<&ErrorObjectOwned>) -> Agreement {
    let Some(refusal) = refusal.filter(|refusal| is_asked_for(Some(refusal))) else {
        return Agreement::No;
    };
    if !can_ask_at_tty() || is_agents(link).await {
        return Agreement::No;
    }
    let Some(mut person) = Person::at_the_tty() else {
        return Agreement::No;
    };
    let question = format!("{}. Run it anyway?", escaped(refusal.message()));
    let Some(id) = approval_of(refusal) else {
        return match person.replies(&question, Offer::Once).await {
            Reply::Once | Reply::Always => Agreement::ByWord,
            Reply::No => Agreement::Denied(None),
        };
    };
    let asked = look_at(link, &id).await;
    let offer = asked.as_ref().map_or(Offer::Once, Offer::of);
    let question = asked.map_or(question, |info| {
        format!("{}\n{} Run it?", own_question(&info), consequences(&info))
    });
    tokio::select! {
        reply = person.replies(&question, offer) => {
            let decision = match reply {
                Reply::Once => Decision::Approve,
                Reply::Always => Decision::Always,
                Reply::No => Decision::Deny,
            };
            answer(link, id, decision).await
        }
        state = state_once_answered(link, &id) => {
            // The cursor is still behind the question.
            output::note_below(&format!("answered elsewhere: {}", state.as_str()));
            if state == ApprovalState::Approved {
                Agreement::Approved
            } else {
                Agreement::No
            }
        }
    }
}

/// Whether this process belongs to an agent, as the daemon sees it.
pub(crate) async fn is_agents(link: &Link) -> bool {
    let info = link.repeat(&GetDaemonInfo {}).await;
    info.is_ok_and(|info| info.agent)
}

/// The state of a question once it is answered. Waits for ever where the daemon does not know it.
async fn state_once_answered(link: &Link, id: &ApprovalId) -> ApprovalState {
    loop {
        let wait = WaitForApproval {
            id: id.clone(),
            timeout_ms: Some(WAIT_MS),
        };
        match link.repeat(&wait).await.map(|info| info.state) {
            Ok(ApprovalState::Pending) => {}
            Ok(state) => return state,
            Err(_) => std::future::pending().await,
        }
    }
}

/// Reads a question.
async fn look_at(link: &Link, id: &ApprovalId) -> Option<ApprovalInfo> {
    let look = WaitForApproval {
        id: id.clone(),
        timeout_ms: Some(0),
    };
    link.repeat(&look).await.ok()
}

/// Tells the daemon the person's answer. Where it is not taken, the reason is printed, and the answer
/// is no.
async fn answer(link: &Link, id: ApprovalId, decision: Decision) -> Agreement {
    let answered = link
        .once(&AnswerApproval {
            id,
            decision,
            way: Some(AnswerWay::Prompt),
        })
        .await;
    match answered {
        Ok(info) if info.state == ApprovalState::Approved => {
            if let (Decision::Always, Some(why)) = (decision, &info.only_once) {
                output::note(&format!("it runs once: {}", escaped(why)));
            }
            Agreement::Approved
        }
        Ok(info) if info.state == ApprovalState::Denied => Agreement::Denied(Some(info.id)),
        Ok(_) => Agreement::No,
        Err(error) => {
            output::note(&error.to_string());
            Agreement::No
        }
    }
}

/// The answers on offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Offer {
    /// Once, or no.
    Once,
    /// For always, too.
    Always,
}

impl Offer {
    /// The answers that a question allows.
    pub(crate) fn of(info: &ApprovalInfo) -> Self {
        match info.only_once {
            None => Self::Always,
            Some(_) => Self::Once,
        }
    }

    /// A question with the keys that answer it, as it stands before the cursor.
    pub(crate) fn asks(self, question: &str) -> String {
        match self {
            Self::Once => format!("{question} [y/N] "),
            Self::Always => format!("{question} [y/N/a for always] "),
        }
    }
}

pub(crate) fn can_ask_at_tty() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Whether the person at the tty agrees to what termctl is about to do. Without a tty nobody is asked,
/// as by rm(1).
pub(crate) async fn agrees_at_tty(question: &str) -> bool {
    let Some(mut person) = Person::at_the_tty() else {
        return true;
    };
    person.replies(question, Offer::Once).await == Reply::Once
}

/// A person's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    No,
    Once,
    Always,
}

/// A person who can be asked at the tty.
#[derive(Debug)]
pub(crate) struct Person {
    /// Requests a line from the reading thread.
    wanted: std::sync::mpsc::Sender<()>,
    lines: mpsc::Receiver<Line>,
    /// A line was requested and has not come.
    is_awaited: bool,
}

/// A typed line.
#[derive(Debug)]
struct Line {
    text: String,
    at: Instant,
}

impl Person {
    /// The person at the tty; `None` without a tty.
    pub(crate) fn at_the_tty() -> Option<Self> {
        if !can_ask_at_tty() {
            return None;
        }
        let (wanted, wants) = std::sync::mpsc::channel();
        let (tell, lines) = mpsc::channel(1);
        // The thread may block in read(2) until the process ends. It reads a line only on request,
        // because later input is for other readers.
        let reading = std::thread::Builder::new()
            .name("confirm".to_owned())
            .spawn(move || {
                while wants.recv().is_ok() {
                    let mut text = String::new();
                    let read = io::stdin().lock().read_line(&mut text);
                    let line = Line {
                        text,
                        at: Instant::now(),
                    };
                    if !matches!(read, Ok(1..)) || tell.blocking_send(line).is_err() {
                        return;
                    }
                }
            });
        reading.ok()?;
        Some(Self {
            wanted,
            lines,
            is_awaited: false,
        })
    }

    /// Asks, and waits for an answer. The end of input means no. Cancel safe, as [`types`](Self::types) is.
    pub(crate) async fn replies(&mut self, question: &str, offer: Offer) -> Reply {
        let question = offer.asks(question);
        loop {
            let Some(text) = self.types(&question).await else {
                return Reply::No;
            };
            if let Some(reply) = reply(&text, offer) {
                return reply;
            }
        }
    }

    /// Asks for a secret, which the tty does not show. `None`: nothing was typed. Cancel safe, as
    /// [`types`](Self::types) is.
    pub(crate) async fn gives_secret(
        &mut self,
        question: &str,
    ) -> Result<Option<Secret>, CliError> {
        let hidden = ChangedTty::without_echo()?;
        let line = self.types(question).await;
        drop(hidden);
        let secret = line.map(|line| line.trim_end_matches(['\n', '\r']).to_owned());
        Ok(secret.filter(|secret| !secret.is_empty()).map(Secret::new))
    }

    /// Asks, and waits for a line; `None` at the end of input. Cancel safe: a line to a dropped question
    /// does not answer another one, nor does an Enter that may end what was typed to it.
    async fn types(&mut self, question: &str) -> Option<String> {
        loop {
            forget_typed();
            output::ask(question);
            let asked = Instant::now();
            let was_awaited = std::mem::replace(&mut self.is_awaited, true);
            if !was_awaited && self.wanted.send(()).is_err() {
                return None;
            }
            let line = self.lines.recv().await?;
            self.is_awaited = false;
            let was_read = line.at.duration_since(asked) >= READING_TIME;
            if !was_awaited || (was_read && !line.text.trim().is_empty()) {
                return Some(line.text);
            }
        }
    }
}

/// Drops what was typed before the question: it answers another one, or none.
fn forget_typed() {
    // Fails where the tty has hung up, which the read that follows reports.
    let _ = tcflush(io::stdin(), QueueSelector::IFlush);
}

/// The reply of a line; `None` where it is no answer on offer: a no holds for ten minutes, and what was typed may
/// have been for something else.
fn reply(line: &str, offer: Offer) -> Option<Reply> {
    match (line.trim().to_ascii_lowercase().as_str(), offer) {
        ("y" | "yes", _) => Some(Reply::Once),
        ("a" | "always", Offer::Always) => Some(Reply::Always),
        ("" | "n" | "no", _) => Some(Reply::No),
        _ => None,
    }
}

/// The question as this process, which has asked it, shows it to its person.
fn own_question(info: &ApprovalInfo) -> String {
    let mut text = format!("{}\n\n{}\n", reason(info), command_block(info));
    if let (Offer::Once, Some(why)) = (Offer::of(info), &info.only_once) {
        // Writing to a string does not fail.
        let _ = write!(text, "\nNot for always: {}.", escaped(why));
    }
    text
}

/// The error of a call that the person at the tty has denied.
pub(crate) fn denied(id: Option<&ApprovalId>) -> ClientError {
    let lifted = id.map_or_else(String::new, |id| {
        format!(
            ", which holds for ten minutes, with --confirmed, too; `termctl approve {id}` lifts it"
        )
    });
    let message = format!("nothing was run: you said no{lifted}");
    let data = json!({ "kind": ErrorKind::Rejected, "approval": id });
    ClientError::Refused(ErrorObjectOwned::owned(code::DENIED, message, Some(data)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_said_no_is_not_told_how_to_run_it() {
        let said = denied(None).to_string();
        assert_eq!(said, "nothing was run: you said no");
        let id: ApprovalId = "qcjxld".parse().unwrap();
        let said = denied(Some(&id)).to_string();
        assert!(
            said.ends_with("`termctl approve qcjxld` lifts it"),
            "{said}"
        );
    }

    #[test]
    fn only_yes_is_yes() {
        for (line, offer, expected) in [
            ("y\n", Offer::Once, Some(Reply::Once)),
            ("YES\n", Offer::Always, Some(Reply::Once)),
            ("a\n", Offer::Always, Some(Reply::Always)),
            ("Always\n", Offer::Always, Some(Reply::Always)),
            ("a\n", Offer::Once, None),
            ("\n", Offer::Always, Some(Reply::No)),
            ("", Offer::Always, Some(Reply::No)),
            ("n\n", Offer::Always, Some(Reply::No)),
            ("No\n", Offer::Once, Some(Reply::No)),
            ("hunter2\n", Offer::Always, None),
        ] {
            assert_eq!(reply(line, offer), expected, "{line:?}");
        }
    }
}
