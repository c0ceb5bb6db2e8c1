//! Asks the person at the tty when the gate wants a confirmation. Without a tty the daemon's refusal
//! stands.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::time::{Duration, Instant};

use jsonrpsee::types::ErrorObjectOwned;
use termd_client::Link;
use termd_client::escape::escaped;
use termd_client::refusal::{approval_of, kind_of};
use termd_proto::ErrorKind;
use termd_proto::approval::{AnswerApproval, ApprovalId, ApprovalInfo, Decision, WaitForApproval};
use tokio::sync::mpsc;

use crate::output;

/// A line that comes faster than this after a question answers the question before it, if that one
/// was still open.
const READING_TIME: Duration = Duration::from_millis(200);

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

/// Whether this refusal is the gate's question, and the person at the tty agrees, once or always.
pub(crate) async fn is_agreed(link: &Link, refusal: Option<&ErrorObjectOwned>) -> bool {
    let Some(refusal) = refusal.filter(|refusal| is_asked_for(Some(refusal))) else {
        return false;
    };
    let Some(mut person) = Person::at_the_tty() else {
        return false;
    };
    let question = format!("{}. Run it anyway?", escaped(refusal.message()));
    let id = approval_of(refusal);
    let asked = match &id {
        Some(id) => look_at(link, id).await,
        None => None,
    };
    let offer = asked.as_ref().map_or(Offer::Once, Offer::of);
    match (person.replies(&question, offer).await, id) {
        (Reply::Once, _) => true,
        (Reply::Always, Some(id)) => agree_always(link, id).await,
        (Reply::Always | Reply::No, _) => false,
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

/// Answers "always". A refusal of that is printed, and means no.
async fn agree_always(link: &Link, id: ApprovalId) -> bool {
    let answered = link
        .once(&AnswerApproval {
            id: id.clone(),
            decision: Decision::Always,
        })
        .await;
    match answered {
        Ok(info) => {
            if let Some(why) = &info.only_once {
                output::note(&format!("it runs once: {}", escaped(why)));
            }
            true
        }
        Err(error) => {
            output::note(&error.to_string());
            false
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

    fn keys(self) -> &'static str {
        match self {
            Self::Once => "[y/N]",
            Self::Always => "[y/N/a for always]",
        }
    }
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
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
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

    /// Asks, and waits for a line. The end of input means no. Cancel safe: a line to a dropped question
    /// does not answer another one.
    pub(crate) async fn replies(&mut self, question: &str, offer: Offer) -> Reply {
        loop {
            output::ask(&format!("{question} {} ", offer.keys()));
            let asked = Instant::now();
            let was_awaited = std::mem::replace(&mut self.is_awaited, true);
            if !was_awaited && self.wanted.send(()).is_err() {
                return Reply::No;
            }
            let Some(line) = self.lines.recv().await else {
                return Reply::No;
            };
            self.is_awaited = false;
            if !was_awaited || line.at.duration_since(asked) >= READING_TIME {
                return reply(&line.text, offer);
            }
        }
    }
}

fn reply(line: &str, offer: Offer) -> Reply {
    match (line.trim().to_ascii_lowercase().as_str(), offer) {
        ("y" | "yes", _) => Reply::Once,
        ("a" | "always", Offer::Always) => Reply::Always,
        _ => Reply::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_yes_is_yes() {
        for (line, offer, expected) in [
            ("y\n", Offer::Once, Reply::Once),
            ("YES\n", Offer::Always, Reply::Once),
            ("a\n", Offer::Always, Reply::Always),
            ("Always\n", Offer::Always, Reply::Always),
            ("a\n", Offer::Once, Reply::No),
            ("\n", Offer::Always, Reply::No),
            ("", Offer::Always, Reply::No),
            ("n\n", Offer::Always, Reply::No),
            ("yeah\n", Offer::Always, Reply::No),
            ("aye\n", Offer::Always, Reply::No),
        ] {
            assert_eq!(reply(line, offer), expected, "{line:?}");
        }
    }
}
