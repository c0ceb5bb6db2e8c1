//! `termctl approvals --notify`: each question as a desktop notification, with its answers as
//! buttons.
//!
//! A question that is answered elsewhere, or is over, is withdrawn. A command that is not shown whole
//! cannot be approved from its notification. D-Bus is `desktop`'s.

use std::collections::{HashMap, HashSet};

use termd_client::escape::escaped;
use termd_client::question::{asker, variables};
use termd_client::{ClientError, Link};
use termd_proto::approval::{
    AnswerWay, ApprovalId, ApprovalInfo, ApprovalList, ApprovalState, Decision,
};
use termd_proto::attention::AttentionReport;
use termd_proto::secret::SecretQuestion;
use tokio::signal::unix::{Signal, SignalKind};

use super::attention::{self, last_attention};
use super::question::{self, begin_to_watch, line, list};
use super::secret::said;
use crate::cmd::Context;
use crate::desktop::{Desktop, Event, Notification, Shown};
use crate::error::CliError;
use crate::exit_code::ExitCode;
use crate::output;
use crate::signals::catch;

/// Longest command that a notification shows, in characters. Servers cut longer texts anywhere.
const MAX_COMMAND_CHARS: usize = 400;
/// Longest other text, in characters.
const MAX_TEXT_CHARS: usize = 200;
/// Most notifications at a time; more would fill a screen. The other questions wait for a place.
const MAX_SHOWN: usize = 8;

/// The questions on the desktop.
#[derive(Debug, Default)]
struct Board {
    shown: HashMap<Shown, ApprovalId>,
    /// Questions whose notification was closed without an answer: not shown again.
    put_away: HashSet<ApprovalId>,
    /// The last thing that an agent has said and that was shown.
    attended: u64,
}

/// The signals that end termctl.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn catch() -> Result<Self, CliError> {
        Ok(Self {
            terminate: catch(SignalKind::terminate())?,
            interrupt: catch(SignalKind::interrupt())?,
        })
    }

    /// Waits for a signal. Cancel safe.
    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Shows questions until a signal ends it.
pub(super) async fn run(context: Context, link: &Link) -> Result<ExitCode, CliError> {
    let mut desktop = Desktop::connect().await?;
    if !desktop.has_actions {
        output::note(
            "this desktop's notifications have no buttons: they name the command to answer",
        );
    }
    let mut signals = Signals::catch()?;
    let mut board = Board::default();
    let outcome = watch(context, link, &mut desktop, &mut board, &mut signals).await;
    for shown in board.shown.keys() {
        // A failure means that the desktop is gone.
        let _ = desktop.withdraw(shown).await;
    }
    outcome
}

async fn watch(
    context: Context,
    link: &Link,
    desktop: &mut Desktop,
    board: &mut Board,
    signals: &mut Signals,
) -> Result<ExitCode, CliError> {
    let mut listed = begin_to_watch(link).await?;
    // What was said before is old news.
    board.attended = last_attention(&listed);
    loop {
        board.follow(desktop, &listed).await?;
        let next = list(link, Some(listed.seq));
        tokio::pin!(next);
        let changed = loop {
            let event = tokio::select! {
                changed = &mut next => break changed?,
                event = desktop.next() => event?,
                // Only here: a notification whose id has not come yet could not be withdrawn.
                () = signals.next() => return Ok(ExitCode::OK),
            };
            match event {
                Event::Chosen(shown, key) => {
                    let Some(id) = board.shown.get(&shown).cloned() else {
                        continue;
                    };
                    if let Some(decision) = decision(&key) {
                        answer(context, link, &id, decision).await?;
                    }
                }
                Event::Closed(shown) => {
                    let put_away = board.shown.remove(&shown);
                    if put_away.is_some() {
                        board.put_away.extend(put_away);
                        // A question that waited has a place now.
                        board.follow(desktop, &listed).await?;
                    }
                }
            }
        };
        listed = changed;
    }
}

