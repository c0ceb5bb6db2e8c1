//! What is worth a notification now. Pure.

use termd_proto::Tags;
use termd_proto::approval::{ApprovalId, ApprovalList, ApprovalState};
use termd_proto::attention::{AttentionReport, AttentionState};
use termd_proto::terminal::{Agent, TerminalInfo};
use termd_proto::{TerminalId, attention::Attention};

use super::text;
use crate::desktop::Notification;

/// How long a terminal wants something before it is shown, in milliseconds: what is over by then was no
/// news.
const HOLD_MS: i64 = 1_000;
/// The same for what an agent's terminal waits for: agents mostly answer their own programs.
const AGENT_HOLD_MS: i64 = 20_000;

/// What a notification is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Subject {
    /// A question of the gate, or for a secret.
    Question(ApprovalId),
    /// What a terminal wants since then.
    Terminal(TerminalId, AttentionState, i64),
    /// What an agent outside all terminals has said, by its number.
    Report(u64),
}

/// Which states are shown besides questions.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules {
    /// Of every terminal.
    pub(super) states: Vec<AttentionState>,
    /// Of terminals with one of these tags also how their commands end.
    pub(super) tags: Tags,
    /// Whether the desktop has buttons.
    pub(super) has_actions: bool,
    /// The last report that was there before.
    pub(super) last_old_report: u64,
}

/// What is worth a notification.
#[derive(Debug, Default)]
pub(super) struct News {
    /// The most urgent first.
    pub(super) notices: Vec<(Subject, Notification)>,
    /// When more is, in milliseconds since the epoch, if nothing changes.
    pub(super) next_ms: Option<i64>,
}

impl Rules {
    /// What is worth a notification at a time.
    pub(super) fn news<'a>(
        &self,
        listed: &ApprovalList,
        terminals: impl Iterator<Item = &'a TerminalInfo>,
        now_ms: i64,
    ) -> News {
        let mut news = News::default();
        for question in &listed.secrets {
            let subject = Subject::Question(question.id.clone());
            news.notices.push((subject, text::of_secret(question)));
        }
        for info in &listed.approvals {
            if info.state == ApprovalState::Pending {
                let subject = Subject::Question(info.id.clone());
                let notification = text::of_question(info, self.has_actions);
                news.notices.push((subject, notification));
            }
        }
        let mut due: Vec<(&Attention, &TerminalInfo)> = Vec::new();
        for info in terminals {
            let Some((attention, due_ms)) = self.due(info, listed) else {
                continue;
            };
            if due_ms <= now_ms {
                due.push((attention, info));
            } else {
                news.next_ms = news.next_ms.into_iter().chain([due_ms]).min();
            }
        }
        due.sort_by_key(|(attention, _)| (attention.state, attention.since_ms));
        for (attention, info) in due {
            let subject = Subject::Terminal(info.id.clone(), attention.state, attention.since_ms);
            let notification = text::of_terminal(info, attention);
            news.notices.push((subject, notification));
        }
        for report in self.new_reports(&listed.attention) {
            let subject = Subject::Report(report.number);
            news.notices.push((subject, text::of_report(report)));
        }
        news
    }

    /// What a terminal wants, and when that is worth a notification, if it is.
    fn due<'a>(
        &self,
        info: &'a TerminalInfo,
        listed: &ApprovalList,
    ) -> Option<(&'a Attention, i64)> {
        use AttentionState::{Approval, Done, Failed, Idle, Input, Running, Secret};
        let attention = info.attention.as_ref()?;
        let is_asked = |id| {
            let mut secrets = listed.secrets.iter();
            secrets.any(|question| question.terminal.as_ref() == Some(id))
        };
        let is_shown = match attention.state {
            Secret => !is_asked(&info.id),
            Input => self.states.contains(&Input),
            ended @ (Failed | Done) => {
                // Of what ends in an agent's terminal the agent reads: it may be a command each second.
                self.states.contains(&ended) || attention.said || self.tags.meet(&info.tags)
            }
            // What is asked about is shown by its question.
            Approval | Running | Idle => false,
        };
        let hold_ms = match info.owner.agent() {
            Some(_) if attention.state == Input && !attention.said => AGENT_HOLD_MS,
            _ => HOLD_MS,
        };
        (is_shown && !attention.seen).then_some((attention, attention.since_ms + hold_ms))
    }

    /// The last report of each agent that works in no terminal. What the others have said, their terminals
    /// want.
    fn new_reports<'a>(&self, reports: &'a [AttentionReport]) -> Vec<&'a AttentionReport> {
        let mut last: Vec<&AttentionReport> = Vec::new();
        for report in reports.iter().filter(|report| report.terminal.is_none()) {
            last.retain(|earlier| !is_by_same(earlier, report));
            last.push(report);
        }
        last.retain(|report| report.number > self.last_old_report);
        last
    }
}