impl Board {
    /// Withdraws what is over, and shows what is new.
    async fn follow(&mut self, desktop: &Desktop, listed: &ApprovalList) -> Result<(), CliError> {
        let is_pending = |id: &ApprovalId| {
            let mut pending = listed.approvals.iter();
            pending.any(|info| info.id == *id && info.state == ApprovalState::Pending)
                || listed.secrets.iter().any(|question| question.id == *id)
        };
        let over: Vec<Shown> = self
            .shown
            .iter()
            .filter(|(_, id)| !is_pending(id))
            .map(|(shown, _)| shown.clone())
            .collect();
        for shown in over {
            self.shown.remove(&shown);
            desktop.withdraw(&shown).await?;
        }
        self.put_away.retain(|id| is_pending(id));
        let pending = listed.approvals.iter();
        let pending = pending.filter(|info| info.state == ApprovalState::Pending);
        let of_gate = pending.map(|info| (&info.id, notification(info, desktop.has_actions)));
        let of_secrets = listed.secrets.iter();
        let of_secrets = of_secrets.map(|question| (&question.id, secret_notification(question)));
        for said in &listed.attention {
            if said.number > self.attended {
                desktop.show(&attention_notification(said)).await?;
            }
        }
        self.attended = last_attention(listed);
        for (id, notification) in of_secrets.chain(of_gate) {
            let is_known =
                self.shown.values().any(|known| known == id) || self.put_away.contains(id);
            if !is_known && self.shown.len() < MAX_SHOWN {
                let shown = desktop.show(&notification).await?;
                self.shown.insert(shown, id.clone());
            }
        }
        Ok(())
    }
}

/// The decision of a button's key.
fn decision(key: &str) -> Option<Decision> {
    match key {
        "once" => Some(Decision::Approve),
        "always" => Some(Decision::Always),
        "deny" => Some(Decision::Deny),
        _ => None,
    }
}