/// Whether two reports are by one agent, or by one process of a person.
fn is_by_same(one: &AttentionReport, other: &AttentionReport) -> bool {
    let process = |agent: &Agent| (agent.pid, agent.started);
    match (one.of.agent(), other.of.agent()) {
        (Some(one), Some(other)) => process(&one) == process(&other),
        (None, None) => one.of.pid == other.of.pid,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use termd_proto::Tag;

    use super::*;

    const NOW_MS: i64 = 100_000;

    fn terminal(front: &str, tags: &[&str], attention: &Value) -> TerminalInfo {
        let info = json!({
            "id": "term_aaaaaaaaaaaa", "label": "web", "tags": tags, "argv": ["make"], "cwd": "/",
            "pid": 1, "state": "running", "attention": attention, "exit_status": null, "cols": 80,
            "rows": 24, "owner": { "front": front, "uid": 1, "pid": 1, "exe": null, "session": null,
            "client": null }, "created_at_ms": 0, "exited_at_ms": null, "start": 0, "end": 0,
            "output_byte_limit": 1,
        });
        serde_json::from_value(info).unwrap()
    }

    fn report(number: u64, pid: i32, terminal: Option<&str>) -> AttentionReport {
        let report = json!({
            "number": number, "state": "done", "text": number.to_string(), "terminal": terminal,
            "of": { "front": "cli", "uid": 1, "pid": pid, "exe": null, "session": null, "client": null },
            "at_ms": 0,
        });
        serde_json::from_value(report).unwrap()
    }

    fn rules() -> Rules {
        Rules {
            states: vec![AttentionState::Input],
            tags: Tags::of(["nightly".parse::<Tag>().unwrap()]).unwrap(),
            ..Rules::default()
        }
    }

    #[test]
    fn what_is_shown_of_terminals() {
        let state = |state: &str| json!({ "state": state, "why": "x", "since_ms": NOW_MS - 5_000 });
        let with = |mut attention: Value, flag: &str| {
            attention[flag] = true.into();
            attention
        };
        let shown = Some(0);
        for (front, tags, attention, expected) in [
            ("cli", &[][..], state("input"), shown),
            ("cli", &[], with(state("input"), "seen"), None),
            ("cli", &[], state("secret"), shown),
            ("cli", &[], state("failed"), None),
            ("cli", &["nightly"], state("failed"), shown),
            ("cli", &["nightly"], state("done"), shown),
            ("cli", &[], with(state("done"), "said"), shown),
            ("cli", &["nightly"], with(state("done"), "seen"), None),
            ("cli", &["nightly"], state("running"), None),
            ("cli", &["nightly"], state("idle"), None),
            // Its question is shown.
            ("cli", &["nightly"], state("approval"), None),
            // The agent may answer.
            ("mcp", &[], state("input"), Some(15_000)),
            ("mcp", &[], with(state("input"), "said"), shown),
            ("mcp", &[], state("secret"), shown),
            ("mcp", &[], state("failed"), None),
        ] {
            let info = terminal(front, tags, &attention);
            let news = rules().news(&ApprovalList::default(), [&info].into_iter(), NOW_MS);
            let due_in = match news.notices.len() {
                0 => news.next_ms.map(|at| at - NOW_MS),
                _ => Some(0),
            };
            assert_eq!(due_in, expected, "{front} {tags:?} {attention}");
        }
    }

    #[test]
    fn of_each_agent_outside_terminals_the_last_word_counts() {
        let listed = ApprovalList {
            attention: vec![
                report(1, 10, None),
                report(2, 20, None),
                report(3, 10, Some("term_aaaaaaaaaaaa")),
                report(4, 10, None),
            ],
            ..ApprovalList::default()
        };
        let numbers = |rules: &Rules| -> Vec<u64> {
            let reports = rules.new_reports(&listed.attention);
            reports.iter().map(|report| report.number).collect()
        };
        assert_eq!(numbers(&rules()), [2, 4]);
        let later = Rules {
            last_old_report: 2,
            ..rules()
        };
        assert_eq!(numbers(&later), [4]);
    }
}