/// Answers, and prints the result. Only an unreachable daemon ends the watch.
async fn answer(
    context: Context,
    link: &Link,
    id: &ApprovalId,
    decision: Decision,
) -> Result<(), CliError> {
    match question::answer(link, id, decision, AnswerWay::Notification).await {
        Ok(Some(info)) if context.json => output::print_json(&info),
        Ok(Some(info)) => output::print(format!("{}\n", line(&info, context.display)).as_bytes()),
        // The list shows the answer that came before this one.
        Ok(None) => Ok(()),
        Err(error @ ClientError::Refused(_)) => {
            output::note(&format!("{id}: {error}"));
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}

fn attention_notification(said: &AttentionReport) -> Notification {
    Notification {
        summary: attention::line(said),
        body: String::new(),
        actions: Vec::new(),
    }
}

fn secret_notification(question: &SecretQuestion) -> Notification {
    Notification {
        summary: "A secret is asked for".to_owned(),
        body: [said(question), format!("termctl answer {}", question.id)].join("\n"),
        actions: Vec::new(),
    }
}

fn notification(info: &ApprovalInfo, has_actions: bool) -> Notification {
    let mut command = escaped(&info.command);
    if !info.after.is_empty() {
        command = format!("{command}\nafter {}", escaped(&info.after));
    }
    let shown = shortened(&command, MAX_COMMAND_CHARS);
    let is_whole = shown == command;
    let mut lines = vec![shown];
    lines.push(match &info.terminal {
        Some(terminal) => format!("typed in {terminal}"),
        None => format!("in {}", shortened(&escaped(&info.cwd), MAX_TEXT_CHARS)),
    });
    if !info.env.is_empty() {
        lines.push(shortened(
            &format!("with {}", variables(info)),
            MAX_TEXT_CHARS,
        ));
    }
    if let Some(reason) = &info.reason {
        lines.push(shortened(&escaped(reason), MAX_TEXT_CHARS));
    }
    let mut actions = Vec::new();
    if is_whole {
        actions.push(("once", "Allow once"));
        if info.only_once.is_none() {
            actions.push(("always", "Always"));
        }
    }
    actions.push(("deny", "Deny"));
    if !is_whole {
        lines.push(format!(
            "It is not shown whole: see termctl approvals, then termctl approve {}",
            info.id
        ));
    } else if !has_actions {
        lines.push(format!("termctl approve {0}, or termctl deny {0}", info.id));
    }
    Notification {
        summary: format!(
            "May this run for {}?",
            shortened(&escaped(&asker(&info.asked_by)), MAX_TEXT_CHARS)
        ),
        body: lines.join("\n"),
        actions: if has_actions { actions } else { Vec::new() },
    }
}

/// The beginning and the end of a long text, and how much is left out between them.
fn shortened(text: &str, most: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= most {
        return text.to_owned();
    }
    let (head, tail) = (most / 2, most / 4);
    let left_out = chars.len() - head - tail;
    let (head, rest) = chars.split_at(head);
    let (_, tail) = rest.split_at(left_out);
    let (head, tail): (String, String) = (head.iter().collect(), tail.iter().collect());
    format!("{head} … ({left_out} characters are left out) … {tail}")
}

#[cfg(test)]
mod tests {
    use termd_proto::policy::Verdict;
    use termd_proto::terminal::{Front, Owner};

    use super::*;

    fn question(command: &str, only_once: Option<&str>) -> ApprovalInfo {
        ApprovalInfo {
            id: ApprovalId::from_random(1),
            state: ApprovalState::Pending,
            command: command.to_owned(),
            after: String::new(),
            cwd: "/here".to_owned(),
            env: Vec::new(),
            terminal: None,
            program: None,
            asked_by: Owner {
                front: Front::Mcp,
                uid: 1000,
                pid: 1,
                exe: None,
                session: None,
                client: Some("an\nagent".to_owned()),
                agent: None,
                terminal: None,
            },
            verdict: Verdict::Dangerous,
            reason: Some("it\u{1b}[2J is".to_owned()),
            asked_at_ms: 0,
            expires_at_ms: 1,
            answered_by: None,
            answered_way: None,
            answered_at_ms: None,
            only_once: only_once.map(str::to_owned),
            rule_at: None,
        }
    }

    fn keys(notification: &Notification) -> Vec<&'static str> {
        notification.actions.iter().map(|(key, _)| *key).collect()
    }

    #[test]
    fn what_is_not_shown_whole_cannot_be_agreed_to() {
        let long = "x".repeat(MAX_COMMAND_CHARS + 1);
        for (command, only_once, expected) in [
            ("rm -r x", None, &["once", "always", "deny"][..]),
            ("rm -r x", Some("a rule asks"), &["once", "deny"]),
            (&long, None, &["deny"]),
        ] {
            let shown = notification(&question(command, only_once), true);
            assert_eq!(keys(&shown), expected, "{shown:?}");
            assert!(shown.actions.iter().all(|(key, _)| decision(key).is_some()));
            let without = notification(&question(command, only_once), false);
            assert!(without.actions.is_empty());
            assert!(without.body.contains("termctl approve"), "{without:?}");
        }
    }

    #[test]
    fn lines_are_ours_alone() {
        let shown = notification(&question("echo a\nin /elsewhere", None), true);
        assert_eq!(shown.body.lines().count(), 3, "{shown:?}");
        assert_eq!(shown.summary.lines().count(), 1, "{shown:?}");
        assert!(!shown.body.contains('\u{1b}'));
    }

    #[test]
    fn long_texts_keep_both_ends() {
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("äöü", 3), "äöü");
        let long = format!("{}end", "a".repeat(100));
        let short = shortened(&long, 20);
        assert!(
            short.starts_with("aaaaaaaaaa …") && short.ends_with("… aaend"),
            "{short}"
        );
        assert!(short.contains("(88 characters"), "{short}");
    }
}
